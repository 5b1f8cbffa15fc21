"""Watching a run of contrastive divergence: whether it diverges, and whether it learns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast.datasets import Resampler
from trug_fast.evaluation.likelihood import pseudo_log_likelihood
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import QUIET, Columns, Rise
from trug_fast.training.rbm import scores as scoring

from .learner import Learner
from .optimizers import Schedule


class Watch:
    """Compares a run with where it began.

    Its own score is a cheap one, whatever the run records, so that a run without scores is watched
    too: up to 1,000 rows of the training data before and after.  Made before the run goes on from
    a checkpoint, so that a run that was resumed is judged like one that never stopped.
    """

    yardstick = "pseudo-log-likelihood"
    name = "X"

    def __init__(self, data: Any, learner: Learner, rate: Schedule) -> None:
        self.learner, self.rate = learner, rate
        self.real = bool(learner.visible_precision.size)
        if self.real:
            self.yardstick = "reconstruction score"
        self.start = learner.model()
        self.rows = self._choose(data)
        self.columns = Columns.of(self._frames(), self.real)

    @QUIET
    def require_sound(self, epoch: int) -> None:
        """Raise FloatingPointError if a parameter is nonsense."""
        fault = self.learner.fault(self.columns)
        if fault is not None:
            raise diagnosis.diverged(epoch, fault, self._slower())

    @QUIET
    def require_score(self, epoch: int, score: float) -> None:
        """Raise FloatingPointError if a score is far below that at the start, and that of noise."""
        limit = -diagnosis.FALL * self._blind()
        if score >= limit:
            return
        start = float(self._scores(self.start).mean())
        if not score >= min(limit, diagnosis.FALL * start):
            fault = f"the score fell to {score:.3g}, from {start:.3g} before training"
            raise diagnosis.diverged(epoch, fault, self._slower())

    @QUIET
    def verdict(self, epochs: int, model: Any) -> str | None:
        """Return what must be said of a whole run: that its score has not risen, or nothing."""
        rise, blind = Rise.of(self._scores(self.start), self._scores(model)), -self._blind()
        trial = diagnosis.brief(epochs, self.learner.updates)  # need not have learned yet
        if (rise.clear and rise.after > blind) or (trial and not rise.fell):
            return None
        scores = f"{rise.before:.4g} before, {rise.after:.4g} after, {rise.change}"
        if rise.clear:
            advice = f"a model that knows nothing has {blind:.4g}; {self._slower()}"
        else:
            advice = self._slower() if rise.fell else self._standardise() or self._faster()
        what = "above that of ignorance" if rise.clear else "by more than its noise"
        return (
            f"training has not raised the {self.yardstick} of the training data {what}: {scores}; "
            f"{advice}"
        )

    def _choose(self, data: Any) -> Any:
        """Return rows that are scored, evenly spread."""
        if isinstance(data, Resampler):
            return Resampler(diagnosis.spread(data.intensities), data.seed).epoch(0)
        return diagnosis.spread(data)

    def _frames(self) -> NDArray[Any]:
        """Return the rows as a matrix."""
        return np.asarray(self.rows)

    def _scores(self, model: Any) -> NDArray[np.float64]:
        """Return the score of each row."""
        if self.real:
            return scoring.reconstruction(model, self.rows)
        return pseudo_log_likelihood(model, self.rows, rng=self.learner.seed)

    def _blind(self) -> float:
        """Return minus the score of a model that knows nothing, about."""
        if not self.real:
            return self.columns.mean.size * math.log(2)
        return float((self.columns.deviation**2 + 1 / self.learner.visible_precision).sum())

    def _standardise(self) -> str | None:
        return diagnosis.off_scale(self.name, self._frames()) if self.real else None

    def _slower(self) -> str:
        """Return what to change after training that went astray."""
        settings, words = self.learner.settings, ""
        if settings.learns_ends:
            words += ", or a lower truncation_rate"
        if settings.learn_precision:
            words += ", or a lower precision_rate"
        advice = f"use a lower learning_rate (it began at {self.rate.start:g}){words}"
        return self._standardise() or advice

    def _faster(self) -> str:
        """Return what to change after training that learned nothing."""
        return (
            f"take smaller batches or more epochs ({self.learner.updates} updates were made), a "
            "higher learning_rate or a larger init_scale; if nothing helps, the columns may hold "
            "little beyond their means"
        )
