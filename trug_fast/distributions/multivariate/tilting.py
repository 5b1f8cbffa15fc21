"""Minimax tilting (Botev, JRSS B 79, 2017): order of coordinates, factor, and saddle point.

Tested in tests/distributions/multivariate/test_tilting.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast.kernels.multivariate.sequential import Proposal, cut_moments

STEPS, HALVINGS = 500, 40
CLOSE = 1e-10  # of the gradient over the numbers that it is the sum of


class Tilting(NamedTuple):
    """A proposal for a cut normal vector, and the log of a bound on the box's probability."""

    proposal: Proposal
    bound: float  # psi at the saddle point: log P <= bound, and psi <= bound everywhere


def tilting(
    mean: NDArray[Any], cov: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]
) -> Tilting:
    """Return the proposal of a normal vector cut to a box."""
    order, factor = ordered_factor(cov, lower - mean, upper - mean)
    diag = np.diagonal(factor).copy()
    strict = np.tril(factor / diag[:, None], -1)
    low, high = (lower - mean)[order] / diag, (upper - mean)[order] / diag
    tilt, bound = saddle_point(strict, low, high)
    proposal = Proposal(
        strict, low, high, tilt, diag, mean[order], lower[order], upper[order], order
    )
    return Tilting(proposal, bound)


def standard_moments(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Return log mass, mean and variance of standard normals cut to intervals, as rows."""
    out = np.empty((3, lower.size))
    cut_moments(lower, upper, *out)
    return out


def ordered_factor(
    cov: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return an order of the coordinates, and the factor of the covariance in that order.

    The next coordinate is always the one least likely to lie between its ends, given the means of
    those before (Gibson, Glasbey and Elston, 1994); so those without ends come last.
    """
    d = cov.shape[0]
    order = np.arange(d)
    cov, lower, upper = cov.copy(), lower.copy(), upper.copy()
    factor, means = np.zeros((d, d)), np.zeros(d)
    for k in range(d):
        variance = np.diagonal(cov)[k:] - (factor[k:, :k] ** 2).sum(1)
        scale = np.sqrt(np.maximum(variance, np.finfo(float).tiny))
        shift = factor[k:, :k] @ means[:k]
        low, high = (lower[k:] - shift) / scale, (upper[k:] - shift) / scale
        log_mass, mean, _ = standard_moments(low, high)
        i = int(np.argmin(log_mass))
        swap, back = [k, k + i], [k + i, k]
        cov[swap], factor[swap] = cov[back], factor[back]
        cov[:, swap] = cov[:, back]
        for vector in (order, lower, upper):
            vector[swap] = vector[back]
        scale[[0, i]] = scale[[i, 0]]
        factor[k, k] = scale[0]
        factor[k + 1 :, k] = (cov[k + 1 :, k] - factor[k + 1 :, :k] @ factor[k, :k]) / scale[0]
        means[k] = mean[i]
    return order, factor


def saddle_point(
    factor: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]
) -> tuple[NDArray[Any], float]:
    """Return the tilt that makes the highest psi lowest, and that psi (mathematics 1.15).

    psi is concave in the point and convex in the tilt, so Newton's direction lowers the length of
    the gradient; steps are halved until they do.
    """
    bounded = np.isfinite(lower) | np.isfinite(upper)
    d, m = lower.size, int(bounded.sum())  # the first m: see ordered_factor
    tilt = np.zeros(d)
    if m == 0:
        return tilt, 0.0
    state = _State(factor[:m, :m], lower[:m], upper[:m], np.zeros(m), np.zeros(m))
    for _ in range(STEPS):
        if state.close() or not (improved := state.improved()):
            break
        state = improved
    tilt[:m] = state.tilt
    return tilt, state.psi()


class _State:
    """A point and a tilt, whose last numbers stay 0, with the gradient there."""

    def __init__(
        self,
        factor: NDArray[Any],
        lower: NDArray[Any],
        upper: NDArray[Any],
        point: NDArray[Any],
        tilt: NDArray[Any],
    ) -> None:
        self.factor, self.lower, self.upper, self.point, self.tilt = (
            factor,
            lower,
            upper,
            point,
            tilt,
        )
        start = factor @ point + tilt
        self.log_mass, self.mean, self.variance = standard_moments(lower - start, upper - start)
        self.by_point = (factor.T @ self.mean - tilt)[:-1]
        self.by_tilt = (tilt - point + self.mean)[:-1]
        self.length = float(self.by_point @ self.by_point + self.by_tilt @ self.by_tilt)

    def psi(self) -> float:
        return float((self.log_mass + self.tilt * (0.5 * self.tilt - self.point)).sum())

    def close(self) -> bool:
        """Tell whether the gradient is nothing but rounding."""
        scale = 1.0 + np.abs(self.tilt).max() + np.abs(self.point).max()
        return bool(self.length <= (CLOSE * scale) ** 2)

    def improved(self) -> _State | None:
        """Return the state after Newton's step, or a part of it, that shortens the gradient."""
        lost, n = 1.0 - self.variance, self.lower.size - 1
        moved = lost[:, None] * self.factor[:, :n]
        slope = moved[:n] + np.eye(n)
        inverse = 1.0 / self.variance[:n]
        matrix = self.factor[:, :n].T @ moved + slope.T @ (inverse[:, None] * slope)
        right = self.by_point + slope.T @ (inverse * self.by_tilt)
        point = np.zeros(n + 1)
        tilt = np.zeros(n + 1)
        point[:n] = np.linalg.solve(matrix, right)
        tilt[:n] = inverse * (slope @ point[:n] - self.by_tilt)
        share = 1.0
        for _ in range(HALVINGS):
            new = _State(
                self.factor,
                self.lower,
                self.upper,
                self.point + share * point,
                self.tilt + share * tilt,
            )
            if new.length < self.length:
                return new
            share *= 0.5
        return None
