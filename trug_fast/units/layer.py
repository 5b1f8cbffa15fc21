"""A layer of units of one kind or several side by side, visible or hidden, without its biases.

Models, training and evaluation ask the layer, which asks each kind about its own columns.

Tested in tests/units/test_layer.py and test_kinds.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast._common.mapping import blocks
from trug_fast.kernels.rbm.hidden import HiddenUnits
from trug_fast.kernels.rbm.visible import VisibleKinds, visible_kinds

from .kinds import (
    BERNOULLI,
    GAUSSIAN,
    KINDS,
    Array,
    Floats,
    Kind,
    Own,
    Run,
    Runs,
    kind_named,
    one_by_one,
)

MIXED = "mixed"  # more than one kind, or of different numbers of states, or of different intervals
INTERVALS = {"truncated": (0.0, 1.0), "relu": (0.0, math.inf)}  # that words stand for
WORDS = (*KINDS, "relu")
MOST_STATES = 2**15
IN_FILES = ("visible", "visible_sizes", "visible_ends")
TOGETHER = 2**22  # numbers of an array of states


class Candidates(NamedTuple):
    """What one site of each of some rows may be; the first axis has the states."""

    column: NDArray[np.int64]  # the one that is not 0
    value: Floats  # what is in it
    there: NDArray[np.bool_]  # whether the site has so many states
    chosen: NDArray[np.int64]  # which state it is in, (rows,)


class Layer:
    """Units of one or several runs.

    precision : (columns,), of units that have one; those of others do not count; by default 1
    ends : two of (columns,), where each unit ends, if that is not the run's to say: of hidden units
    """

    def __init__(
        self,
        runs: Runs,
        precision: FloatArray | None = None,
        ends: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        if precision is not None and not precision.size:
            precision = None
        self.runs, self._precision, self._ends = runs, precision, ends
        self.parts: list[Own] = []
        site = column = 0
        for run in runs:
            kind, own = kind_named(run.kind), None
            sites, columns = slice(site, site + run.sites), slice(column, column + run.columns)
            site, column = sites.stop, columns.stop
            if len(runs) == 1:  # which data of any width may be asked about
                sites = columns = slice(None)
            if kind.real:
                one = np.ones(run.columns) if precision is None else precision[columns]
                own = one.astype(np.float64)
            low, high = kind.ends(run) if ends is None else ends
            self.parts.append(Own(run, own, low, high, sites, columns))
        self.n_sites, self.n_columns = site, column

    @property
    def name(self) -> str:
        """The word for these units."""
        return self.runs[0].kind if len(self.runs) == 1 else MIXED

    @property
    def only(self) -> Kind | None:
        """The kind of all units, if they are one run."""
        return self.parts[0].kind if len(self.parts) == 1 else None

    def are(self, *properties: str) -> bool:
        """Tell whether units are of one run, and their kind has all these properties."""
        return self.only is not None and all(getattr(self.only, each) for each in properties)

    def some(self, what: str) -> bool:
        """Tell whether the kind of some units has a property."""
        return any(getattr(part.kind, what) for part in self.parts)

    @property
    def scale(self) -> float:
        """The largest distance of states, in that of 0 and 1."""
        return max(part.kind.scale for part in self.parts)

    def by_column(self, what: str) -> NDArray[np.bool_]:
        """Return which columns are of kinds that have a property."""
        return np.repeat(
            [bool(getattr(part.kind, what)) for part in self.parts],
            [run.columns for run in self.runs],
        )

    @property
    def real(self) -> NDArray[np.bool_]:
        """Which columns take real numbers and have a precision."""
        return self.by_column("real")

    @property
    def shape(self) -> tuple[int, ...]:
        """How parameters lie: by sites and states where all sites have the same states."""
        return self.runs[0][1:3] if self.are("counted") else (self.n_columns,)

    @property
    def columns_each(self) -> NDArray[np.int64]:
        """How many columns each site takes."""
        return np.repeat([run.states for run in self.runs], [run.sites for run in self.runs])

    @property
    def states_each(self) -> list[int | None]:
        """How many states each site may be in, None where there is no end of them."""
        found = ([part.kind.states_of(part.run)] * part.run.sites for part in self.parts)
        return [number for each in found for number in each]

    @property
    def enumerable(self) -> bool:
        """Whether all sites have a number of states."""
        return all(part.kind.enumerable for part in self.parts)

    @property
    def n_states(self) -> int:
        """How many states all sites that have a number of them have together."""
        each = ((part.kind.states_of(part.run) or 1, part.run.sites) for part in self.parts)
        return int(min(math.prod(number**sites for number, sites in each), 2**62))

    @property
    def ends(self) -> NDArray[Any]:
        """The least and the largest that each column can be, shape (2, columns)."""
        if self._ends is not None:
            return np.array(self._ends)
        each = [part.kind.ends(part.run) for part in self.parts]
        return np.repeat(each, [run.columns for run in self.runs], axis=0).T

    @property
    def endless(self) -> NDArray[np.bool_]:
        """Which columns have no end on one side or on both."""
        return np.asarray(np.isinf(self.ends).any(axis=0))

    @property
    def precision(self) -> FloatArray:
        """The precisions of the columns, 0 of those without."""
        if self._precision is not None and self.are("real"):
            return self._precision
        if self._precision is None:
            return self.real.astype(np.float64)
        return np.where(self.real, self._precision, 0).astype(self._precision.dtype)

    @property
    def cut_ends(self) -> Floats | None:
        """Ends of the columns, infinite but of truncated units, if there are some; else None."""
        if not self.some("cut"):
            return None
        each = np.array([(run.lower, run.upper) for run in self.runs])
        return np.repeat(each, [run.columns for run in self.runs], axis=0).T

    def chosen(self, mask: NDArray[np.bool_]) -> Runs:
        """Return the runs of the sites that a mask chooses."""
        if len(self.runs) == 1:
            return (self.runs[0]._replace(sites=int(mask.sum())),)
        each = [run._replace(sites=1) for run in self.runs for _ in range(run.sites)]
        return _together([run for run, stays in zip(each, mask, strict=True) if stays])

    def checked(
        self,
        name: str,
        value: ArrayLike,
        sites: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> Array:
        """Return ``value`` as a matrix of states; of several kinds side by side, means are none.

        soft : whether means are data, too, where the kind takes them
        missing : whether NaN stands for a missing value; False says how it can
        """
        kind = self.only
        array = checks.matrix(
            name,
            value,
            self.n_sites if kind is None else sites,
            missing=missing if kind is not None and kind.gaps else None,
        )
        for start, part in blocks(array):
            self._require(name, part, start, soft and kind is not None, array)
        return array

    def require_held(self, name: str, values: Floats) -> None:
        """Refuse values at which no unit can be held; NaN is free."""
        if np.isinf(values).any():
            raise ValueError(f"{name} must hold finite numbers, and NaN at the free units")
        self._require(name, values, 0, True, values)

    def _require(
        self, name: str, rows: Array, start: int, soft: bool, whole: Array | None = None
    ) -> None:
        """Refuse rows, the first of which has this number, that are no states."""
        for own in self.parts:
            part = rows[:, own.sites]
            fine = own.kind.are_states(part, own, soft)
            if np.all(fine):
                continue
            wrong = ~(fine | np.isnan(part))
            if wrong.any():
                row, column = (int(i) for i in np.argwhere(wrong)[0])
                hint = "" if whole is None or self.only is None else own.kind.hint(whole)
                raise ValueError(
                    f"{name} must {own.kind.words(own, soft)}, got {part[row, column]} at row "
                    f"{start + row}, column {(own.sites.start or 0) + column}{hint}"
                )

    def within(self, name: str, value: ArrayLike, dtype: Any) -> FloatArray:
        """Return ``value`` as a matrix of which every column lies between its unit's ends."""
        rows = checks.cast(name, checks.matrix(name, value, self.n_columns), dtype)
        (lower, upper), low, high = self.ends, rows.min(axis=0), rows.max(axis=0)
        outside = (low < lower) | (high > upper)
        if outside.any():
            j = int(np.argmax(outside))
            found = low[j] if low[j] < lower[j] else high[j]
            raise ValueError(
                f"{name} must lie where hidden units may be, got {found} at unit {j}, which lies "
                f"in [{lower[j]}, {upper[j]}]"
            )
        return rows

    def columns(self, X: Array) -> Array:
        """Return what kernels see of checked data; of several discrete kinds bytes."""
        found = [part.kind.columns(X[:, part.sites], part) for part in self.parts]
        if len(found) > 1 and self.enumerable and not np.isnan(X).any():
            found = [part.astype(np.int8) for part in found]
        return _joined(found)

    def states(self, columns: Array) -> Array:
        """Return data that kernels see so; of several kinds of the columns' type, or int64."""
        found = _joined(self._each("states", columns))
        if self.only is not None:
            return found
        return found.astype(columns.dtype if columns.dtype.kind == "f" else np.int64)

    def shown(self, mean: Array) -> Array:
        """Return means of columns as users see them, of several kinds by columns."""
        return mean if self.only is None else self.only.shown(mean, self.parts[0])

    def every_state(self) -> Iterator[Array]:
        """Yield all states of the sites, some rows at a time; 0 where there is no end of them."""
        each = np.array([number or 1 for number in self.states_each])
        strides = np.cumprod(np.concatenate([[1], each[:-1]]))
        total, step = self.n_states, max(1, TOGETHER // self.n_columns)
        for start in range(0, total, step):
            numbers = np.arange(start, min(start + step, total))[:, None] // strides % each
            yield _joined(
                [
                    part.kind.numbered(numbers[:, part.sites], part)
                    if part.kind.enumerable
                    else numbers[:, part.sites]
                    for part in self.parts
                ]
            )

    def candidates(self, X: Floats, site: NDArray[np.int64]) -> Candidates:
        """Return what one site of each row of states may be."""
        each = self.columns_each
        number = np.array([count or 0 for count in self.states_each])[site]
        state, first = np.arange(number.max())[:, None], (np.cumsum(each) - each)[site]
        there = state < number
        column, value = np.zeros(there.shape, np.int64), np.zeros(there.shape)
        own, chosen = X[np.arange(len(X)), site], np.zeros(len(X), np.int64)
        for part in self.parts:
            start, stop, _ = part.sites.indices(self.n_sites)
            mine = (site >= start) & (site < stop)
            at = np.where(there, state, 0)[:, mine]
            column[:, mine], value[:, mine] = part.kind.one_site(at, part)
            chosen[mine] = part.kind.numbers(own[mine], part)
        return Candidates(first + column, value, there, chosen)

    def energy(self, X: Floats) -> Floats:
        return np.asarray(sum(self._each("energy", X)))

    def mean(self, net: Floats) -> Floats:
        return _joined(self._each("mean", net))

    def variance(self, net: Floats) -> Floats:
        return _joined(self._each("variance", net))

    def log_norm(self, net: Floats) -> Floats:
        return np.asarray(sum(self._each("log_norm", net)))

    def bias(self, mean: FloatArray) -> FloatArray:
        return _joined(self._each("bias", mean))

    def base(self, bias: FloatArray) -> Floats:
        """Return biases at which all states of a site are alike, and these where there is no end.

        bias : a model's own
        """
        return np.where(self.by_column("enumerable"), 0.0, bias.astype(np.float64))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        return _joined(self._each("noise", bias, rng, rows))

    def drawn(self, rng: np.random.Generator, X: Array) -> Floats:
        """Return states with these data as means; states stay what they are."""
        if self.only is None:
            return X.astype(np.float64)
        return self.only.drawn(rng, X, self.parts[0])

    def independent(self, rng: np.random.Generator, rows: int, bias: Floats) -> Floats:
        return _joined(self._each("independent", bias, rng, rows))

    def patterns(self, bias: Floats, weights: Floats) -> Floats:
        """Return columns at which one hidden unit's weights are seen; weights (hidden, columns)."""
        if self.only is None:
            return self.mean(one_by_one(bias, weights))
        return self.only.patterns(bias, weights, self.parts[0])

    def to_zero_sum(
        self, weights: FloatArray, visible_bias: FloatArray, hidden_bias: FloatArray
    ) -> None:
        """Change parameters by columns, in place, such that those of a site sum to zero.

        Over its states, of kinds of which a constant changes nothing (mathematics 2.12); the hidden
        biases take what the weights lose, so that the distribution stays what it is.
        """
        lost = np.zeros(hidden_bias.size)
        for own in self.parts:
            lost += own.kind.zero_sum(weights[own.columns], visible_bias[own.columns], own)
        hidden_bias += lost.astype(hidden_bias.dtype)

    def as_visible(self, dtype: Any) -> VisibleKinds:
        """Return the units as kernels take visible ones."""
        spans, first, precision, ends = [], 0, np.empty(0), self.cut_ends
        for part in self.parts:
            stop = first + part.run.columns
            spans.append((part.kind.code, first, stop, part.run.states))
            first = stop
        if self.some("real"):
            own = (part.precision for part in self.parts)
            each = zip(self.runs, own, strict=True)
            precision = _joined([np.ones(run.columns) if a is None else a for run, a in each])
        ends = None if ends is None else ends.astype(dtype, order="C")
        return visible_kinds(spans, precision.astype(dtype), ends)

    def as_hidden(self, dtype: Any = None) -> HiddenUnits:
        """Return the units as kernels take hidden ones: in a float type copies, else shared."""
        if len(self.parts) > 1:
            raise ValueError("hidden units must be of one kind")
        own = self.parts[0]
        if self._precision is None:
            return self.parts[0].kind.as_hidden(
                own._replace(precision=np.ones(own.run.sites, dtype))
            )
        each = [self._precision, own.lower, own.upper]
        if dtype is not None:
            each = [array.astype(dtype) for array in each]
        return self.parts[0].kind.as_hidden(Own(own.run, *each))

    def _each(self, ask: str, values: Array, *beside: Any) -> list[Array]:
        """Ask each kind about its own columns."""
        return [
            getattr(part.kind, ask)(*beside, values[..., part.columns], part) for part in self.parts
        ]


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _together(each: Sequence[Run]) -> Runs:
    """Return the runs of sites one by one."""
    return tuple(run._replace(sites=len(list(group))) for run, group in groupby(each))


def usual_runs(columns: int, precision: FloatArray | None) -> Runs:
    """Return Gaussian units of these precisions; of None, or of no entries, Bernoulli ones."""
    real = precision is not None and precision.size > 0
    return (Run((GAUSSIAN if real else BERNOULLI).word, columns),)


def checked_states_number(value: object) -> int:
    """Return a number of states."""
    found = checks.count("n_states", value, least=2)
    if found > MOST_STATES:
        raise ValueError(f"n_states must be at most {MOST_STATES}, got {found}")
    return found


def run_of(unit: Any, sites: int) -> Run:
    """Return a run of sites of one kind, from a word or a value that has its kind.

    Of sites whose number of states is not said, one of one state.
    """
    if isinstance(unit, str) and unit in INTERVALS:
        return Run("truncated", sites, 1, *INTERVALS[unit])
    kind = kind_named(str(getattr(unit, "kind", unit)))
    states = int(getattr(unit, "n_states", None) or 1) if kind.counted else 1
    return Run(kind.word, sites, states, *((unit.lower, unit.upper) if kind.cut else ()))


def runs_of_each(name: str, values: Sequence[Any]) -> Runs:
    """Return the runs of a sequence of one kind a site, each a word or a value with a kind."""
    found: list[Run] = []
    for site, value in enumerate(values):
        kind = getattr(value, "kind", value)
        if not isinstance(kind, str) or kind not in WORDS:
            plain = [k for k in WORDS if k not in KINDS or not (KINDS[k].counted or KINDS[k].cut)]
            raise ValueError(
                f"{name} must have one of {', '.join(map(repr, plain))}, TruncatedUnits(truncation)"
                f" or CategoricalUnits(n_states) for each column, got {value!r} for column {site}"
            )
        if kind in KINDS and KINDS[kind].counted and getattr(value, "n_states", None) is None:
            raise ValueError(
                f"{name} must say how many states column {site} has, by "
                f"CategoricalUnits(n_states), got {value!r}"
            )
        found.append(run_of(value, 1))
    if not found:
        raise ValueError(f"{name} must have a kind for each column, got none")
    return _together(found)


def to_file(runs: Runs) -> dict[str, Array]:
    """Return runs as arrays of a file; none where the parameters tell."""
    if len(runs) == 1 and kind_named(runs[0].kind).plain:
        return {}
    sizes = np.array([(run.sites, run.states) for run in runs], np.int64)
    found = {"visible": np.array([run.kind for run in runs]), "visible_sizes": sizes}
    if any(kind_named(run.kind).cut for run in runs):
        found["visible_ends"] = np.array([(run.lower, run.upper) for run in runs])
    return found


def from_file(found: dict[str, Array]) -> Runs | None:
    """Return the runs that such arrays, taken out of what was found, stand for."""
    kinds, sizes, ends = (found.pop(name, None) for name in IN_FILES)
    if kinds is None and sizes is None and ends is None:
        return None
    if kinds is None or sizes is None or kinds.ndim != 1 or sizes.shape != (kinds.size, 2):
        raise ValueError("visible and visible_sizes must fit together")
    none = np.broadcast_to((-math.inf, math.inf), sizes.shape)
    ends = none if ends is None else ends
    if ends.shape != sizes.shape:
        raise ValueError("visible and visible_ends must fit together")
    runs = tuple(
        Run(str(kind), int(sites), int(states), *map(float, own))
        for kind, (sites, states), own in zip(kinds, sizes, ends, strict=True)
    )
    if not runs or not all(run.kind in KINDS and KINDS[run.kind].fits(run) for run in runs):
        raise ValueError(f"visible must have kinds of units, and visible_sizes theirs, got {runs}")
    return runs
