"""Mixtures of normals in equal parts: densities, quantiles, scores (mathematics 5.7).

Means and deviations have the parts of the mixture along their first axis; the rest broadcasts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_mean_exp

Floats = NDArray[np.float64]

LOG_TWO_PI = float(np.log(2 * np.pi))
EPSILON = float(np.finfo(np.float64).eps)
MOST = 300  # steps of a root; 15 are usual, and bisection alone would take 60 to 110


class Mixture(NamedTuple):
    """A mixture of normals in equal parts for each entry of ``mean[0]``."""

    mean: Floats  # (parts, ...)
    deviation: Floats  # of the same shape, above 0

    def moments(self) -> tuple[Floats, Floats]:
        """Return mean and standard deviation, (...)."""
        if len(self.mean) == 1:
            return self.mean[0], self.deviation[0]
        mean = self.mean.mean(axis=0)
        variance = (self.deviation**2).mean(axis=0) + ((self.mean - mean) ** 2).mean(axis=0)
        return mean, np.sqrt(variance)

    def log_density(self, y: Floats) -> Floats:
        """Return the log-density at y, (...)."""
        z = (y - self.mean) / self.deviation
        return log_mean_exp(-0.5 * (z * z + LOG_TWO_PI) - np.log(self.deviation))

    def cdf(self, y: Floats) -> Floats:
        """Return the probability of values below y, (...)."""
        from scipy.special import ndtr  # here, since its import takes a while

        return np.asarray(ndtr((y - self.mean) / self.deviation).mean(axis=0))

    def above(self, y: Floats | float) -> Floats:
        """Return the probability of values above y, (...), exact where it is small."""
        from scipy.special import ndtr

        return np.asarray(ndtr((self.mean - y) / self.deviation).mean(axis=0))

    def quantile(self, q: float) -> Floats:
        """Return the value that lies above a share q of the mixture, (...).

        The root of cdf(y) = q, between the least and the largest quantile of the parts.  Newton's
        steps where they stay between the bounds and at least halve; else the bounds are halved.
        """
        from scipy.special import ndtri

        each = self.mean + self.deviation * ndtri(q)
        low, high = each.min(axis=0), each.max(axis=0)
        grain = EPSILON * self.deviation.min(axis=0)
        y = 0.5 * (low + high)
        last = high - low
        for _ in range(MOST):
            gap, slope = self._excess(y, q)
            low, high = np.where(gap <= 0, y, low), np.where(gap >= 0, y, high)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = gap / slope
            there = abs(step) <= np.maximum(EPSILON * abs(y), grain)
            newton = (y - step > low) & (y - step < high) & (abs(step) <= 0.5 * last)
            moved = np.where(newton, y - step, 0.5 * (low + high))
            moved = np.where(there, y, moved)
            if (moved == y).all():
                break
            last, y = abs(moved - y), moved
        return np.asarray(y)

    def _excess(self, y: Floats, q: float) -> tuple[Floats, Floats]:
        """Return cdf(y) - q and the density.

        Parts count by their smaller tail: where all are far from y, what is near to 1 cancels
        exactly.
        """
        from scipy.special import ndtr

        z = (y - self.mean) / self.deviation
        tails = ndtr(-abs(z))
        above = z > 0
        gap = np.where(above, -tails, tails).mean(axis=0) + (above.mean(axis=0) - q)
        density = np.exp(-0.5 * (z * z + LOG_TWO_PI)) / self.deviation
        return gap, density.mean(axis=0)

    def crps(self, y: Floats) -> Floats:
        """Return the continuous ranked probability score at y, (...): the lower, the better.

        The integral over t of (cdf(t) - [y <= t])^2, in closed form (Grimit and others, 2006).
        """
        total = _mean_distance(y - self.mean, self.deviation).mean(axis=0)
        for mean, deviation in zip(self.mean, self.deviation, strict=True):
            apart = _mean_distance(self.mean - mean, np.hypot(self.deviation, deviation))
            total = total - 0.5 * apart.mean(axis=0) / len(self.mean)
        return np.asarray(total)


def _mean_distance(mean: Floats, deviation: Floats) -> Floats:
    """Return the mean of the absolute value of a normal."""
    from scipy.special import erf

    z = mean / deviation
    density = np.exp(-0.5 * (z * z + LOG_TWO_PI))
    return np.asarray(2 * deviation * density + mean * erf(z / np.sqrt(2.0)))
