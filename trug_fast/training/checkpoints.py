"""The state of a training in a file, and how its data are known again."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import array_identity, copy_into

from .chunks import RowSource

__all__ = ["State", "copy_into", "counted", "data_identity", "restore_counted"]


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
