"""Exact results for small RBMs with Gaussian visible units, x integrated out (mathematics 4.1).

    log Z = sum_i [log(2 pi / a_i) + b_i^2 / a_i] / 2 + log integral of exp(r'h - h'Ph / 2),
    P = D - W'A^-1 W,  r = c + W'A^-1 b

The integral is a sum over all states of Bernoulli hidden units (whose D is 0), and one over a box
for up to three TruG units.  There one coordinate is integrated in closed form (the log-normaliser
of a TruG unit, for any real P_jj), the others by panels (panels.py), to rounding.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import trug_units
from trug_fast.models.rbm import RBM
from trug_fast.units.kinds import hidden_alone, log_norms

from .panels import Panels, converged, first_edges
from .states import MAX_UNITS, binary_states

BEYOND = 40.0  # standard deviations after which an infinite interval may end: exp(-800)
MAX_TRUG = 3

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


def log_partition(model: RBM) -> float:
    """Log of the integral of p*(x) over all real x."""
    of_visible = float(model.visible_units.log_norm(np.float64(1) * model.visible_bias))
    return of_visible + hidden_moments(model).log_total


def expectations(model: RBM) -> dict[str, Array]:
    """Return the expected derivative of log p*(x) by each parameter."""
    total, h, hh = hidden_moments(model)
    a, w, b = _visible(model)
    mean = (w @ h + b) / a
    # E[(Wh + b)^2] of each visible unit, from the moments of h.
    square = ((w @ hh) * w).sum(axis=1) + 2 * b * (w @ h) + b**2
    result = {
        "weights": (w @ hh + np.outer(b, h)) / a[:, None],
        "visible_bias": mean,
        "hidden_bias": h,
        "visible_precision": -0.5 * (1 / a + square / a**2),
    }
    if model.hidden_units.some("real"):
        at_ends = _end_densities(hidden_box(model), total)
        result |= {"precision": -0.5 * hh.diagonal(), "lower": -at_ends[0], "upper": at_ends[1]}
    return result


def hidden_box(model: RBM) -> Box:
    """Return the exponent of p*(h), and where h may be."""
    a, w, b = _visible(model)
    form, linear = -(w.T / a) @ w, model.hidden_bias + (w.T / a) @ b
    hidden = model.hidden_units
    precision, (lower, upper) = hidden.precision.astype(np.float64), hidden.ends.astype(np.float64)
    return Box(np.diag(precision) + form, linear, lower, upper)


def hidden_moments(model: RBM) -> BoxMoments:
    """Return the log of the sum or integral of p*(h), and the moments of h."""
    box, real = hidden_box(model), model.hidden_units.some("real")
    most, kind = (MAX_TRUG, "TruG") if real else (MAX_UNITS, "Bernoulli")
    if model.n_hidden > most:
        raise ValueError(
            f"exact results with Gaussian visible units need at most {most} {kind} hidden units, "
            f"got {model.n_hidden}; use log_partition"
        )
    if real:
        return moments(box)
    states = binary_states(model.n_hidden)
    log_p = states @ box.linear - 0.5 * ((states @ box.form) * states).sum(axis=1)
    total = log_sum_exp(log_p)
    share = np.exp(log_p - total)
    return BoxMoments(total, share @ states, states.T @ (states * share[:, None]))


def _visible(model: RBM) -> tuple[Array, Array, Array]:
    """Return a, W and b in float64."""
    assert model.visible_precision is not None
    one = np.float64(1)
    return one * model.visible_precision, one * model.weights, one * model.visible_bias


def _end_densities(box: Box, log_total: float) -> Array:
    """Return the densities of the hidden units at lower and at upper ends, (2, hidden)."""
    result = np.zeros((2, len(box.linear)))
    for side, ends in enumerate((box.lower, box.upper)):
        for unit in np.flatnonzero(np.isfinite(ends)):
            density = end_log_density(box, int(unit), float(ends[unit]), log_total)
            result[side, unit] = np.exp(density)
    return result
