"""Kinds of visible units as they are named: words, values, and one for each column of data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks

BERNOULLI, SPIN, CATEGORICAL, GAUSSIAN = "bernoulli", "spin", "categorical", "gaussian"
TRUNCATED = "truncated"
MIXED = "mixed"  # more than one kind, or of different numbers of states, or of different intervals
RELU = "relu"  # a word for truncated units on [0, inf)
KINDS = (BERNOULLI, SPIN, CATEGORICAL, GAUSSIAN, TRUNCATED)
WORDS = (*KINDS, RELU)
INTERVALS = {TRUNCATED: (0.0, 1.0), RELU: (0.0, math.inf)}  # that words stand for
REAL = (GAUSSIAN, TRUNCATED)  # that have a precision
MOST_STATES = 2**15


@dataclass(frozen=True)
class SpinUnits:
    """Visible units of -1 and 1.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM([[1.0], [-1.0]], 0.0, 0.0, visible="spin")
    >>> model.free_energy([[1, -1]]).round(4)
    array([-2.1269])
    """

    kind: ClassVar[Literal["spin"]] = "spin"
    missing: ClassVar[None] = None


@dataclass(frozen=True)
class CategoricalUnits:
    """Visible units of several states, 0 to ``n_states - 1``: Potts units.

    Parameters
    ----------
    n_states : int, optional
        Of each unit, 2 or more.  By default, in training, the largest in X plus one, if X has
        states of 0.
    zero_sum : bool
        Keep weights and biases of each unit at a sum of zero over its states while training: adding
        a constant would change nothing (mathematics 2.12), but penalties and pictures would see it.
        Not beside ``l1`` and ``l1_squared``, which choose the constants that give most zeros.
        Of models no choice: :meth:`TruGRBM.zero_sum`.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> X = np.random.default_rng(0).integers(0, 3, (200, 4))
    >>> fit = tf.train_rbm(X, 2, visible=tf.CategoricalUnits(n_states=3), epochs=1, rng=0)
    >>> fit.model.weights.shape
    (4, 3, 2)
    """

    kind: ClassVar[Literal["categorical"]] = "categorical"
    missing: ClassVar[None] = None
    n_states: int | None = None
    zero_sum: bool = True

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.n_states is not None:
            object.__setattr__(self, "n_states", checked_states_number(self.n_states))
        object.__setattr__(self, "zero_sum", checks.flag("zero_sum", self.zero_sum))


class Interval(Protocol):
    """A kind of units that lie in an interval, such as :class:`trug_fast.TruncatedUnits`."""

    kind: ClassVar[Literal["truncated"]]

    @property
    def lower(self) -> float:
        """Where they begin."""

    @property
    def upper(self) -> float:
        """Where they end."""


class Run(NamedTuple):
    """Neighbouring sites of one kind.  A site is what data have a column for."""

    kind: str
    sites: int
    states: int = 1  # of a categorical site, each of which is a column to the kernels; else 1
    lower: float = -math.inf  # of truncated units; else -inf
    upper: float = math.inf  # of truncated units; else inf

    @property
    def columns(self) -> int:
        """How many columns of the kernels these sites take."""
        return self.sites * self.states


Runs = tuple[Run, ...]


def checked_states_number(value: object) -> int:
    """Return a number of states."""
    found = checks.count("n_states", value, least=2)
    if found > MOST_STATES:
        raise ValueError(f"n_states must be at most {MOST_STATES}, got {found}")
    return found


def run_of(unit: object, sites: int) -> Run:
    """Return a run of sites of one kind, from a word or a value that has its kind."""
    kind = str(getattr(unit, "kind", unit))
    states = int(getattr(unit, "n_states", None) or 1) if kind == CATEGORICAL else 1
    if isinstance(unit, str) and unit in INTERVALS:
        return Run(TRUNCATED, sites, states, *INTERVALS[unit])
    if kind == TRUNCATED:
        return Run(kind, sites, states, unit.lower, unit.upper)  # type: ignore[attr-defined]
    return Run(kind, sites, states)


def interval_of(run: Run) -> str:
    """Return an interval in words."""
    left = "(" if math.isinf(run.lower) else "["
    return f"{left}{run.lower:g}, {run.upper:g}{')' if math.isinf(run.upper) else ']'}"


def kind_of(runs: Runs) -> str:
    """Return the word for visible units of these runs."""
    return runs[0].kind if len(runs) == 1 else MIXED


def n_sites(runs: Runs) -> int:
    """Return the number of sites."""
    return sum(run.sites for run in runs)


def n_columns(runs: Runs) -> int:
    """Return the number of columns of the kernels."""
    return sum(run.columns for run in runs)


def of_each(name: str, values: Sequence[Any]) -> Runs:
    """Return the runs of a sequence of one kind a site, each a word or a value with a kind.

    Raises
    ------
    TypeError, ValueError
        Naming the site of what is no kind, or has no number of states.
    """
    found: list[Run] = []
    for site, value in enumerate(values):
        kind = getattr(value, "kind", value)
        if not isinstance(kind, str) or kind not in WORDS:
            words = ", ".join(map(repr, (BERNOULLI, SPIN, GAUSSIAN, RELU)))
            raise ValueError(
                f"{name} must have one of {words}, TruncatedUnits(truncation) or "
                f"CategoricalUnits(n_states) for each column, got {value!r} for column {site}"
            )
        if kind == CATEGORICAL and getattr(value, "n_states", None) is None:
            raise ValueError(
                f"{name} must say how many states column {site} has, by "
                f"CategoricalUnits(n_states), got {value!r}"
            )
        found.append(run_of(value, 1))
    if not found:
        raise ValueError(f"{name} must have a kind for each column, got none")
    return _together(found)


def _together(each: Sequence[Run]) -> Runs:
    """Return the runs of sites one by one."""
    return tuple(run._replace(sites=len(list(group))) for run, group in groupby(each))


def chosen(runs: Runs, mask: NDArray[np.bool_]) -> Runs:
    """Return the runs of the sites that a mask chooses."""
    if len(runs) == 1:
        return (runs[0]._replace(sites=int(mask.sum())),)
    each = [run._replace(sites=1) for run in runs for _ in range(run.sites)]
    return _together([run for run, stays in zip(each, mask, strict=True) if stays])


def columns_mask(runs: Runs, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which columns belong to the sites that a mask chooses."""
    return np.repeat(mask, states_each(runs))


def states_each(runs: Runs) -> NDArray[np.int64]:
    """Return how many columns each site takes."""
    return np.repeat([run.states for run in runs], [run.sites for run in runs])


def real_columns(runs: Runs) -> NDArray[np.bool_]:
    """Return which columns are units of real numbers, which have a precision."""
    return np.repeat([run.kind in REAL for run in runs], [run.columns for run in runs])


def has_ends(runs: Runs) -> bool:
    """Tell whether some units are truncated."""
    return any(run.kind == TRUNCATED for run in runs)


def column_ends(runs: Runs) -> NDArray[np.float64]:
    """Return the lower and the upper ends of the columns, infinite but of truncated units."""
    each = np.array([(run.lower, run.upper) for run in runs])
    return np.repeat(each, [run.columns for run in runs], axis=0).T


def to_file(runs: Runs) -> dict[str, NDArray[Any]]:
    """Return runs as arrays of a file; none where the parameters tell."""
    if kind_of(runs) in (BERNOULLI, GAUSSIAN):
        return {}
    sizes = np.array([(run.sites, run.states) for run in runs], np.int64)
    found = {"visible": np.array([run.kind for run in runs]), "visible_sizes": sizes}
    if has_ends(runs):
        found["visible_ends"] = np.array([(run.lower, run.upper) for run in runs])
    return found


IN_FILES = ("visible", "visible_sizes", "visible_ends")


def from_file(found: dict[str, NDArray[Any]]) -> Runs | None:
    """Return the runs that such arrays, taken out of what was found, stand for.

    Raises
    ------
    ValueError
        If they stand for none.
    """
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
    sound = all(
        run.kind in KINDS
        and run.sites > 0
        and (run.states > 1) == (run.kind == CATEGORICAL)
        and run.lower < run.upper
        and math.isfinite(max(run.lower, -run.upper)) == (run.kind == TRUNCATED)
        for run in runs
    )
    if not runs or not sound:
        raise ValueError(f"visible must have kinds of units, and visible_sizes theirs, got {runs}")
    return runs
