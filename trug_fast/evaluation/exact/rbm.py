"""Exact results of small RBMs of any visible units.

In three ways, whichever the model is small enough for: through the states of the visible units;
through those of Bernoulli hidden ones, with x summed and integrated out; and, where some visible
units take real numbers, through the states of all others, each of which leaves an RBM of those,
whose integral over TruG units is in gaussian.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.models.rbm import RBM

from . import gaussian
from .states import MAX_UNITS, binary_states

Floats = NDArray[np.float64]
Expected = dict[str, Any]

MAX_STATES = 2**MAX_UNITS
MAX_INTEGRALS = 2**12  # over hidden units, one for each state of the visible ones that are discrete
TOGETHER = 2**22  # numbers of an array of states


def log_partition(model: RBM) -> float:
    """Return the log of the sum, or integral, of p*(x) over all visible states."""
    return way(model).log_z


def log_likelihood(model: RBM, X: ArrayLike) -> Floats:
    """Return log p(x) of each row."""
    array = model.checked_rows("X", X)
    return -model.free_energy(array) - log_partition(model)


def gradient(model: RBM, X: ArrayLike) -> dict[str, Floats]:
    """Return the gradient of the mean log-likelihood of the rows."""
    array = model.checked_columns("X", X)
    of_data = expectations_of(model, array, np.full(array.shape[0], 1 / array.shape[0]))
    of_model = way(model).expectations()
    found = {name: of_data[name] - of_model[name] for name in model.names}
    return {name: value.reshape(getattr(model, name).shape) for name, value in found.items()}


class _OverVisible:
    """Sums over all states of the visible units."""

    def __init__(self, model: RBM) -> None:
        self._model = model
        self.log_z = log_sum_exp(
            np.array([log_sum_exp(-model.column_energy(rows)) for rows in self._rows()])
        )

    def _rows(self) -> Iterator[NDArray[Any]]:
        units = self._model.visible_units
        return map(units.columns, units.every_state())

    def expectations(self) -> Expected:
        """Return the expected derivatives."""
        total: Expected = {}
        for rows in self._rows():
            weight = np.exp(-self._model.column_energy(rows) - self.log_z)
            _add(total, expectations_of(self._model, rows, weight))
        return total


class _OverHidden:
    """Sums over all states of Bernoulli hidden units."""

    def __init__(self, model: RBM) -> None:
        self._model = model
        self.log_z = log_sum_exp(np.array([log_sum_exp(p) for _, _, p in self._parts()]))

    def _parts(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield hidden states, the visible units' net inputs, and log p*(h)."""
        model, every = self._model, binary_states(self._model.n_hidden)
        weights, bias = np.float64(1) * model.column_weights, np.float64(1) * model.column_bias
        for start in range(0, len(every), max(1, TOGETHER // model.n_columns)):
            hidden = every[start : start + max(1, TOGETHER // model.n_columns)]
            net = bias + hidden @ weights.T
            yield hidden, net, hidden @ model.hidden_bias + model.visible_units.log_norm(net)

    def expectations(self) -> Expected:
        """Return the expected derivatives."""
        total: Expected = {}
        units = self._model.visible_units
        real = units.real
        for hidden, net, log_p in self._parts():
            share, mean = np.exp(log_p - self.log_z), units.mean(net)
            square = mean**2 + units.variance(net) if real.any() else np.zeros_like(mean)
            found = {
                "weights": mean.T @ (hidden * share[:, None]),
                "visible_bias": share @ mean,
                "hidden_bias": share @ hidden,
                "visible_precision": -0.5 * np.where(real, share @ square, 0.0),
            }
            _add(total, found)
        return total


class OverDiscrete:
    """Sums over the states of discrete visible units of integrals over those of real numbers."""

    integrals: Any = gaussian

    def __init__(self, model: RBM) -> None:
        self._model, units = model, model.visible_units
        self._real = units.real
        sites = np.array([number is None for number in units.states_each])
        rows = np.concatenate(list(units.every_state()))
        self._columns = units.columns(rows).astype(np.float64)
        self._columns[:, self._real] = 0.0
        held = np.where(sites, np.nan, rows.astype(np.float64))
        self._given = [model.clamped(row) for row in held]
        own = np.array([self.integrals.log_partition(given) for given in self._given])
        self._log_p = own + self._columns @ model.column_bias
        self.log_z = log_sum_exp(self._log_p)

    def expectations(self) -> Expected:
        """Return the expected derivatives."""
        total: Expected = {}
        for row, given, log_p in zip(self._columns, self._given, self._log_p, strict=True):
            found = self.integrals.expectations(given)
            weights = np.outer(row, found["hidden_bias"])
            weights[self._real] = found["weights"]
            bias, precision = row.copy(), np.zeros_like(row)
            bias[self._real] = found["visible_bias"]
            precision[self._real] = found["visible_precision"]
            found |= {"weights": weights, "visible_bias": bias, "visible_precision": precision}
            share = np.exp(log_p - self.log_z)
            _add(total, {name: share * value for name, value in found.items()})
        return total


def _add(total: Expected, found: Expected) -> None:
    """Add what was found to a sum."""
    for name, value in found.items():
        total[name] = total.get(name, 0.0) + value


def way(model: RBM) -> _OverVisible | _OverHidden | OverDiscrete:
    """Return the sums for a model, done the cheapest way; refuse one that is too large."""
    visible, hidden = model.visible_units, model.hidden_units
    number, real = visible.n_states, visible.some("real")
    discrete = all(part.kind.real or part.kind.enumerable for part in visible.parts)
    if real and discrete and number == 1 and not visible.some("cut"):
        return OverDiscrete(model)  # of one state
    if hidden.enumerable and model.n_hidden <= MAX_UNITS:
        if not visible.enumerable or 2**model.n_hidden < number:
            return _OverHidden(model)
    if visible.enumerable and number <= MAX_STATES:
        return _OverVisible(model)
    if visible.some("cut") or not discrete:
        kind = "truncated" if visible.some("cut") else visible.name
        raise ValueError(
            f"exact results of {kind} visible units need up to {MAX_UNITS} Bernoulli hidden "
            "units; anneal instead: log_partition, or method='annealing'"
        )
    if real and number <= MAX_INTEGRALS:
        return OverDiscrete(model)
    most = f"{MAX_STATES:,} states of" if not real else f"{MAX_INTEGRALS:,} states beside real"
    raise ValueError(
        f"exact results need at most {most} visible units, or {MAX_UNITS} Bernoulli hidden units, "
        f"got {number:.3g} states; use log_partition"
    )


def expectations_of(model: RBM, visible: NDArray[Any], weight: Floats) -> dict[str, Floats]:
    """Return the weighted mean of the derivative of log p*(x) by each parameter, by columns."""
    rows = np.ascontiguousarray(visible, dtype=np.float64)
    with computing(work(len(rows), model.n_columns, model.n_hidden)):
        found = gibbs.hidden_moments(model.layers(np.float64), rows)
    result = {
        "weights": (rows * weight[:, None]).T @ found.mean,
        "visible_bias": weight @ rows,
        "hidden_bias": weight @ found.mean,
        "visible_precision": -0.5 * (weight @ rows**2) * model.visible_units.real,
    }
    if model.hidden_units.some("real"):
        result["precision"] = -0.5 * (weight @ (found.variance + found.mean**2))
        result["lower"] = -(weight @ np.exp(found.log_low))
        result["upper"] = weight @ np.exp(found.log_high)
    return result
