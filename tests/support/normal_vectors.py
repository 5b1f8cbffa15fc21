"""Exact moments of truncated normal vectors, by quadrature, for tests of their draws."""

import numpy as np
from scipy import special
from scipy.interpolate import CubicHermiteSpline

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def log_mass(low, high):
    """Return log P(low < z < high) of a standard normal, well out in the tails."""
    flip = low + high > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    first, second = special.log_ndtr(low), special.log_ndtr(high)
    return second + np.log1p(-np.exp(first - second))


class Pair:
    """A normal pair of means 0, variances 1 and a correlation, cut to a box.

    The density of x1 is the normal's times the mass that x2 has given it; 200 nodes on the part of
    the interval that has any mass.
    """

    def __init__(self, correlation, lower, upper, place=0):
        low, high = lower[place], upper[place]
        self.nodes = self._nodes(low, high, correlation, lower[1 - place], upper[1 - place])

    def _nodes(self, low, high, correlation, other_low, other_high):
        spread = np.sqrt(1 - correlation**2)

        def log_density(x):
            ends = (other_low - correlation * x) / spread, (other_high - correlation * x) / spread
            return -0.5 * x * x + log_mass(*ends)

        grid = np.linspace(max(low, -200.0), min(high, 200.0), 40_001)
        heights = log_density(grid)
        seen = grid[heights > heights.max() - 60]
        start, stop = seen[0] - 1e-2, seen[-1] + 1e-2
        self.start, self.stop = max(start, low), min(stop, high)
        x = 0.5 * (self.start + self.stop) + 0.5 * (self.stop - self.start) * NODES
        weights = WEIGHTS * np.exp(log_density(x) - heights.max())
        self.log_density = lambda x: log_density(x) - heights.max()
        self.total = weights.sum()
        return x, weights / self.total

    @property
    def mean(self):
        """Return E[x1]."""
        x, weights = self.nodes
        return (weights * x).sum()

    @property
    def std(self):
        """Return the standard deviation of x1."""
        x, weights = self.nodes
        return np.sqrt((weights * (x - self.mean) ** 2).sum())

    def cdf(self, values):
        """Return P(x1 <= value): integrals of the density between points of a grid."""
        grid = np.linspace(self.start, self.stop, 401)
        half = 0.5 * np.diff(grid)[:, None]
        nodes, weights = np.polynomial.legendre.leggauss(8)
        x = grid[:-1, None] + half * (1 + nodes)
        mass = (half * weights * np.exp(self.log_density(x))).sum(axis=1)
        total = np.concatenate([[0.0], np.cumsum(mass)])
        # Cubic between points: their derivatives are the density.
        slopes = np.exp(self.log_density(grid))
        return CubicHermiteSpline(grid, total, slopes)(values) / total[-1]


def one_factor(correlation, lower, upper):
    """Return mean and variance of coordinates all alike: x = root(c) f + root(1 - c) e, in a box.

    Given the factor f coordinates are independent truncated normals; of how many, ``lower`` says.
    """
    d = len(lower)
    root, spread = np.sqrt(correlation), np.sqrt(1 - correlation)
    f, step = np.linspace(-12, 12, 20_001, retstep=True)
    low, high = (lower[0] - root * f) / spread, (upper[0] - root * f) / spread
    log_one = log_mass(low, high)
    heights = -0.5 * f * f + d * log_one
    weights = np.exp(heights - heights.max())
    weights /= weights.sum()

    def density(end):
        return np.exp(-0.5 * end * end - log_one) / np.sqrt(2 * np.pi)

    at_low, at_high = density(low), density(high)
    mean = at_low - at_high
    finite_low, finite_high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
    second = 1 + finite_low * at_low - finite_high * at_high
    first_x = root * f + spread * mean
    second_x = (root * f) ** 2 + 2 * root * f * spread * mean + spread**2 * second
    first = (weights * first_x).sum()
    return first, (weights * second_x).sum() - first**2
