"""Visible units of several kinds side by side, and the units that a description stands for.

Tested in tests/models/test_visible_kinds.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.mapping import blocks
from trug_fast.kernels.rbm.visible import VisibleKinds, visible_kinds

from .truncated_visible import TruncatedVisible
from .visible_kinds import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    MIXED,
    SPIN,
    TRUNCATED,
    Run,
    Runs,
    column_ends,
    has_ends,
    n_columns,
    n_sites,
    real_columns,
)
from .visible_units import (
    BernoulliVisible,
    CategoricalVisible,
    Floats,
    GaussianVisible,
    SpinVisible,
)

Simple = BernoulliVisible | SpinVisible | CategoricalVisible | GaussianVisible | TruncatedVisible


class MixedVisible:
    """Units of several kinds, each kind of which does its own columns.

    Parameters
    ----------
    runs : sequence of Run
    precision : ndarray, shape (columns,), optional
        Of Gaussian and truncated units; those of others do not count.
    """

    name = MIXED

    def __init__(self, runs: Runs, precision: FloatArray | None) -> None:
        self.runs = runs
        columns = np.cumsum([0, *(run.columns for run in runs)])
        sites = np.cumsum([0, *(run.sites for run in runs)])
        self._columns = [slice(*ends) for ends in zip(columns, columns[1:], strict=False)]
        self._sites = [slice(*ends) for ends in zip(sites, sites[1:], strict=False)]
        self._real = real_columns(runs)
        self._parts = [
            _simple(run, None if precision is None else precision[at])
            for run, at in zip(runs, self._columns, strict=True)
        ]
        self._precision = precision

    @property
    def n_columns(self) -> int:
        """How many columns kernels see."""
        return n_columns(self.runs)

    def checked(
        self,
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of states; means are none."""
        array = checks.matrix(name, value, n_sites(self.runs))
        for _, part in blocks(array):
            for unit, at in zip(self._parts, self._sites, strict=True):
                unit.require_states(name, part[:, at], at.start)
        return array

    def require_held(self, name: str, values: Floats, first: int = 0) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        for unit, at in zip(self._parts, self._sites, strict=True):
            unit.require_held(name, values[:, at], at.start)

    def columns(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return what kernels see of checked data."""
        parts = [unit.columns(X[:, at]) for unit, at in zip(self._parts, self._sites, strict=True)]
        if not self._real.any() and not np.isnan(X).any():
            parts = [part.astype(np.int8) for part in parts]
        return np.concatenate(parts, axis=1)

    def states(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return data that kernels see so, of the type of their columns, or int64."""
        found = self._each(columns, lambda unit, part: unit.states(part))
        real = columns.dtype.kind == "f"
        return np.concatenate(found, axis=-1).astype(columns.dtype if real else np.int64)

    def means(self, mean: NDArray[Any]) -> NDArray[Any]:
        """Return means of columns as users see them, by columns."""
        return mean

    def for_kernels(self, dtype: Any) -> VisibleKinds:
        """Return the units as the kernels take them."""
        spans = [
            span
            for unit, at in zip(self._parts, self._columns, strict=True)
            for span in unit.spans(at.start)
        ]
        precision = np.empty(0) if self._precision is None else self._precision
        precision = np.where(self._real, precision, 1.0) if self._real.any() else np.empty(0)
        ends = None
        if has_ends(self.runs):
            ends = column_ends(self.runs).astype(dtype, order="C")
        return visible_kinds(spans, precision.astype(dtype), ends)

    def energy(self, X: Floats) -> Floats:
        """Return what each row's energy has beside the terms of biases and weights."""
        return np.asarray(sum(self._each(X, lambda unit, part: unit.energy(part))))

    def drawn(self, rng: np.random.Generator, data: NDArray[Any]) -> Floats:
        """Return the data: they are states."""
        return data.astype(np.float64)

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs, by columns."""
        return np.concatenate(self._each(net, lambda unit, part: unit.mean(part)), axis=-1)

    def variance(self, net: Floats) -> Floats:
        """Return the variances of real units at their net inputs, 0 of others, by columns."""
        return np.concatenate(self._each(net, lambda unit, part: unit.variance(part)), axis=-1)

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        return np.asarray(sum(self._each(net, lambda unit, part: unit.log_norm(part))))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means, as each kind has them."""
        return np.concatenate(self._each(mean, lambda unit, part: unit.bias(part)))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return states that know nothing of the weights, as each kind has them."""
        found = self._each(bias, lambda unit, part: unit.noise(rng, rows, part))
        return np.concatenate(found, axis=1)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        """Return draws of units with these net inputs."""
        found = self._each(bias, lambda unit, part: unit.independent(rng, rows, part))
        return np.concatenate(found, axis=1)

    def _each(
        self, values: NDArray[Any], ask: Callable[[Simple, NDArray[Any]], NDArray[Any]]
    ) -> list[NDArray[Any]]:
        """Ask each kind about its own columns."""
        parts = zip(self._parts, self._columns, strict=True)
        return [ask(unit, values[..., at]) for unit, at in parts]


VisibleUnits = Simple | MixedVisible


def units_of(runs: Runs, precision: FloatArray | None = None) -> VisibleUnits:
    """Return the units of these runs; ``precision`` is that of real columns."""
    return _simple(runs[0], precision) if len(runs) == 1 else MixedVisible(runs, precision)


def usual_runs(columns: int, precision: FloatArray | None) -> Runs:
    """Return Gaussian units of these precisions; of None, or of no entries, Bernoulli ones."""
    real = precision is not None and precision.size > 0
    return (Run(GAUSSIAN if real else BERNOULLI, columns),)


def _simple(run: Run, precision: FloatArray | None) -> Simple:
    own = np.ones(run.sites) if precision is None else precision
    if run.kind == GAUSSIAN:
        return GaussianVisible(own)
    if run.kind == TRUNCATED:
        return TruncatedVisible(run, own)
    if run.kind == CATEGORICAL:
        return CategoricalVisible(run.sites, run.states)
    return SpinVisible(run.sites) if run.kind == SPIN else BernoulliVisible(run.sites)
