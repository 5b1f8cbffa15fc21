"""What all trainings go through: a file to go on from, a seed, a bar, interrupts and a verdict."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

from trug_fast._common import files
from trug_fast._common.checkpoints import CheckpointLike, as_checkpoint, seed_of
from trug_fast._common.interrupts import Interrupts, Terminated
from trug_fast._common.progress import Progress
from trug_fast._common.randomness import RngLike
from trug_fast._common.threads import require_spawned

from .checkpoints import State, TrainingFile
from .diagnosis import tell

LONGER = ("epochs",)  # what may be more than it was when a run goes on
_raises = ContextVar("_raises", default=False)


class Job(Protocol):
    """A training whose every point between two updates can be saved."""

    @property
    def total(self) -> int:
        """Steps of the bar."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def whole(self) -> bool:
        """Whether no update is under way: only then there is a state to save."""

    def state(self) -> State:
        """Return all that the rest of the training depends on; it may share memory."""

    def restore(self, state: State) -> None:
        """Go on from a state of the same training; raises ValueError if it is none."""

    def train(self, bar: Progress, interrupts: Interrupts, file: TrainingFile | None) -> None:
        """Go on to the end; write to the file whenever it is due."""

    def verdict(self) -> str | None:
        """Return what must be said of a finished training: that it learned nothing, or nothing."""

    def fall_back(self) -> int | None:
        """Take the last sound model, after training diverged; return its epoch, None without."""


class Begun(NamedTuple):
    """What a training begins with."""

    seed: int
    file: TrainingFile | None


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
    return Begun(seed, file)


def run_training(job: Job, file: TrainingFile | None, progress: bool | None) -> bool:
    """Train to the end, from where the file has it; return whether it ended before.

    Ctrl-C ends it, and divergence where an earlier epoch has left a sound model.  To be called by
    the public function itself, at whose caller its warnings point.
    """
    interrupted, reason = False, None
    with Progress(job.total, "training", progress) as bar:
        if file is not None:
            _go_on(job, file)
        if not job.finished:
            if file is not None:
                file.start_with(job.state)
            try:
                interrupted = _train(job, bar, file)
            except FloatingPointError as error:
                epoch = None if _raises.get() else job.fall_back()
                if epoch is None:
                    raise
                reason = f"{error}; the model returned is that of epoch {epoch}, which was sound"
    if reason is not None:
        tell(reason, stacklevel=3)
        return True
    if interrupted:
        words = "" if file is None else f", which {file.path} continues"
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


def _go_on(job: Job, file: TrainingFile) -> None:
    """Take over the state that an earlier run left, if one did."""
    if file.found is not None:
        with files.building_from(f"checkpoint {file.path}"):
            job.restore(file.found)


def _train(job: Job, bar: Progress, file: TrainingFile | None) -> bool:
    """Train, and save what an interrupt leaves; return whether Ctrl-C came."""
    interrupted = terminated = False
    try:
        with Interrupts(terminate=file is not None) as interrupts:
            job.train(bar, interrupts, file)
    except KeyboardInterrupt:
        interrupted = True
    except Terminated:
        terminated = True
    except FloatingPointError:  # diverged: the last checkpoint is worth more than this state
        file = None
        raise
    finally:
        if file is not None and job.whole:
            file.keep()
    if terminated:  # nobody handles the signal: die of it, now that all is saved
        signal.raise_signal(signal.SIGTERM)
    return interrupted
