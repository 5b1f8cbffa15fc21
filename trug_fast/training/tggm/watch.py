"""Watching a run of the regression: whether it diverges, and whether it learns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.tggm import TruGTGGM
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import QUIET, Rise, Watch
from trug_fast.training.options import Monitor

from .data import Examples
from .learner import RegressionLearner


class RegressionWatch(Watch):
    """Scores a run on rows that it does not train on, if there are some.

    Parameters
    ----------
    learner : RegressionLearner
    scored : Examples
        Rows that are scored: those held out, or some of those trained on.
    judged : Examples
        Rows that the model must forecast better than their mean.
    monitor : Monitor or None
    """

    def __init__(
        self,
        learner: RegressionLearner,
        scored: Examples,
        judged: Examples,
        monitor: Monitor | None,
    ) -> None:
        self.learner, self.scored, self.judged = learner, scored, judged
        self._by_rmse = monitor is not None and monitor.score == "rmse"

    def scores(self, data: Any, due: bool) -> dict[str, float]:
        """Return the scores of the current model, NaN in an epoch without; "rmse" of unit data."""
        rmse = likelihood = np.nan
        if due:
            rmse, likelihood = self.learner.score(self.scored)
            likelihood -= float(np.log(self.learner.scales.targets.deviation).sum())
        return {
            "validation_score": -rmse if self._by_rmse else likelihood,
            "validation_rmse": rmse,
            "validation_log_likelihood": likelihood,
        }

    def require_sound(self, epoch: int) -> None:
        fault = self.learner.fault()
        if fault is not None:
            raise diagnosis.diverged(epoch, fault, self.slower())

    def require_scores(self, epoch: int, scores: dict[str, float]) -> None:
        rmse = scores["validation_rmse"]
        if not rmse <= diagnosis.FALL and not rmse <= diagnosis.FALL * self._usual():
            fault = f"the error is {rmse:.3g} times the targets' standard deviation"
            raise diagnosis.diverged(epoch, fault, self.slower())

    @QUIET
    def verdict(self, epochs: int, model: TruGTGGM) -> str | None:
        """Return what must be said of a run that came to this model of standardised rows."""
        steps = self.learner.taken
        if diagnosis.brief(epochs, steps) or not self.learner.scales.targets.varies.any():
            return None
        aims = self.judged.targets.astype(np.float64)
        weights = self.judged.weights.astype(np.float64)
        error, apart = aims - self._forecast(model, aims), aims
        if self._signs:  # they are not standardised
            apart = aims - np.average(aims, axis=0, weights=weights)
        rise = Rise.paired(-(apart**2).sum(axis=1), -(error**2).sum(axis=1), weights)
        if rise.clear:
            return None
        worse = rise.after < -aims.shape[1] * self._start().score(self.judged)[0] ** 2
        advice = (
            f"take more epochs or smaller batches ({steps} updates were made), or a "
            "higher learning_rate; if nothing helps, the inputs may say nothing about the targets"
        )
        what = "twice the probability of +1, less 1" if self._signs else "standardised targets"
        return (
            "training has come to a model that forecasts the training data no better than the mean "
            "of the targets, by more than the noise of the score (minus the squared error, of "
            f"{what}): {rise.before:.4g} of the mean, {rise.after:.4g} of the model, "
            f"{rise.change}; {self.slower() if worse else advice}"
        )

    @property
    def _signs(self) -> bool:
        return self.learner.settings.objective == "probit"

    def _forecast(self, model: TruGTGGM, aims: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the targets that are judged, or of their signs."""
        if self._signs:
            return 2 * model.probability_above(self.judged.inputs, 0.0).reshape(aims.shape) - 1
        return np.asarray(model.predict(self.judged.inputs), np.float64).reshape(aims.shape)

    def slower(self) -> str:
        """Return what to change after training that went astray."""
        ends = self.learner.settings.truncation_rate is not None
        words = ", or a lower truncation_rate" if ends else ""
        start = self.learner.settings.learning_rate.start
        return f"use a lower learning_rate (it began at {start:g}){words}"

    @QUIET
    def _usual(self) -> float:
        """Return the error of the model at the start or that of the mean, whichever is more."""
        square = self.scored.targets.astype(np.float64) ** 2
        mean = float(np.sqrt(self.scored.mean(square.mean(axis=1))))
        return max(1.0, self._start().score(self.scored)[0], mean)

    def _start(self) -> RegressionLearner:
        return RegressionLearner(self.learner.settings, self.learner.scales, self.learner.seed)
