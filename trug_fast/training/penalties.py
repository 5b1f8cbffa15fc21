"""Penalties on weights in the course of a run: which, on which matrices, and what they leave.

Tested in tests/training/test_penalties.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.kernels import penalties as kernels
from trug_fast.kernels.compiling import want
from trug_fast.kernels.optimizer import Rule

from .averages import STRIDE
from .checkpoints import State
from .options import PENALTIES, ByField, Optimizer
from .rates import Schedule, Time, as_schedule

KEPT = "kept."  # begins the names of its arrays in a checkpoint


class Amounts(NamedTuple):
    """The factors of all penalties on one matrix, at some time."""

    weight_decay: float = 0.0
    l1: float = 0.0
    l1_squared: float = 0.0
    group_lasso: float = 0.0


NOTHING = Amounts()


def as_penalties(
    optimizer: Optimizer, matrices: tuple[str, ...], epochs: int
) -> dict[str, Schedule]:
    """Return the penalties of an optimizer on these matrices that are not 0, over so many epochs.

    Each is called as "l1 of weights".

    Raises
    ------
    TypeError, ValueError
        If one is no rate, as :func:`as_schedule` has it, or is for a matrix that is not there.
    """
    found: dict[str, Schedule] = {}
    for name in PENALTIES:
        value = getattr(optimizer, name)
        each = dict(value) if isinstance(value, ByField) else dict.fromkeys(matrices, value)
        for matrix, rate in each.items():
            if matrix not in matrices:
                known = ", ".join(matrices)
                raise ValueError(f"{name} is for {known}; this model has no {matrix!r}")
            schedule = as_schedule(name, rate, epochs=epochs)
            if schedule != Schedule(name, 0.0, 0.0):
                found[f"{name} of {matrix}"] = schedule
    return found


class Shrinking:
    """Takes weights to zero after every tenth step, and knows which are zero since the last time.

    A run of fewer does so after its last one.

    Ten steps at once, since the noise of one moves weights further than a penalty takes them: after
    single ones few would be found at zero (mathematics 2.14).

    Parameters
    ----------
    rates : mapping of Schedules
        Those of penalties are taken.
    matrices : mapping of arrays
        The weights, by name, which change in place.
    sites : mapping of arrays
        Rows of a matrix where sites begin, and their number; by default each row is one.
    """

    def __init__(
        self,
        rates: Mapping[str, Schedule],
        matrices: Mapping[str, FloatArray],
        sites: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> None:
        self._rates = {
            matrix: [
                (k, rates[f"{k} of {matrix}"]) for k in PENALTIES if f"{k} of {matrix}" in rates
            ]
            for matrix in matrices
        }
        shrunk = {
            matrix: matrices[matrix]
            for matrix, own in self._rates.items()
            if any(name != "weight_decay" for name, _ in own)
        }
        self.kept = {name: np.ones_like(one) for name, one in shrunk.items()}
        each = {name: np.arange(len(one) + 1) for name, one in shrunk.items()}
        self.every = STRIDE
        self.sites = each | {k: v for k, v in (sites or {}).items() if k in each}
        if self.kept:
            want(kernels.PENALTIES)

    def expect(self, updates: int) -> None:
        """Take it that the whole run has so many updates."""
        self.every = max(1, min(STRIDE, updates))

    def amounts(self, name: str, time: Time) -> Amounts:
        """Return the factors of all penalties on a matrix at some time."""
        own = self._rates[name]
        return Amounts(**{k: rate.at(*time) for k, rate in own}) if own else NOTHING

    def steps(self, name: str, updates: int) -> int:
        """Return how many steps are made good for after so many updates, 0 out of turn."""
        return self.every if name in self.kept and updates % self.every == 0 else 0

    def shrink(
        self,
        name: str,
        weights: FloatArray,
        second: FloatArray,
        rule: Rule,
        amounts: Amounts,
        updates: int,
    ) -> None:
        """Shrink a matrix after so many updates, if it is its turn."""
        steps = self.steps(name, updates)
        if steps:
            pull = kernels.Pull(*amounts[1:], float(steps), self.sites[name])
            kernels.shrink_weights(rule, weights, second, self.kept[name], pull)

    def parameters(self, found: State) -> State:
        """Return parameters whose weights are zero where they were."""
        kept = {name: np.where(one > 0, found[name], 0 * one) for name, one in self.kept.items()}
        return found | kept

    def for_kernels(self, name: str, dtype: Any) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return what is kept of a matrix, and its sites; nothing if it is not shrunk."""
        if name not in self.kept:
            return np.empty((0, 0), dtype), np.empty(0, np.int64)
        return self.kept[name], self.sites[name]

    def arrays(self) -> State:
        """Return all arrays that this depends on, by names of their own."""
        return {KEPT + name: kept for name, kept in self.kept.items()}
