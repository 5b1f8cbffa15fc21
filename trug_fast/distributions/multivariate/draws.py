"""Exact draws: through one factor, or by rejection from the tilted proposal.

The latter is of Botev, JRSS B 79 (2017), section 2.

Tested in tests/distributions/multivariate/test_draws.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import UNIT, computing
from trug_fast.kernels.multivariate import factor_draws, sequential, tangents
from trug_fast.kernels.multivariate.factor_draws import Placing
from trug_fast.kernels.multivariate.one_factor import FactorBox
from trug_fast.kernels.multivariate.tangents import Hull
from trug_fast.kernels.unit.quantile_rows import ROW

from .one_factor import COARSE, OneFactor, probability_of_factor
from .reduction import BoxForm
from .tilting import Tilting, bound_holds

LEAST = 1e-5  # share of proposals accepted below which there is an error,
TRIED = 16_384  # once so many have been tried
NUMBERS = 4_000_000  # that one round of proposals may hold
TANGENTS = 192  # at most


class DrawInfo(NamedTuple):
    """What exact draws came to.

    Attributes
    ----------
    acceptance : float
        Share of the proposals accepted: by ``"tilting"``, the mean of their chances.
    n_proposals : int
        How many were made, by ``"factor"`` of the factor alone.
    log_bound : float
        Log of the bound on the probability of the box; the acceptance is the probability over it.
    method : str
        ``"factor"``, coordinates given one factor, or ``"tilting"``.
    """

    acceptance: float
    n_proposals: int
    log_bound: float
    method: str


class FactorSource(NamedTuple):
    """What draws of a box of one factor take: x = offset + back @ w, with w drawn, or x = w."""

    box: FactorBox
    placing: Placing
    hull: Hull
    top: float  # h where it is highest
    log_bound: float
    offset: NDArray[Any] | None
    back: NDArray[Any] | None


def factor_source(form: BoxForm, factor: OneFactor) -> FactorSource:
    """Return what draws take of a box form of one factor, its coordinates without ends among it.

    Those are normal given the others: numbers without ends are drawn beside these, and mixed.
    """
    y, d = form.bounded, form.mean.size
    box, placing, offset, back = factor.box, factor.placing, form.offset, form.back
    if free := d - y.size:
        if back is None:
            values, vectors = np.linalg.eigh(form.rest)
            root = vectors[:, y.size :] * np.sqrt(np.maximum(values[y.size :], 0.0))
            root[y] = 0.0
            back = np.hstack([form.gain, root])
            offset = form.mean - form.gain @ form.mean[y]
        box, placing = _with_free(box, placing, y, free)
    if factor.frame is None:
        nothing = np.empty(0)
        hull = Hull(nothing, nothing, nothing, np.empty((0, 8)), np.empty(0, np.int64))
        return FactorSource(box, placing, hull, 0.0, probability_of_factor(factor)[0], offset, back)
    room = np.empty((11, TANGENTS))
    table, guide = room[3:].reshape(TANGENTS, 8), np.empty(tangents.GUIDES, np.int64)
    hull = Hull(room[0], room[1], room[2], table, guide)
    count, top, area = tangents.cover(box, hull)
    hull = Hull(room[0, :count], room[1, :count], room[2, :count], table[:count], guide)
    log_bound = top + math.log(area) - 0.5 * math.log(2 * math.pi)
    return FactorSource(box, placing, hull, top, log_bound, offset, back)


def _with_free(
    box: FactorBox, placing: Placing, y: NDArray[Any], free: int
) -> tuple[FactorBox, Placing]:
    """Put standard normals without ends behind the coordinates y that have noise."""
    n, place = box.low.size, np.searchsorted(y, placing.place)
    zero, infinite = np.zeros(free), np.full(free, np.inf)
    new = (zero, zero, zero + 1.0, -infinite, infinite, y.size + np.arange(free))
    old = placing._replace(place=place)
    parts = (np.concatenate([a[:n], b, a[n:]]) for a, b in zip(old, new, strict=True))
    low, high = np.append(box.low, -infinite), np.append(box.high, infinite)
    wider = box._replace(low=low, high=high, slope=np.append(box.slope, zero))
    return wider, Placing(*parts)


def through_factor(source: FactorSource, count: int, seed: int) -> tuple[NDArray[Any], DrawInfo]:
    """Return so many draws, (count, d), and how they were had."""
    box, placing, hull, top, bound, offset, back = source
    k, blocks = placing.mean.size, -(-count // ROW)
    draws, proposals = np.empty((blocks * ROW, k)), np.empty(blocks, np.int64)
    most = max(1, NUMBERS // (ROW * k))
    for first in range(0, blocks, most):
        stop = min(first + most, blocks)
        part = draws[first * ROW : stop * ROW]
        with computing(part.size * 2 * UNIT):
            factor_draws.draw(
                box, placing, hull, top, np.uint64(seed), first, part, proposals[first:stop]
            )
    draws, made = draws[:count], int(proposals.sum())
    if back is not None:
        draws = draws @ back.T + offset
    rate = blocks * ROW / made if made else float("nan")
    return draws, DrawInfo(rate, made, bound, "factor")


def accepted(
    form: BoxForm, tilted: Tilting, count: int, seed: int
) -> tuple[NDArray[Any], DrawInfo]:
    """Return so many draws, (count, d), and how they were had.

    Raises
    ------
    RuntimeError
        If fewer than 1e-5 of the proposals are accepted.
    """
    proposal, bound, rounding = tilted
    if not rounding <= COARSE:
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
                "cov is too near to singular for its saddle point; "
                "tf.distributions.truncmvn_gibbs draws chains"
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
                "accepted; tf.distributions.truncmvn_gibbs and truncmvn_hmc draw Markov chains "
                "instead"
            )
    rate = weights / (first * ROW) if first else float("nan")
    if form.back is not None:
        draws = draws @ form.back.T + form.offset
    return draws, DrawInfo(rate, first * ROW, bound, "tilting")
