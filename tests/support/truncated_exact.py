"""Exact results for small RBMs with truncated visible units: an oracle of tests (mathematics 7).

Of one or two visible units x is integrated by panels, with any hidden units summed or integrated
out.  Of one or two TruG hidden units these are: both layers are truncated Gaussians, so that the
model with its layers exchanged has the same log Z.
States of discrete units beside them are gone through.

Tested in tests/support/test_truncated_exact.py.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast.evaluation.exact import rbm as exact
from trug_fast.evaluation.exact.panels import Panels, converged, first_edges
from trug_fast.evaluation.exact.rbm import expectations_of
from trug_fast.models.rbm import RBM, TruGRBM
from trug_fast.units.kinds import Run
from trug_fast.units.normalizable import without_end

MOST = 2  # units to integrate over by panels
NOTHING = 1e-20  # share of a node that may be left out
FALL = 1600.0  # twice the fall of an exponent after which an infinite interval may end

Array = NDArray[Any]


def log_partition(model: RBM) -> float:
    """Return log Z, as exact.log_partition has it of other models."""
    return _Beside(model).log_z


def log_likelihood(model: RBM, X: Any) -> Array:
    """Return log p(x) of each row."""
    return -model.free_energy(X) - log_partition(model)


def gradient(model: RBM, X: Any) -> dict[str, Array]:
    """Return the gradient of the mean log-likelihood of the rows."""
    rows = model.checked_columns("X", X)
    of_data = expectations_of(model, rows, np.full(len(rows), 1 / len(rows)))
    of_model = _Beside(model).expectations()
    found = {name: of_data[name] - of_model[name] for name in model.names}
    return {name: value.reshape(getattr(model, name).shape) for name, value in found.items()}


def log_integral(model: RBM) -> float:
    """Log of the integral of p*(x) over the visible units, all of them real numbers."""
    return _grid(_few_visible(model)).log_total


def expectations(model: RBM) -> dict[str, Array]:
    """Return the expected derivative of log p*(x) by each parameter."""
    few = _few_visible(model)
    grid = _grid(few)
    share = np.exp((grid.log_density + grid.log_weights).ravel() - grid.log_total)
    kept = share > NOTHING
    found = expectations_of(few, grid.points[kept], share[kept] / share[kept].sum())
    if few is model:
        return found
    ends = np.zeros((2, model.n_hidden))
    for side, unit in np.argwhere(np.isfinite(few.visible_units.cut_ends)):
        ends[side, unit] = np.exp(_end_log_density(few, side, unit) - grid.log_total)
    return {
        "weights": found["weights"].T,
        "visible_bias": found["hidden_bias"],
        "hidden_bias": found["visible_bias"],
        "visible_precision": found["precision"],
        "precision": found["visible_precision"],
        "lower": -ends[0],
        "upper": ends[1],
    }


class _Beside(exact.OverDiscrete):
    """Sums over the states of units of other kinds."""

    integrals = SimpleNamespace(log_partition=log_integral, expectations=expectations)


class _VisibleGrid(Panels):
    """The density of the visible units at the nodes of panels."""

    def __init__(self, model: RBM, axes: list[Array]) -> None:
        super().__init__(axes)
        self.curvature = np.float64(1) * np.asarray(model.visible_precision)
        self.log_density = -model.column_energy(self.points).reshape(self.shape)
        self.scale = 1.0 + float(np.abs(self.log_density).max())
        self.log_total = log_sum_exp((self.log_density + self.log_weights).ravel())


def _grid(model: RBM) -> _VisibleGrid:
    """Return a grid on which the integral has converged."""
    ends, slopes = _region(model)
    axes = [first_edges(low, high, slope) for low, high, slope in zip(*ends, slopes, strict=True)]
    return converged(lambda finer: _VisibleGrid(model, finer), axes, "visible")


def _few_visible(model: RBM) -> RBM:
    """Return the model, or the one with its layers exchanged, with few visible units."""
    if model.n_columns <= MOST:
        return model
    if isinstance(model, TruGRBM) and model.n_hidden <= MOST and (model.precision > 0).all():
        return _exchanged(model)
    raise ValueError(
        f"exact results with truncated visible units need at most {MOST} of them, or {MOST} TruG "
        "hidden units of precision above 0, beside no others but discrete ones, or Bernoulli "
        f"hidden units; got {model.n_columns} and {model.n_hidden}; use log_partition"
    )


def _exchanged(model: TruGRBM) -> TruGRBM:
    """Return the model with its layers exchanged, both of truncated Gaussians."""
    bounds = zip(model.lower.tolist(), model.upper.tolist(), strict=True)
    runs = tuple(
        Run("truncated" if np.isfinite(ends).any() else "gaussian", 1, 1, *ends) for ends in bounds
    )
    one, (lower, upper) = np.float64(1), model.visible_units.cut_ends
    return TruGRBM(
        one * model.column_weights.T,
        one * model.hidden_bias,
        one * model.column_bias,
        one * np.asarray(model.visible_precision),
        lower,
        upper,
        one * model.precision,
        visible=runs,
    )


def _end_log_density(model: RBM, side: int, unit: int) -> float:
    """Return the log of a visible unit's marginal density at an end, times Z."""
    end = float(model.visible_units.cut_ends[side, unit])
    if model.n_columns == 1:
        return -float(model.column_energy(np.array([[end]]))[0])
    held = np.full(model.n_columns, np.nan)
    held[unit] = end
    precision = float(np.asarray(model.visible_precision)[unit])
    own = float(model.column_bias[unit]) * end - 0.5 * precision * end**2
    return own + _grid(model.clamped(held)).log_total


def _region(model: RBM) -> tuple[Array, Array]:
    """Return ends, (2, columns), that hold all but exp(-800) of the mass, and slopes there."""
    one, ends = np.float64(1), model.visible_units.cut_ends
    lower, upper, d = np.zeros(model.n_hidden), np.ones(model.n_hidden), np.ones(model.n_hidden)
    if isinstance(model, TruGRBM):
        lower, upper, d = (one * each for each in (model.lower, model.upper, model.precision))
    if np.isinf(ends).any():
        ends = _with_mass(model, lower, upper, d)
    bias, weights = abs(one * model.column_bias), abs(one * model.column_weights)
    most, a = abs(ends).max(axis=0), one * np.asarray(model.visible_precision)
    # A unit without an end goes about as far as its net input says.
    free = (abs(model.hidden_bias) + most @ weights) / abs(d)
    farthest = np.maximum(abs(lower), abs(upper))
    return ends, bias + a * most + weights @ np.where(np.isinf(farthest), free, farthest)


def _with_mass(model: RBM, lower: Array, upper: Array, d: Array) -> Array:
    """Return finite ends, (2, columns), beyond which the density is nothing.

    Hidden units without an end join the visible ones in a quadratic form; others push these by no
    more than their ends allow.
    """
    ends, weights = model.visible_units.cut_ends, np.float64(1) * model.column_weights
    a, loose = (
        np.float64(1) * np.asarray(model.visible_precision),
        np.isinf(lower) | np.isinf(upper),
    )
    farthest = np.where(loose, 0.0, np.maximum(abs(lower), abs(upper)))
    pull = abs(model.column_bias) + abs(weights) @ farthest
    pull = np.append(pull, abs(model.hidden_bias[loose]))
    pushing = without_end(weights, lower, upper, a, ends)[0][:, loose]
    form = np.block([[np.diag(a), -pushing], [-pushing.T, np.diag(d[loose])]])
    smallest = float(np.linalg.eigvalsh(form)[0])
    if smallest <= 0:
        raise ValueError("exact results with infinite ends need a positive definite form")
    low, high = np.append(ends[0], lower[loose]), np.append(ends[1], upper[loose])
    nearest = np.clip(0.0, low, high)
    steepest = float(np.linalg.norm(pull + abs(form) @ abs(nearest)))
    reach = (steepest + np.sqrt(steepest**2 + FALL * smallest)) / smallest
    found = np.array([np.maximum(low, nearest - reach), np.minimum(high, nearest + reach)])
    return found[:, : len(a)]
