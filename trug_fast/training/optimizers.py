"""The optimizers' memories, and the steps that they take.

Tested in tests/kernels/test_optimizer.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trug_fast._common.checks import FloatArray
from trug_fast.kernels import optimizer as kernels

from .checkpoints import State
from .options import Optimizer

KINDS = {"sgd": kernels.SGD, "rmsprop": kernels.RMSPROP, "adam": kernels.ADAM}
DECAY = {"sgd": 0.0, "rmsprop": 0.95, "adam": 0.999}  # of the mean square; RMSprop's is the paper's
EPSILON = {"sgd": 0.0, "rmsprop": 1e-6, "adam": 1e-8}


class Steps:
    """Takes steps along gradients, with two memories for each named parameter."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.taken = 0  # so far; to be counted up before each step
        self.memory: dict[str, tuple[FloatArray, FloatArray]] = {}

    def remember(self, name: str, parameter: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the first and second memory of a parameter, zero at first."""
        if name not in self.memory:
            self.memory[name] = (np.zeros_like(parameter), np.zeros_like(parameter))
        return self.memory[name]

    def stack(self, values: FloatArray, name: str | None = None, rows: int = 4) -> FloatArray:
        """Return a parameter with its gradient and memories as one array, the former first.

        Without a name it is no parameter that is learned, and its memories are not kept.
        """
        stacked = np.zeros((rows, *values.shape), values.dtype)
        stacked[kernels.VALUES] = values
        if name is not None:
            self.memory[name] = stacked[kernels.FIRST], stacked[kernels.SECOND]
        return stacked

    def arrays(self) -> State:
        """Return all memories, by names of their own."""
        arrays: State = {}
        for name, (first, second) in self.memory.items():
            arrays[f"first.{name}"], arrays[f"second.{name}"] = first, second
        return arrays

    def rule(self, rate: float, weight_decay: float = 0.0) -> kernels.Rule:
        """Return the present step as the kernels take it."""
        kind = self.optimizer.name
        return kernels.Rule(
            KINDS[kind],
            rate,
            self._momentum,
            DECAY[kind],
            EPSILON[kind],
            weight_decay,
            *self.corrections(max(self.taken, 1)),
        )

    def corrections(self, t: int) -> tuple[float, float]:
        """Return Adam's corrections of its memories in step t from 1."""
        if self.optimizer.name != "adam":
            return 1.0, 1.0
        return 1.0 / (1.0 - self._momentum**t), 1.0 / (1.0 - DECAY["adam"] ** t)

    @property
    def _momentum(self) -> float:
        return float(getattr(self.optimizer, "momentum", 0.0))

    def move(self, name: str, parameter: FloatArray, gradient: Any, rate: float) -> None:
        """Move a vector along its gradient, in place."""
        first, second = self.remember(name, parameter)
        ascent = np.ascontiguousarray(gradient, dtype=parameter.dtype)
        kernels.apply_rule(self.rule(rate), parameter, ascent, first, second)

    def move_weights(
        self, name: str, matrix: FloatArray, gradient: Any, rate: float, weight_decay: float
    ) -> None:
        """Move a matrix of weights along its gradient, in place, and decay it."""
        first, second = self.remember(name, matrix)
        kernels.update_weights(self.rule(rate, weight_decay), matrix, gradient, first, second)
