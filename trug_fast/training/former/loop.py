"""The loop over epochs and batches, whose every point between two updates can be saved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress
from trug_fast.datasets import Resampler
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.diagnosis import QUIET

from .checkpoints import Checkpoint, State, copy_into
from .learner import Learner, Pace
from .optimizers import Schedule
from .watch import Watch

Model = TruGRBM | BernoulliRBM
Data = NDArray[Any] | Resampler
HISTORY, BEST = "history.", "best."  # begin the names of their arrays in a checkpoint
LOOK = 100  # updates between two looks at whether the parameters are still sound


@dataclass(frozen=True)
class EpochEnd:
    """What a callback sees after each epoch."""

    epoch: int  # from 1
    history: dict[str, list[float]]  # so far
    snapshot: Callable[[], Model]  # makes the current model


Callback = Callable[[EpochEnd], bool | None]


@dataclass(frozen=True)
class Plan:
    """What the loop does around the updates, checked by the caller."""

    epochs: int
    learning_rate: Schedule
    truncation_rate: Schedule
    precision_rate: Schedule
    k: Schedule
    score: str | None
    score_every: int
    patience: int | None


class Run:
    """A training run: where it is, and how it goes on from there."""

    def __init__(
        self, data: Data, held_out: NDArray[Any] | None, learner: Learner, plan: Plan
    ) -> None:
        self.data, self.held_out, self.learner, self.plan = data, held_out, learner, plan
        self.epoch = self.batch = 0  # done: whole epochs, and batches of the next one
        self.records: dict[str, list[float]] = {}
        self.best: dict[
            str, NDArray[Any]
        ] = {}  # parameters of the model to return, if not the last
        self.finished = False
        self.whole = True  # no update is under way
        self.updates = math.ceil(data.shape[0] / learner.settings.batch_size)  # in an epoch
        self._earlier, self._begun = 0.0, time.perf_counter()
        self.watch = self._watch()

    def seconds(self) -> float:
        """Return how long this run has trained, over all its parts."""
        return self._earlier + time.perf_counter() - self._begun

    def state(self) -> State:
        """Return all that the rest of the run depends on, sharing memory."""
        state = self.learner.state()
        state["place"] = np.array([self.epoch, self.batch, self.finished], np.int64)
        state["seconds"] = np.array(self.seconds())
        state |= {BEST + name: values for name, values in self.best.items()}
        return state | {HISTORY + name: np.array(v) for name, v in self.records.items()}

    def restore(self, state: State) -> None:
        """Go on from a state of the same run; raises ValueError if it is none."""
        place, seconds = np.zeros(3, np.int64), np.zeros(())
        copy_into({"place": place, "seconds": seconds}, state)
        self.learner.restore(state)
        self.epoch, self.batch, self.finished = int(place[0]), int(place[1]), bool(place[2])
        self._earlier, self._begun = float(seconds), time.perf_counter()
        self.records = {k: values.tolist() for k, values in _part(state, HISTORY).items()}
        self.best = _part(state, BEST)
        self._require_possible(int(place[2]))

    def _require_possible(self, finished: int) -> None:
        """Refuse a place that no run of this plan comes to; from some, training would not end."""
        possible = 0 <= self.epoch <= self.plan.epochs and 0 <= self.batch <= self.updates
        possible &= finished in (0, 1)
        learner, most = self.learner, max(self.plan.k.start, self.plan.k.end)
        possible &= learner.updates == self.epoch * self.updates + self.batch
        possible &= learner.optimiser.steps == learner.updates
        possible &= 0 <= learner.sweeps <= most * learner.updates
        possible &= all(np.shape(values) == (self.epoch,) for values in self.records.values())
        if not possible:
            raise ValueError(
                f"it says epoch {self.epoch}, batch {self.batch}, after "
                f"{learner.updates} updates, of {self.plan.epochs} epochs with {self.updates}"
            )
        if self.best:
            model = learner.model()
            own = {name: getattr(model, name) for name in model.names}
            copy_into({k: np.empty_like(v) for k, v in own.items() if v is not None}, self.best)
            if not self.best.keys() <= own.keys():
                raise ValueError("its best model has parameters that the model has not")

    def train(
        self,
        callbacks: Sequence[Callback],
        progress: Progress,
        interrupts: Interrupts,
        checkpoint: Checkpoint | None,
    ) -> None:
        """Go on to the end.  What interrupts it between updates finds a state to save."""
        progress.advance(self.epoch * self.updates + self.batch)
        # Interrupted in a callback after the last epoch, a run is not finished, but has none left.
        while not self.finished and self.epoch < self.plan.epochs:
            data = self.data.epoch(self.epoch) if isinstance(self.data, Resampler) else self.data
            batches = self.learner.batches(data.shape[0], self.epoch)
            for rows in islice(batches, self.batch, None):
                with interrupts.held():
                    self._update(data, rows)
                progress.advance(1)
                due = checkpoint is not None and checkpoint.due()
                if due or self.batch % LOOK == 0:  # a diverged state must not replace a good one
                    self.watch.require_sound(self.epoch + 1)
                if checkpoint is not None and due:
                    checkpoint.save(self.state())
            self._end_epoch(data, callbacks, progress)

    def model(self) -> Model:
        """Return the model of the best validation score with ``patience``, else the current one."""
        current = self.learner.model()
        return type(current)(**self.best) if self.best else current

    def _pace(self, batch: int) -> Pace:
        """Return the rates and the number of sweeps for a batch of this epoch."""
        plan, done = self.plan, (self.epoch + batch / self.updates) / self.plan.epochs
        return Pace(
            plan.learning_rate.at(done),
            plan.truncation_rate.at(done),
            plan.precision_rate.at(done),
            round(plan.k.at(done)),
        )

    @QUIET
    def _update(self, data: NDArray[Any], rows: NDArray[np.int64]) -> None:
        self.whole = False
        self.learner.update(data, rows, self._pace(self.batch))
        self.batch += 1
        self.whole = True

    def _end_epoch(
        self, data: NDArray[Any], callbacks: Sequence[Callback], progress: Progress
    ) -> None:
        """Score, record and ask the callbacks."""
        learner, plan, number = self.learner, self.plan, self.epoch + 1
        self.watch.require_sound(number)
        record = {"epoch": float(number), "seconds": self.seconds()}
        record |= learner.brief(self._pace(self.updates - 1))
        due = number % plan.score_every == 0 or number == plan.epochs
        record |= self._scores(data, due)
        if due and "score" in record:
            self.watch.require_score(number, record["score"])
        for name, value in record.items():
            self.records.setdefault(name, []).append(value)
        self._keep_best(due)
        self.epoch, self.batch = number, 0
        progress.advance(0, score=record.get("validation_score", record.get("score", np.nan)))
        event = EpochEnd(number, self.records, learner.model)
        stop = any([callback(event) for callback in callbacks])
        self.finished = stop or number == plan.epochs or self._out_of_patience()

    def verdict(self) -> str | None:
        """Return what must be said of a finished run: that it learned nothing, or nothing."""
        return self.watch.verdict(self.epoch, self.model())

    def _watch(self) -> Watch:
        return Watch(self.data, self.learner, self.plan.learning_rate)

    @QUIET
    def _scores(self, data: NDArray[Any], due: bool) -> dict[str, float]:
        """Return the scores of an epoch, NaN if none is due."""
        learner = self.learner
        raise NotImplementedError(learner, data)

    def _keep_best(self, due: bool) -> None:
        if self.plan.patience is None or not due:
            return
        scores = self.records["validation_score"]
        if scores[-1] >= np.nanmax(scores):
            model = self.learner.model()
            self.best = {name: getattr(model, name) for name in model.names}

    def _out_of_patience(self) -> bool:
        if self.plan.patience is None:
            return False
        scores = [score for score in self.records["validation_score"] if not math.isnan(score)]
        # The last of equal ones is the best, as in _keep_best.
        since = scores[::-1].index(max(scores)) if scores else 0
        return since >= self.plan.patience


def _part(state: State, prefix: str) -> State:
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
