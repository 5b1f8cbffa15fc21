"""The file of one training, and how its data are known again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import Checkpoint, RunFile, array_identity, copy_into

from .chunks import RowSource

__all__ = ["State", "TrainingFile", "copy_into", "counted", "data_identity", "restore_counted"]

KIND = "Training"
VERSION = 4  # of what the arrays mean and of how training uses them


class TrainingFile(RunFile):
    """The file of one run of a training, which writes its state whenever it is asked to."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint, KIND, VERSION, "training")
        self._state: Callable[[], State] = dict

    def start_with(self, state: Callable[[], State]) -> None:
        """Write for the first time, and take all later states from the same function."""
        self._state = state
        self.start(state())

    def keep(self) -> None:
        """Write the present state; a disk that is full is only a warning."""
        self.save(self._state())


def data_identity(data: NDArray[Any] | RowSource | None) -> str | None:
    """Return shape, type and a hash of data in a few words, so that other data is noticed."""
    if data is None:
        return None
    if isinstance(data, RowSource):
        return data.identity()
    return array_identity(data)


class Counting(Protocol):
    """A learner that counts its updates, their Gibbs sweeps and the optimizer's steps."""

    updates: int
    sweeps: int
    steps: Any
    settings: Any


def counted(learner: Counting, arrays: State) -> State:
    """Return the arrays of a learner's state with its counters."""
    counters = np.array([learner.updates, learner.sweeps, learner.steps.taken])
    return arrays | {"counters": counters}


def restore_counted(learner: Counting, arrays: State, state: State) -> None:
    """Copy a state into the arrays of a learner, and set its counters.

    Raises
    ------
    ValueError
        If an array is missing or of another kind, or no such learner can have these counters.
    """
    counters = np.zeros(3, np.int64)
    copy_into(arrays | {"counters": counters}, state)
    updates, sweeps, steps = (int(n) for n in counters)
    if steps != updates or not 0 <= sweeps <= learner.settings.rates["n_gibbs"].most * updates:
        raise ValueError(f"it says {steps} steps, {sweeps} sweeps of {updates} updates")
    learner.updates, learner.sweeps, learner.steps.taken = updates, sweeps, steps
