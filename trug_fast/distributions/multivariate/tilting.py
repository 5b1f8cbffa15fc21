"""Minimax tilting (Botev, JRSS B 79, 2017): order of coordinates, factor, and saddle point.

Tested in tests/distributions/multivariate/test_tilting.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast.kernels.multivariate import ordering
from trug_fast.kernels.multivariate.sequential import Proposal

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
    d = mean.size
    order, factor = np.empty(d, np.int64), np.empty((d, d))
    low, high = lower - mean, upper - mean
    ordering.ordered_factor(cov, low, high, order, factor)
    diag = np.diagonal(factor).copy()
    strict = np.tril(factor / diag[:, None], -1)
    low /= diag
    high /= diag
    tilt, bound = saddle_point(strict, low, high)
    proposal = Proposal(
        strict, low, high, tilt, diag, mean[order], lower[order], upper[order], order
    )
    return Tilting(proposal, bound)


def standard_moments(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Return log mass, mean and variance of standard normals cut to intervals, as rows."""
    out = np.empty((3, lower.size))
    ordering.cut_moments(lower, upper, *out)
    return out


def saddle_point(
    factor: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]
) -> tuple[NDArray[Any], float]:
    """Return the tilt that makes the highest psi lowest, and that psi (mathematics 1.15).

    psi is concave in the point and convex in the tilt, so Newton's direction lowers the length of
    the gradient; steps are halved until they do.
    """
    bounded = np.isfinite(lower) | np.isfinite(upper)
    d, m = lower.size, int(bounded.sum())  # the first m: see ordering.py
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
