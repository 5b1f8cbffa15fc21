"""Log Z along a ladder, with errors that count what columns have in common (mathematics 3.8).

Tested in tests/evaluation/ladder/test_ladder.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast.evaluation.partition.log_weights import bennett

from .climbing import Gains

Floats = NDArray[np.float64]


class Step(NamedTuple):
    """The log-ratio of two partition functions."""

    log_ratio: float
    shares: Floats  # (columns,) of its error: what each column adds to it, of mean 0
    overlap: float  # of the two distributions, from 0 to 1


def between(gains: Gains) -> Step:
    """Return log Z_upper - log Z_lower by Bennett's acceptance ratio of draws of both."""
    from scipy.special import expit

    found = bennett(gains.forward.ravel(), gains.reverse.ravel())
    forward = expit(gains.forward - found.log_z)
    reverse = expit(found.log_z - gains.reverse)
    slope = (forward * (1 - forward)).sum() + (reverse * (1 - reverse)).sum()
    shares = (forward.sum(axis=0) - reverse.sum(axis=0)) / max(slope, 1e-300)
    return Step(found.log_z, shares, found.overlap / gains.forward.size)


def beyond(gain: Floats) -> Step:
    """Return the log-ratio of a model and the last rung, by gains at draws of that rung alone.

    gain : (draws, columns)
    """
    log_ratio = float(log_sum_exp(gain.ravel()) - np.log(gain.size))
    weight = np.exp(gain - log_ratio) / gain.size
    effective = float(weight.sum() ** 2 / (weight**2).sum() / gain.size)
    return Step(log_ratio, weight.sum(axis=0) - 1 / gain.shape[1], effective)


def standard_error(shares: Floats) -> float:
    """Return the standard error that independent columns' shares make."""
    columns = shares.size
    return float(np.sqrt((shares**2).sum() * columns / max(columns - 1, 1)))
