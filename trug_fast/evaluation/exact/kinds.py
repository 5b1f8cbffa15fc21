"""Exact results of small RBMs whose visible units are spins, categorical or of several kinds.

In three ways, whichever the model is small enough for: through the states of the visible units;
through those of Bernoulli hidden ones, with x summed and integrated out; and, where some visible
units take real numbers, through the states of all others, each of which leaves an RBM of those.

Tested in tests/evaluation/exact/test_kinds.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast.models.rbm import RBM, TruGRBM
from trug_fast.models.visible_kinds import (
    CATEGORICAL,
    REAL,
    SPIN,
    Runs,
    columns_mask,
    has_ends,
    real_columns,
)

from . import gaussian
from .expected import expectations_of
from .states import MAX_UNITS, binary_states

Floats = NDArray[np.float64]
Expected = dict[str, Any]

MAX_STATES = 2**MAX_UNITS
MAX_INTEGRALS = 2**12  # over hidden units, one for each state of the visible ones that are discrete
TOGETHER = 2**22  # numbers of an array of states


def n_states(runs: Runs) -> int:
    """Return how many states all discrete sites have together."""
    return int(np.prod([float(each) for each in _each(runs)]).clip(max=2.0**62))


def _each(runs: Runs) -> NDArray[np.int64]:
    """Return the number of states of each site, 1 of one of real numbers."""
    number = dict.fromkeys(REAL, 1)
    found = [run.states if run.kind == CATEGORICAL else number.get(run.kind, 2) for run in runs]
    return np.repeat(found, [run.sites for run in runs])


def states(runs: Runs) -> Iterator[NDArray[np.int64]]:
    """Yield all states of the discrete sites, some rows at a time; those of real ones are 0."""
    each, kinds = _each(runs), np.repeat([run.kind for run in runs], [run.sites for run in runs])
    strides = np.cumprod(np.concatenate([[1], each[:-1]]))
    total, step = n_states(runs), max(1, TOGETHER // sum(run.columns for run in runs))
    for start in range(0, total, step):
        digits = np.arange(start, min(start + step, total))[:, None] // strides % each
        yield np.where(kinds == SPIN, 2 * digits - 1, digits)


def log_partition(model: RBM) -> float:
    """Return the log of the sum, or integral, of p*(x) over all visible states."""
    return _way(model).log_z


def expectations(model: RBM) -> Expected:
    """Return the expected derivative of log p*(x) by each parameter, by columns."""
    return _way(model).expectations()


class _OverVisible:
    """Sums over all states of the visible units."""

    def __init__(self, model: RBM) -> None:
        self._model = model
        self.log_z = log_sum_exp(
            np.array([log_sum_exp(-model.column_energy(rows)) for rows in self._rows()])
        )

    def _rows(self) -> Iterator[NDArray[Any]]:
        return (self._model.visible_units.columns(each) for each in states(self._model.runs))

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
        real = real_columns(self._model.runs)
        units = self._model.visible_units
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
        self._model = model
        self._real = real_columns(model.runs)
        kinds = np.repeat([run.kind for run in model.runs], [run.sites for run in model.runs])
        self._sites = np.isin(kinds, REAL)
        rows = np.concatenate(list(states(model.runs)))
        self._columns = model.visible_units.columns(rows).astype(np.float64)
        self._columns[:, columns_mask(model.runs, self._sites)] = 0.0
        self._given = [model.clamped(np.where(self._sites, np.nan, row)) for row in rows]
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


def _way(model: RBM) -> _OverVisible | _OverHidden | OverDiscrete:
    """Return the sums for a model, done the cheapest way; refuse one that is too large."""
    number, real = n_states(model.runs), bool(real_columns(model.runs).any())
    if not isinstance(model, TruGRBM) and model.n_hidden <= MAX_UNITS:
        if real or 2**model.n_hidden < number:
            return _OverHidden(model)
    if not real and number <= MAX_STATES:
        return _OverVisible(model)
    if has_ends(model.runs):
        raise ValueError(
            f"exact results of truncated visible units need up to {MAX_UNITS} Bernoulli hidden "
            "units; anneal instead: log_partition, or method='annealing'"
        )
    if real and isinstance(model, TruGRBM) and number <= MAX_INTEGRALS:
        return OverDiscrete(model)
    most = f"{MAX_STATES:,} states" if not real else f"{MAX_INTEGRALS:,} states beside real"
    raise ValueError(
        f"exact results need at most {most} visible units, or {MAX_UNITS} Bernoulli hidden units, "
        f"got {number:.3g} states; use log_partition"
    )
