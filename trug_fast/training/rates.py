"""Rates over a run: a number, a way between two, a function of the share done, or one an epoch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks

Form = Literal["linear", "cosine"]
Rate = (
    float
    | tuple[float, float]
    | tuple[float, float, Form]
    | Callable[[float], float]
    | NDArray[Any]
)
Check = Callable[[str, object], Any]  # of one value

POINTS = 11  # of a function: these are checked before a run, and stand for it in a checkpoint


class Time(NamedTuple):
    """Where an update stands in its run."""

    share: float  # of the run that is done
    epoch: int  # from 1


class PerEpoch(tuple[Any, ...]):
    """A value for each epoch; as a tuple of two it would be a pair (start, end)."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the values, apart from what a pair is."""
        return f"PerEpoch{super().__repr__()}"


FORMS: dict[Form, Callable[[float], float]] = {  # what is left of the way to the end
    "linear": lambda share: 1.0 - share,
    "cosine": lambda share: 0.5 + 0.5 * math.cos(math.pi * share),
}


@dataclass(frozen=True)
class Decay:
    """A rate that moves from ``start`` to ``end`` in another form than a pair's."""

    start: float
    end: float
    form: Form

    def __call__(self, share: float) -> float:
        return self.end + (self.start - self.end) * FORMS[self.form](share)


@dataclass(frozen=True)
class Schedule:
    """A rate that moves geometrically from ``start`` to ``end`` over a run, or as it is told."""

    name: str
    start: float
    end: float
    values: PerEpoch | None = None
    function: Callable[[float], float] | None = None

    def at(self, share: float, epoch: int) -> float:
        """Return the rate when this share of the run is done, in this epoch, from 1."""
        if self.function is not None:
            return rate(f"{self.name}({share:g})", self.function(share))
        if self.values is not None:
            return float(self.values[epoch - 1])
        if self.start == self.end:  # 0 too
            return self.start
        return float(self.start * (self.end / self.start) ** share)

    @property
    def most(self) -> float:
        """The highest of a schedule that is no function."""
        return max(self.values or (self.start, self.end))

    def identity(self) -> list[Any]:
        """Return what makes it the same rate: its ends, or values of a function or each epoch."""
        if self.function is not None:
            return ["function", *_at_points(self.name, self.function, rate)]
        if self.values is None:
            return [self.start, self.end]
        return ["each epoch", *self.values]


def as_schedule(
    name: str, value: Rate | None, default: Rate | None = None, *, epochs: int
) -> Schedule:
    """Return the Schedule of a rate over so many epochs, or of the default for None."""
    found = over_epochs(name, checked_rate(name, default if value is None else value), epochs, rate)
    if callable(found):
        return Schedule(name, 0.0, 0.0, function=found)
    if isinstance(found, PerEpoch):
        return Schedule(name, found[0], found[-1], found)
    start, end = found if isinstance(found, tuple) else (found, found)
    return Schedule(name, start, end)


def rate(name: str, value: object) -> float:
    """Return one value of a rate."""
    return checks.number(name, value, least=0.0)


def checked_rate(name: str, value: Any) -> Any:
    """Return a number, a pair, a Decay, a PerEpoch or a function, checked as far as can be."""
    found = pair_or_each(name, value, rate)
    if isinstance(found, tuple) and not isinstance(found, PerEpoch):
        if (found[0] == 0.0) != (found[1] == 0.0):
            raise ValueError(
                f"{name} decays geometrically, so both ends or none are 0, got {value!r}; "
                f'({found[0]:g}, {found[1]:g}, "linear") and "cosine" may end at 0'
            )
    return found


def pair_or_each(name: str, value: Any, check: Check) -> Any:
    """Return a checked number, pair, Decay, or a PerEpoch of an array or list; or a function."""
    if callable(value) or isinstance(value, PerEpoch):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size:
        return PerEpoch(check(name, each) for each in value)
    if not isinstance(value, tuple | list):
        return check(name, value)
    if not value:
        raise ValueError(f"{name} must be a number, a pair (start, end), a function or an array")
    if len(value) == 3 and isinstance(value[2], str):
        if check is not rate:
            raise ValueError(
                f"{name} must be a number, a pair (start, end), a function or an array: forms are "
                f"for rates, got {value!r}"
            )
        form = checks.choice(f"the form of {name}", value[2], tuple(FORMS))
        return Decay(rate(name, value[0]), rate(name, value[1]), form)  # type: ignore[arg-type]
    checked = tuple(check(name, each) for each in value)
    return checked if len(checked) == 2 else PerEpoch(checked)


def over_epochs(name: str, value: Any, epochs: int, check: Check) -> Any:
    """Return what :func:`pair_or_each` does, checked against a run of so many epochs.

    A function of whole numbers is asked once an epoch, with the share of the run that is done then;
    one of rates stays a function.
    """
    if callable(value):
        if check is rate:
            _at_points(name, value, check)
            return value
        shares = (epoch / epochs for epoch in range(epochs))
        return PerEpoch(check(f"{name}({share:g})", value(share)) for share in shares)
    if isinstance(value, PerEpoch) and len(value) != epochs:
        raise ValueError(
            f"{name} must have a value for each of the {epochs} epochs, got {len(value)}"
        )
    return value


def _at_points(name: str, function: Callable[[float], Any], check: Check) -> list[Any]:
    shares = (i / (POINTS - 1) for i in range(POINTS))
    return [check(f"{name}({share:g})", function(share)) for share in shares]


@dataclass(frozen=True)
class Unnamed:
    """Stands for a function in words that know a run again: its values are told apart."""

    def __call__(self, share: float) -> float:
        return 0.0

    def __repr__(self) -> str:
        return "a function"


def without_functions(value: Any) -> Any:
    """Return a frozen value whose functions are all alike: where one lies differs by process."""
    if callable(value):
        return Unnamed()
    if isinstance(value, tuple):
        return type(value)(without_functions(one) for one in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    rates = {one.name: getattr(value, one.name) for one in fields(value)}
    found = {name: without_functions(one) for name, one in rates.items()}
    changed = {name: one for name, one in found.items() if one is not rates[name]}
    return replace(value, **{k: v for k, v in changed.items() if repr(v) != repr(rates[k])})


def sweeps(n_gibbs: Any, epochs: int) -> Schedule:
    """Return the numbers of Gibbs sweeps over a run of so many epochs, to be rounded."""
    found = over_epochs("n_gibbs", n_gibbs, epochs, checks.count)
    ends = found if isinstance(found, tuple) else (found, found)
    values = found if isinstance(found, PerEpoch) else None
    return Schedule("n_gibbs", float(ends[0]), float(ends[-1]), values)
