"""Watching the training of an RBM by the pseudo-likelihood, or by reconstructions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast.datasets import Resampler
from trug_fast.training import diagnosis
from trug_fast.training.chunks import RowSource
from trug_fast.training.watch import ContrastiveWatch

from . import scores


class RBMWatch(ContrastiveWatch):
    """Watches up to 1,000 rows of the training data."""

    name = "X"

    @property
    def yardstick(self) -> str:  # type: ignore[override]
        """The score, in words."""
        return "reconstruction score" if self.real else "pseudo-log-likelihood"

    def frames(self) -> NDArray[Any]:
        """Return the rows as a matrix."""
        return np.asarray(self.rows)

    def each(self, model: Any) -> NDArray[np.float64]:
        """Return the score of each row."""
        score = scores.reconstruction if self.real else scores.pseudo
        return score(model, self.rows, self.learner.seed, self.learner.filling)

    def blind(self) -> float:
        """Return minus the score of a model that knows nothing, about."""
        if not self.real:
            return self.columns.mean.size * math.log(2)
        return float((self.columns.deviation**2 + 1 / self.learner.visible_precision).sum())

    def measure(self, model: Any, sets: dict[str, Any]) -> dict[str, float]:
        """Return the score of each set of data that the run records."""
        learner = self.learner
        return scores.scores(
            model,
            self.score,
            sets,
            learner.seed,
            learner.filling,
            self.weights,
            learner.trajectory,
        )

    def beside(self) -> tuple[str, ...]:
        """Return what ``measure`` says beside the scores."""
        return ("score_error",) if self.score == "log_likelihood" else ()

    def faster(self) -> str:
        """Return what to change after training that learned nothing."""
        return (
            f"take smaller batches or more epochs ({self.learner.updates} updates were made), a "
            "higher learning_rate or larger RandomWeights; if nothing helps, the columns may hold "
            "little beyond their means"
        )


def judged(data: NDArray[Any] | Resampler | RowSource) -> NDArray[Any]:
    """Return the rows by which a training is judged, evenly spread."""
    if isinstance(data, Resampler):
        return Resampler(diagnosis.spread(data.intensities), data.seed).epoch(0)
    return diagnosis.spread(data)
