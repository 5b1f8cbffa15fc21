"""Mean, covariance and marginals of cut normal vectors, by what gives their probabilities.

Tested in tests/distributions/multivariate/test_moments.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .checking import CutNormal
from .one_factor import OneFactor, one_factor
from .probability import BoxProbability, by_factor, by_points, head, spread_factor, weighed_points
from .quadrature import moments_of_factor
from .reduction import BoxForm, box_form
from .tilting import Tilting, tilting


class Estimate(NamedTuple):
    """Estimated numbers, each with its error.

    Attributes
    ----------
    value : numpy.ndarray
        Estimates.
    error : numpy.ndarray
        Their errors, of the same shape; three times one is exceeded once in 370 times.
    """

    value: NDArray[Any]
    error: NDArray[Any]


def moments_by_factor(
    form: BoxForm, factor: OneFactor, mean: NDArray[Any], cov: NDArray[Any]
) -> tuple[Estimate, Estimate]:
    """Return the mean and the covariance of x, by integrals over the factor."""
    if form.bounded.size == 0:
        return _untouched(mean, cov)
    y, gain = moments_of_factor(factor), form.gain
    rest, size = mean - gain @ form.mean[form.bounded], np.abs(gain)
    whole = form.rest + gain @ y.cov @ gain.T
    return (
        Estimate(rest + gain @ y.mean, size @ y.mean_error),
        Estimate(0.5 * (whole + whole.T), size @ y.cov_error @ size.T),
    )


def moments_by_points(
    form: BoxForm, tilted: Tilting, mean: NDArray[Any], cov: NDArray[Any], n_points: int, seed: int
) -> tuple[Estimate, Estimate]:
    """Return estimates of the mean and the covariance of x.

    Of the coordinates y that have ends they are weighed averages; x follows, being normal given y.
    """
    m = form.bounded.size
    if m == 0:
        return _untouched(mean, cov)
    weighed = weighed_points(head(tilted, m).proposal, n_points, seed, with_points=True)
    # Points about the centre of all: an average of squares far out would lose its digits.
    weights = np.exp(weighed.log_weights - weighed.log_weights.max())
    centre = np.average(weighed.points.reshape(-1, m), axis=0, weights=weights.ravel())
    away = weighed.points - centre
    share = weights / weights.sum(1, keepdims=True)
    first = np.einsum("rn,rnk->rk", share, away)
    second = (away * share[:, :, None]).transpose(0, 2, 1) @ away
    second = 0.5 * (second + second.transpose(0, 2, 1))
    inner = second - first[:, :, None] * first[:, None, :]
    # x of which y = E[x | y] nothing is left: its moments are those of y, to the last digit.
    rest = mean - form.gain @ form.mean[form.bounded]
    means = rest + (centre + first) @ form.gain.T
    covs = form.rest + form.gain @ inner @ form.gain.T
    total = weights.sum(1) / weights.sum()
    return _combined(means, total), _combined(covs, total)


def _untouched(mean: NDArray[Any], cov: NDArray[Any]) -> tuple[Estimate, Estimate]:
    return Estimate(mean, np.zeros_like(mean)), Estimate(cov, np.zeros_like(cov))


def _combined(replicates: NDArray[Any], total: NDArray[Any]) -> Estimate:
    """Return the average of replicates by their weights, and its error by their spread."""
    value = np.einsum("r,r...->...", total, replicates)
    away = np.einsum("r,r...->r...", total, replicates - value)
    n = replicates.shape[0]
    deviation = np.sqrt((away**2).sum(0) * n * n / (n - 1))
    return Estimate(value, spread_factor(n) * deviation)


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
