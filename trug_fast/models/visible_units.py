"""Visible units of one kind each, as the Python layer needs them; mixed ones are in mixed_units.py.

Data have a column for each *site*.  Kernels see *columns*: a categorical site takes one for each of
its states, every other site one.  ``columns`` leads from data to those, ``states`` back; means, net
inputs and biases are of columns.

Tested in tests/models/test_visible_units.py and test_visible_kinds.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.mapping import blocks
from trug_fast.kernels.rbm import visible as kernels
from trug_fast.kernels.rbm.visible import VisibleKinds, visible_kinds

from .fields import Field
from .visible_kinds import BERNOULLI, CATEGORICAL, GAUSSIAN, SPIN, Run

Floats = NDArray[np.float64]
PRECISION = Field("visible_precision", ("n_visible",), positive=True, optional=True)
SMOOTHING = 0.01  # added to pixel means and to their complements before their log-odds
TOGETHER = 2**22  # numbers that are turned into columns at a time


class Visible:
    """What units have in common that take one column a site."""

    code: int  # of the kernels
    run: Run

    @property
    def runs(self) -> tuple[Run, ...]:
        """The kinds of all sites."""
        return (self.run,)

    @property
    def name(self) -> str:
        """The word for them."""
        return self.run.kind

    @property
    def n_columns(self) -> int:
        """How many columns kernels see."""
        return self.run.columns

    def columns(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return what kernels see of checked data."""
        return X

    def states(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return data that kernels see so."""
        return columns

    def means(self, mean: NDArray[Any]) -> NDArray[Any]:
        """Return means of columns as users see them."""
        return mean

    def spans(self, first: int = 0) -> list[tuple[int, int, int, int]]:
        """Return spans of columns as the kernels take them, from this column on."""
        return [(self.code, first, first + self.run.columns, self.run.states)]

    def for_kernels(self, dtype: Any) -> VisibleKinds:
        """Return the units as the kernels take them."""
        return visible_kinds(self.spans(), np.empty(0, dtype))

    def energy(self, X: Floats) -> Floats:
        """Return what each row's energy has beside the terms of biases and weights."""
        return np.zeros(len(X))

    def variance(self, net: Floats) -> Floats:
        """Return the variances of real units at their net inputs; of others 0."""
        return np.zeros_like(net)

    def drawn(self, rng: np.random.Generator, data: NDArray[Any]) -> Floats:
        """Return the data: they are states."""
        return data.astype(np.float64)


class BernoulliVisible(Visible):
    """Units of 0 and 1; numbers between are taken as probabilities."""

    code = kernels.BERNOULLI

    def __init__(self, sites: int) -> None:
        self.run = Run(BERNOULLI, sites, 1)

    @staticmethod
    def checked(
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of states."""
        return checks.visible(name, value, sites, soft=soft, missing=missing)

    def require_held(self, name: str, values: Floats, first: int = 0) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        if ((values < 0) | (values > 1)).any():
            raise ValueError(
                f"{name} must hold numbers in [0, 1], and NaN at the free units (real numbers "
                "need a model with visible_precision)"
            )

    def require_states(self, name: str, rows: NDArray[Any], first: int) -> None:
        """Refuse columns of data, the first of which has this number, that are no states."""
        require(name, rows, "0 or 1", lambda x: (x == 0) | (x == 1), first)

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs."""
        return np.asarray(np.exp(-np.logaddexp(0.0, -net)))

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        return np.asarray(np.logaddexp(0.0, net).sum(axis=-1))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means, not quite those if they are 0 or 1."""
        return np.asarray(np.log((mean + SMOOTHING) / (1 - mean + SMOOTHING)))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return states that know nothing of the weights: each unit 0 or 1 with equal chance."""
        return rng.integers(0, 2, (rows, bias.size)).astype(np.float64)

    def drawn(self, rng: np.random.Generator, data: NDArray[Any]) -> Floats:
        """Return states with these means; zeros and ones stay what they are."""
        return (rng.random(data.shape) < data).astype(np.float64)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        """Return draws of units with these net inputs."""
        return (rng.random((rows, bias.size)) < self.mean(bias)).astype(np.float64)


class SpinVisible(Visible):
    """Units of -1 and 1."""

    code = kernels.SPIN

    def __init__(self, sites: int) -> None:
        self.run = Run(SPIN, sites, 1)

    def checked(
        self,
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of states."""
        array = checks.matrix(name, value, sites)
        for start, part in blocks(array):
            self.require_states(name, part, 0, start)
        return array

    def require_states(self, name: str, rows: NDArray[Any], first: int, start: int = 0) -> None:
        """Refuse columns of data, the first of which has this number, that are no states."""
        require(name, rows, "-1 or 1", lambda x: (x == -1) | (x == 1), first, start)

    def require_held(self, name: str, values: Floats, first: int = 0) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        self.require_states(name, values, first)

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs."""
        return np.asarray(np.tanh(net))

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        return np.asarray(np.logaddexp(net, -net).sum(axis=-1))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means, not quite those if they are -1 or 1."""
        more = 2 * SMOOTHING
        return np.asarray(0.5 * np.log((1 + mean + more) / (1 - mean + more)))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return states that know nothing of the weights: each unit -1 or 1 with equal chance."""
        return rng.integers(0, 2, (rows, bias.size)) * np.float64(2) - 1

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        """Return draws of units with these net inputs."""
        return np.where(2 * rng.random((rows, bias.size)) - 1 < self.mean(bias), 1.0, -1.0)


class CategoricalVisible(Visible):
    """Units of several states: of the columns of a site one is 1, all others 0."""

    code = kernels.CATEGORICAL

    def __init__(self, sites: int, states: int) -> None:
        self.run = Run(CATEGORICAL, sites, states)

    def checked(
        self,
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of states."""
        array = checks.matrix(name, value, sites)
        for start, part in blocks(array):
            self.require_states(name, part, 0, start)
        return array

    def require_states(self, name: str, rows: NDArray[Any], first: int, start: int = 0) -> None:
        """Refuse columns of data, the first of which has this number, that are no states."""
        last = self.run.states - 1
        what = f"a state, a whole number from 0 to {last}"
        require(
            name, rows, what, lambda x: (x >= 0) & (x <= last) & (x == np.floor(x)), first, start
        )

    def require_held(self, name: str, values: Floats, first: int = 0) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        self.require_states(name, values, first)

    def columns(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return zeros and a one for each site, bytes; where a site is NaN, its columns are."""
        rows, sites = X.shape
        free = np.isnan(X) if X.dtype.kind == "f" else None
        held = free is not None and bool(free.any())
        result = np.zeros((rows, self.n_columns), X.dtype if held else np.uint8)
        offsets = np.arange(sites) * self.run.states
        step = max(1, TOGETHER // sites)
        for start in range(0, rows, step):
            part = X[start : start + step]
            if held and free is not None:
                part = np.where(free[start : start + step], 0, part)
            at = part.astype(np.int64) + offsets
            np.put_along_axis(result[start : start + step], at, 1, axis=1)
        if held and free is not None:
            result[np.repeat(free, self.run.states, axis=1)] = np.nan
        return result

    def states(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the states of the sites, int64."""
        return np.asarray(self.means(columns).argmax(axis=-1))

    def means(self, mean: NDArray[Any]) -> NDArray[Any]:
        """Return the probabilities of states, (rows, sites, states)."""
        return mean.reshape(*mean.shape[:-1], self.run.sites, self.run.states)

    def mean(self, net: Floats) -> Floats:
        """Return the probabilities of states at their net inputs."""
        each = self.means(net)
        share = np.exp(each - each.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        return np.asarray(share.reshape(net.shape))

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        each = self.means(net)
        most = each.max(axis=-1)
        rest = np.log(np.exp(each - most[..., None]).sum(axis=-1))
        return np.asarray((most + rest).sum(axis=-1))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these frequencies, not quite those if some are 0.

        Of two states they differ by as much as the bias of a unit of 0 and 1 says.
        """
        logs = self.means(np.log(mean + 2 * SMOOTHING / self.run.states))
        return np.asarray((logs - logs.mean(axis=-1, keepdims=True)).reshape(mean.shape))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return states that know nothing of the weights: each with equal chance."""
        states = rng.integers(0, self.run.states, (rows, self.run.sites))
        return self.columns(states).astype(np.float64)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        """Return draws of units with these net inputs."""
        below = self.means(self.mean(bias)).cumsum(axis=-1)[:, :-1]
        draws = rng.random((rows, self.run.sites, 1))
        return self.columns((draws >= below).sum(axis=-1)).astype(np.float64)


class GaussianVisible(Visible):
    """Real numbers; given the hidden ones, of variance 1 / precision (mathematics 4.1)."""

    code = kernels.GAUSSIAN

    def __init__(self, precision: FloatArray) -> None:
        self.precision = precision.astype(np.float64)
        self.run = Run(GAUSSIAN, precision.size, 1)

    @staticmethod
    def checked(
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of finite numbers."""
        return checks.matrix(name, value, sites, missing=missing)

    def require_held(self, name: str, values: Floats, first: int = 0) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        if np.isinf(values).any():
            raise ValueError(f"{name} must hold finite numbers, and NaN at the free units")

    def require_states(self, name: str, rows: NDArray[Any], first: int) -> None:
        """Refuse nothing that is finite."""

    def for_kernels(self, dtype: Any) -> VisibleKinds:
        """Return the units as the kernels take them."""
        return visible_kinds(self.spans(), self.precision.astype(dtype))

    def energy(self, X: Floats) -> Floats:
        """Return x'diag(a)x / 2 of each row."""
        return np.asarray(0.5 * (X * X) @ self.precision)

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs."""
        return np.asarray(net / self.precision)

    def variance(self, net: Floats) -> Floats:
        """Return the units' variances at their net inputs."""
        return np.broadcast_to(1 / self.precision, net.shape)

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        each = np.log(2 * np.pi / self.precision) + net * net / self.precision
        return np.asarray(0.5 * each.sum(axis=-1))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means."""
        return (mean * self.precision).astype(mean.dtype)

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return draws of the units without the hidden ones, N(b / a, 1 / a)."""
        spread = rng.normal(size=(rows, bias.size)) / np.sqrt(self.precision)
        return np.asarray(bias / self.precision + spread)

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        """Return draws of units with these net inputs."""
        spread = rng.standard_normal((rows, bias.size)) / np.sqrt(self.precision)
        return np.asarray(self.mean(bias) + spread)


def require(
    name: str, rows: NDArray[Any], what: str, is_state: Any, first: int, start: int = 0
) -> None:
    """Refuse columns of data that hold anything but states, and NaN where it is allowed."""
    wrong = ~(is_state(rows) | np.isnan(rows))
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{name} must be {what}, got {rows[row, column]} at row {start + row}, column "
            f"{first + column}"
        )


def checked_states(
    kind: str,
    name: str,
    value: ArrayLike,
    columns: int | None = None,
    *,
    missing: bool | None = None,
) -> NDArray[Any]:
    """Return ``value`` as a matrix of states of units of this kind, "bernoulli" or "gaussian".

    missing : whether NaN stands for a missing value
    """
    units = GaussianVisible if kind == GAUSSIAN else BernoulliVisible
    return units.checked(name, value, columns, missing=missing)
