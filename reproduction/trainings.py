"""What the trainings of all cells share: their options, files, checkpoints and lines of a log.

Tested in tests/reproduction/test_forecasting.py and test_table1.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast._common import files
from trug_fast._common.checkpoints import Checkpoint
from trug_fast.training.epochs import EpochEnd
from trug_fast.training.run import divergence_raises

from .choices import arguments_of, choices, watched
from .protocol import Cell
from .runner import Session

CHECKPOINT, MODEL, HISTORY = "checkpoint.npz", "model.npz", "history.npz"
EVERY = "checkpoint_every"  # an option beside those of training: seconds
LOG_SECONDS = 60.0  # between two lines about the training
SPREAD = (0, 25, 50, 75, 100)  # percentiles of the upper points: from least to greatest


def options_of(train: Callable[..., Any]) -> tuple[str, ...]:
    """Return what the section ``train`` of a configuration may hold: the choices, written flat."""
    return (*choices(train), EVERY)


def trained(
    train: Callable[..., Any], data: Any, cell: Cell, session: Session, folder: Path, **more: Any
) -> Any:
    """Train what a cell says, going on from the checkpoint in its folder, and write the model.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when the state of the training is saved.
    """
    every = cell.options["train"].get(EVERY, 60.0)
    checkpoint = Checkpoint(folder / CHECKPOINT, every=every, resume="auto")
    callbacks = (TrainingLog(session),)
    with divergence_raises():
        fit = fitted(train, data, cell, session, checkpoint=checkpoint, callbacks=callbacks, **more)
    fit.model.save(folder / MODEL)
    files.write(folder / HISTORY, "history", fit.history)
    if fit.interrupted:
        raise KeyboardInterrupt(
            f"; the same command continues; {folder / MODEL} is as far as it got"
        )
    return fit


def fitted(
    train: Callable[..., Any],
    data: Any,
    cell: Cell,
    session: Session,
    *,
    validation: Any = None,
    **more: Any,
) -> Any:
    """Train what a cell says."""
    flat = {name: value for name, value in cell.options["train"].items() if name != EVERY}
    settings = arguments_of(train, flat)
    settings |= {"validation": watched(settings, validation)} | more
    return train(data, **settings, progress=session.progress, rng=session.seed)


def upper_points(model: Any) -> dict[str, list[float]]:
    """Return where the upper truncation points are, if the model has some."""
    if not hasattr(model, "upper"):
        return {}
    spread = np.percentile(model.upper, SPREAD, method="nearest")
    return {"upper": [round(float(value), 4) for value in spread]}


class TrainingLog:
    """Prints how training goes, for those who read it later in a file."""

    def __init__(self, session: Session) -> None:
        self._session, self._said = session, time.monotonic()

    def __call__(self, event: EpochEnd) -> None:
        """Print a line if the last one is old enough."""
        if time.monotonic() - self._said < LOG_SECONDS:
            return
        self._said = time.monotonic()
        words = [f"epoch {event.epoch}"]
        for name in ("score", "validation_score", "upper_mean", "seconds"):
            values = [value for value in event.history.get(name, ()) if not math.isnan(value)]
            if values:
                words.append(f"{name.replace('_', ' ')} {values[-1]:.4g}")
        self._session.say("  " + ", ".join(words))
