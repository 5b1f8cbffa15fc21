"""Integrals of exp(r'h - h'Ph / 2) over boxes of up to three dimensions, to rounding.

One coordinate is integrated in closed form (the log-normaliser of a TruG unit, for any real
P_jj), the others by panels (panels.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import trug_units
from trug_fast.units.kinds import hidden_alone, log_norms

from .panels import Panels, converged, first_edges

BEYOND = 40.0  # standard deviations after which an infinite interval may end: exp(-800)

Array = NDArray[Any]


class Box(NamedTuple):
    """The exponent linear.h - h'form h / 2 and the box that h lies in."""

    form: Array  # (units, units)
    linear: Array  # (units,)
    lower: Array  # (units,)
    upper: Array  # (units,)

    def at(self, unit: int, value: float) -> tuple[Box, float]:
        """Return the box of the other units where one is held, and what that adds."""
        rest = np.delete(np.arange(len(self.linear)), unit)
        linear = self.linear[rest] - self.form[rest, unit] * value
        own = self.linear[unit] * value - 0.5 * self.form[unit, unit] * value**2
        form = self.form[np.ix_(rest, rest)]
        return Box(form, linear, self.lower[rest], self.upper[rest]), float(own)


class BoxMoments(NamedTuple):
    """The log of an integral, and the first two moments of its density."""

    log_total: float
    mean: Array  # (units,)
    second: Array  # (units, units), E[h h']


def moments(box: Box) -> BoxMoments:
    """Return the log of the integral over a box, and its density's moments."""
    if len(box.linear) == 0:
        return BoxMoments(0.0, np.zeros(0), np.zeros((0, 0)))
    whole, inner = _finite(box), _steepest(box)
    axes = [_edges(whole, k) for k in range(len(box.linear)) if k != inner]
    grid = converged(lambda finer: _HiddenGrid(box, inner, finer), axes, "hidden")
    return grid.moments()


def end_log_density(box: Box, unit: int, value: float, log_total: float) -> float:
    """Return the log of a unit's marginal density at an end of its interval."""
    rest, own = box.at(unit, value)
    return own + moments(rest).log_total - log_total


class _HiddenGrid(Panels):
    """Panels along all axes but the inner one, and the density at their nodes."""

    def __init__(self, box: Box, inner: int, axes: list[Array]) -> None:
        super().__init__(axes)
        self._box, self._inner = box, inner
        self._rest = np.delete(np.arange(len(box.linear)), inner)
        self.curvature = box.form.diagonal()[self._rest]
        rest, h = box.form[np.ix_(self._rest, self._rest)], self.points
        exponent = h @ box.linear[self._rest] - 0.5 * ((h @ rest) * h).sum(axis=1)
        log_norm, self._mean, self._variance = _unit(box, inner, self._rest, h)
        self.log_density = (exponent + log_norm).reshape(self.shape)
        self.scale = 1.0 + float(np.abs(exponent).max() + np.abs(log_norm).max())
        self.log_total = log_sum_exp((self.log_density + self.log_weights).ravel())

    def moments(self) -> BoxMoments:
        """Return the integral's logarithm and the moments."""
        units, rest, inner = len(self._box.linear), self._rest, self._inner
        share = np.exp((self.log_density + self.log_weights).ravel() - self.log_total)
        share /= share.sum()  # 1 but for rounding, which grows with the exponents
        mean, second = np.zeros(units), np.zeros((units, units))
        mean[rest], mean[inner] = share @ self.points, share @ self._mean
        weighted = self.points * share[:, None]
        second[np.ix_(rest, rest)] = self.points.T @ weighted
        second[rest, inner] = second[inner, rest] = self._mean @ weighted
        second[inner, inner] = share @ (self._variance + self._mean**2)
        return BoxMoments(self.log_total, mean, second)


def _unit(box: Box, inner: int, rest: Array, points: Array) -> tuple[Array, Array, Array]:
    """Return log-normaliser, mean and variance of the inner unit given the others."""
    # As a hidden layer of one unit whose visible units are the others.
    rows = np.ascontiguousarray(points) if len(rest) else np.zeros((len(points), 1))
    weights = -box.form[rest, inner][:, None] if len(rest) else np.zeros((1, 1))
    own = (np.array([v]) for v in (box.form[inner, inner], box.lower[inner], box.upper[inner]))
    layers = hidden_alone(weights, box.linear[[inner]], trug_units(*own))
    with computing(work(len(rows), weights.shape[0], 1)):
        found = gibbs.hidden_moments(layers, rows)
        log_norm = log_norms(layers, rows)
    return log_norm, found.mean[:, 0], found.variance[:, 0]


def _edges(box: Box, unit: int) -> Array:
    """Return panels of one axis, shrinking towards both ends down to the scale of the slopes."""
    farthest = np.maximum(np.abs(box.lower), np.abs(box.upper))
    slope = abs(box.linear[unit]) + np.abs(box.form[unit]) @ farthest
    return first_edges(box.lower[unit], box.upper[unit], slope)


def _steepest(box: Box) -> int:
    """Return the coordinate to integrate in closed form: an infinite one, or the most rugged."""
    width = box.upper - box.lower
    return int(np.argmax(np.where(np.isinf(width), np.inf, np.abs(np.diag(box.form)) * width**2)))


def _finite(box: Box) -> Box:
    """Return a box with finite ends that holds all but exp(-800) of the mass."""
    loose = np.isinf(box.lower) | np.isinf(box.upper)
    if not loose.any() or len(box.linear) == 1:
        return box
    smallest = float(np.linalg.eigvalsh(box.form)[0])
    if smallest <= 0:
        raise ValueError("exact results with infinite ends need a positive definite form")
    # |h - P^-1 r| < BEYOND / sqrt(smallest), where the unconstrained mode may lie far outside.
    mode = np.linalg.solve(box.form, box.linear)
    nearest = np.clip(mode, box.lower, box.upper)
    reach = float(np.linalg.norm(nearest - mode)) + BEYOND / np.sqrt(smallest)
    return box._replace(
        lower=np.where(np.isfinite(box.lower), box.lower, mode - reach),
        upper=np.where(np.isfinite(box.upper), box.upper, mode + reach),
    )
