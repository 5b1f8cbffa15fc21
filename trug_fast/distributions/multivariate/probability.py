"""Probabilities of boxes, moments and marginals: over one factor, else by quasi-random points.

Tested in tests/distributions/multivariate/test_probability.py and test_moments.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import UNIT, computing
from trug_fast.kernels.multivariate import sequential
from trug_fast.kernels.multivariate.sequential import Proposal
from trug_fast.kernels.unit.quantile_rows import ROW

from .checking import CutNormal
from .one_factor import OneFactor, moments_of_factor, one_factor, probability_of_factor
from .reduction import BoxForm, box_form
from .tilting import EPSILON, Tilting, bound_holds, standard_moments, tilting

LEAST_REPLICATES = 9  # random scramblings; up to twice as many less one
WEIGHING = 3e-12  # of a coordinate's mass in psi, see sequential.py
NUMBERS = 4_000_000  # of points that are weighed at once


class BoxProbability(NamedTuple):
    """Log of a probability, with its doubt.

    Attributes
    ----------
    log : float
        Log of the probability.
    relative_error : float
        Error of the probability over itself, which is that of ``log``: three times it is exceeded
        once in 370 times.  By ``"factor"``, what rounding and quadrature may leave.  inf where no
        point has found the box, whose ``log`` is then -inf.
    log_bound : float
        Log of a number that the probability does not exceed; inf where rounding kept it from being
        found.
    n_points : int
        Points that it was estimated from; 0 by ``"factor"``.
    method : str
        ``"factor"``, an integral over one factor, or ``"tilting"``, an average over points.
    """

    log: float
    relative_error: float
    log_bound: float
    n_points: int
    method: str

    def __repr__(self) -> str:
        """Return the numbers with the digits that are known."""
        log = f"{self.log:.15g}"
        if 0.0 < self.relative_error < np.inf:  # to the second digit of the error
            digits = 1 - int(np.floor(np.log10(self.relative_error)))
            log = f"{self.log:.{digits}f}" if 0 <= digits < 12 else log
        return (
            f"BoxProbability(log={log}, relative_error={self.relative_error:.2g}, "
            f"log_bound={self.log_bound:.6g}, n_points={self.n_points}, "
            f"method={self.method!r})"
        )


class WeighedPoints(NamedTuple):
    """Points in replicates that are estimates of their own."""

    log_weights: NDArray[Any]  # (replicates, n) psi
    points: NDArray[Any]  # (replicates, n, m), or of no length


def head(tilted: Tilting, m: int) -> Tilting:
    """Return the proposal of the first m coordinates alone."""
    p = tilted.proposal
    vectors = {name: np.ascontiguousarray(getattr(p, name)[:m]) for name in p._fields}
    vectors["factor"] = np.ascontiguousarray(p.factor[:m, :m])
    vectors["place"] = np.argsort(np.argsort(vectors["place"]))
    return Tilting(Proposal(**vectors), tilted.bound, tilted.rounding)


def by_factor(factor: OneFactor) -> BoxProbability:
    """Return the log of the probability of a box of one factor."""
    log, error = probability_of_factor(factor)
    return BoxProbability(log, error, min(log + 3 * error, 0.0), 0, "factor")


def by_points(tilted: Tilting, m: int, n_points: int, seed: int) -> BoxProbability:
    """Return the log of the probability of the box, of which the first m coordinates have ends."""
    bound = tilted.bound
    if m == 0:
        return BoxProbability(0.0, 0.0, 0.0, 0, "tilting")
    proposal = head(tilted, m).proposal
    rounding = 4 * (EPSILON + tilted.rounding)
    if m == 1:
        log = float(standard_moments(proposal.lower, proposal.upper)[0, 0])
        return BoxProbability(log, rounding, log, 0, "tilting")
    weighed = weighed_points(proposal, n_points, seed, with_points=False)
    highest = float(weighed.log_weights.max())
    if not np.isfinite(highest):  # no point has found the box: near to singular, and far out
        size = int(weighed.log_weights.size)
        return BoxProbability(float("-inf"), float("inf"), float("inf"), size, "tilting")
    relative = np.exp(weighed.log_weights - highest).mean(1)
    mean = float(relative.mean())
    error = spread_factor(relative.size) * float(relative.std(ddof=1)) / mean
    log = highest + float(np.log(mean))
    error = float(np.hypot(error, rounding + WEIGHING * m))
    bound = max(bound, log) if bound_holds(tilted, highest) else float("inf")
    return BoxProbability(log, error, bound, int(weighed.log_weights.size), "tilting")


def spread_factor(replicates: int) -> float:
    """Return what turns the deviation of replicates into the error of their average.

    Student's factor at three standard errors, over three: so few replicates know their deviation to
    a fifth, and three errors are exceeded once in 370 times nevertheless.
    """
    from scipy.special import ndtr, stdtrit

    return float(stdtrit(replicates - 1, ndtr(3.0)) / 3.0 / np.sqrt(replicates))


def replicates_of(n_points: int) -> tuple[int, int]:
    """Return how many scramblings of how many points, a power of two, are at most n_points."""
    each = 1 << max(0, (n_points // LEAST_REPLICATES).bit_length() - 1)
    return max(n_points // each, 2), each


def weighed_points(
    proposal: Proposal, n_points: int, seed: int, *, with_points: bool
) -> WeighedPoints:
    """Return tilted points of the box and psi there, from scrambled Sobol' points.

    They are taken in pieces, between which Ctrl-C is heard.
    """
    m = proposal.tilt.size
    replicates, each = replicates_of(n_points)
    used = m if with_points else m - 1  # what weighs the last coordinate needs no draw of it
    n = replicates * each
    log_weights, points = np.empty(n), np.empty((n if with_points else 0, m))
    width = min(each, 1 << max(NUMBERS // m, ROW).bit_length() - 1)  # points of a piece
    sources = np.random.SeedSequence(seed).spawn(replicates)
    pieces = (piece for source in sources for piece in _scrambled(used, each, width, source))
    done, together = 0, max(1, NUMBERS // (m * width))
    while batch := list(islice(pieces, together)):
        count = width * len(batch)
        uniform = np.full((m, -(-count // ROW) * ROW), 0.5)
        uniform[:used, :count] = np.concatenate(batch).T
        found = np.empty(uniform.shape[1])
        places = np.empty((found.size if with_points else 0, m))
        with computing(uniform.size * (0.5 * m + 2 * UNIT)):
            sequential.weigh(proposal, uniform, found, places)
        log_weights[done : done + count] = found[:count]
        points[done : done + count] = places[:count]
        done += count
    shaped = points.reshape(replicates, each, m) if with_points else points[None]
    return WeighedPoints(log_weights.reshape(replicates, each), shaped)


def _scrambled(
    dimensions: int, n: int, width: int, source: np.random.SeedSequence
) -> Iterator[NDArray[Any]]:
    """Yield the n points of a scrambling, so many at a time."""
    from scipy.stats import qmc  # 0.3 s to import

    generator = np.random.default_rng(source)
    if dimensions > qmc.Sobol.MAXDIM:
        for _ in range(0, n, width):
            yield generator.random((width, dimensions)) * (1 - 2.0**-52) + 2.0**-53
        return
    bits = 30
    sobol = qmc.Sobol(dimensions, scramble=True, bits=bits, seed=generator)
    for _ in range(0, n, width):
        points: NDArray[Any] = sobol.random(width) + 0.5 ** (bits + 1)
        yield points  # in the middle of cells: never 0


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
