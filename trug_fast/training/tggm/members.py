"""The trainings of an ensemble, in stretches that any worker takes, and what they have come to.

Tested in tests/training/tggm/test_ensemble.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from trug_fast._common.interrupts import Interrupts
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import seed_from
from trug_fast._common.workers import Reply, WorkersError, result, submit
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.training.checkpoints import State
from trug_fast.training.run import TrainingFile, part

from .calibration import calibrated_mixture
from .plans import RegressionPlan, TGGMFit
from .stages import RegressionJob

STRETCH, TRAVELS = 0.3, 1.0  # seconds of training at a time: here, and in workers
WORDED = (FloatingPointError, ValueError, TypeError)  # errors that keep their class


class Paused(BaseException):
    """A stretch of training is over."""


class Stretch(Interrupts):
    """Ends a training between two updates after so many seconds; signals are not its business."""

    def __init__(self, seconds: float) -> None:
        super().__init__(terminate=False)
        self._end = time.perf_counter() + seconds

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raise Paused at the end of this context if time is up."""
        yield
        if time.perf_counter() >= self._end:
            raise Paused


class Place(NamedTuple):
    """Where the training of one model is."""

    state: State
    epochs: int  # done, as the bar counts them
    finished: bool

    @classmethod
    def of(cls, job: RegressionJob) -> Place:
        """Return where a training is, its state copied."""
        state = {name: np.array(values) for name, values in job.state().items()}
        return cls(state, job.done, job.finished)


class Member(NamedTuple):
    """The training of one model: all that a worker must know."""

    plan: RegressionPlan
    seed: int
    parts: int  # the seed of the parts of the rows by which the noise of all is calibrated

    def job(self) -> RegressionJob:
        """Return the training at its beginning."""
        return self.plan.job(self.seed, parts=self.parts)


def advance(member: Member, state: State | None, seconds: float) -> Place:
    """Train one model for so many seconds from a state, or from its beginning."""
    job = member.job()
    if state is not None:
        job.restore(state)
    with Progress(job.total, "training", False) as bar:
        try:
            job.train(bar, Stretch(seconds), None)
        except Paused:
            pass
    return Place.of(job)


class LeftOutScores(NamedTuple):
    """Of rows under the mixture of the models that left them out, in the data's own units."""

    log_likelihood: float
    rmse: float


class EnsembleJob:
    """The trainings of all models: a job for ``run_training``."""

    whole = True  # what is under way in a worker is not part of the state

    def __init__(
        self, plan: RegressionPlan, n_models: int, seed: int, executor: Executor | None
    ) -> None:
        self.plan, self._executor = plan, executor
        self.members = [
            Member(plan, seed_from(seed, f"model {number}"), seed) for number in range(n_models)
        ]
        self.places: list[Place | None] = [None] * n_models
        self._said: dict[int, str] = {}  # of models that have learned nothing, by number
        self._each = self.members[0].job().total

    @property
    def total(self) -> int:
        """Epochs of all models, at most."""
        return self._each * len(self.members)

    @property
    def finished(self) -> bool:
        """Whether all models are trained."""
        return not self._open()

    def _open(self) -> list[int]:
        return [k for k, place in enumerate(self.places) if place is None or not place.finished]

    def state(self) -> State:
        """Return the states of all models that have been begun."""
        state: State = {"begun": np.array([place is not None for place in self.places])}
        for k, place in enumerate(self.places):
            if place is not None:
                state |= {f"{k}.{name}": values for name, values in place.state.items()}
        return state

    def restore(self, state: State) -> None:
        """Go on from a state of the same training; raises ValueError if it is none."""
        begun = state.get("begun")
        if begun is None or begun.dtype != bool or begun.shape != (len(self.members),):
            raise ValueError(f"it does not say which of {len(self.members)} models are begun")
        places: list[Place | None] = [None] * len(self.members)
        for k in np.flatnonzero(begun):
            job = self.members[k].job()
            job.restore(part(state, f"{k}."))
            places[k] = Place.of(job)
        self.places = places

    def train(self, bar: Progress, interrupts: Interrupts, file: TrainingFile | None) -> None:
        """Go on to the end.  What interrupts it finds the states of finished stretches.

        Raises
        ------
        FloatingPointError
            If the training of a model diverges at every rate, naming the model.
        """
        bar.advance(sum(place.epochs for place in self.places if place is not None))
        if self._executor is None:
            self._train_here(bar, interrupts, file)
        else:
            self._train_there(self._executor, bar, interrupts, file)

    def _train_here(self, bar: Progress, interrupts: Interrupts, file: TrainingFile | None) -> None:
        """Train one model after the other."""
        while self._open():
            k = self._open()[0]
            seconds = STRETCH if file is None else min(STRETCH, file.wait())
            with interrupts.held():
                try:
                    place = advance(self.members[k], self._state(k), seconds)
                except Exception as error:
                    raise self._named(k, error) from error
                self._take(k, place, bar)
            if file is not None and file.due():
                file.keep()

    def _train_there(
        self, executor: Executor, bar: Progress, interrupts: Interrupts, file: TrainingFile | None
    ) -> None:
        """Train all models at once; those that have waited longest go on first."""
        futures: dict[Future[Reply], int] = {}

        def hand_out(k: int) -> None:
            seconds = TRAVELS if file is None else min(TRAVELS, file.wait())
            future = submit(executor, advance, self.members[k], self._state(k), seconds)
            futures[future] = k

        try:
            for k in self._open():
                hand_out(k)
            while futures:
                done, _ = wait(futures, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda each: futures[each]):
                    k = futures.pop(future)
                    with interrupts.held():
                        self._take(k, self._result(k, future), bar)
                    if not self.places[k].finished:  # type: ignore[union-attr]
                        hand_out(k)
                if file is not None and file.due():
                    file.keep()
        finally:
            for future in futures:
                future.cancel()
            wait([future for future in futures if not future.cancelled()])  # as in workers.py

    def _result(self, k: int, future: Future[Reply]) -> Place:
        try:
            place: Place = result(future, f", training model {k + 1}")
        except WorkersError:
            raise
        except Exception as error:
            raise self._named(k, error) from error
        return place

    def _named(self, k: int, error: Exception) -> Exception:
        """Return an error that says which model it is of."""
        words = f"model {k + 1} of {len(self.members)}: {error}"
        kind = next((each for each in WORDED if isinstance(error, each)), RuntimeError)
        return kind(words)

    def _state(self, k: int) -> State | None:
        place = self.places[k]
        return None if place is None else place.state

    def _take(self, k: int, place: Place, bar: Progress) -> None:
        """Note where a model is."""
        before = self.places[k]
        self.places[k] = place
        bar.advance(place.epochs - (0 if before is None else before.epochs))

    def jobs(self) -> Iterator[RegressionJob]:
        """Yield the trainings that have been begun; the first in any case."""
        for k, place in enumerate(self.places):
            if place is not None or not k:
                job = self.members[k].job()
                if place is not None:
                    job.restore(place.state)
                yield job

    def outcome(self) -> tuple[TGGMEnsemble, tuple[TGGMFit, ...], LeftOutScores | None]:
        """Return the ensemble, whose models share the mixture's noise, and each as it is alone.

        And the scores of rows under the models that left them out, if there are some.
        """
        jobs = list(self.jobs())
        fits = tuple(
            self.plan.fit(job, not job.finished, [self._said[k]] if k in self._said else [])
            for k, job in enumerate(jobs, 1)
        )
        left = [own for job in jobs if (own := job.left_out()) is not None and own.rows.size]
        if not (left and self.finished):
            return TGGMEnsemble(fit.model for fit in fits), fits, None
        noise = calibrated_mixture(left, jobs[0].sets.known)
        factors = None if (noise.factors == 1).all() else noise.factors
        names = self.plan.rows.columns
        models = [job.model(noise.log_noise).with_columns(names) for job in jobs]
        unit = jobs[0].scales.targets.deviation
        scores = LeftOutScores(
            log_likelihood=float((noise.log_density - np.log(unit)).sum()),
            rmse=float(np.sqrt(np.mean(noise.square_error * unit**2))),
        )
        return TGGMEnsemble(models, noise_factors=factors), fits, scores

    def fall_back(self) -> int | None:
        """Return nothing: an error is of a model that has come to none."""
        return None

    def verdict(self) -> str | None:
        """Return what must be said of a finished training, or nothing."""
        said = {k: words for k, job in enumerate(self.jobs(), 1) if (words := job.verdict())}
        self._said = said
        if not said:
            return None
        first, *others = said
        more = f"; much the same of {', '.join(map(str, others))}" if others else ""
        return f"model {first} of {len(self.members)}: {said[first]}{more}"
