"""The state of a regression's training run, and how an epoch moves it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import copy_into
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import INITIAL
from trug_fast.kernels.tggm import epoch, mean_field
from trug_fast.kernels.tggm import objectives as regression
from trug_fast.kernels.tggm.objectives import WeightedRows
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training import diagnosis
from trug_fast.training.learner import Learner, shuffled
from trug_fast.training.rates import Time
from trug_fast.training.steps import Steps
from trug_fast.training.unit_parameters import ENDS

from .data import Examples, Scales
from .options import MeanField
from .plans import RegressionSettings

OBJECTIVES = {
    "moments": regression.MOMENTS,
    "bp": regression.SQUARES,
    "probit": regression.PROBIT,
}  # else BOUND


def task_of(settings: RegressionSettings) -> regression.Task:
    """Return what is trained, as the kernels take it."""
    ends, noise, objective = settings.truncation, settings.noise, settings.objective
    cycles = objective if isinstance(objective, MeanField) else MeanField()
    return regression.Task(
        settings.n_hidden,
        settings.n_inputs,
        settings.n_outputs,
        regression.choose(
            regression.BOUND if isinstance(objective, MeanField) else OBJECTIVES[objective]
        ),
        mean_field.Cycles(cycles.n_cycles, cycles.tolerance),
        ENDS[ends.learn],
        ends.learn_lower,
        ends.learn_upper,
        noise.learn,
        noise.kind == "shared",
        noise.kind == "by_input",
        1 / settings.hidden_variance,
    )


class RegressionLearner(Learner):
    """Parameters and their optimizer's memories; every epoch changes them in place.

    An epoch is one batch to the loop: its compiled call takes all steps, without Python's lock.
    """

    settings: RegressionSettings

    def __init__(self, settings: RegressionSettings, scales: Scales, seed: int) -> None:
        self.settings, self.scales, self.seed = settings, scales, seed
        self.updates = self.taken = 0  # so far: epochs, and steps of the optimizer
        self.objective = np.nan  # mean over the rows of the last epoch
        self.steps = Steps(settings.optimizer)
        ends, hidden, dtype = settings.truncation, settings.n_hidden, settings.dtype
        inputs, outputs = settings.n_inputs, settings.n_outputs
        self.task = task_of(settings)
        learned = 1 if ends.learn == "shared" else hidden
        size = hidden * (inputs + outputs + 1) + 2 * outputs + 2 * learned
        size += hidden * outputs * self.task.by_input
        theta, gradient, first, second = np.zeros((4, size), dtype)
        self.trained = regression.Trained(
            theta,
            gradient,
            first,
            second,
            np.full(hidden, ends.lower, dtype),
            np.full(hidden, ends.upper, dtype),
        )
        self.unit = 1.0  # of measurement of the hidden units, in that of the model to go on from
        self._start_random()
        if settings.start is not None:
            self._start_at(settings.start)

    def _start_random(self) -> None:
        """Draw weights that give net inputs and outputs of order one; place the units' middles."""
        task, ends = self.task, self.settings.truncation
        generator = np.random.Generator(np.random.Philox(key=[self.seed, INITIAL]))
        own = self.parts()
        own.input_weights[:] = generator.normal(0.0, task.inputs**-0.5, own.input_weights.shape)
        own.output_weights[:] = generator.normal(0.0, task.hidden**-0.5, own.output_weights.shape)
        finite = [end for end in (ends.lower, ends.upper) if np.isfinite(end)]
        own.input_bias[:] = sum(finite) / max(len(finite), 1)
        own.log_noise[:] = np.log(self.settings.noise.variance)
        if ends.learn is not None:
            own.low_end[:] = ends.lower
            own.log_width[:] = np.log(ends.upper - ends.lower)

    def _start_at(self, model: TruGTGGM) -> None:
        """Start at a model in original units instead of random weights.

        The hidden units' unit of measurement is changed to that of these settings, which leaves
        p(y | x) as it is (mathematics 2.4).
        """
        own, shared = self.parts(), self.task.one_noise
        inputs, targets = self.scales
        moves = targets.varies  # a constant target is its own forecast, whatever the model said
        noise = np.full(moves.size, self.settings.noise.variance)
        noise[moves] = (model.noise_variance / targets.deviation**2)[moves]
        if shared and moves.any():
            noise[:] = noise[moves].mean()
        own.log_noise[:] = np.log(noise)
        goal = noise[0] if shared else self.settings.hidden_variance
        self.unit = unit = float(np.sqrt(goal / model.hidden_variance))
        weights = unit * model.input_weights
        own.input_weights[:, inputs.varies] = (weights * inputs.deviation)[:, inputs.varies]
        own.input_bias[:] = unit * model.input_bias + weights @ inputs.mean
        folded = model.output_weights / (unit * targets.deviation[:, None])
        own.output_weights[:] = np.where(moves[:, None], folded, 0.0)
        if model.noise_weights is not None:
            own.noise_weights[:] = np.where(moves[:, None], model.noise_weights / unit, 0.0)
        offset = (model.output_bias - targets.mean) / targets.deviation
        own.output_bias[:] = np.where(moves, offset, 0.0)
        lower, upper = self.trained.lower, self.trained.upper
        lower[:], upper[:] = unit * model.lower, unit * model.upper
        if self.settings.truncation.learn is not None:
            learned = own.low_end.size  # of all units alike, or of each
            own.low_end[:] = lower[:learned]
            own.log_width[:] = np.log(upper[:learned] - lower[:learned])

    def parts(self, theta: FloatArray | None = None) -> regression.Parts:
        """Return the parameters by name, sharing memory."""
        vector = self.trained.theta if theta is None else theta
        parts: regression.Parts = regression.views(self.task, vector)
        return parts

    def n_batches(self, rows: int) -> int:
        """Return 1: an epoch is one call."""
        return 1

    def batches(self, rows: int, epoch: int, chunk: int = 0) -> Iterator[NDArray[np.int64]]:
        return shuffled(self.seed, rows, rows, epoch)

    def update(
        self,
        data: Examples,
        batches: Sequence[NDArray[np.int64]],
        times: Sequence[Time],
    ) -> None:
        for rows, time in zip(batches, times, strict=True):
            self._train_epoch(data, rows, time)

    def _train_epoch(self, data: Examples, rows: NDArray[np.int64], time: Time) -> None:
        rate, ends = self._rates(time)
        rule = self.steps.rule(rate, self.settings.weight_decay)
        speed = epoch.EpochPace(rule, ends, self.taken)
        size = min(self.settings.batch_size, rows.size)
        given = WeightedRows(*data)
        self.objective = float(epoch.train_epoch(self.task, self.trained, speed, given, rows, size))
        self.updates += 1
        self.taken += -(-rows.size // size)

    def score(self, rows: Examples) -> tuple[float, float]:
        """Return root mean square error and mean log-likelihood (normal, moment-matched).

        Both are of rows whose weights are 1 on average.
        """
        given = WeightedRows(*rows)
        squares, likelihood = epoch.score(self.task, self.trained, given)
        return float(np.sqrt(squares / rows.targets.size)), float(likelihood / len(rows.targets))

    def fault(self) -> str | None:
        """Say which parameter is no longer finite, if one is not."""
        if np.isfinite(self.trained.theta).all():  # in one go: an epoch may take 100 us
            return None
        own = self.parts()._asdict()
        own["noise_variance"] = own.pop("log_noise")
        own["lower"], own["upper - lower"] = own.pop("low_end"), own.pop("log_width")
        return diagnosis.fault(own)

    def brief(self, time: Time) -> dict[str, float]:
        rate, ends = self._rates(time)
        found = {"learning_rate": rate, "objective": self.objective}
        if self.settings.truncation.learn is not None:
            found["truncation_rate"] = ends
        return found

    def _rates(self, time: Time) -> tuple[float, float]:
        own = self.settings
        return own.learning_rate.at(*time), (own.truncation_rate or own.learning_rate).at(*time)

    def arrays(self) -> State:
        memories = {"first": self.trained.first, "second": self.trained.second}
        return self.parameters() | memories

    def state(self) -> State:
        counters = np.array([self.updates, self.taken])
        return self.arrays() | {"counters": counters, "objective": np.array(self.objective)}

    def restore(self, state: State) -> None:
        counters, objective = np.zeros(2, np.int64), np.zeros(())
        copy_into(self.arrays() | {"counters": counters, "objective": objective}, state)
        self.updates, self.taken = (int(n) for n in counters)
        self.objective = float(objective)
        if not self.updates <= self.taken < 2**62:
            raise ValueError(f"it says {self.taken} steps in {self.updates} epochs")

    def parameters(self) -> State:
        own = self.trained
        return {"theta": own.theta, "lower": own.lower, "upper": own.upper}

    def model(
        self,
        parameters: State | None = None,
        scales: Scales | None = None,
        log_noise: NDArray[np.float64] | None = None,
        doubt: NDArray[np.float64] | None = None,
    ) -> TruGTGGM:
        """Return the model of these parameters, by default the current ones, in float64.

        It is one of rows in original units, or of other ``scales``, perhaps with another noise, and
        with the covariance of the readout of standardised targets.
        The standardisation is folded into weights, biases and noise: float32 would lose inputs
        whose mean is much larger than their deviation.  Ends that are kept are those of the model
        that training went on from: its hidden units have their own unit of measurement again.
        """
        found = self.parameters() if parameters is None else parameters
        inputs, targets = self.scales if scales is None else scales
        own = self.parts(found["theta"])
        learned = np.exp(own.log_noise.astype(np.float64))
        noise = learned if log_noise is None else np.exp(log_noise)
        if self.task.by_input and log_noise is not None:  # a factor
            noise = noise * learned
        variance = learned[0] if self.task.one_noise else self.settings.hidden_variance
        unit, lower, upper = 1.0, found["lower"], found["upper"]
        if self.settings.start is not None and self.settings.truncation.learn is None:
            unit, lower, upper = self.unit, self.settings.start.lower, self.settings.start.upper
        weights = own.input_weights / inputs.deviation / unit
        model = TruGTGGM(
            weights,
            own.input_bias / unit - weights @ inputs.mean,
            own.output_weights * targets.deviation[:, None] * unit,
            own.output_bias * targets.deviation + targets.mean,
            noise * targets.deviation**2,
            lower.astype(np.float64),
            upper.astype(np.float64),
            hidden_variance=variance / unit**2,
            noise_weights=own.noise_weights * unit if self.task.by_input else None,
            readout_covariance=None
            if doubt is None
            else doubt * targets.deviation[:, None, None] ** 2,
        )
        start = self.settings.start
        return model if start is None else model.with_columns(start.columns)
