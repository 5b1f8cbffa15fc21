"""What a training may have beside its updates: a class each, made where it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.rbm.gibbs import Chains

from .checkpoints import State
from .rates import Time
from .weighing import Weights


@dataclass
class Update:
    """One call of the kernel: updates from batches of one size."""

    rows: FloatArray  # of all batches, which parts may change
    size: int  # rows of a batch
    weights: Weights  # of these rows, or none
    times: Sequence[Time]  # of each update
    chains: Chains = field(init=False)  # of the model's side, of which parts may learn afterwards


class Part:
    """Takes part in updates from Python, and is told of each call of the kernel."""

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

    def before(self, learner: Any, u: Update) -> None:
        """Do what comes before the chains and the steps, outside the lock of kernels."""

    def after(self, learner: Any, u: Update) -> None:
        """Do what comes after them."""

    def arrays(self) -> State:
        """Return what later updates depend on, of shapes that stay, sharing memory."""
        return {}

    def brief(self, learner: Any, time: Time) -> dict[str, float]:
        """Return the entries of the history that it knows."""
        return {}
