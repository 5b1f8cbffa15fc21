"""What takes the steps of a training, and what may take part in them.

Tested in tests/training/rbm/test_learner.py and tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import copy_into
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import ORDER
from trug_fast.kernels.rbm.gibbs import Chains

from .rates import Time
from .steps import Averages, Shrinking, Steps
from .weighing import Weights

Rows = NDArray[np.int64]  # numbers of rows


class Learner(ABC):
    """Parameters, chains and memories; every update changes them in place."""

    settings: Any
    seed: int
    updates = sweeps = 0  # so far
    steps: Steps
    averages: Averages
    shrinking: Shrinking

    def n_batches(self, rows: int) -> int:
        """Return the number of batches of an epoch."""
        return -(-rows // int(self.settings.batch_size))

    def batches(self, rows: int, epoch: int, chunk: int = 0) -> Iterator[Rows]:
        """Yield the rows of each batch, in an order that seed, epoch and chunk fix."""
        return shuffled(self.seed, rows, self.settings.batch_size, epoch, chunk)

    @abstractmethod
    def update(self, data: Any, batches: Sequence[Rows], times: Sequence[Time]) -> None:
        """Take a step from each of these batches of rows, each at its time of the run."""

    @abstractmethod
    def brief(self, time: Time) -> dict[str, float]:
        """Return the entries of the history that a learner knows itself."""

    @abstractmethod
    def arrays(self) -> State:
        """Return all arrays that an update reads before it writes them, sharing memory."""

    @abstractmethod
    def parameters(self) -> State:
        """Return what makes the current model; it may share memory."""

    @abstractmethod
    def model(self, parameters: State | None = None) -> Any:
        """Return the model of these parameters, by default the current one."""

    def state(self) -> State:
        """Return everything that later updates depend on, sharing memory."""
        counters = np.array([self.updates, self.sweeps, self.steps.taken])
        others = self.steps.arrays() | self.averages.arrays() | self.shrinking.arrays()
        return self.arrays() | others | {"counters": counters}

    def restore(self, state: State) -> None:
        """Go back to a state."""
        counters = np.zeros(3, np.int64)
        copy_into(Learner.state(self) | {"counters": counters}, state)
        updates, sweeps, steps = (int(n) for n in counters)
        if steps != updates or not 0 <= sweeps <= self.settings.rates["n_gibbs"].most * updates:
            raise ValueError(f"it says {steps} steps, {sweeps} sweeps of {updates} updates")
        self.updates, self.sweeps, self.steps.taken = updates, sweeps, steps


@dataclass
class Update:
    """One call of the kernel: updates from batches of one size."""

    rows: FloatArray  # of all batches, which parts may change
    size: int  # rows of a batch
    weights: Weights  # of these rows, or none
    times: Sequence[Time]  # of each update
    chains: Chains = field(init=False)  # of the model's side, of which parts may learn afterwards


class Part:
    """Takes part in updates from Python.

    It is told of each call of the kernel, which an Update is; of the temporal model, of each step.
    """

    alone = True  # there is something to do for every single update
    moves = False  # parameters, after the kernel: averages are then taken after that

    @classmethod
    def check(cls, settings: Any) -> None:
        """Refuse what does not go with the rest of a training.

        Raises
        ------
        ValueError
            Naming the argument.
        """

    def before(self, learner: Any, u: Any) -> None:
        """Do what comes before the steps; of the RBM outside the lock of kernels."""

    def after(self, learner: Any, u: Any) -> None:
        """Do what comes after them."""

    def arrays(self) -> State:
        """Return what later updates depend on, of shapes that stay, sharing memory."""
        return {}

    def brief(self, learner: Any, time: Time) -> dict[str, float]:
        """Return the entries of the history that it knows."""
        return {}


def shuffled(seed: int, rows: int, size: int, epoch: int, chunk: int = 0) -> Iterator[Rows]:
    """Yield batches of so many rows, in an order that seed, epoch and chunk fix."""
    counter = (epoch << 128) + (chunk << 64)
    generator = np.random.Generator(np.random.Philox(key=[seed, ORDER], counter=counter))
    order = generator.permutation(rows)
    for start in range(0, rows, size):
        yield order[start : start + size]
