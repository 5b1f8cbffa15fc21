"""Lines about a training, for those who read them later in a file."""

from __future__ import annotations

import math
import time

from trug_fast.training.loop import EpochEnd

from .runner import Session

LOG_SECONDS = 60.0  # between two lines about the training


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
