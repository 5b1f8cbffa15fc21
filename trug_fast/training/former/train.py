"""The training loop of the RBM."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.interrupts import Interrupts, Terminated
from trug_fast._common.progress import Progress
from trug_fast.training.diagnosis import TrainingWarning

from .checkpoints import Checkpoint
from .loop import Callback, Run
from .optimizers import Schedule

History = dict[str, NDArray[np.float64]]


def as_sweeps(k: int | tuple[int, int]) -> Schedule:
    """Return a schedule of sweeps."""
    pair = k if isinstance(k, tuple | list) else (k, k)
    if len(pair) != 2:
        raise ValueError(f"k must be an int or a pair (start, end), got {k!r}")
    return Schedule(*(float(checks.count("k", number)) for number in pair))


def _functions(callbacks: Sequence[Callback]) -> list[Callback]:
    """Return the callbacks as a list; refuse others than functions before an epoch is trained."""
    if callable(callbacks) or not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks must be a list of functions, got {callbacks!r}")
    functions = list(callbacks)
    for each in functions:
        if not callable(each):
            raise TypeError(f"callbacks must hold functions, got {each!r}")
    return functions


def carry_out(
    run: Run, callbacks: Sequence[Callback], progress: bool | None, saved: Checkpoint | None
) -> bool:
    """Train to the end; return whether Ctrl-C ended it before."""
    interrupted = terminated = False
    callbacks = _functions(callbacks)
    total = run.plan.epochs * run.updates
    with Progress(total, "training", progress) as bar:
        if saved is not None and saved.found is not None:
            try:
                run.restore(saved.found)
            except ValueError as error:
                raise ValueError(f"checkpoint {saved.path} is damaged: {error}") from error
        if run.finished:
            _judge(run)
            return False
        if saved is not None:
            saved.start(run.state())
        try:
            with Interrupts(terminate=saved is not None) as interrupts:
                run.train(callbacks, bar, interrupts, saved)
        except KeyboardInterrupt:
            interrupted = True
            words = "" if saved is None else f", which {saved.path} continues"
            warnings.warn(
                f"training was interrupted; returning the fit so far{words}", stacklevel=3
            )
        except Terminated:
            terminated = True
        except FloatingPointError:  # diverged: the last checkpoint is worth more than this state
            saved = None
            raise
        finally:
            if saved is not None and run.whole:
                saved.save(run.state())
    if terminated:  # nobody handles the signal: die of it, now that all is saved
        signal.raise_signal(signal.SIGTERM)
    if not interrupted:
        _judge(run)
    return interrupted


def _judge(run: Run) -> None:
    """Warn if a whole run has learned nothing."""
    words = run.verdict()
    if words is not None:
        warnings.warn(words, TrainingWarning, stacklevel=4)
