"""Learning rates over time, and the optimisers' memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast.kernels import optimizer as kernels

OptimiserName = Literal["sgd", "rmsprop", "adam"]
Rate = float | tuple[float, float] | None

KINDS = {"sgd": kernels.SGD, "rmsprop": kernels.RMSPROP, "adam": kernels.ADAM}
DECAY = {"sgd": 0.0, "rmsprop": 0.95, "adam": 0.999}  # of the mean square; RMSprop's is the paper's
EPSILON = {"sgd": 0.0, "rmsprop": 1e-6, "adam": 1e-8}


@dataclass(frozen=True)
class Schedule:
    """A learning rate that moves geometrically from ``start`` to ``end`` over a run."""

    start: float
    end: float

    def at(self, progress: float) -> float:
        """Return the rate when this fraction of the run is done."""
        if self.start == 0.0:
            return 0.0
        return float(self.start * (self.end / self.start) ** progress)


def as_schedule(name: str, value: Rate, default: tuple[float, float] | None = None) -> Schedule:
    """Return a Schedule from a constant, a pair (start, end) or None for the default, if any."""
    if value is None and default is not None:
        return Schedule(*default)
    pair = value if isinstance(value, tuple | list) else (value, value)
    if len(pair) != 2:
        raise ValueError(f"{name} must be a number or a pair (start, end), got {value!r}")
    start, end = (checks.number(name, rate, least=0.0) for rate in pair)
    if (start == 0.0) != (end == 0.0):
        raise ValueError(f"{name} decays geometrically, so both ends or none are 0, got {value!r}")
    return Schedule(start, end)


@dataclass
class Optimiser:
    """Takes steps along gradients, one memory for each named parameter."""

    name: OptimiserName
    momentum: float
    steps: int = 0  # taken so far
    memory: dict[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def remember(self, name: str, parameter: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the first and second memory of a parameter, zero at first."""
        if name not in self.memory:
            self.memory[name] = (np.zeros_like(parameter), np.zeros_like(parameter))
        return self.memory[name]

    def rule(self, rate: float, weight_decay: float = 0.0) -> kernels.Rule:
        """Return step ``steps`` as the kernels take it."""
        adam = self.name == "adam"
        momentum = 0.9 if adam and self.momentum == 0.0 else self.momentum
        decay = DECAY[self.name]
        t = max(self.steps, 1)
        return kernels.Rule(
            KINDS[self.name],
            rate,
            momentum,
            decay,
            EPSILON[self.name],
            weight_decay,
            1.0 / (1.0 - momentum**t) if adam else 1.0,
            1.0 / (1.0 - decay**t) if adam else 1.0,
        )

    def step(self, name: str, parameter: FloatArray, gradient: Any, rate: float) -> None:
        """Move a vector along its gradient, in place."""
        first, second = self.remember(name, parameter)
        ascent = np.ascontiguousarray(gradient, dtype=parameter.dtype)
        kernels.apply_rule(self.rule(rate), parameter, ascent, first, second)
