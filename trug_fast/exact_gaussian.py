"""Exact results for small machines with Gaussian visible units, x integrated out (math.md 4.1).

    log Z = sum_i [log(2 pi / a_i) + b_i^2 / a_i] / 2 + log integral of exp(r'h - h'Ph / 2),
    P = D - W'A^-1 W,  r = c + W'A^-1 b

The integral is a sum over all states of Bernoulli hidden units (whose D is 0), and one over a grid
(Gauss-Legendre) for up to three TruG units.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .numerics import log_sum_exp
from .rbm import RBM, TruGRBM

MAX_STATES = 22  # Bernoulli hidden units: 4 million states
MAX_HIDDEN = 3
PANELS, NODES = 8, 16  # of each dimension's grid
BEYOND = 40.0  # standard deviations after which an infinite interval may end: exp(-800)

Array = NDArray[Any]


class _Grid(NamedTuple):
    """Points and log-weights of an integral, or a sum, over the hidden units."""

    points: Array  # (points, hidden)
    log_weights: Array  # (points,)


class _Form(NamedTuple):
    """The exponent of p*(h): linear.h - h'form h / 2."""

    form: Array
    linear: Array

    def log_terms(self, grid: _Grid) -> Array:
        """Return the logs of the terms of the integral."""
        h = grid.points
        return np.asarray(
            grid.log_weights + h @ self.linear - 0.5 * ((h @ self.form) * h).sum(axis=1)
        )


def binary_states(units: int) -> Array:
    """Return all 2**units states; row k has unit i = bit i of k."""
    return ((np.arange(2**units)[:, None] >> np.arange(units)) & 1).astype(np.float64)


def log_partition(model: RBM) -> float:
    """Log of the integral of p*(x) over all real x."""
    form = _form(model)
    of_visible = float(model.visible_units.log_norm(np.float64(1) * model.visible_bias))
    return of_visible + log_sum_exp(form.log_terms(_grid(model, form)))


def expectations(model: RBM) -> dict[str, Array]:
    """Return the expected derivative of log p*(x) by each parameter."""
    assert model.visible_precision is not None
    form = _form(model)
    grid = _grid(model, form)
    log_terms = form.log_terms(grid)
    total = log_sum_exp(log_terms)
    share, (a, w, b) = np.exp(log_terms - total), _visible(model)
    h = share @ grid.points
    hh = grid.points.T @ (grid.points * share[:, None])
    mean = (w @ h + b) / a
    # E[(Wh + b)^2] of each visible unit, from the moments of h.
    square = ((w @ hh) * w).sum(axis=1) + 2 * b * (w @ h) + b**2
    result = {
        "weights": (w @ hh + np.outer(b, h)) / a[:, None],
        "visible_bias": mean,
        "hidden_bias": h,
        "visible_precision": -0.5 * (1 / a + square / a**2),
    }
    if isinstance(model, TruGRBM):
        at_ends = _end_densities(model, form, total)
        result |= {"precision": -0.5 * hh.diagonal(), "lower": -at_ends[0], "upper": at_ends[1]}
    return result


def _visible(model: RBM) -> tuple[Array, Array, Array]:
    """Return a, W and b in float64."""
    assert model.visible_precision is not None
    one = np.float64(1)
    return one * model.visible_precision, one * model.weights, one * model.visible_bias


def _form(model: RBM) -> _Form:
    a, w, b = _visible(model)
    own = np.float64(1) * model.precision if isinstance(model, TruGRBM) else np.zeros(w.shape[1])
    return _Form(np.diag(own) - (w.T / a) @ w, model.hidden_bias + (w.T / a) @ b)


def _ends(model: TruGRBM) -> list[tuple[float, float]]:
    return list(zip(model.lower.astype(float), model.upper.astype(float), strict=True))


def _grid(model: RBM, form: _Form) -> _Grid:
    """Return the points over which the hidden units are summed."""
    units = model.n_hidden
    if not isinstance(model, TruGRBM):
        _require_few(units, MAX_STATES, "Bernoulli")
        points = binary_states(units)
        return _Grid(points, np.zeros(len(points)))
    _require_few(units, MAX_HIDDEN, "TruG")
    return _product([_axis(*pair) for pair in _bounds(form, _ends(model))])


def _require_few(units: int, most: int, kind: str) -> None:
    if units > most:
        raise ValueError(
            "exact results with Gaussian (real) visible units need at most "
            f"{most} {kind} hidden units, got {units}; use log_partition"
        )


def _end_densities(model: TruGRBM, form: _Form, log_total: float) -> Array:
    """Return the densities of the hidden units at lower and at upper ends, (2, hidden)."""
    ends = _ends(model)
    bounds = _bounds(form, ends)
    result = np.zeros((2, len(ends)))
    for j, pair in enumerate(ends):
        for side in (0, 1):
            if np.isfinite(pair[side]):
                axes = [_axis(*other) for other in bounds]
                axes[j] = (np.array([pair[side]]), np.ones(1))
                result[side, j] = np.exp(log_sum_exp(form.log_terms(_product(axes))) - log_total)
    return result


def _axis(low: float, high: float) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(low, high, PANELS + 1)
    half = (edges[1] - edges[0]) / 2
    points = (edges[:-1, None] + half * (nodes + 1)).ravel()
    return points, np.tile(weights * half, PANELS)


def _product(axes: list[tuple[Array, Array]]) -> _Grid:
    points = np.stack([p.ravel() for p in np.meshgrid(*(a for a, _ in axes), indexing="ij")], 1)
    return _Grid(points, np.log(reduce(np.multiply.outer, (w for _, w in axes)).ravel()))


def _bounds(form: _Form, ends: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return finite intervals that hold all but exp(-800) of the mass."""
    if np.isfinite(ends).all():
        return ends
    smallest = float(np.linalg.eigvalsh(form.form)[0])
    if smallest <= 0:
        raise ValueError("exact results with infinite ends need a positive definite form")
    # |h - P^-1 r| < BEYOND / sqrt(smallest), where the unconstrained mode may lie far outside.
    mode = np.linalg.solve(form.form, form.linear)
    low = np.array([pair[0] if np.isfinite(pair[0]) else -np.inf for pair in ends])
    high = np.array([pair[1] if np.isfinite(pair[1]) else np.inf for pair in ends])
    nearest = np.clip(mode, low, high)
    reach = float(np.linalg.norm(nearest - mode)) + BEYOND / np.sqrt(smallest)
    return [
        (a if np.isfinite(a) else m - reach, z if np.isfinite(z) else m + reach)
        for (a, z), m in zip(ends, mode, strict=True)
    ]
