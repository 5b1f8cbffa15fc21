"""The stages of a regression's training: a run for each learning rate, then one over all rows.

The runs with a rate are scored on rows held out; then all rows are trained on for as many epochs
as the best of them took, and, to know the noise, all but a part of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import copy_into
from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress
from trug_fast._common.threads import one_blas_thread
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training import diagnosis
from trug_fast.training.drawing import plot, printed
from trug_fast.training.rates import Rate
from trug_fast.training.run import CHOOSES, Callback, File, History, Job, Loop, Plan, part

from .calibration import (
    FOLDS,
    CrossedResiduals,
    LeftOut,
    Residuals,
    calibrated,
    calibrated_together,
)
from .data import Examples, Scale, Scales
from .learner import RegressionLearner
from .plans import RegressionPlan
from .watch import RegressionWatch


class TGGMFit(NamedTuple):
    """What training a regression returns."""

    model: TruGTGGM  # in the data's own units
    history: History  # of the run with the chosen learning rate
    interrupted: bool
    learning_rate: Rate  # the chosen one
    best_epoch: int  # after which the model was taken
    updates: int = 0  # that were made in that run
    warnings: tuple[str, ...] = ()  # what was said of the training in warnings

    def __repr__(self) -> str:
        return printed(self)

    def plot(self) -> Any:
        """Draw the hidden units, scores and learned truncation points: a Matplotlib figure."""
        return plot(self)


@dataclass
class Stage:
    """A run over the epochs."""

    rate: int  # the number of its learning rate
    learner: RegressionLearner
    watch: RegressionWatch
    loop: Loop
    diverged: bool = False
    error: FloatingPointError | None = None

    @property
    def over(self) -> bool:
        """Whether it has come to its end."""
        return self.diverged or self.loop.finished

    @property
    def sound(self) -> bool:
        """Whether it has come to a model: one that diverged, to a sound one before."""
        return not self.diverged or bool(self.loop.best) or self.loop.fallen

    @property
    def score(self) -> float:
        """The best one so far."""
        return float(np.nanmax(self.loop.records[CHOOSES])) if self.loop.best else -np.inf

    def train(self, bar: Progress, interrupts: Interrupts, file: File) -> None:
        """Go on to the end, or until it diverges."""
        loop, watch = self.loop, self.watch
        try:
            loop.train(bar, interrupts, file)
            if loop.plan.monitor is None:  # nothing was scored on the way
                watch.require_scores(loop.epoch, watch.scores(loop.data, due=True))
        except FloatingPointError as error:
            self.diverged, self.error = True, error
            self._fall_back()

    def _fall_back(self) -> None:
        """Take the last sound model, if there is one worth having."""
        loop = self.loop
        if loop.sound and not loop.best and loop.plan.monitor is None:
            found = self.learner.model(loop.sound, self.learner.scales.none())
            epochs = max(loop.epoch, diagnosis.EPOCHS)
            loop.fallen = self.watch.verdict(epochs, found) is None

    def state(self, prefix: str) -> State:
        """Return all that the rest of the run depends on."""
        own = {"diverged": np.array(self.diverged)} | self.loop.state()
        return {prefix + name: values for name, values in own.items()}

    def restore(self, state: State) -> None:
        """Go on from a state of the same run; raises ValueError if it is none."""
        diverged = np.zeros((), bool)
        copy_into({"diverged": diverged}, state)
        self.loop.restore(state)
        self.diverged = bool(diverged)
        if self.diverged:
            self._fall_back()

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


class Regression(Job):
    """One training, a job for ``run_training``: its stages, and what they have come to.

    Parameters
    ----------
    plan : RegressionPlan
    seed : int
    callbacks : sequence of callables
    parts : int, optional
        The seed of the parts of the rows that noise is calibrated by, if not that of all.
    """

    def __init__(
        self,
        plan: RegressionPlan,
        seed: int,
        callbacks: Sequence[Callback] = (),
        parts: int | None = None,
    ) -> None:
        rows = plan.rows
        self.plan, self.seed, self._callbacks = plan, seed, callbacks
        self.scales = Scales.of(rows.X, rows.y, rows.weights)
        if plan.settings.objective == "probit":
            self.scales = self.scales._replace(targets=Scale.none(rows.y.shape[1]))
        self.sets = rows.sets(self.scales, plan.settings.dtype, seed)
        self.crossed: CrossedResiduals | None = None
        if plan.crosses:
            self.crossed = CrossedResiduals(self.sets.every, seed if parts is None else parts)
        self.stages: list[Stage] = []  # that have been begun, in order
        self.finished = False
        self._order = self._in_order()
        self._go_on()

    def _in_order(self) -> Iterator[Stage]:
        """Yield the stages at their beginning, each once the one before has come to its end."""
        plan, sets = self.plan, self.sets
        patience = plan.monitor
        if patience is not None and patience.patience is None:  # the best is kept always
            patience = replace(patience, patience=plan.epochs)
        for k in range(len(plan.rates)):
            name = f"rate {k + 1} of {len(plan.rates)}"
            yield self._stage(name, sets.trained, k, plan.epochs, patience, sets.held)
        best = self.best()
        again = partial(self._stage, rate=best.rate, epochs=best.loop.best_epoch())
        if plan.refit:
            yield again("all rows", sets.every)
        crossed = self.crossed
        if crossed is None:
            return
        for fold in range(FOLDS):
            stage = again(f"part {fold + 1} of {FOLDS}", crossed.trained(fold))
            yield stage
            if not stage.diverged:
                crossed.note(fold, stage.standardised(plan.laplace))

    def _stage(
        self,
        name: str,
        data: Examples,
        rate: int,
        epochs: int,
        monitor: Any = None,
        scored: Examples | None = None,
    ) -> Stage:
        """Return a stage at its beginning; rates follow the whole plan."""
        plan = self.plan
        settings = replace(plan.settings, learning_rate=plan.rates[rate])
        learner = RegressionLearner(settings, self.scales, self.seed)
        judged = _spread(self.sets.every)
        watch = RegressionWatch(learner, scored or _spread(data), judged, monitor)
        how = Plan(epochs, monitor, span=plan.epochs)
        return Stage(rate, learner, watch, Loop(data, learner, watch, how, self._callbacks, name))

    @property
    def total(self) -> int:
        """Epochs of all stages, at most."""
        plan = self.plan
        return plan.epochs * (len(plan.rates) + plan.refit + FOLDS * plan.crosses)

    @property
    def whole(self) -> bool:
        return bool(self.stages[-1].loop.whole)

    def state(self) -> State:
        state = {"place": np.array([self.finished, len(self.stages)], np.int64)}
        for k, stage in enumerate(self.stages):
            state |= stage.state(f"{k}.")
        return state

    def restore(self, state: State) -> None:
        place = np.zeros(2, np.int64)
        copy_into({"place": place}, state)
        finished, count = place.tolist()
        if finished not in (0, 1) or not 1 <= count <= self.total // self.plan.epochs:
            raise ValueError(f"it says {count} stages, of which the last is over: {finished}")
        for k in range(count):
            if k:
                chosen = k < len(self.plan.rates) or any(each.sound for each in self.stages)
                if not (self.stages[-1].over and chosen):
                    raise ValueError(f"it says {count} stages, but number {k} is not over")
                self._go_on()
            self.stages[-1].restore(part(state, f"{k}."))
        if finished and self.stages[-1].over:  # else the run has been given more epochs
            self._go_on()
            if not self.finished:
                raise ValueError(f"it says that stage {count} is the last")

    def train(self, bar: Progress, interrupts: Interrupts, file: File) -> None:
        each = self.plan.epochs
        bar.advance(each * (len(self.stages) - 1))
        with one_blas_thread():
            while not self.finished:
                self.stages[-1].train(bar, interrupts, file)
                bar.advance(each - self.stages[-1].loop.epoch)
                with interrupts.held():
                    self._go_on()

    def _go_on(self) -> None:
        stage = next(self._order, None)
        if stage is None:
            self.finished = True
        else:
            self.stages.append(stage)

    def best(self) -> Stage:
        """Return the best run with a rate so far; raise the last one's error without a model."""
        tried = self.stages[: len(self.plan.rates)]
        found = [stage for stage in tried if stage.sound]
        if not found:
            raise tried[-1].error or FloatingPointError("no run has come to a model")
        return max(found, key=lambda stage: stage.score)

    def model(self, noise: NDArray[np.float64] | None = None) -> TruGTGGM:
        """Return the model of the run over all rows if that is done, else the best one so far.

        Its log noise is calibrated, or as it is given.
        """
        held, final, doubt, plan = self.sets.held, self._final(), None, self.plan
        if noise is None and self.crossed is not None and self.finished:
            noise = calibrated_together(self.crossed)
        if plan.calibrate is not None and noise is None and held is not None:
            noise = calibrated([Residuals.of(self.best().standardised(plan.laplace), held)], held)
        if plan.laplace:
            doubt = np.asarray(final.standardised(True).readout_covariance, np.float64)
        return final.model(noise=noise, doubt=doubt).with_columns(plan.rows.columns)

    def fit(self, interrupted: bool, said: Sequence[str]) -> TGGMFit:
        """Return what it has come to."""
        best, whole = self.best(), self._over_all()
        rate, loop = self.plan.given[best.rate], best.loop
        ended = interrupted or best.diverged or (whole is not None and whole.diverged)
        counts = loop.best_epoch(), best.learner.taken
        return TGGMFit(self.model(), loop.history(), ended, rate, *counts, tuple(said))

    def left_out(self) -> LeftOut | None:
        """Return what is known of rows left out, by which noise is calibrated; None without."""
        if self.plan.calibrate is None or self.sets.held is None:
            return None
        if self.crossed is not None:
            return self.crossed.left_out()
        found = Residuals.of(self.best().standardised(self.plan.laplace), self.sets.held)
        return LeftOut(self.sets.places, found)

    def _over_all(self) -> Stage | None:
        done = self.stages if self.finished else self.stages[:-1]
        number = len(self.plan.rates)
        return done[number] if self.plan.refit and len(done) > number else None

    def _final(self) -> Stage:
        done = self._over_all()
        return self.best() if done is None or done.diverged else done

    def verdict(self) -> str | None:
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
    return rows.at(diagnosis.spread(np.arange(rows.shape[0])))
