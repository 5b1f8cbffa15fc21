"""Densities of single coordinates of cut normal vectors.

Tested in tests/distributions/multivariate/test_family.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checking import CutNormal
from .moments import Estimate
from .one_factor import one_factor
from .probability import BoxProbability, by_factor, by_points
from .reduction import BoxForm, box_form
from .tilting import tilting


def marginal_log_density(
    cut: CutNormal,
    index: int,
    x: NDArray[Any],
    whole: BoxProbability,
    tolerance: float | None,
    n_points: int,
    seed: int,
) -> Estimate:
    """Return log of the density of one coordinate at points, and its error.

    It is that of the normal there times the probability of the rest given it, over that of all.
    Where that is of one factor, the rest is, too, to a ``tolerance``; None: by points.
    """
    value, error = np.full(x.shape, -np.inf), np.zeros(x.shape)
    variance = cut.cov[index, index]
    for place in np.ndindex(x.shape):
        if np.isnan(x[place]):
            value[place] = error[place] = np.nan
            continue
        away = float(x[place]) - cut.mean[index]
        with np.errstate(over="ignore"):
            square = away * away / variance
        if np.isinf(square):
            continue
        rest = _given(cut, index, float(x[place]))
        if rest is None:
            continue
        log, doubt = 0.0, 0.0
        if rest.dimension:
            found = _probability(box_form(rest), tolerance, n_points, seed)
            log, doubt = found.log, found.relative_error
        log -= 0.5 * (square + np.log(2 * np.pi * variance))
        value[place] = log - whole.log
        error[place] = np.hypot(doubt, whole.relative_error)
    return Estimate(value, error)


def _probability(
    form: BoxForm, tolerance: float | None, n_points: int, seed: int
) -> BoxProbability:
    factor = one_factor(form, tolerance)
    if factor is not None:
        return by_factor(factor)
    tilted = tilting(form.mean, form.cov, form.lower, form.upper)
    return by_points(tilted, form.bounded.size, n_points, seed)


def _given(cut: CutNormal, index: int, value: float) -> CutNormal | None:
    """Return the other coordinates given one, cut; None where that one is outside."""
    rest = np.arange(cut.dimension) != index
    slope = cut.cov[rest, index] / cut.cov[index, index]
    mean = cut.mean[rest] + slope * (value - cut.mean[index])
    cov = cut.cov[np.ix_(rest, rest)] - np.outer(slope, cut.cov[index, rest])
    if cut.A is None:
        if not cut.lower[index] <= value <= cut.upper[index]:
            return None
        return CutNormal(mean, cov, cut.lower[rest], cut.upper[rest], None, cut.dtype)
    A, moved = cut.A[:, rest], cut.A[:, index] * value
    lower, upper = cut.lower - moved, cut.upper - moved
    alone = ~(A != 0).any(1)  # constraints on that one coordinate
    if ((lower[alone] > 0) | (upper[alone] < 0)).any():
        return None
    return CutNormal(mean, cov, lower[~alone], upper[~alone], A[~alone], cut.dtype)
