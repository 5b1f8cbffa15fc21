"""Watching a run of contrastive divergence: whether it diverges, and whether it learns.

Tested in tests/training/rbm/test_watch.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import diagnosis
from .diagnosis import QUIET, Columns, Rise
from .weighing import Weights, mean_of


class Watch(ABC):
    """What sees how well a learner does, and whether it goes astray."""

    @abstractmethod
    def scores(self, data: Any, due: bool) -> dict[str, float]:
        """Return the scores of the current model, NaN in an epoch without; higher is better."""

    @abstractmethod
    def require_sound(self, epoch: int) -> None:
        """Raise FloatingPointError if a parameter is nonsense."""

    @abstractmethod
    def require_scores(self, epoch: int, scores: dict[str, float]) -> None:
        """Raise FloatingPointError if a score is far below that at the start, and that of noise."""

    @abstractmethod
    def verdict(self, epochs: int, model: Any) -> str | None:
        """Return what must be said of a whole run: that its score has not risen, or nothing."""

    def look(self, epoch: int) -> None:
        """Warn of what is seen to go wrong after an epoch that is not the last: here of nothing."""
        return


class ContrastiveWatch(Watch):
    """Compares a run with where it began.

    Its own score is a cheap one, whatever the run records, so that a run without scores is watched
    too: some of the training data before and after.  Made before the run goes on from a checkpoint,
    so that a run that was resumed is judged like one that never stopped.

    Parameters
    ----------
    learner : RBMLearner or TRBMLearner
    rows, held_out : any
        The part of the training data by which it is judged; the validation data, or None.
    weights : ndarray, optional
        Of what is scored of ``rows``.
    """

    yardstick: str  # the score, in words
    name: str  # of the argument that is the training data

    def __init__(
        self,
        learner: Any,
        rows: Any,
        held_out: Any,
        weights: Weights | None = None,
    ) -> None:
        self.learner, self.rows, self.held_out, self.weights = learner, rows, held_out, weights
        settings = learner.settings
        self.score = None if settings.monitor is None else settings.monitor.score
        self.rate, self.real = settings.rates["learning_rate"], settings.real
        self.start = learner.model()
        self.columns = Columns.of(self.frames(), self.real, self.frame_weights())

    @abstractmethod
    def frames(self) -> NDArray[Any]:
        """Return the rows as a matrix."""

    def frame_weights(self) -> Weights | None:
        """Return the weights of the rows of that matrix."""
        return self.weights

    @abstractmethod
    def each(self, model: Any) -> NDArray[np.float64]:
        """Return the score of each row."""

    @abstractmethod
    def blind(self) -> float:
        """Return minus the score of a model that knows nothing, about."""

    @abstractmethod
    def faster(self) -> str:
        """Return what to change after training that learned nothing."""

    @abstractmethod
    def measure(self, model: Any, sets: dict[str, Any]) -> dict[str, float]:
        """Return the score of each set of data that the run records."""

    def beside(self) -> tuple[str, ...]:
        """Return what ``measure`` says beside the scores."""
        return ()

    def scores(self, data: Any, due: bool) -> dict[str, float]:
        sets = {"score": self.rows}
        if self.held_out is not None:
            sets["validation_score"] = self.held_out
        if not due:
            return dict.fromkeys([*sets, *self.beside()], np.nan)
        return self.measure(self.learner.model(), sets)

    @QUIET
    def require_sound(self, epoch: int) -> None:
        fault = self.learner.fault(self.columns)
        if fault is not None:
            raise diagnosis.diverged(epoch, fault, self._slower())

    @QUIET
    def require_scores(self, epoch: int, scores: dict[str, float]) -> None:
        if callable(self.score):  # of a scale of its own
            return
        score, limit = scores["score"], -diagnosis.FALL * self.blind()
        if score >= limit:
            return
        start = float(mean_of(self.each(self.start), self.weights))
        if not score >= min(limit, diagnosis.FALL * start):
            fault = f"the score fell to {score:.3g}, from {start:.3g} before training"
            raise diagnosis.diverged(epoch, fault, self._slower())

    @QUIET
    def verdict(self, epochs: int, model: Any) -> str | None:
        before, after = self.each(self.start), self.each(model)
        rise, blind = Rise.of(before, after, self.weights), -self.blind()
        # Need not have learned yet, or, from a model, much more.
        trial = self.learner.settings.from_model or diagnosis.brief(epochs, self.learner.updates)
        if (rise.clear and rise.after > blind) or (trial and not rise.fell):
            return None
        scores = f"{rise.before:.4g} before, {rise.after:.4g} after, {rise.change}"
        if rise.clear:
            advice = f"a model that knows nothing has {blind:.4g}; {self._slower()}"
        else:
            advice = self._slower() if rise.fell else self._standardise() or self.faster()
        what = "above that of ignorance" if rise.clear else "by more than its noise"
        return (
            f"training has not raised the {self.yardstick} of the training data {what}: {scores}; "
            f"{advice}"
        )

    def _standardise(self) -> str | None:
        return diagnosis.off_scale(self.name, self.frames()) if self.real else None

    def _slower(self) -> str:
        start, words = self.learner.units.start, ""
        if start.learns_ends:
            words += ", or a lower truncation_rate"
        if start.learn_precision:
            words += ", or a lower precision_rate"
        sweeps = self.learner.settings.sampler.n_gibbs
        advice = (
            f"use a lower learning_rate (it began at {self.rate.start:g}){words}, or more Gibbs "
            f"sweeps in each update (n_gibbs={sweeps} of the sampler)"
        )
        return self._standardise() or advice
