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
CLOSE = 1e-13  # of a step over the tilt
EPSILON = 2.3e-16


class Tilting(NamedTuple):
    """A proposal for a cut normal vector, and the log of a bound on the box's probability."""

    proposal: Proposal
    bound: float  # psi at the saddle point: log P <= bound, and psi <= bound everywhere
    rounding: float  # error of psi from the last digits of the ends


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
    tilt, bound, rounding = saddle_point(strict, low, high)
    proposal = Proposal(
        strict, low, high, tilt, diag, mean[order], lower[order], upper[order], order
    )
    return Tilting(proposal, bound, rounding)


def bound_holds(tilted: Tilting, psi: float) -> bool:
    """Tell whether psi is not above its bound, but for rounding."""
    return psi <= tilted.bound + 1e-8 + 8 * tilted.rounding


def standard_moments(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """Return log mass, mean and variance of standard normals cut to intervals, as rows."""
    out = np.empty((3, lower.size))
    ordering.standard_moments(lower, upper, *out)
    return out


def saddle_point(
    factor: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]
) -> tuple[NDArray[Any], float, float]:
    """Return the tilt that makes the highest psi lowest, that psi, and its rounding error.

    By Newton's method (mathematics 1.15).
    """
    bounded = np.isfinite(lower) | np.isfinite(upper)
    d, m = lower.size, int(bounded.sum())  # the first m: see ordering.py
    tilt = np.zeros(d)
    if m == 0:
        return tilt, 0.0, 0.0
    state = _State(np.ascontiguousarray(factor[:m, :m]), lower[:m], upper[:m], np.zeros(m))
    for _ in range(STEPS):
        improved = state.improved()
        if improved is None:
            break
        state = improved
    tilt[:m] = state.tilt
    return tilt, state.psi(), state.rounding()


class _State:
    """A tilt, whose last number stays 0, the means under it, and the slope of psi there."""

    def __init__(
        self,
        factor: NDArray[Any],
        lower: NDArray[Any],
        upper: NDArray[Any],
        tilt: NDArray[Any],
    ) -> None:
        self.factor, self.lower, self.upper, self.tilt = factor, lower, upper, tilt
        self.point, found = np.empty(tilt.size), np.empty((tilt.size, 4))
        ordering.mean_path(factor, lower, upper, tilt, self.point, found)
        self.origin, self.distance, self.variance, self.log_value = found.T
        self.mean = (self.origin - tilt) + self.distance
        self.slope = (factor.T @ self.mean - tilt)[:-1]

    def psi(self) -> float:
        # The last coordinate of the point counts for nothing: its tilt is 0.
        terms = self.log_value - self.tilt * self.distance - 0.5 * self.origin**2
        return float(terms.sum())

    def rounding(self) -> float:
        """Return how much psi changes with the last digits of ends, point and covariance.

        Derivatives by the mean are M / diag, half their products those by the covariance, and the
        error of S = L L' is that of the digits of |L| |L'| with L = diag (1 + factor).
        """
        ends = np.minimum(np.abs(self.lower), np.abs(self.upper))
        sums = ends + np.abs(self.factor) @ np.abs(self.point)
        widths = (sums + np.abs(self.tilt)) / (self.upper - self.lower)
        push = np.abs(self.mean)
        along = push + np.abs(self.factor).T @ push
        return EPSILON * float(push @ sums + 0.5 * along @ along + widths.sum())

    def improved(self) -> _State | None:
        """Return the state after Newton's step, or a part of it; None if there is nothing to gain.

        A part is taken where the step from there, by the same matrix, is shorter: the natural test
        of monotony.
        """
        n = self.lower.size - 1
        held = (1.0 - self.variance)[:, None] * self.factor
        moved = np.linalg.solve(np.eye(n + 1) + held, np.diag(self.variance))
        matrix = np.eye(n) - (self.factor.T @ (moved - np.eye(n + 1)))[:n, :n]
        inverse = np.linalg.inv(matrix)
        step = np.zeros(n + 1)
        step[:n] = inverse @ self.slope
        length = float(np.abs(step).max())
        share = 1.0
        if not length > CLOSE * (1.0 + float(np.abs(self.tilt).max())):
            return None
        for _ in range(HALVINGS):
            new = _State(self.factor, self.lower, self.upper, self.tilt + share * step)
            again = np.abs(inverse @ new.slope).max(initial=0.0)
            if new.variance.min() > 0 and again < length * (1.0 - 0.25 * share):
                return new
            share *= 0.5
        return None
