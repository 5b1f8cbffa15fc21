"""How an RBM or a temporal one is trained: what both take, checked before anything is computed.

Tested in tests/training/rbm/test_settings.py and tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.rbm import TruGRBM
from trug_fast.models.trbm import TruGTRBM
from trug_fast.models.truncation import Truncation, TruncationLike, as_truncation
from trug_fast.models.two_layers import TwoLayers

from .checkpoints import data_identity
from .options import Monitor, Optimizer, as_monitor, for_epochs
from .rates import Rate, Schedule, as_schedule, sweeps
from .unit_parameters import Shape
from .units import BernoulliUnits, GaussianUnits, TruGUnits

Given = TypeVar("Given", bound="Settings")


class Pace(NamedTuple):
    """How far one update goes."""

    learning_rate: float
    truncation_rate: float
    precision_rate: float
    n_gibbs: int
    visible_precision_rate: float = 0.0


@dataclass(frozen=True)
class Rates:
    """The rates of a run."""

    learning: Schedule
    truncation: Schedule
    precision: Schedule
    n_gibbs: Schedule
    visible_precision: Schedule | None = None

    def at(self, share: float, epoch: int) -> Pace:
        """Return how far an update goes when this share of the run is done, in this epoch."""
        visible = self.visible_precision
        return Pace(
            self.learning.at(share, epoch),
            self.truncation.at(share, epoch),
            self.precision.at(share, epoch),
            round(self.n_gibbs.at(share, epoch)),
            0.0 if visible is None else visible.at(share, epoch),
        )

    def identity(self) -> dict[str, Any]:
        """Return what makes them the same rates; the sweeps are the sampler's."""
        rates = {rate.name: rate for rate in (self.learning, self.truncation, self.precision)}
        if self.visible_precision is not None:
            rates["precision_rate of visible units"] = self.visible_precision
        return {name: rate.identity() for name, rate in rates.items()}


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller."""

    n_visible: int
    n_hidden: int
    truncation: Truncation
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: BernoulliUnits | GaussianUnits
    sampler: Any
    optimizer: Optimizer
    average: float
    batch_size: int
    dtype: np.dtype[Any]
    start: Any  # a model, or how to begin without one

    @property
    def real(self) -> bool:
        """Whether visible units are Gaussian."""
        return isinstance(self.visible, GaussianUnits)

    @property
    def from_model(self) -> bool:
        """Whether training goes on from a model."""
        return isinstance(self.start, TwoLayers)

    @property
    def most_sweeps(self) -> int:
        """The most Gibbs sweeps of an update."""
        return int(np.max(self.sampler.n_gibbs))

    def over(self: Given, epochs: int) -> Given:
        """Return the same with a value for each epoch where a function gives it."""
        named = {name: getattr(self, name) for name in ("sampler", "hidden", "visible")}
        return replace(self, **{name: for_epochs(value, epochs) for name, value in named.items()})

    def shape(self) -> Shape:
        """Return where the hidden units start, and what is learned of them."""
        if self.from_model and self.hidden is not None:
            return shape_of(self.start, self.truncation, self.hidden)
        return Shape.of(self.n_hidden, self.truncation, self.hidden, self.dtype)

    def identity(self) -> dict[str, Any]:
        """Return what makes a run the same run, as numbers and words."""
        words: dict[str, Any] = {
            name: value if isinstance(value, int | float) else repr(value)
            for name, value in vars(self).items()
        }
        words |= {"dtype": str(self.dtype)} | ({} if self.hidden else {"hidden": "Bernoulli"})
        if not self.from_model:
            return words
        parts = np.concatenate([np.ravel(array) for array in self.start.arrays().values()])
        return words | {"start": f"{self.start!r} {data_identity(parts)}"}

    def rates(
        self,
        learning: Rate,
        truncation: Rate | None,
        usual_truncation: tuple[float, float],
        usual_precision: tuple[float, float],
        epochs: int,
    ) -> Rates:
        """Return the rates of a run; those of precisions belong to the units."""
        if truncation is not None and not self.shape().learns_ends:
            raise ValueError("truncation_rate has no effect: no truncation point is learned")
        hidden = None if self.hidden is None else self.hidden.precision_rate
        visible = self.visible.precision_rate if isinstance(self.visible, GaussianUnits) else None
        schedule = partial(as_schedule, epochs=epochs)
        return Rates(
            schedule("learning_rate", learning),
            schedule("truncation_rate", truncation, usual_truncation),
            schedule("precision_rate", hidden, usual_precision),
            sweeps(self.sampler.n_gibbs),
            schedule("precision_rate", visible, usual_precision) if self.real else None,
        )


def checked_truncation(
    truncation: TruncationLike | None, hidden: TruGUnits | None, start: object, best: Truncation
) -> Truncation:
    """Return the truncation; by default points are learned, but for a model's at infinity."""
    if truncation is not None and hidden is None:
        raise ValueError("truncation is for hidden='trug'; Bernoulli units have none")
    if truncation is None and isinstance(start, TruGRBM | TruGTRBM):
        if np.isinf(start.upper - start.lower).any():
            return Truncation(float(start.lower[0]), float(start.upper[0]))
    return as_truncation(best if truncation is None else truncation)


def checked_monitor(
    monitor: Monitor | str | None, scores: tuple[str, ...], held_out: object
) -> Monitor | None:
    """Return what is scored, of these scores, if that fits what is held out."""
    found = as_monitor(monitor, scores)
    if found is None and held_out is not None:
        raise ValueError("validation has no effect with monitor=None")
    if found is not None and found.patience is not None and held_out is None:
        raise ValueError("patience needs validation data")
    return found


def shape_of(model: Any, truncation: Truncation, units: TruGUnits) -> Shape:
    """Return the hidden units of a model, to be learned as these say.

    Raises
    ------
    ValueError
        If the model's units cannot be learned so, or are not those that are asked for.
    """
    precision, lower, upper = (
        getattr(model, name).astype(np.float64) for name in ("precision", "lower", "upper")
    )
    if units.precision != TruGUnits.precision:
        _require_precision("hidden", units.precision, precision)
    ends = {"lower": lower, "upper": upper}
    for name, values in ends.items():
        if truncation.learn is None and (values != getattr(truncation, name)).any():
            raise ValueError(
                f"truncation keeps {name}={getattr(truncation, name)}, but start has units with "
                f"{values.min():g} to {values.max():g}: give the same ends, or learn them"
            )
        if truncation.learn is not None and np.isinf(values).any():
            raise ValueError(f"truncation learns finite ends, but start has {name}={values[0]:g}")
        if truncation.learn == "shared" and (values != values[0]).any():
            raise ValueError(
                "truncation learns one pair of ends for all units, but start has units with "
                f"{name}={values.min():g} to {values.max():g}"
            )
    return Shape(precision, lower, upper, truncation, units.learn_precision)


def require_agreement(
    start: TwoLayers,
    shape: tuple[int, int],
    hidden: TruGUnits | None,
    visible: BernoulliUnits | GaussianUnits,
) -> None:
    """Refuse to go on from a model of other sizes or units.

    Raises
    ------
    ValueError
        Naming what differs.
    """
    for what, wanted, found in (
        ("visible units", shape[0], start.n_visible),
        ("hidden units", shape[1], start.n_hidden),
        ("kind of hidden units", _kind(hidden is None), _kind(not hasattr(start, "lower"))),
        ("kind of visible units", visible.kind, start.visible),
    ):
        if wanted != found:
            raise ValueError(f"start must agree in the {what}: {wanted} asked for, {found} in it")
    if isinstance(visible, GaussianUnits) and visible.precision is not None:
        _require_precision("visible", visible.precision, np.asarray(start.visible_precision))


def _kind(bernoulli: bool) -> str:
    return "bernoulli" if bernoulli else "trug"


def _require_precision(name: str, wanted: float, found: NDArray[Any]) -> None:
    """Refuse a precision that is asked for where training goes on with others."""
    if (found != wanted).any():
        raise ValueError(
            f"{name} has precision={wanted}, but start has units of precision "
            f"{found.min():g} to {found.max():g}, with which training goes on"
        )
