"""Exact draws by rejection from the tilted proposal (Botev, JRSS B 79, 2017, section 2).

Tested in tests/distributions/multivariate/test_draws.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import UNIT, computing
from trug_fast.kernels.multivariate import sequential
from trug_fast.kernels.unit.quantile_rows import ROW

from .tilting import Tilting, bound_holds

LEAST = 1e-5  # share of proposals accepted below which there is an error,
TRIED = 16_384  # once so many have been tried
NUMBERS = 4_000_000  # that one round of proposals may hold
COARSE = 0.01  # rounding error of psi that is too much


class DrawInfo(NamedTuple):
    """What exact draws came to.

    Attributes
    ----------
    acceptance : float
        Share of the proposals accepted, as the mean of the probabilities of acceptance.
    n_proposals : int
        How many were made.
    log_bound : float
        Log of the bound on the probability of the box; the acceptance is the probability over it.
    """

    acceptance: float
    n_proposals: int
    log_bound: float


def accepted(tilted: Tilting, count: int, seed: int) -> tuple[NDArray[Any], DrawInfo]:
    """Return so many draws, (count, d), and how they were had.

    Raises
    ------
    RuntimeError
        If fewer than 1e-5 of the proposals are accepted.
    """
    proposal, bound, rounding = tilted
    if rounding > COARSE:
        raise RuntimeError(
            f"exact draws need log densities right to {COARSE}, and the last digits of ends change "
            f"them by {rounding:.1g}, so far out or so near to singular is the box"
        )
    d = proposal.tilt.size
    draws, filled, first = np.empty((count, d)), 0, 0
    weights, rate = 0.0, 1.0
    most = max(1, NUMBERS // (ROW * d))
    while filled < count:
        missing = (count - filled) / max(rate, LEAST)
        blocks = int(min(most, 1 + 1.02 * missing / ROW))
        drawn, counts = np.empty((blocks, ROW, d)), np.empty(blocks, np.int64)
        totals = np.empty((blocks, 2))
        with computing(blocks * ROW * d * (0.5 * d + 2 * UNIT)):
            sequential.accept(proposal, np.uint64(seed), first, bound, drawn, counts, totals)
        if not bound_holds(tilted, highest := float(totals[:, 1].max())):
            raise RuntimeError(
                f"the bound on the ratio of densities does not hold, {highest} above {bound}: "
                "cov is too near to singular for its saddle point; tf.truncmvn_gibbs draws chains"
            )
        for part, n in zip(drawn, counts, strict=True):
            taken = min(int(n), count - filled)
            draws[filled : filled + taken] = part[:taken]
            filled += taken
        first += blocks
        weights += float(totals[:, 0].sum())
        rate = weights / (first * ROW)
        if rate < LEAST and first * ROW >= TRIED:
            raise RuntimeError(
                f"exact draws are hopeless: {rate:.1g} of {first * ROW} proposals would be "
                "accepted; tf.truncmvn_gibbs and tf.truncmvn_hmc draw Markov chains instead"
            )
    rate = weights / (first * ROW) if first else float("nan")
    return draws, DrawInfo(rate, first * ROW, bound)
