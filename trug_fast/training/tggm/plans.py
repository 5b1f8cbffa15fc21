"""What a training of the regression is, checked: rows, settings, what is tried, what follows.

Tested in tests/training/tggm/test_train.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.models.tggm import TruGTGGM
from trug_fast.training.chunks import data_identity
from trug_fast.training.going_on import checked_truncation, columns_of, require_ends
from trug_fast.training.options import (
    PENALTIES,
    Monitor,
    Optimizer,
    as_monitor,
    as_optimizer,
    identity_of,
)
from trug_fast.training.rates import Rate, Schedule, as_schedule
from trug_fast.training.units import TruGUnits
from trug_fast.units.truncation import Truncation, TruncationLike

from .calibration import FOLDS
from .data import RegressionRows
from .options import (
    HoldOut,
    MeanField,
    Noise,
    Objective,
    RateSearch,
    Validation,
    as_noise,
    as_objective,
    as_validation,
)

# Measured on the UCI sets; see notes/tggm.md.
BEST_TRUNCATION = Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)
LEARNING_RATES = {"sgd": (0.1, 0.002), "rmsprop": (0.01, 0.0002), "adam": (0.01, 0.0002)}
UNITS = 50  # hidden ones, where nothing says how many
HIDDEN_VARIANCE = 0.1
SCORES = ("rmse", "log_likelihood")


@dataclass(frozen=True)
class RegressionSettings:
    """How one run is trained, checked together."""

    n_inputs: int
    n_hidden: int
    n_outputs: int
    truncation: Truncation
    objective: Objective
    noise: Noise
    optimizer: Optimizer
    learning_rate: Schedule
    truncation_rate: Schedule | None  # None: as the learning rate
    batch_size: int
    dtype: np.dtype[Any]
    start: TruGTGGM | None

    def __post_init__(self) -> None:
        """Refuse what does not fit together, or would have no effect."""
        if self.truncation_rate is not None and self.truncation.learn is None:
            raise ValueError("truncation_rate has no effect: this truncation is not learned")
        if self.optimizer.average is not None:
            raise ValueError(
                f"optimizer has average={self.optimizer.average}, which has no effect: the "
                "regression averages no parameters"
            )
        self._check_penalties()
        if self.noise.kind == "by_input" and isinstance(self.objective, MeanField):
            raise ValueError(
                "noise='by_input' needs objective='moments' or 'bp': the mean field of 'ml' has "
                "one noise for all rows"
            )
        if self.start is None:
            return
        checks.kind("start", self.start, TruGTGGM)
        for what in ("inputs", "hidden", "outputs"):
            expected, found = (getattr(each, f"n_{what}") for each in (self, self.start))
            if expected != found:
                raise ValueError(f"start must have n_{what}={expected}, got {found}")
        require_ends(self.start, self.truncation)
        if self.start.noise_weights is not None and self.noise.kind != "by_input":
            raise ValueError(
                f"noise is {self.noise.kind!r}, but that of start depends on the inputs: give "
                "'by_input'"
            )
        if self.noise.variance != Noise.variance:
            raise ValueError(
                f"noise has variance={self.noise.variance}, which has no effect: training goes on "
                "with the noise of start"
            )

    def _check_penalties(self) -> None:
        for name in PENALTIES:
            value = getattr(self.optimizer, name)
            if name == "weight_decay" and not isinstance(value, float):
                raise TypeError(f"weight_decay of a regression must be a number, got {value!r}")
            if name != "weight_decay" and value != 0.0:
                raise ValueError(
                    f"optimizer has {name}={value!r}, which has no effect: a regression has "
                    "weight_decay alone"
                )

    @property
    def weight_decay(self) -> float:
        """Factor of the L2 penalty: a number, as was checked."""
        return float(self.optimizer.weight_decay)  # type: ignore[arg-type]

    @property
    def hidden_variance(self) -> float:
        """Variance of the hidden units where they do not have that of the targets."""
        return self.noise.hidden_variance or HIDDEN_VARIANCE

    def identity(self) -> dict[str, Any]:
        """Return what makes a run the same run, but for its learning rate."""
        words: dict[str, Any] = {
            name: value if isinstance(value, int) else repr(value)
            for name, value in vars(self).items()
        }
        words["optimizer"] = identity_of(self.optimizer)
        if self.truncation_rate is not None:
            words["truncation_rate"] = self.truncation_rate.identity()
        if self.start is not None:
            parts = [np.ravel(getattr(self.start, name)) for name in self.start.names]
            words["start"] = data_identity(np.concatenate(parts))
        return words


@dataclass(frozen=True)
class RegressionPlan:
    """A training as it will run from any seed; it may travel to other processes."""

    rows: RegressionRows
    settings: RegressionSettings
    given: tuple[Rate, ...]  # the learning rates that are tried, as they were given
    rates: tuple[Schedule, ...]
    epochs: int
    monitor: Monitor | None  # by what the best is chosen
    refit: bool
    calibrate: str | None  # the noise in the end: by which rows
    laplace: bool  # the readout gets a posterior in the end

    @property
    def crosses(self) -> bool:
        """Whether models are trained without some of the rows, to know the noise by these."""
        return self.calibrate == "cross_validation"

    @property
    def extends(self) -> bool:
        """Whether a run may be given more epochs than it had."""
        return len(self.rates) == 1 and not (self.refit or self.crosses)

    def identity(self) -> dict[str, Any]:
        """Return what makes a training the same training, as numbers and words."""
        own = {
            "training": "regression",
            "learning_rate": [rate.identity() for rate in self.rates],
            "epochs": self.epochs,
            "monitor": repr(self.monitor),
            "refit": self.refit,
        }
        if self.crosses:  # else the runs do not depend on it
            own["folds"] = FOLDS
            own["laplace"] = self.laplace  # by which their residuals are kept
        return self.rows.identity() | self.settings.identity() | own


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
    """Check all arguments together; they are those of ``train_tggm``."""
    schedule = partial(as_schedule, epochs=checks.count("epochs", epochs))
    split = as_validation(validation)
    none = HoldOut(refit=False, calibrate="held_back" if split is not None else None)
    how = split if isinstance(split, HoldOut) else none  # where no rows are held back
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
    plan = RegressionPlan(
        rows=data,
        settings=settings,
        given=tuple(rate for _, rate in rates),
        rates=schedules,
        epochs=int(epochs),
        monitor=_monitor(monitor, validated=split is not None, needed=several),
        refit=how.refit,
        calibrate=how.calibrate,
        laplace=how.laplace,
    )
    if plan.crosses and len(data.X) < 2 * FOLDS:
        raise ValueError(
            f"X has n_samples={len(data.X)} rows, too few to calibrate by cross-validation"
        )
    return plan


def _of_signs(data: RegressionRows, noise: Noise, said: bool, how: HoldOut) -> HoldOut:
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
    if how.calibrate == "cross_validation":
        raise ValueError("calibrate='cross_validation' has no effect on objective='probit'")
    if how.laplace:
        raise ValueError("laplace=True has no effect on objective='probit', which has no noise")
    return replace(how, calibrate=None)


def _units(n_hidden: int | None, start: TruGTGGM | None) -> int:
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
