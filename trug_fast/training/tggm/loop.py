"""The runs of a regression's training, whose every point between two epochs can be saved.

A run for each learning rate is scored on rows held back; then all rows are trained on for as many
epochs as the best of them took.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress
from trug_fast.kernels.random.philox import USER
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import QUIET, Rise
from trug_fast.training.former.checkpoints import Checkpoint, State, copy_into
from trug_fast.training.former.optimizers import Schedule

from .learner import Learner, Scale, Settings

CONSTANT = 2.0**-26  # a constant target is forecast as exactly as the root of float64's grid
RUN, CHOSEN, HISTORY = "run.", "chosen.", "history."  # begin names of arrays in a checkpoint
BEST = ("best_theta", "best_lower", "best_upper")


@dataclass(frozen=True)
class Plan:
    """How long and how fast, checked by the caller."""

    epochs: int
    rates: tuple[float, ...]
    decay: float
    truncation_rate: float | None
    patience: int
    score: str
    refit: bool


@dataclass
class Record:
    """What a run has come to: its history, and its best model so far."""

    rate: float
    best: tuple[FloatArray, ...]  # theta, lower, upper
    best_epoch: int = 0
    best_score: float = -np.inf
    history: dict[str, list[float]] = field(default_factory=dict)

    def state(self, prefix: str) -> State:
        """Return everything as arrays."""
        numbers = np.array([self.rate, self.best_epoch, self.best_score])
        state: State = {f"{prefix}numbers": numbers}
        state |= {prefix + name: v for name, v in zip(BEST, self.best, strict=True)}
        return state | {f"{prefix}{HISTORY}{k}": np.array(v) for k, v in self.history.items()}

    def restore(self, state: Mapping[str, NDArray[Any]], prefix: str) -> None:
        """Take over what ``state`` gave; raises ValueError if it does not fit."""
        numbers = np.zeros(3)
        names = [f"{prefix}numbers", *(prefix + name for name in BEST)]
        copy_into(dict(zip(names, (numbers, *self.best), strict=True)), state)
        self.rate, self.best_score = float(numbers[0]), float(numbers[2])
        self.best_epoch = int(numbers[1])
        start = f"{prefix}{HISTORY}"
        found = {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}
        epochs = found.get("epoch", np.empty(0)).size
        if not all(values.shape == (epochs,) for values in found.values()):
            raise ValueError("its history is not as long for one figure as for another")
        if not (0 <= self.best_epoch <= epochs and 0 <= self.rate < np.inf):
            raise ValueError(
                f"it says rate {self.rate} and best epoch {self.best_epoch} of {epochs}"
            )
        self.history = {name: values.tolist() for name, values in found.items()}


class Run:
    """One pass over the epochs."""

    def __init__(self, learner: Learner, rate: float, rows: NDArray[np.int64], epochs: int) -> None:
        self.learner, self.rows, self.epochs = learner, rows, epochs
        self.record = Record(rate, learner.copy())
        self.finished = self.diverged = False

    @property
    def epoch(self) -> int:
        """Number of epochs done, but the one that diverged."""
        return len(self.record.history.get("epoch", []))

    def state(self) -> State:
        """Return all that the rest of the run depends on."""
        flags = np.array([self.epochs, self.learner.updates, self.finished, self.diverged])
        state = self.record.state(RUN) | {f"{RUN}flags": flags.astype(np.int64)}
        return state | self._memory()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state of the same run; raises ValueError if it is none."""
        flags = np.zeros(4, np.int64)
        copy_into({f"{RUN}flags": flags} | self._memory(), state)
        self.record.restore(state, RUN)
        self.epochs, self.learner.updates = int(flags[0]), int(flags[1])
        self.finished, self.diverged = bool(flags[2]), bool(flags[3])
        done = len(self.record.history.get("epoch", []))
        possible = done < self.epochs or (self.finished and done == self.epochs)
        if not (possible and 0 <= self.learner.updates < 2**62):
            raise ValueError(
                f"it says epoch {done} of {self.epochs}, {self.learner.updates} updates"
            )

    def _memory(self) -> State:
        own = self.learner.state
        names = ("theta", "first", "second", "lower", "upper")
        return {RUN + name: getattr(own, name) for name in names}


class Training:
    """All runs of one training: where they are, and how they go on from there."""

    def __init__(
        self,
        data: NDArray[Any],
        aims: NDArray[Any],
        held: int,
        hidden: int,
        settings: Settings,
        plan: Plan,
        start: TruGTGGM | None,
        seed: int,
    ) -> None:
        self.settings, self.plan, self.start, self.seed = settings, plan, start, seed
        self.hidden = hidden
        self.scale_x, self.scale_y = Scale.of(data, np.inf), Scale.of(aims, CONSTANT)
        self.inputs = self.scale_x.apply(data, settings.dtype)
        self.targets = self.scale_y.apply(aims, settings.dtype)
        generator = np.random.Generator(np.random.Philox(key=[seed, USER]))
        order = generator.permutation(len(data))
        self.held, self.kept = np.sort(order[:held]), np.sort(order[held:])
        self.stage = 0  # the number of a rate, then one more for all rows
        self.run = self._new_run(plan.rates[0], self.kept, plan.epochs)
        self.chosen: Record | None = None
        self.finished = False
        self.whole = True  # no epoch is under way

    def state(self) -> State:
        """Return all that the rest of the training depends on."""
        place = np.array([self.stage, self.finished, self.chosen is not None], np.int64)
        state = {"place": place} | self.run.state()
        return state if self.chosen is None else state | self.chosen.state(CHOSEN)

    def restore(self, state: State) -> None:
        """Go on from a state of the same training; raises ValueError if it is none."""
        place = np.zeros(3, np.int64)
        copy_into({"place": place}, state)
        self.stage, self.finished = int(place[0]), bool(place[1])
        stages = len(self.plan.rates) + bool(self.plan.refit and place[2])
        if not 0 <= self.stage < stages:
            raise ValueError(f"it says run {self.stage} of {stages}")
        if place[2]:
            self.chosen = Record(0.0, self.run.learner.copy())
            self.chosen.restore(state, CHOSEN)
        refitting = self.stage == len(self.plan.rates)
        self.run = self._new_run(0.0, np.arange(len(self.inputs)) if refitting else self.kept, 0)
        self.run.restore(state)
        expected = self.plan.epochs
        if refitting and self.chosen is not None:
            expected = self.chosen.best_epoch
        if self.run.epochs != expected:
            raise ValueError(f"it says {self.run.epochs} epochs, should be {expected}")

    def train(self, bar: Progress, interrupts: Interrupts, checkpoint: Checkpoint | None) -> None:
        """Go on to the end.  What interrupts it between epochs finds a state to save.

        Raises
        ------
        FloatingPointError
            If training diverges at every rate.
        """
        done = self.run.record.history.get("epoch", [])
        bar.advance(self.stage * self.plan.epochs + len(done))
        while not self.finished:
            begun = time.perf_counter() - self.run.record.history.get("seconds", [0.0])[-1]
            while not self.run.finished:
                with interrupts.held():
                    self.whole = False
                    self._epoch(begun)
                    self.whole = True
                history = self.run.record.history
                score = history.get("validation_rmse", history.get("objective", [np.nan]))[-1]
                bar.advance(1, score=score)
                if checkpoint is not None and checkpoint.due():
                    checkpoint.save(self.state())
            self._next_run()

    def best(self) -> Record:
        """Return the best run with rows held back so far."""
        choosing = self.stage < len(self.plan.rates)
        return self._better() if choosing or self.chosen is None else self.chosen

    def model(self, calibrate: bool) -> TruGTGGM:
        """Return the model of the run over all rows if that is done, else the best one so far."""
        learner = self._new_learner()
        learner.restore(self.best().best)
        log_noise = self._calibrated(learner) if calibrate and self.held.size else None
        return self._final_learner().model(self.scale_x, self.scale_y, log_noise)

    def _final_learner(self) -> Learner:
        if self.stage == len(self.plan.rates) and self.finished and not self.run.diverged:
            return self.run.learner
        learner = self._new_learner()
        learner.restore(self.best().best)
        return learner

    def _new_learner(self) -> Learner:
        widths = self.inputs.shape[1], self.targets.shape[1]
        learner = Learner(*widths, self.hidden, self.settings, self.seed)
        if self.start is not None:
            learner.begin_at(self.start, self.scale_x, self.scale_y)
        return learner

    def _new_run(self, rate: float, rows: NDArray[np.int64], epochs: int) -> Run:
        return Run(self._new_learner(), rate, rows, epochs)

    def _better(self) -> Record:
        """Return the better of the present run and those before it."""
        now = self.run.record
        return (
            now if self.chosen is None or now.best_score > self.chosen.best_score else self.chosen
        )

    def _next_run(self) -> None:
        """Go on to the next rate, to all rows, or to the end."""
        plan = self.plan
        # Without rows held back nothing speaks for what was there before it diverged.
        good = not self.run.diverged or (self.held.size and self.run.record.best_epoch)
        if self.stage < len(plan.rates) and good:
            self.chosen = self._better()
        if self.stage + 1 < len(plan.rates):
            self.stage += 1
            self.run = self._new_run(plan.rates[self.stage], self.kept, plan.epochs)
            return
        if self.chosen is None:
            run = self.run
            fault = run.learner.fault() or self._far_off(run, self._score(run)[0])
            raise diagnosis.diverged(run.epoch + 1, str(fault), _slower(run.record.rate))
        if (
            self.stage < len(plan.rates)
            and plan.refit
            and self.held.size
            and self.chosen.best_epoch
        ):
            self.stage = len(plan.rates)
            every = np.arange(len(self.inputs))
            self.run = self._new_run(self.chosen.rate, every, self.chosen.best_epoch)
            return
        self.finished = True

    def _epoch(self, begun: float) -> None:
        """Train for an epoch, score and record it; rates follow the whole plan.

        begun : when the run began, on the clock of ``time.perf_counter``
        """
        plan, run, learner = self.plan, self.run, self.run.learner
        record = run.record
        number = len(record.history.get("epoch", []))
        now = Schedule(record.rate, record.rate * plan.decay).at(number / plan.epochs)
        ends = now if plan.truncation_rate is None else now * plan.truncation_rate
        objective = learner.run_epoch(self.inputs, self.targets, run.rows, number, now, ends)
        line = {"epoch": number + 1.0, "learning_rate": now, "objective": objective}
        validated, last = len(run.rows) < len(self.inputs), number + 1 == run.epochs
        score, fault = 0.0, learner.fault()
        if fault is None and (validated or last):
            rmse, likelihood = self._score(run)
            fault = self._far_off(run, rmse)
        if fault is not None:
            run.finished = run.diverged = True
            return
        if validated:
            likelihood -= float(np.log(self.scale_y.deviation).sum())
            line |= {"validation_rmse": rmse, "validation_log_likelihood": likelihood}
            score = -rmse if plan.score == "rmse" else likelihood
        line["seconds"] = time.perf_counter() - begun
        for name, value in line.items():
            record.history.setdefault(name, []).append(value)
        if score > record.best_score or not validated:  # without rows held back, the last
            record.best_score, record.best = score, learner.copy()
            record.best_epoch = number + 1
        stale = number + 1 - record.best_epoch >= plan.patience
        run.finished = stale or last

    def _scored(self, run: Run) -> NDArray[np.int64]:
        """Return the rows held back, or without them some of those trained on."""
        return self.held if len(run.rows) < len(self.inputs) else diagnosis.spread(run.rows)

    def _score(self, run: Run) -> tuple[float, float]:
        """Return root mean square error and mean log-likelihood, of standardised targets."""
        rows = self._scored(run)
        return run.learner.score(self.inputs[rows], self.targets[rows])

    def _far_off(self, run: Run, rmse: float) -> str | None:
        """Say so if the error is far above that at the start, and that of the mean."""
        if rmse <= diagnosis.FALL:
            return None
        targets = self.targets[self._scored(run)]
        start = self._new_learner().score(self.inputs[self._scored(run)], targets)[0]
        usual = max(1.0, start, float(np.sqrt((targets.astype(np.float64) ** 2).mean())))
        if rmse <= diagnosis.FALL * usual:
            return None
        return f"the error is {rmse:.3g} times the targets' standard deviation"

    @QUIET
    def verdict(self) -> str | None:
        """Return what must be said of a finished training, or nothing."""
        record, done = self.best(), len(self.best().history.get("epoch", []))
        if self.run.diverged and self.stage == len(self.plan.rates):
            return (
                f"training on all rows diverged in epoch {self.run.epoch + 1}; the model is that "
                f"without the rows held back: {_slower(record.rate)}"
            )
        if done < self.plan.epochs and done - record.best_epoch < self.plan.patience:
            return (
                f"training diverged in epoch {done + 1}; the model is that of epoch "
                f"{record.best_epoch}, the best before: {_slower(record.rate)}"
            )
        learner = self._final_learner()
        updates = done * -(-len(self.kept) // self.settings.batch_size)
        if diagnosis.brief(done, updates) or not self.scale_y.varies.any():
            return None
        rows = diagnosis.spread(np.arange(len(self.inputs)))
        aims = self.targets[rows].astype(np.float64)
        forecast = np.asarray(self._standard_model(learner).predict(self.inputs[rows]))
        error = aims - forecast.reshape(aims.shape)
        rise = Rise.paired(-(aims**2).sum(axis=1), -(error**2).sum(axis=1))
        if rise.clear:
            return None
        start = self._new_learner().score(self.inputs[rows], self.targets[rows])[0]
        worse = rise.after < -aims.shape[1] * start**2
        advice = (
            f"take more epochs or smaller batches ({updates} updates were made), or a "
            "higher learning_rate; if nothing helps, the inputs may say nothing about the targets"
        )
        return (
            "training has come to a model that forecasts the training data no better than the mean "
            "of the targets, by more than the noise of the score (minus the squared error, of "
            f"standardised targets): {rise.before:.4g} of the mean, {rise.after:.4g} of the model, "
            f"{rise.change}; {_slower(record.rate) if worse else advice}"
        )

    def _standard_model(self, learner: Learner) -> TruGTGGM:
        """Return a model of standardised rows."""
        return learner.model(Scale.none(self.inputs.shape[1]), Scale.none(self.targets.shape[1]))

    def _calibrated(self, learner: Learner) -> NDArray[np.float64]:
        """Return each output's log noise variance of highest likelihood on the held back rows."""
        from scipy.optimize import minimize_scalar  # here, since its import takes a while

        model = self._standard_model(learner)
        mean, deviation = model.predict(self.inputs[self.held], return_std=True)
        shape = (self.held.size, -1)
        variance = deviation.reshape(shape) ** 2 - model.noise_variance
        square = (self.targets[self.held] - mean.reshape(shape)) ** 2
        result = np.empty(square.shape[1])
        for o in range(result.size):

            def loss(log_noise: float, o: int = o) -> float:
                spread = variance[:, o] + np.exp(log_noise)
                return float((np.log(spread) + square[:, o] / spread).mean())

            found = minimize_scalar(loss, bounds=(-18.0, 5.0), method="bounded")
            result[o] = found.x
        return result


def _slower(rate: float) -> str:
    return f"use a lower learning_rate (it was {rate:g})"
