"""Steps along gradients: the optimizers' memories, averages of parameters, penalties on weights.

Averages and penalties are the kernel's own business where an update is one call: outside it they
cost 5 to 12 % of a small one.

Tested in tests/kernels/test_optimizer.py, tests/training/test_averages.py and test_penalties.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast.kernels import optimizer as kernels
from trug_fast.kernels import penalties
from trug_fast.kernels.compiling import want

from .options import PENALTIES, ByField, Optimizer
from .rates import Schedule, Time, as_schedule

KINDS = {"sgd": kernels.SGD, "rmsprop": kernels.RMSPROP, "adam": kernels.ADAM}
DECAY = {"sgd": 0.0, "rmsprop": 0.95, "adam": 0.999}  # of the mean square; RMSprop's is the paper's
EPSILON = {"sgd": 0.0, "rmsprop": 1e-6, "adam": 1e-8}
STRIDE = 10  # updates between two that enter the average: costs 2 % of an update instead of 20
KEPT = "kept."  # begins the names of arrays of penalties in a checkpoint


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

    def move_weights(self, name: str, matrix: FloatArray, gradient: Any, rate: float) -> None:
        """Move a matrix of weights along its gradient, in place."""
        first, second = self.remember(name, matrix)
        kernels.update_weights(self.rule(rate), matrix, gradient, first, second)

    def lengths(self, name: str) -> Any:
        """Return what the last step of a parameter was divided by."""
        if self.optimizer.name == "sgd":
            return 1.0
        rule = self.rule(0.0)
        return np.sqrt(rule.second_correction * self.memory[name][1]) + rule.epsilon


class Averages:
    """Averages of parameters over a share of the updates so far, the latest ones most.

    Their weights grow like a power of the number of the update (Shamir and Zhang, 2013), so this
    needs to know neither the length of the run nor when to begin.

    Parameters
    ----------
    parameters : mapping of arrays
        What is averaged, which an update changes in place.
    share : float
        0 keeps no averages.
    places : mapping of arrays
        Where averages are to lie.  They are in float64, since steps towards a parameter become
        smaller than float32's grid.
    """

    def __init__(
        self, parameters: Mapping[str, NDArray[Any]], share: float, places: State | None = None
    ) -> None:
        self._parameters, self._share = dict(parameters), share
        self._averages: State = {}
        for name, values in parameters.items() if share else ():
            self._averages[name] = (places or {}).get(name, np.empty(values.shape))
            self._averages[name][...] = values

    def share(self, updates: int) -> float:
        """Return the parameters' share in their averages after so many updates: 0 out of turn."""
        if not self._share or updates % STRIDE:
            return 0.0
        return 1.0 / max(1.0, self._share * updates / STRIDE)

    def follow(self, updates: int) -> None:
        """Take the parameters in, if it is their turn after so many updates."""
        share = self.share(updates)
        if share:
            for name, average in self._averages.items():
                kernels.approach(average.reshape(-1), self._parameters[name].reshape(-1), share)

    def parameters(self, updates: int) -> State:
        """Return the parameters averaged, as of their own types, once there are averages."""
        if updates < STRIDE:
            return {}
        return {k: v.astype(self._parameters[k].dtype) for k, v in self._averages.items()}

    def arrays(self) -> State:
        """Return all arrays that this depends on, by names of their own."""
        return {f"average.{name}": average for name, average in self._averages.items()}


class Amounts(NamedTuple):
    """The factors of all penalties on one matrix, at some time."""

    weight_decay: float = 0.0
    l1: float = 0.0
    l1_squared: float = 0.0


NOTHING = Amounts()


def as_penalties(
    optimizer: Optimizer, matrices: tuple[str, ...], epochs: int
) -> dict[str, Schedule]:
    """Return the penalties of an optimizer on these matrices that are not 0, over so many epochs.

    Each is called as "l1 of weights".
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
    """

    stride = STRIDE  # steps that are made good at once

    def __init__(self, rates: Mapping[str, Schedule], matrices: Mapping[str, FloatArray]) -> None:
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
        self.every = self.stride
        if any(self._rates.values()):
            want(penalties.PENALTIES)

    def expect(self, updates: int) -> None:
        """Take it that the whole run has so many updates."""
        self.every = max(1, min(self.stride, updates))

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
        rule: kernels.Rule,
        amounts: Amounts,
        updates: int,
    ) -> None:
        """Shrink a matrix after so many updates, if it is its turn."""
        steps = self.steps(name, updates)
        if steps:
            pull = penalties.Pull(*amounts[1:], float(steps))
            penalties.shrink_weights(rule, weights, second, self.kept[name], pull)

    def parameters(self, found: State) -> State:
        """Return parameters whose weights are zero where they were."""
        kept = {name: np.where(one > 0, found[name], 0 * one) for name, one in self.kept.items()}
        return found | kept

    def arrays(self) -> State:
        """Return all arrays that this depends on, by names of their own."""
        return {KEPT + name: kept for name, kept in self.kept.items()}
