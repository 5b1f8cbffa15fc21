"""The state of a regression's training run, and how an epoch moves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import INITIAL, ORDER
from trug_fast.kernels.tggm import epoch, mean_field
from trug_fast.kernels.tggm import objectives as regression
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.truncation import Truncation
from trug_fast.training import diagnosis
from trug_fast.training.former.optimizers import Optimiser, OptimiserName

Method = Literal["ml", "moments", "bp"]
Noise = Literal["separate", "shared"]
OBJECTIVES = {
    "ml": regression.BOUND,
    "moments": regression.MOMENTS,
    "bp": regression.SQUARES,
}
ENDS = {None: regression.FIXED, "shared": regression.SHARED, "per_unit": regression.PER_UNIT}


@dataclass(frozen=True)
class Scale:
    """Means and deviations by which data is standardised, and which columns vary at all."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, data: NDArray[Any], constant: float) -> Scale:
        """Take them from the rows of ``data``.

        The deviation of a constant column is ``constant`` times its value (or 1, if that is 0).
        Infinity makes the column 0, and its weights 0 in the model's own units: what never varied
        in training has no influence on predictions.
        """
        mean = data.mean(axis=0, dtype=np.float64)
        deviation = data.std(axis=0, dtype=np.float64)
        # That of a constant need not come out as 0.
        flat = (data == data[0]).all(axis=0) | (deviation <= 1e-14 * abs(mean))
        size = np.where(abs(mean) < 1e-100, 1.0, abs(mean))
        return cls(mean, np.where(flat, constant * size, deviation), ~flat)

    @classmethod
    def none(cls, columns: int) -> Scale:
        """Leave data as it is."""
        return cls(np.zeros(columns), np.ones(columns), np.ones(columns, bool))

    def apply(self, data: NDArray[Any], dtype: np.dtype[Any]) -> FloatArray:
        """Return standardised rows."""
        scaled = (np.asarray(data, np.float64) - self.mean) / self.deviation
        return np.ascontiguousarray(scaled, dtype=dtype)


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller."""

    truncation: Truncation
    method: Method
    n_cycles: int
    tolerance: float
    noise: Noise
    learn_noise: bool
    noise_variance: float
    hidden_variance: float
    batch_size: int
    optimizer: OptimiserName
    momentum: float
    weight_decay: float
    dtype: np.dtype[Any]


class Learner:
    """Parameters and optimiser of one run; every epoch changes them in place."""

    def __init__(
        self, inputs: int, outputs: int, hidden: int, settings: Settings, seed: int
    ) -> None:
        self.settings, self.seed = settings, seed
        self.updates = 0
        ends, dtype = settings.truncation, settings.dtype
        self.task = regression.Task(
            hidden,
            inputs,
            outputs,
            OBJECTIVES[settings.method],
            mean_field.Cycles(settings.n_cycles, settings.tolerance),
            ENDS[ends.learn],
            ends.learn_lower,
            ends.learn_upper,
            settings.learn_noise,
            settings.noise == "shared",
            1 / settings.hidden_variance,
        )
        learned = 1 if ends.learn == "shared" else hidden
        size = hidden * (inputs + outputs + 1) + 2 * outputs + 2 * learned
        theta, gradient, first, second = np.zeros((4, size), dtype)
        self.state = regression.Trained(
            theta,
            gradient,
            first,
            second,
            np.full(hidden, ends.lower, dtype),
            np.full(hidden, ends.upper, dtype),
        )
        self._start()

    def _start(self) -> None:
        """Draw weights that give net inputs and outputs of order one; place the units' middles."""
        task, ends = self.task, self.settings.truncation
        generator = np.random.Generator(np.random.Philox(key=[self.seed, INITIAL]))
        own = self.parts()
        own.input_weights[:] = generator.normal(0.0, task.inputs**-0.5, own.input_weights.shape)
        own.output_weights[:] = generator.normal(0.0, task.hidden**-0.5, own.output_weights.shape)
        finite = [end for end in (ends.lower, ends.upper) if np.isfinite(end)]
        own.input_bias[:] = sum(finite) / max(len(finite), 1)
        own.log_noise[:] = np.log(self.settings.noise_variance)
        if ends.learn is not None:
            own.low_end[:] = ends.lower
            own.log_width[:] = np.log(ends.upper - ends.lower)

    def parts(self) -> regression.Parts:
        """Return the parameters by name, sharing memory."""
        parts: regression.Parts = regression.parts(self.task, self.state.theta)
        return parts

    def run_epoch(
        self,
        inputs: FloatArray,
        targets: FloatArray,
        rows: NDArray[np.int64],
        number: int,
        rate: float,
        end_rate: float,
    ) -> float:
        """Take one step for each batch of these rows, in an order that seed and number fix."""
        generator = np.random.Generator(
            np.random.Philox(key=[self.seed, ORDER], counter=number << 128)
        )
        order = rows[generator.permutation(len(rows))]
        settings = self.settings
        optimiser = Optimiser(settings.optimizer, settings.momentum)
        rule = optimiser.rule(rate, settings.weight_decay)
        size = min(settings.batch_size, len(rows))
        pace = epoch.Pace(rule, end_rate, self.updates)
        data = mean_field.Rows(inputs, targets)
        value = epoch.train_epoch(self.task, self.state, pace, data, order, size)
        self.updates += -(-len(rows) // size)
        return float(value)

    def score(self, inputs: FloatArray, targets: FloatArray) -> tuple[float, float]:
        """Return root mean square error and mean log-likelihood (normal, moment-matched)."""
        squares, likelihood = epoch.score(self.task, self.state, inputs, targets)
        return float(np.sqrt(squares / targets.size)), float(likelihood / len(targets))

    def fault(self) -> str | None:
        """Say which parameter is no longer finite, if one is not."""
        own = self.parts()._asdict()
        own["noise_variance"] = own.pop("log_noise")
        own["lower"], own["upper - lower"] = own.pop("low_end"), own.pop("log_width")
        return diagnosis.fault(own)

    def copy(self) -> tuple[FloatArray, ...]:
        """Return copies of what makes the present model."""
        return self.state.theta.copy(), self.state.lower.copy(), self.state.upper.copy()

    def restore(self, copies: tuple[FloatArray, ...]) -> None:
        """Go back to the model of ``copy``; the optimiser's memory stays."""
        targets = self.state.theta, self.state.lower, self.state.upper
        for target, values in zip(targets, copies, strict=True):
            target[:] = values

    def begin_at(self, model: TruGTGGM, inputs: Scale, targets: Scale) -> None:
        """Start at a model in original units instead of random weights.

        The hidden units' unit of measurement is changed to that of these settings, which leaves
        p(y | x) as it is (math.md 2.4); ends that are fixed or common here stay as they are.
        """
        own, settings = self.parts(), self.settings
        moves = targets.varies  # a constant target is its own forecast, whatever the model said
        noise = np.full(moves.size, settings.noise_variance)
        noise[moves] = (model.noise_variance / targets.deviation**2)[moves]
        if settings.noise == "shared" and moves.any():
            noise[:] = noise[moves].mean()
        own.log_noise[:] = np.log(noise)
        goal = noise[0] if settings.noise == "shared" else settings.hidden_variance
        unit = np.sqrt(goal / model.hidden_variance)
        weights = unit * model.input_weights
        own.input_weights[:, inputs.varies] = (weights * inputs.deviation)[:, inputs.varies]
        own.input_bias[:] = unit * model.input_bias + weights @ inputs.mean
        folded = model.output_weights / (unit * targets.deviation[:, None])
        own.output_weights[:] = np.where(moves[:, None], folded, 0.0)
        offset = (model.output_bias - targets.mean) / targets.deviation
        own.output_bias[:] = np.where(moves, offset, 0.0)
        if settings.truncation.learn == "per_unit":
            self.state.lower[:], self.state.upper[:] = unit * model.lower, unit * model.upper
            own.low_end[:] = self.state.lower
            own.log_width[:] = np.log(self.state.upper - self.state.lower)

    def model(
        self, inputs: Scale, targets: Scale, log_noise: NDArray[np.float64] | None = None
    ) -> TruGTGGM:
        """Return the present model in original units, in float64, perhaps with another noise.

        The standardisation is folded into weights, biases and noise: float32 would lose inputs
        whose mean is much larger than their deviation.
        """
        own = self.parts()
        learned = np.exp(own.log_noise.astype(np.float64))
        noise = learned if log_noise is None else np.exp(log_noise)
        weights = own.input_weights / inputs.deviation
        return TruGTGGM(
            weights,
            own.input_bias - weights @ inputs.mean,
            own.output_weights * targets.deviation[:, None],
            own.output_bias * targets.deviation + targets.mean,
            noise * targets.deviation**2,
            self.state.lower.astype(np.float64),
            self.state.upper.astype(np.float64),
            hidden_variance=learned[0] if self.task.one_noise else self.settings.hidden_variance,
        )
