"""A training from its first update to its last: a loop over epochs, a file, signals, a verdict.

Every point between two updates can be saved.  Updates are taken in stretches, one call of the
learner each: for a small model that call would take longer than one update.

Tested in tests/training/test_run.py and test_loop.py.
"""

from __future__ import annotations

import math
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import files
from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import (
    Checkpoint,
    CheckpointLike,
    RunFile,
    as_checkpoint,
    copy_into,
    seed_of,
)
from trug_fast._common.interrupts import Interrupts, Terminated
from trug_fast._common.mapping import FileState
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import RngLike
from trug_fast._common.threads import require_spawned

from .chunks import RowSource
from .diagnosis import EPOCHS, QUIET, Watch, tell
from .epochs import EpochEnd
from .gathering import Portion, in_reach
from .learner import Learner, Rows
from .options import Monitor
from .rates import Time
from .weighing import Weighted, Weights

KIND = "Training"
VERSION = 4  # of what the arrays mean and of how training uses them
LONGER = ("epochs",)  # what may be more than it was when a run goes on
HISTORY, BEST, SOUND = "history.", "best.", "sound."  # begin names of arrays in a checkpoint
CHOOSES = "validation_score"  # the entry of the history whose highest is of the best model
LOOK = 100  # updates between two looks at whether the parameters are still sound
STRETCH = 0.1  # seconds of updates in one call of the learner: so long Ctrl-C may have to wait

History = dict[str, NDArray[np.float64]]


Callback = Callable[[EpochEnd], bool | None]


_raises = ContextVar("_raises", default=False)


class TrainingFile(RunFile):
    """The file of one run of a training, which writes its state whenever it is asked to."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint, KIND, VERSION, "training")
        self._state: Callable[[], State] = dict

    def start_with(self, state: Callable[[], State]) -> None:
        """Write for the first time, and take all later states from the same function."""
        self._state = state
        self.start(state())

    def keep(self) -> None:
        """Write the present state; a disk that is full is only a warning."""
        self.save(self._state())


class NoFile:
    """Stands for the file of a run that has none."""

    path = found = None

    def start_with(self, state: Callable[[], State]) -> None:
        """Write nothing."""

    def wait(self) -> float:
        """Return in how many seconds it is time to write."""
        return math.inf

    def due(self) -> bool:
        """Return whether it is time."""
        return False

    def keep(self) -> None:
        """Write nothing."""


File = TrainingFile | NoFile


class Job(ABC):
    """A training whose every point between two updates can be saved."""

    @property
    @abstractmethod
    def total(self) -> int:
        """Steps of the bar."""

    finished: Any  # whether nothing is left to do
    whole: Any  # whether no update is under way: only then there is a state to save

    @abstractmethod
    def state(self) -> State:
        """Return all that the rest of the training depends on; it may share memory."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from a state of the same training; raises ValueError if it is none."""

    @abstractmethod
    def train(self, bar: Progress, interrupts: Interrupts, file: File) -> None:
        """Go on to the end; write to the file whenever it is due.

        What interrupts it between updates finds a state to save.
        """

    @abstractmethod
    def verdict(self) -> str | None:
        """Return what must be said of a finished training: that it learned nothing, or nothing."""

    def fall_back(self) -> int | None:
        """Take the last sound model, after training diverged; return its epoch, None without."""
        return None


@dataclass(frozen=True)
class Plan:
    """How long, and how it is scored."""

    epochs: int
    monitor: Monitor | None
    span: int = 0  # epochs over which rates go, if not these

    def due(self, epoch: int) -> bool:
        """Return whether an epoch is scored."""
        monitor = self.monitor
        return monitor is not None and (epoch % monitor.every == 0 or epoch == self.epochs)


class Loop(Job):
    """A run over the epochs: where it is, and how it goes on from there.

    It is a job for :func:`run_training`, or a part of one.
    """

    def __init__(
        self,
        data: Any,
        learner: Learner,
        watch: Watch,
        plan: Plan,
        callbacks: Sequence[Callback] = (),
        stage: str | None = None,
        weights: Weights | None = None,
    ) -> None:
        self.data, self.learner, self.watch, self.plan = data, learner, watch, plan
        self.weights = weights  # of the rows of a matrix, which updates are given beside it
        self.callbacks, self.stage = callbacks, stage
        self.epoch = self.batch = 0  # done: whole epochs, and batches of the next one
        self.records: dict[str, list[float]] = {}
        self.best: State = {}  # parameters of the model to return, if not the last
        self._top, self._stale = -np.inf, 0  # its score, and the number of scores since then
        # Parameters to go back to: of the best scored epoch, or without scores of the last.
        self.sound: State = {}
        self._sound_epoch, self._sound_score = 0, -np.inf
        self.fallen = False  # whether training diverged, and the model is that
        self.stopped = False  # before the last epoch, by a callback or for want of patience
        self.whole = True  # no update is under way
        apart = isinstance(data, RowSource)
        self.n_batches = data.n_batches(learner) if apart else learner.n_batches(data.shape[0])
        self._earlier, self._begun = 0.0, time.perf_counter()
        self._each = math.inf  # seconds an update, as of the last stretch
        # Chunks may be of an array in a file.
        self._source = getattr(getattr(data, "chunks", None), "source", data)
        self._file = FileState.of(self._source)

    @property
    def total(self) -> int:
        """Batches of the whole run."""
        return self.plan.epochs * self.n_batches

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do; with more epochs there would be, if it was not stopped."""
        return self.stopped or self.epoch == self.plan.epochs

    @property
    def done(self) -> int:
        """Batches of it that are done."""
        return self.epoch * self.n_batches + self.batch

    def history(self) -> History:
        """Return the records as arrays, with an entry an epoch."""
        return {name: np.array(values) for name, values in self.records.items()}

    def best_epoch(self) -> int:
        """Return after which epoch the model was taken that is the best so far."""
        if not self.best:
            return self._sound_epoch if self.fallen else self.epoch
        return self.epoch - self.records[CHOOSES][::-1].index(self._top)  # the last of equal ones

    def model(self) -> Any:
        """Return the model of the best validation score with ``patience``, else the current one.

        After a divergence the last sound one.
        """
        return self.learner.model(self.kept())

    def kept(self) -> State | None:
        """Return the parameters of that model, if they are not the current ones."""
        return self.best or (self.sound if self.fallen else None)

    def fall_back(self) -> int | None:
        if not (self.best or self.sound):
            return None
        self.fallen = True
        epoch = self.best_epoch()
        self.fallen = self.watch.verdict(max(epoch, EPOCHS), self.model()) is None
        return epoch if self.fallen else None

    def verdict(self) -> str | None:
        return self._change_of_data() or self.watch.verdict(self.epoch, self.model())

    def state(self) -> State:
        state = dict(self.learner.state())
        state["place"] = np.array([self.epoch, self.batch, self.stopped], np.int64)
        state["seconds"] = np.array(self._seconds())
        state["sound_epoch"] = np.array(self._sound_epoch)
        for prefix, kept in ((BEST, self.best), (SOUND, self.sound)):
            state |= {prefix + name: values for name, values in kept.items()}
        return state | {HISTORY + name: np.array(v) for name, v in self.records.items()}

    def restore(self, state: State) -> None:
        place, seconds = np.zeros(3, np.int64), np.zeros(())
        copy_into({"place": place, "seconds": seconds}, state)
        self.learner.restore(state)
        self.epoch, self.batch, self.stopped = int(place[0]), int(place[1]), bool(place[2])
        self._earlier, self._begun = float(seconds), time.perf_counter()
        self.records = {k: values.tolist() for k, values in part(state, HISTORY).items()}
        self.best, self.sound = part(state, BEST), part(state, SOUND)
        self._sound_epoch = int(state.get("sound_epoch", np.zeros(())))
        scores = self.records.get("score", [])[: self._sound_epoch][-1:]
        self._sound_score = scores[0] if self.sound and scores else -np.inf
        known = [score for score in self.records.get(CHOOSES, []) if not math.isnan(score)]
        self._top = max(known, default=-np.inf)
        self._stale = known[::-1].index(self._top) if known else 0
        self._require_possible(int(place[2]))

    def _require_possible(self, stopped: int) -> None:
        """Refuse a place that no run of this plan comes to; from some, training would not end."""
        updates = self.learner.updates
        possible = 0 <= self._sound_epoch <= self.epoch  # of the parameters to go back to
        possible &= 0 <= self.epoch <= self.plan.epochs and 0 <= self.batch <= self.n_batches
        possible &= stopped in (0, 1) and updates == self.done
        possible &= all(np.shape(values) == (self.epoch,) for values in self.records.values())
        if not possible:
            raise ValueError(
                f"it says epoch {self.epoch}, batch {self.batch}, after {updates} updates, of "
                f"{self.plan.epochs} epochs with {self.n_batches}"
            )
        own = self.learner.parameters()
        for kept in filter(None, (self.best, self.sound)):
            copy_into({name: np.empty_like(values) for name, values in own.items()}, kept)
            if not kept.keys() <= own.keys():
                raise ValueError("its best model has parameters that the model has not")
        if self.best and self._top == -np.inf:
            raise ValueError("its best model has no score")

    def train(self, bar: Progress, interrupts: Interrupts, file: File) -> None:
        bar.advance(self.done)
        try:
            while not self.finished:
                for source, batches, numbers in self._parts():
                    if self.weights is not None:
                        source = Weighted(source, self.weights[numbers])
                    while batches:
                        length = self._length(file)
                        with interrupts.held():
                            self._update(source, batches[:length])
                        bar.advance(len(batches[:length]))
                        batches = batches[length:]
                        self._save(file)
                self._end_epoch(bar)
        except FloatingPointError as error:
            if words := self._change_of_data():
                raise FloatingPointError(words) from error
            raise

    def _change_of_data(self) -> str | None:
        """Return in words that the data are in a file that was written to meanwhile, or nothing."""
        return None if self._file is None else self._file.change(self._source)

    def _parts(self) -> Iterator[Portion]:
        """Yield the batches that are left of an epoch, with matrices that hold their rows."""
        data = self.data
        if isinstance(data, RowSource):
            return data.parts(self.learner, self.epoch, self.batch)
        batches = self.learner.batches(data.shape[0], self.epoch)
        return in_reach(data, islice(batches, self.batch, None))

    def _length(self, file: File) -> int:
        """Return how many batches the next stretch has: to the next look at most."""
        seconds = min(STRETCH, file.wait())
        return min(LOOK - self.batch % LOOK, max(1, int(seconds / self._each)))

    def _save(self, file: File) -> None:
        """Save what came of a stretch, if it is time; no diverged state in place of a good one."""
        due = file.due()
        if due or self.batch % LOOK == 0:
            self.watch.require_sound(self.epoch + 1)
        if due:
            file.keep()

    def _update(self, data: Any, batches: Sequence[Rows]) -> None:
        numbers = range(self.batch, self.batch + len(batches))
        times = [self._time(number) for number in numbers]
        self.whole, begun = False, time.perf_counter()
        with np.errstate(all="ignore"):  # what overflows is found by the watch
            self.learner.update(data, batches, times)
        self._each = max(time.perf_counter() - begun, 1e-9) / len(batches)
        self.batch += len(batches)
        self.whole = True

    def _time(self, batch: int) -> Time:
        share = (self.epoch + batch / self.n_batches) / (self.plan.span or self.plan.epochs)
        return Time(share, self.epoch + 1)

    def _end_epoch(self, bar: Progress) -> None:
        number = self.epoch + 1
        self.watch.require_sound(number)
        record = {"epoch": float(number), "seconds": self._seconds()}
        record |= self.learner.brief(self._time(self.n_batches - 1))
        due = self.plan.due(number)
        if self.plan.monitor is not None:
            scores = self._scores(due)
            if due:
                self.watch.require_scores(number, scores)
            record |= scores
        for name, value in record.items():
            self.records.setdefault(name, []).append(value)
        self._keep_best(due)
        self._keep_sound(number, record.get("score", -np.inf), due)
        self.epoch, self.batch = number, 0
        if not self.finished:
            self.watch.look(number)
        bar.advance(0, score=record.get(CHOOSES, record.get("score", np.nan)))
        event = EpochEnd(number, self.records, self.learner.model, self.stage)
        stop = any([callback(event) for callback in self.callbacks])
        self.stopped = stop or self._out_of_patience()

    @QUIET
    def _scores(self, due: bool) -> dict[str, float]:
        return self.watch.scores(self.data, due)

    def _keep_best(self, due: bool) -> None:
        if self._patience is None or not due:
            return
        score = self.records[CHOOSES][-1]
        if score >= self._top:
            self._top, self._stale = score, 0
            self.best = {k: np.array(v) for k, v in self.learner.parameters().items()}
        elif not math.isnan(score):
            self._stale += 1

    def _keep_sound(self, number: int, score: float, due: bool) -> None:
        """Keep what is sound, if it scores no worse than what is kept."""
        if self.plan.monitor is not None and not (due and score >= self._sound_score):
            return
        self._sound_epoch, self._sound_score = number, score
        # Other arrays: those from before may be of a state that another thread is writing.
        self.sound = {name: np.array(own) for name, own in self.learner.parameters().items()}

    def _out_of_patience(self) -> bool:
        return self._patience is not None and self._stale >= self._patience

    @property
    def _patience(self) -> int | None:
        return None if self.plan.monitor is None else self.plan.monitor.patience

    def _seconds(self) -> float:
        return self._earlier + time.perf_counter() - self._begun


def as_callbacks(callbacks: Sequence[Callback]) -> list[Callback]:
    """Return the callbacks as a list; refuse others than functions before an epoch is trained."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a list of functions, got {callbacks!r}")
    functions = list(callbacks)
    for each in functions:
        if not callable(each):
            raise TypeError(f"callbacks must hold functions, got {each!r}")
    return functions


def part(state: State, prefix: str) -> State:
    """Return the arrays whose names begin so, by the rest of their names."""
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


class Begun(NamedTuple):
    """What a training begins with."""

    seed: int
    file: File


def begin(
    purpose: str,
    identity: Callable[[], Mapping[str, Any]],
    checkpoint: CheckpointLike,
    rng: RngLike,
    *,
    extends: bool = True,
) -> Begun:
    """Open the file, if one is named, and choose the seed: that of the run in it without ``rng``.

    Parameters
    ----------
    purpose : str
        Name of the public function.
    identity : callable
        Returns, as numbers and words, what makes a run the same run.
    extends : bool
        Whether a run may be given more epochs than it had.

    Raises
    ------
    RuntimeError
        In a process that was forked after OpenMP had started.
    FileExistsError, FileNotFoundError
        As its ``resume`` says.
    TypeError, ValueError
        If ``checkpoint`` or ``rng`` is of another kind; if the file is damaged, or of another run,
        naming each difference.
    """
    require_spawned()  # else a regression would find out after its last epoch
    option = as_checkpoint(checkpoint)
    file = None if option is None else TrainingFile(option)
    seed = seed_of(file, rng, purpose)
    if file is not None:
        file.belong_to(identity(), seed, LONGER if extends else ())
    return Begun(seed, file or NoFile())


def run_training(job: Job, file: File, progress: bool | None) -> bool:
    """Train to the end, from where the file has it; return whether it ended before.

    Ctrl-C ends it, and divergence where an earlier epoch has left a sound model.  To be called by
    the public function itself, at whose caller its warnings point.
    """
    interrupted = terminated = False
    reason, saved = None, True
    with Progress(job.total, "training", progress) as bar:
        if file.found is not None:
            with files.building_from(f"checkpoint {file.path}"):
                job.restore(file.found)
        if not job.finished:
            file.start_with(job.state)
            try:
                with Interrupts(terminate=file.path is not None) as interrupts:
                    job.train(bar, interrupts, file)
            except KeyboardInterrupt:
                interrupted = True
            except Terminated:
                terminated = True
            except FloatingPointError as error:
                saved = False  # the last checkpoint is worth more than this state
                epoch = None if _raises.get() else job.fall_back()
                if epoch is None:
                    raise
                reason = f"{error}; the model returned is that of epoch {epoch}, which was sound"
            finally:
                if saved and job.whole:
                    file.keep()
            if terminated:  # nobody handles the signal: die of it, now that all is saved
                signal.raise_signal(signal.SIGTERM)
    if reason is not None:
        tell(reason, stacklevel=3)
        return True
    if interrupted:
        words = "" if file.path is None else f", which {file.path} continues"
        said = f"training was interrupted; returning the fit so far{words}"
        tell(said, UserWarning, stacklevel=3)
        return True
    if verdict := job.verdict():
        tell(verdict, stacklevel=3)
    return False


@contextmanager
def divergence_raises() -> Iterator[None]:
    """Let trainings in this context that diverge end in their error, whatever came before it."""
    token = _raises.set(True)
    try:
        yield
    finally:
        _raises.reset(token)
