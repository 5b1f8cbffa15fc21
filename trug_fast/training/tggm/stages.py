"""The stages of a regression's training: a run for each learning rate, then one over all rows.

The runs with a rate are scored on rows held out; then all rows are trained on for as many epochs
as the best of them took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress
from trug_fast._common.threads import one_blas_thread
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training import diagnosis
from trug_fast.training.checkpoints import State, copy_into
from trug_fast.training.options import Monitor
from trug_fast.training.rates import Schedule
from trug_fast.training.run import CHOOSES, Callback, Loop, Plan, TrainingFile, part

from .calibration import (
    FOLDS,
    CrossedResiduals,
    LeftOut,
    Residuals,
    calibrated,
    calibrated_together,
)
from .data import Sets
from .learner import RegressionLearner
from .scaling import Examples, Scales
from .settings import RegressionSettings
from .watch import RegressionWatch

PRESENT, CHOSEN, REFITTED = "present.", "chosen.", "refitted."  # begin names in a checkpoint
CROSSED = "crossed."


@dataclass(frozen=True)
class Search:
    """What is tried, by what it is chosen, and what follows."""

    rates: tuple[Schedule, ...]
    epochs: int
    monitor: Monitor | None
    refit: bool
    calibrate: str | None  # the noise in the end: by which rows
    laplace: bool  # the readout gets a posterior in the end

    @property
    def crosses(self) -> bool:
        """Whether models are trained without some of the rows, to know the noise by these."""
        return self.calibrate == "cross_validation"

    def identity(self) -> dict[str, Any]:
        """Return what makes a training the same training, as numbers and words."""
        rates = [rate.identity() for rate in self.rates]
        own = {"epochs": self.epochs, "monitor": repr(self.monitor), "refit": self.refit}
        if self.crosses:  # else the runs do not depend on it
            own["folds"] = FOLDS
            own["laplace"] = self.laplace  # by which their residuals are kept
        return {"learning_rate": rates} | own


@dataclass
class Stage:
    """A run over the epochs."""

    number: int  # of its learning rate; then that over all rows, then those without a part
    learner: RegressionLearner
    watch: RegressionWatch
    loop: Loop
    diverged: bool = False

    @property
    def score(self) -> float:
        """The best one so far."""
        return float(np.nanmax(self.loop.records[CHOOSES])) if self.loop.best else -np.inf

    def settle(self) -> bool:
        """Return whether it has come to a model: one that diverged, to a sound one before."""
        if not self.diverged or self.loop.best:
            return True
        kept = self.loop.sound
        if kept and self.loop.plan.monitor is None:
            found = self.learner.model(kept, self.learner.scales.none())
            epochs = max(self.loop.epoch, diagnosis.EPOCHS)
            self.loop.fallen = self.watch.verdict(epochs, found) is None
        return self.loop.fallen

    def state(self, prefix: str) -> State:
        """Return all that the rest of the run depends on."""
        own = {"stage": np.array([self.number, self.diverged], np.int64)}
        return {prefix + name: values for name, values in (own | self.loop.state()).items()}

    def model(
        self,
        scales: Scales | None = None,
        noise: NDArray[np.float64] | None = None,
        doubt: NDArray[np.float64] | None = None,
    ) -> TruGTGGM:
        """Return its best model, of rows in original units or of these scales."""
        return self.learner.model(self.loop.kept(), scales, noise, doubt)

    def standardised(self, laplace: bool) -> TruGTGGM:
        """Return it as one of standardised rows, perhaps with the posterior of its readout."""
        model, rows = self.model(self.learner.scales.none()), self.loop.data
        if not laplace:
            return model
        return model.with_readout_posterior(rows.inputs, sample_weight=rows.weights)


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
        parts: int | None = None,  # the seed of the parts that noise is calibrated by
    ) -> None:
        self.sets, self.scales, self.settings, self.seed = sets, scales, settings, seed
        self.search, self._callbacks = search, callbacks
        self.chosen: Stage | None = None  # the best so far of those that are done
        self.refitted: Stage | None = None  # that over all rows, while others follow it
        self.crossed: CrossedResiduals | None = None
        if search.crosses:
            self.crossed = CrossedResiduals(sets.every, seed if parts is None else parts)
        self.present = self._stage(0)
        self.finished = False
        self._error: FloatingPointError | None = None  # of the last run that diverged

    @property
    def total(self) -> int:
        """Epochs of all stages, at most."""
        search = self.search
        stages = len(search.rates) + search.refit + FOLDS * search.crosses
        return search.epochs * stages

    @property
    def done(self) -> int:
        """Epochs of it that are done, or were not needed."""
        if self.finished:
            return self.total
        return self._before() + self.present.loop.epoch

    def _before(self) -> int:
        """Return the epochs of the stages before the present one."""
        skipped = self.present.number > len(self.search.rates) and not self.search.refit
        return (self.present.number - skipped) * self.search.epochs

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
        for stage, prefix in ((self.chosen, CHOSEN), (self.refitted, REFITTED)):
            state |= {} if stage is None else stage.state(prefix)
        if self.crossed is not None:
            state |= {CROSSED + name: values for name, values in self.crossed.state().items()}
        return state

    def restore(self, state: State) -> None:
        """Go on from a state of the same training; raises ValueError if it is none."""
        place = np.zeros(2, np.int64)
        copy_into({"place": place}, state)
        if not (0 <= place[0] <= 1 and 0 <= place[1] <= 1):
            raise ValueError(f"it says {place} where flags should be")
        self.chosen = self._restored(part(state, CHOSEN)) if place[1] else None
        self.present = self._restored(part(state, PRESENT))
        refitted = self.search.refit and self.present.number > len(self.search.rates)
        self.refitted = self._restored(part(state, REFITTED)) if refitted else None
        if self.crossed is not None:
            self.crossed.restore(part(state, CROSSED))
        self.finished = bool(place[0]) and (self.present.diverged or self.present.loop.finished)
        if place[0] and not self.finished:  # it has been given more epochs: the only stage goes on
            self.chosen = None

    def _restored(self, state: State) -> Stage:
        numbers = np.zeros(2, np.int64)
        copy_into({"stage": numbers}, state)
        if not (numbers[0] in self._numbers() and 0 <= numbers[1] <= 1):
            raise ValueError(f"it says stage {numbers[0]} of {self._numbers()}")
        stage = self._stage(int(numbers[0]))
        stage.loop.restore(state)
        stage.diverged = bool(numbers[1])
        stage.settle()
        return stage

    def _numbers(self) -> list[int]:
        """Return the numbers that a stage may have by now."""
        search, count = self.search, len(self.search.rates)
        final = [count] * search.refit + [*range(count + 1, count + 1 + FOLDS)] * search.crosses
        return [*range(count), *(final if self.chosen is not None else [])]

    def _stage(self, number: int) -> Stage:
        """Return a stage at its beginning; rates follow the whole plan."""
        search, sets = self.search, self.sets
        data, epochs, rate, monitor = sets.trained, search.epochs, number, search.monitor
        scored, name = sets.held, f"rate {number + 1} of {len(search.rates)}"
        if self.chosen is not None and number >= len(search.rates):
            data, name = self._rows_after(number)
            scored, monitor = None, None
            epochs, rate = self.chosen.loop.best_epoch(), self.chosen.number
        if monitor is not None and monitor.patience is None:  # the best is kept always
            monitor = replace(monitor, patience=epochs)
        settings = replace(self.settings, learning_rate=search.rates[rate])
        learner = RegressionLearner(settings, self.scales, self.seed)
        judged = _spread(sets.every)
        watch = RegressionWatch(learner, scored or _spread(data), judged, monitor)
        plan = Plan(epochs, monitor, span=search.epochs)
        loop = Loop(data, learner, watch, plan, self._callbacks, name)
        return Stage(number, learner, watch, loop)

    def _rows_after(self, number: int) -> tuple[Examples, str]:
        """Return what a stage is trained on after the choice, and what it is called."""
        fold = number - len(self.search.rates) - 1
        if self.crossed is None or fold < 0:
            return self.sets.every, "all rows"
        return self.crossed.trained(fold), f"part {fold + 1} of {FOLDS}"

    def train(self, bar: Progress, interrupts: Interrupts, file: TrainingFile | None) -> None:
        """Go on to the end.  What interrupts it between epochs finds a state to save.

        Raises
        ------
        FloatingPointError
            If training diverges at every rate.
        """
        bar.advance(self._before())
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
        """Go on to the next rate, to all rows, to those without a part, or to the end."""
        present, count = self.present, len(self.search.rates)
        if present.number < count:
            if present.settle():
                self.chosen = self._better()
            if present.number + 1 == count and self.chosen is None:
                raise self._error or RuntimeError("no run has come to a model")
        elif self.crossed is not None and present.number > count:
            if not present.diverged:
                found = present.standardised(self.search.laplace)
                self.crossed.note(present.number - count - 1, found)
        elif self.search.crosses:
            self.refitted = present
        later = [number for number in self._numbers() if number > present.number]
        if later:
            self.present = self._stage(later[0])
        else:
            self.finished = True

    def _better(self) -> Stage:
        """Return the better of the present stage and those before it."""
        chosen = self.chosen
        return self.present if chosen is None or self.present.score > chosen.score else chosen

    def best(self) -> Stage:
        """Return the best run with a rate so far."""
        chosen = self.present.number >= len(self.search.rates)
        return self.chosen if chosen and self.chosen is not None else self._better()

    def model(self, noise: NDArray[np.float64] | None = None) -> TruGTGGM:
        """Return the model of the run over all rows if that is done, else the best one so far.

        Its log noise is calibrated, or as it is given.
        """
        held, final, doubt = self.sets.held, self._final(), None
        if noise is None and self.crossed is not None and self.finished:
            noise = calibrated_together(self.crossed)
        if self.search.calibrate is not None and noise is None and held is not None:
            best = self.best().standardised(self.search.laplace)
            noise = calibrated([Residuals.of(best, held)], held)
        if self.search.laplace:
            doubt = np.asarray(final.standardised(True).readout_covariance, np.float64)
        return final.model(noise=noise, doubt=doubt)

    def left_out(self) -> LeftOut | None:
        """Return what is known of rows left out, by which noise is calibrated; None without."""
        if self.search.calibrate is None or self.sets.held is None:
            return None
        if self.crossed is not None:
            return self.crossed.left_out()
        found = Residuals.of(self.best().standardised(self.search.laplace), self.sets.held)
        return LeftOut(self.sets.places, found)

    def _over_all(self) -> Stage | None:
        """Return the run over all rows if it is done."""
        return self.present if self.refits and self.finished else self.refitted

    def _final(self) -> Stage:
        done = self._over_all()
        return self.best() if done is None or done.diverged else done

    @property
    def diverged(self) -> bool:
        """Whether the run that the model is of, or was to be of, has diverged."""
        whole = self._over_all()
        return self.best().diverged or (whole is not None and whole.diverged)

    def fall_back(self) -> int | None:
        """Return nothing: runs that diverge are settled one by one."""
        return None

    def verdict(self) -> str | None:
        """Return what must be said of a finished training, or nothing."""
        best, whole = self.best(), self._over_all()
        if whole is not None and whole.diverged:
            return (
                f"training on all rows diverged in epoch {whole.loop.epoch + 1}; the model "
                f"is that without the rows held back: {best.watch.slower()}"
            )
        if best.diverged:
            return (
                f"training diverged in epoch {best.loop.epoch + 1}; the model is that of epoch "
                f"{best.loop.best_epoch()}, the best before it: {best.watch.slower()}"
            )
        said = best.watch.verdict(best.loop.epoch, self._final().model(self.scales.none()))
        if said is None and self.crossed is not None and not self.crossed.complete:
            said = (
                "training without a part of the rows diverged, and the noise is calibrated on the "
                f"others alone: {best.watch.slower()}"
            )
        return said


def _spread(rows: Examples) -> Examples:
    """Return as many rows as are scored."""
    return rows.at(diagnosis.spread(np.arange(rows.shape[0])))
