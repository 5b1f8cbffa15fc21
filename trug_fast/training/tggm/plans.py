"""What a training of the regression is, checked: rows, settings, the search, and what follows.

Tested in tests/training/tggm/test_train.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.truncation import Truncation, TruncationLike
from trug_fast.training.drawing import plot, printed
from trug_fast.training.going_on import checked_truncation, columns_of
from trug_fast.training.options import Monitor, as_monitor, as_optimizer
from trug_fast.training.rates import Rate, as_schedule
from trug_fast.training.run import Callback, History
from trug_fast.training.units import TruGUnits

from .calibration import FOLDS
from .data import RegressionRows
from .options import (
    HoldOut,
    Noise,
    RateSearch,
    Validation,
    as_noise,
    as_objective,
    as_validation,
)
from .scaling import Scale, Scales
from .settings import RegressionSettings
from .stages import RegressionJob, Search

# Measured on the UCI sets; see notes/tggm.md.
BEST_TRUNCATION = Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)
LEARNING_RATES = {"sgd": (0.1, 0.002), "rmsprop": (0.01, 0.0002), "adam": (0.01, 0.0002)}
UNITS = 50  # hidden ones, where nothing says how many
SCORES = ("rmse", "log_likelihood")


class TGGMFit(NamedTuple):
    """What training a regression returns."""

    model: TruGTGGM  # in the data's own units
    history: History  # of the run with the chosen learning rate
    interrupted: bool
    learning_rate: Rate  # the chosen one
    best_epoch: int  # after which the model was taken
    updates: int = 0  # that were made in that run
    warnings: tuple[str, ...] = ()  # what was said of the training in warnings

    def __repr__(self) -> str:
        """Return the model, how long it was trained, and its last scores, a line each."""
        return printed(self)

    def plot(self) -> Any:
        """Draw the hidden units, scores and learned truncation points: a Matplotlib figure."""
        return plot(self)


@dataclass(frozen=True)
class RegressionPlan:
    """A training as it will run from any seed; it may travel to other processes."""

    rows: RegressionRows
    settings: RegressionSettings
    search: Search
    rates: tuple[Rate, ...]  # as they were given

    @property
    def extends(self) -> bool:
        """Whether a run may be given more epochs than it had."""
        search = self.search
        return len(self.rates) == 1 and not (search.refit or search.crosses)

    def identity(self) -> dict[str, Any]:
        """Return what makes a training the same training, as numbers and words."""
        own = self.rows.identity() | self.settings.identity() | self.search.identity()
        return {"training": "regression"} | own

    def job(
        self, seed: int, callbacks: Sequence[Callback] = (), parts: int | None = None
    ) -> RegressionJob:
        """Return the training from a seed at its beginning; ``parts`` is as the job takes it."""
        scales = Scales.of(self.rows.X, self.rows.y, self.rows.weights)
        if self.settings.objective == "probit":
            scales = scales._replace(targets=Scale.none(self.rows.y.shape[1]))
        sets = self.rows.sets(scales, self.settings.dtype, seed)
        return RegressionJob(sets, scales, self.settings, self.search, callbacks, seed, parts)

    def fit(self, job: RegressionJob, interrupted: bool, said: Sequence[str]) -> TGGMFit:
        """Return what one such training has come to."""
        best = job.best()
        loop = best.loop
        rate = self.rates[best.number]
        model = job.model().with_columns(self.rows.columns)
        ended = interrupted or job.diverged
        best_epoch, updates = loop.best_epoch(), best.learner.steps
        return TGGMFit(model, loop.history(), ended, rate, best_epoch, updates, tuple(said))


def planned(
    X: ArrayLike,
    y: ArrayLike,
    n_hidden: int | None,
    *,
    truncation: TruncationLike | None,
    objective: Any,
    noise: Any,
    optimizer: Any,
    learning_rate: Rate | RateSearch | None,
    batch_size: int,
    epochs: int,
    dtype: Any,
    sample_weight: ArrayLike | None,
    validation: Validation,
    monitor: Any,
    start: TruGTGGM | None = None,
) -> RegressionPlan:
    """Check all arguments together; they are those of ``train_tggm``.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.
    """
    schedule = partial(as_schedule, epochs=checks.count("epochs", epochs))
    split = as_validation(validation)
    how = split if isinstance(split, HoldOut) else None
    data = RegressionRows.of(X, y, sample_weight, split, columns_of(start, X))
    aim, errors = as_objective(objective), as_noise(noise)
    if aim == "probit":
        how = _of_signs(data, errors, isinstance(noise, Noise), how)
        errors = replace(errors, learn=False)
        monitor = "log_likelihood" if monitor == "auto" and split is not None else monitor
    rule = as_optimizer(optimizer)
    rates = _rates(learning_rate, LEARNING_RATES[rule.name])
    schedules = tuple(schedule(*rate) for rate in rates)
    settings = RegressionSettings(
        n_inputs=data.X.shape[1],
        n_hidden=_units(n_hidden, start),
        n_outputs=data.y.shape[1],
        truncation=checked_truncation(truncation, TruGUnits(), start, BEST_TRUNCATION),
        objective=aim,
        noise=errors,
        optimizer=rule,
        learning_rate=schedules[0],
        truncation_rate=None
        if rule.truncation_rate is None
        else schedule("truncation_rate", rule.truncation_rate),
        batch_size=checks.count("batch_size", batch_size),
        dtype=checks.float_dtype("dtype", dtype),
        start=start,
    )
    several = isinstance(learning_rate, RateSearch)
    search = Search(
        rates=schedules,
        epochs=int(epochs),
        monitor=_monitor(monitor, validated=split is not None, needed=several),
        refit=how is not None and how.refit,
        calibrate=how.calibrate if how is not None else _own_calibration(split, aim),
        laplace=how is not None and how.laplace,
    )
    if search.crosses and len(data.X) < 2 * FOLDS:
        raise ValueError(
            f"X has n_samples={len(data.X)} rows, too few to calibrate by cross-validation"
        )
    return RegressionPlan(data, settings, search, tuple(rate for _, rate in rates))


def _of_signs(
    data: RegressionRows, noise: Noise, said: bool, how: HoldOut | None
) -> HoldOut | None:
    """Refuse what is no data of signs, or would have no effect on them; there is no calibration.

    ``said`` is whether the noise was given with its fields.
    """
    parts = {"y": data.y} | ({} if data.own is None else {"y of validation": data.own[1]})
    for name, values in parts.items():
        if not (abs(values) == 1).all():
            wrong = values[abs(values) != 1].ravel()[0]
            raise ValueError(f"{name} must be +1 or -1 for objective='probit', got {wrong}")
    if noise.kind == "by_input":
        raise ValueError("noise='by_input' has no effect on objective='probit'")
    if said and noise.learn:
        raise ValueError(
            "noise has learn=True, which has no effect on objective='probit': the noise stays "
            "where it starts; give learn=False"
        )
    if how is not None and how.calibrate == "cross_validation":
        raise ValueError("calibrate='cross_validation' has no effect on objective='probit'")
    if how is not None and how.laplace:
        raise ValueError("laplace=True has no effect on objective='probit', which has no noise")
    return None if how is None else replace(how, calibrate=None)


def _own_calibration(split: object, objective: object) -> str | None:
    """Return by which rows the noise is set where none are held back."""
    return "held_back" if split and objective != "probit" else None


def _units(n_hidden: int | None, start: TruGTGGM | None) -> int:
    """Return how many hidden units there are: by default as many as in the model."""
    if n_hidden is None:
        return start.n_hidden if isinstance(start, TruGTGGM) else UNITS
    return checks.count("n_hidden", n_hidden)


def _rates(learning_rate: Rate | RateSearch | None, default: Rate) -> list[tuple[str, Rate]]:
    """Return the learning rates to be tried, each with what it is called."""
    if isinstance(learning_rate, RateSearch):
        return [("rates", rate) for rate in learning_rate.rates]
    return [("learning_rate", default if learning_rate is None else learning_rate)]


def _monitor(value: Monitor | str | None, *, validated: bool, needed: bool) -> Monitor | None:
    """Return by what runs are chosen; without rows to score, none."""
    monitor = as_monitor(value, SCORES)
    if monitor is not None and callable(monitor.score):
        raise TypeError(f"monitor must score by one of {', '.join(SCORES)}, got {monitor!r}")
    if not validated and value not in ("auto", None):
        raise ValueError(f"monitor has no effect without validation, got {value!r}")
    found = monitor if validated else None
    if needed and found is None:
        raise ValueError("RateSearch needs validation, and a monitor by which a rate is chosen")
    return found
