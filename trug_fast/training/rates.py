"""Rates over a run: a number, a pair that decays geometrically, or a function of the share done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trug_fast._common import checks

Rate = float | tuple[float, float] | Callable[[float], float]

POINTS = 11  # of a function: these are checked before a run, and stand for it in a checkpoint


@dataclass(frozen=True)
class Schedule:
    """A rate that moves geometrically from ``start`` to ``end`` over a run, or as a function says.

    Examples
    --------
    >>> from trug_fast.training.rates import as_schedule
    >>> [round(as_schedule("learning_rate", (0.1, 0.001)).at(share), 4) for share in (0, 0.5, 1)]
    [0.1, 0.01, 0.001]
    """

    name: str
    start: float
    end: float
    function: Callable[[float], float] | None = None

    def at(self, share: float) -> float:
        """Return the rate when this share of the run is done."""
        if self.function is not None:
            return checks.number(f"{self.name}({share:g})", self.function(share), least=0.0)
        if self.start == self.end:  # 0 too
            return self.start
        return float(self.start * (self.end / self.start) ** share)

    def identity(self) -> list[float]:
        """Return what makes it the same rate: its ends, or the values of a function."""
        return [self.start, self.end] if self.function is None else _values(self)


def as_schedule(name: str, value: Rate | None, default: Rate | None = None) -> Schedule:
    """Return the Schedule of a rate, or of the default for None.

    Raises
    ------
    TypeError, ValueError
        Naming the argument: if it is no number, pair (start, end) or function, if a rate is
        negative or not finite, or if one end of a pair alone is 0.
    """
    value = default if value is None else value
    if callable(value):
        rates = _values(Schedule(name, 0.0, 0.0, value))
        return Schedule(name, rates[0], rates[-1], value)
    pair = value if isinstance(value, tuple | list) else (value, value)
    if len(pair) != 2:
        raise ValueError(
            f"{name} must be a number, a pair (start, end) or a function, got {value!r}"
        )
    start, end = (checks.number(name, rate, least=0.0) for rate in pair)
    if (start == 0.0) != (end == 0.0):
        raise ValueError(f"{name} decays geometrically, so both ends or none are 0, got {value!r}")
    return Schedule(name, start, end)


def sweeps(n_gibbs: int | tuple[int, int]) -> Schedule:
    """Return the numbers of Gibbs sweeps over a run, to be rounded."""
    pair = n_gibbs if isinstance(n_gibbs, tuple) else (n_gibbs, n_gibbs)
    return Schedule("n_gibbs", float(pair[0]), float(pair[1]))


def _values(schedule: Schedule) -> list[float]:
    return [schedule.at(i / (POINTS - 1)) for i in range(POINTS)]
