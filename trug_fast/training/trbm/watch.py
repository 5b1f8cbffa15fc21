"""Watching the training of a temporal RBM by its forecasts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.evaluation.prediction import frame_errors
from trug_fast.models.sequences import Sequences
from trug_fast.training.watch import ContrastiveWatch
from trug_fast.training.weighing import Weights, mean_of

SCORED = 20  # sequences of each set


class TRBMWatch(ContrastiveWatch):
    """Watches forecasts: what can be learned is to forecast better than linearly."""

    yardstick = "score of forecasts (minus the squared error)"
    name = "sequences"

    def frames(self) -> NDArray[Any]:
        return np.asarray(self.rows.frames)

    def each(self, model: Any) -> NDArray[np.float64]:
        return np.concatenate(_frame_scores(model, self.rows))

    def frame_weights(self) -> Weights | None:
        found: Weights | None = self.rows.frame_weights()
        return found

    def blind(self) -> float:
        frames = self.frames().astype(np.float64)
        mean = mean_of(frames, weights := self.frame_weights())
        return float(mean_of((frames - mean) ** 2, weights).sum())

    def measure(self, model: Any, sets: dict[str, Any]) -> dict[str, float]:
        """Return minus the mean prediction error of evenly spread sequences of each set."""
        if callable(score := self.score):
            parts = {name: judged(data) for name, data in sets.items()}
            listed = {name: some.split(some.frames) for name, some in parts.items()}
            return {k: checks.number("score", score(model, v)) for k, v in listed.items()}
        some = {name: judged(data) for name, data in sets.items()}
        means = {k: np.array([v.mean() for v in _frame_scores(model, x)]) for k, x in some.items()}
        return {k: float(mean_of(v, some[k].weights)) for k, v in means.items()}

    def faster(self) -> str:
        return (
            f"take more epochs or smaller batches ({self.learner.updates} updates were made), a "
            "higher learning_rate or more hidden units; if nothing helps, the linear forecast at "
            "which training begins may be all that there is to learn"
        )


def judged(sequences: Sequences) -> Sequences:
    """Return evenly spread sequences of two frames or more."""
    usable = np.flatnonzero(sequences.lengths > 1)
    return sequences.take(usable[:: max(1, usable.size // SCORED)][:SCORED])


def _frame_scores(model: Any, some: Sequences) -> list[NDArray[np.float64]]:
    """Return, of each sequence, minus the squared error of each frame from the second on."""
    return [-errors for errors in frame_errors(model, some, "mean_field", None, 0)]
