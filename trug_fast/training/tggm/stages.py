"""The stages of a regression's training: a run for each learning rate, then one over all rows.

The runs with a rate are scored on rows held out; then all rows are trained on for as many epochs
as the best of them took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress
from trug_fast._common.threads import one_blas_thread
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training import diagnosis
from trug_fast.training.checkpoints import State, TrainingFile, copy_into
from trug_fast.training.loop import CHOOSES, Callback, Loop, Plan, part
from trug_fast.training.options import Monitor
from trug_fast.training.rates import Schedule

from .calibration import calibrated
from .data import Sets
from .learner import RegressionLearner
from .scaling import Examples, Scales
from .settings import RegressionSettings
from .watch import RegressionWatch

PRESENT, CHOSEN = "present.", "chosen."  # begin the names of a stage's arrays in a checkpoint


@dataclass(frozen=True)
class Search:
    """What is tried, by what it is chosen, and what follows."""

    rates: tuple[Schedule, ...]
    epochs: int
    monitor: Monitor | None
    refit: bool
    calibrate: bool  # the noise in the end, which training does not depend on

    def identity(self) -> dict[str, Any]:
        """Return what makes a training the same training, as numbers and words."""
        rates = [rate.identity() for rate in self.rates]
        own = {"epochs": self.epochs, "monitor": repr(self.monitor), "refit": self.refit}
        return {"learning_rate": rates} | own


@dataclass
class Stage:
    """A run over the epochs."""

    number: int  # of its learning rate; one more for the run over all rows
    learner: RegressionLearner
    watch: RegressionWatch
    loop: Loop
    diverged: bool = False

    @property
    def score(self) -> float:
        """The best one so far."""
        return float(np.nanmax(self.loop.records[CHOOSES])) if self.loop.best else -np.inf

    @property
    def of_use(self) -> bool:
        """Whether it has come to a model: one that diverged must have been scored before."""
        return not self.diverged or bool(self.loop.best)

    def state(self, prefix: str) -> State:
        """Return all that the rest of the run depends on."""
        own = {"stage": np.array([self.number, self.diverged], np.int64)}
        return {prefix + name: values for name, values in (own | self.loop.state()).items()}

    def model(
        self, scales: Scales | None = None, noise: NDArray[np.float64] | None = None
    ) -> TruGTGGM:
        """Return its best model, of rows in original units or of these scales."""
        return self.learner.model(self.loop.best or None, scales, noise)


class RegressionJob:
    """All stages of one training: where they are, and how they go on from there."""

    def __init__(
        self,
        sets: Sets,
        scales: Scales,
        settings: RegressionSettings,
        search: Search,
        callbacks: Sequence[Callback],
        seed: int,
    ) -> None:
        self.sets, self.scales, self.settings, self.seed = sets, scales, settings, seed
        self.search, self._callbacks = search, callbacks
        self.chosen: Stage | None = None  # the best so far of those that are done
        self.present = self._stage(0)
        self.finished = False
        self._error: FloatingPointError | None = None  # of the last run that diverged

    @property
    def total(self) -> int:
        """Epochs of all stages, at most."""
        return self.search.epochs * (len(self.search.rates) + self.search.refit)

    @property
    def whole(self) -> bool:
        """Whether no epoch is under way."""
        return self.present.loop.whole

    @property
    def refits(self) -> bool:
        """Whether the present stage is that over all rows."""
        return self.present.number == len(self.search.rates)

    def state(self) -> State:
        """Return all that the rest of the training depends on."""
        place = np.array([self.finished, self.chosen is not None], np.int64)
        state = {"place": place} | self.present.state(PRESENT)
        return state if self.chosen is None else state | self.chosen.state(CHOSEN)

    def restore(self, state: State) -> None:
        """Go on from a state of the same training; raises ValueError if it is none."""
        place = np.zeros(2, np.int64)
        copy_into({"place": place}, state)
        if not (0 <= place[0] <= 1 and 0 <= place[1] <= 1):
            raise ValueError(f"it says {place} where flags should be")
        self.chosen = self._restored(part(state, CHOSEN)) if place[1] else None
        self.present = self._restored(part(state, PRESENT))
        self.finished = bool(place[0]) and (self.present.diverged or self.present.loop.finished)
        if place[0] and not self.finished:  # it has been given more epochs: the only stage goes on
            self.chosen = None

    def _restored(self, state: State) -> Stage:
        numbers = np.zeros(2, np.int64)
        copy_into({"stage": numbers}, state)
        stages = len(self.search.rates) + (self.search.refit and self.chosen is not None)
        if not (0 <= numbers[0] < stages and 0 <= numbers[1] <= 1):
            raise ValueError(f"it says stage {numbers[0]} of {stages}")
        stage = self._stage(int(numbers[0]))
        stage.loop.restore(state)
        stage.diverged = bool(numbers[1])
        return stage

    def _stage(self, number: int) -> Stage:
        """Return a stage at its beginning; rates follow the whole plan."""
        search, sets = self.search, self.sets
        data, epochs, rate, monitor = sets.trained, search.epochs, number, search.monitor
        scored = sets.held
        final = self.chosen is not None and number == len(search.rates)
        if final and self.chosen is not None:
            data, scored, monitor = sets.every, None, None
            epochs, rate = self.chosen.loop.best_epoch(), self.chosen.number
        if monitor is not None and monitor.patience is None:  # the best is kept always
            monitor = replace(monitor, patience=epochs)
        schedule = search.rates[rate]
        learner = RegressionLearner(self.settings, self.scales, self.seed)
        judged = _spread(sets.every)
        watch = RegressionWatch(learner, scored or _spread(data), judged, monitor, schedule)
        pace = partial(self.settings.pace, schedule)
        plan = Plan(epochs, pace, monitor, span=search.epochs)
        stage = "all rows" if final else f"rate {number + 1} of {len(search.rates)}"
        loop = Loop(data, learner, watch, plan, self._callbacks, stage)
        return Stage(number, learner, watch, loop)

    def train(self, bar: Progress, interrupts: Interrupts, file: TrainingFile | None) -> None:
        """Go on to the end.  What interrupts it between epochs finds a state to save.

        Raises
        ------
        FloatingPointError
            If training diverges at every rate.
        """
        bar.advance(self.present.number * self.search.epochs)
        with one_blas_thread():
            while not self.finished:
                self._train_stage(bar, interrupts, file)
                with interrupts.held():
                    self._go_on()

    def _train_stage(
        self, bar: Progress, interrupts: Interrupts, file: TrainingFile | None
    ) -> None:
        loop, watch = self.present.loop, self.present.watch
        try:
            loop.train(bar, interrupts, file)
            if loop.plan.monitor is None:  # nothing was scored on the way
                watch.require_scores(loop.epoch, watch.scores(loop.data, due=True))
        except FloatingPointError as error:
            self.present.diverged, self._error = True, error

    def _go_on(self) -> None:
        """Go on to the next rate, to all rows, or to the end."""
        search = self.search
        if self.refits:
            self.finished = True
            return
        if self.present.of_use:
            self.chosen = self._better()
        if self.present.number + 1 < len(search.rates):
            self.present = self._stage(self.present.number + 1)
        elif self.chosen is None:
            raise self._error or RuntimeError("no run has come to a model")
        elif search.refit:
            self.present = self._stage(len(search.rates))
        else:
            self.finished = True

    def _better(self) -> Stage:
        """Return the better of the present stage and those before it."""
        chosen = self.chosen
        return self.present if chosen is None or self.present.score > chosen.score else chosen

    def best(self) -> Stage:
        """Return the best run with a rate so far."""
        return self.chosen if self.refits and self.chosen is not None else self._better()

    def model(self) -> TruGTGGM:
        """Return the model of the run over all rows if that is done, else the best one so far."""
        best, held, noise = self.best(), self.sets.held, None
        if self.search.calibrate and held is not None:
            noise = calibrated(best.model(self.scales.none()), held)
        return self._final().model(noise=noise)

    def _final(self) -> Stage:
        done = self.refits and self.finished and not self.present.diverged
        return self.present if done else self.best()

    def verdict(self) -> str | None:
        """Return what must be said of a finished training, or nothing."""
        best = self.best()
        if self.refits and self.present.diverged:
            return (
                f"training on all rows diverged in epoch {self.present.loop.epoch + 1}; the model "
                f"is that without the rows held back: {best.watch.slower()}"
            )
        if best.diverged:
            return (
                f"training diverged in epoch {best.loop.epoch + 1}; the model is that of epoch "
                f"{best.loop.best_epoch()}, the best before: {best.watch.slower()}"
            )
        return best.watch.verdict(best.loop.epoch, self._final().model(self.scales.none()))


def _spread(rows: Examples) -> Examples:
    """Return as many rows as are scored."""
    return rows.at(diagnosis.spread(np.arange(rows.shape[0])))
