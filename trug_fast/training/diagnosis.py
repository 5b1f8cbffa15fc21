"""How a training is seen to have failed, and what is said of it: shared by all three trainings."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.mapping import mapped

from .chunks import LOOKED, RowSource
from .gathering import take
from .weighing import Weights, mean_of, variance_of_mean

# What one parameter may do to a unit, in nats: odds of e^10,000 leave no draw free.  A connection
# counts by what one unit does to the other on its way through its range; a bias of a visible unit
# by the net input while hidden units are at their means.  Biases of hidden ones do not count: a
# unit that is dead for all rows does no harm, and what harms is seen by those that it drives.
# Trainings that learned ended at 42 at most, 99 % of them below 20; those that went through and had
# not learned at 5,621 at most; those that were stopped were found at 1.3e4 to 2e19, or
# beyond floats (14 data sets, 24 settings, two seeds: reproduction/scripts/calibrate_training.py).
LIMIT = 1e4
# A score so many times as bad as it was at the start, and as that of coins, comes back no more.
FALL = 10.0
SURE = 2.0  # standard errors: what a score must have risen by
EPOCHS, UPDATES = 5, 100  # a run with fewer of both is a trial, which need not learn
SCALE = 5.0  # standard deviations of columns beyond it, or below its inverse: not standardised

ROWS = LOOKED  # that are scored at most
QUIET = np.errstate(all="ignore")  # what overflows is found here, and told in words

Arrays = Mapping[str, NDArray[Any]]
Scores = NDArray[np.float64]


class TrainingWarning(UserWarning):
    """Training went through, but its score does not show that anything was learned.

    The message gives the score before and after, its standard error, and what to change.
    """


_notes: ContextVar[list[str] | None] = ContextVar("_notes", default=None)


@contextmanager
def noted() -> Iterator[list[str]]:
    """Collect what a training says by `tell`, for its fit to remember."""
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def tell(said: str, kind: type[Warning] = TrainingWarning, *, stacklevel: int) -> None:
    """Warn as :func:`warnings.warn` does, and note it."""
    notes = _notes.get()
    if notes is not None:
        notes.append(said)
    warnings.warn(said, kind, stacklevel=stacklevel + 1)


@dataclass(frozen=True)
class Columns:
    """Where the columns of the data are, and how far they go; zeros and ones go from 0 to 1."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def of(cls, rows: NDArray[Any], real: bool, weights: Weights | None = None) -> Columns:
        """Take them from rows of the data, which may have weights."""
        rows = observed(rows)
        if weights is not None:
            mean = np.asarray(np.ma.average(rows, axis=0, weights=weights), np.float64)
            square = np.ma.average((rows - mean) ** 2, axis=0, weights=weights)
            return cls(mean, np.asarray(np.sqrt(square)) if real else np.ones_like(mean))
        mean = np.asarray(rows.mean(axis=0, dtype=np.float64))
        deviation = np.asarray(rows.std(axis=0, dtype=np.float64)) if real else np.ones_like(mean)
        return cls(mean, deviation)

    def scale(self, precision: NDArray[Any]) -> NDArray[np.float64]:
        """Return by what net inputs of visible units are multiplied to be comparable.

        Binary units (no precision): nothing.  Of Gaussian ones the net input is their mean times
        their precision: it is counted in standard deviations of the column, or in nats over one
        if that is less, where the data is finer than the units' own noise.
        """
        if not precision.size:
            return self.deviation
        room = np.maximum(precision * self.deviation**2, 1.0)
        return np.asarray(self.deviation / room)


class Ranges(NamedTuple):
    """How far hidden units go, and where they are.

    Of TruG units the range is the width of the interval, or one standard deviation in a wide one.
    """

    width: NDArray[Any]
    mean: NDArray[Any]


def pull(above: NDArray[Any], weights: NDArray[Any], below: NDArray[Any]) -> NDArray[Any]:
    """Return the largest effect of each column of weights, one unit going through its range."""
    scaled = above[:, None] * weights if (above != 1.0).any() else weights
    return np.asarray(np.maximum(scaled.max(axis=0), -scaled.min(axis=0)) * below)


def fault(parameters: Arrays, pulls: Callable[[], Arrays] = dict) -> str | None:
    """Say which parameter is nonsense, if one is.

    Parameters
    ----------
    parameters : mapping of arrays
        All that is learned: no number of it may be infinite or NaN.
    pulls : callable
        Gives, in nats, what parameters do to units; called if all numbers are finite.
    """
    for name, values in parameters.items():
        if not np.isfinite(values).all():
            return f"{_are(name)} no longer finite"
    for name, values in pulls().items():
        most = max(float(values.max()), -float(values.min()))
        if not most <= LIMIT:
            return f"{_are(name)} absurdly large ({most:.1e} nats on a unit)"
    return None


def require_finite(parameters: Arrays) -> None:
    """Raise FloatingPointError if a number is not finite, of which no model can be made."""
    said = fault(parameters)
    if said is not None:
        raise FloatingPointError(f"training diverged: {said}; use a lower learning_rate")


def _are(name: str) -> str:
    return f"{name} {'are' if name.endswith('weights') else 'is'}"


def off_scale(name: str, columns: NDArray[Any]) -> str | None:
    """Say that real data should be standardised, if they are far from it."""
    deviations = np.asarray(observed(columns).std(axis=0, dtype=np.float64))
    varied = deviations[deviations > 0]
    if varied.size == 0 or (varied.max() <= SCALE and varied.min() >= 1 / SCALE):
        return None
    return (
        f"standardise the columns of {name}, whose standard deviations are "
        f"{varied.min():.3g} to {varied.max():.3g}: subtract their means and divide by these"
    )


def diverged(epoch: int, what: str, remedy: str) -> FloatingPointError:
    """Return the error of a training that cannot come back."""
    return FloatingPointError(f"training diverged in epoch {epoch}: {what}; {remedy}")


@dataclass(frozen=True)
class Rise:
    """A mean score of rows before training and after, and the standard error of the difference."""

    before: float
    after: float
    error: float

    @classmethod
    def of(cls, before: Scores, after: Scores, weights: Weights | None = None) -> Rise:
        """Compare the scores of rows, with the noise that either mean has by itself.

        The rows are the same, so that the difference is known better than that.  But then any
        small rise is significant: the digits' by 0.20 +- 0.03, where 12 can be had and the score
        itself is good to 1.4.
        """
        variance = variance_of_mean(before, weights) + variance_of_mean(after, weights)
        start, end = (float(mean_of(scores, weights)) for scores in (before, after))
        return cls(start, end, float(np.sqrt(variance)))

    @classmethod
    def paired(cls, before: Scores, after: Scores, weights: Weights | None = None) -> Rise:
        """Compare the scores of rows with the noise of their differences.

        Where the first score is hard to beat, a small rise counts.
        """
        start, end = (float(mean_of(scores, weights)) for scores in (before, after))
        return cls(start, end, float(np.sqrt(variance_of_mean(after - before, weights))))

    @property
    def clear(self) -> bool:
        """Whether the score has risen by more than its noise."""
        return self.after - self.before > SURE * self.error

    @property
    def fell(self) -> bool:
        """Whether it has fallen by more than its noise."""
        return self.after - self.before < -SURE * self.error

    @property
    def change(self) -> str:
        """The difference and its standard error, in words."""
        return f"{self.after - self.before:+.3g} +- {self.error:.2g}"


def observed(rows: NDArray[Any]) -> NDArray[Any]:
    """Return rows with what is missing masked, if something is."""
    return np.ma.masked_invalid(rows) if np.isnan(rows).any() else rows


def brief(epochs: int, updates: int) -> bool:
    """Return whether a run is too short to have learned."""
    return epochs < EPOCHS and updates < UPDATES


def spread(data: NDArray[Any] | RowSource) -> NDArray[Any]:
    """Return evenly spread rows, as many as are scored; of weights, those of the same rows."""
    if isinstance(data, RowSource):
        return data.sample
    step = max(1, len(data) // ROWS)
    if mapped(data) is not None:
        return take(data, np.arange(0, len(data), step)[:ROWS])
    return data[::step][:ROWS]


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
            raise diverged(epoch, fault, self._slower())

    @QUIET
    def require_scores(self, epoch: int, scores: dict[str, float]) -> None:
        if callable(self.score):  # of a scale of its own
            return
        score, limit = scores["score"], -FALL * self.blind()
        if score >= limit:
            return
        start = float(mean_of(self.each(self.start), self.weights))
        if not score >= min(limit, FALL * start):
            fault = f"the score fell to {score:.3g}, from {start:.3g} before training"
            raise diverged(epoch, fault, self._slower())

    @QUIET
    def verdict(self, epochs: int, model: Any) -> str | None:
        before, after = self.each(self.start), self.each(model)
        rise, blind = Rise.of(before, after, self.weights), -self.blind()
        # Need not have learned yet, or, from a model, much more.
        trial = self.learner.settings.from_model or brief(epochs, self.learner.updates)
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
        return off_scale(self.name, self.frames()) if self.real else None

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
