"""How an RBM or a temporal one is trained: what both take, checked before anything is computed.

Tested in tests/training/rbm/test_settings.py and tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from trug_fast.models.two_layers import TwoLayers
from trug_fast.units.layer import MIXED
from trug_fast.units.truncation import Truncation

from .checkpoints import data_identity
from .going_on import shape_of
from .options import Monitor, Optimizer, as_monitor, for_epochs, identity_of
from .penalties import Amounts, Penalties, as_penalties
from .rates import Rate, Schedule, as_schedule, sweeps, without_functions
from .unit_parameters import Shape
from .units import TruGUnits, Visible

Given = TypeVar("Given", bound="Settings")
Model = TypeVar("Model", bound=TwoLayers)


class Pace(NamedTuple):
    """How far one update goes."""

    learning_rate: float
    truncation_rate: float
    precision_rate: float
    n_gibbs: int
    visible_precision_rate: float = 0.0
    penalties: Mapping[str, Amounts] = MappingProxyType({})  # by matrix
    share: float = 0.0  # of the run that is done


@dataclass(frozen=True)
class Rates:
    """The rates of a run."""

    learning: Schedule
    truncation: Schedule
    precision: Schedule
    n_gibbs: Schedule
    penalties: Penalties
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
            self.penalties.at(share, epoch),
            share,
        )

    def identity(self) -> dict[str, Any]:
        """Return what makes them the same rates; the sweeps are the sampler's."""
        rates = {rate.name: rate for rate in (self.learning, self.truncation, self.precision)}
        if self.visible_precision is not None:
            rates["precision_rate of visible units"] = self.visible_precision
        found = {name: rate.identity() for name, rate in rates.items()}
        return found | self.penalties.identity()


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller."""

    n_visible: int  # columns, of which categorical units have one for each state
    n_hidden: int
    truncation: Truncation
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: Visible
    sampler: Any
    optimizer: Optimizer
    average: float
    batch_size: int
    dtype: np.dtype[Any]
    start: Any  # a model, or how to begin without one
    matrices: ClassVar[tuple[str, ...]] = ("weights",)  # that the model has

    @property
    def real(self) -> bool:
        """Whether visible units, or some of them, take real numbers."""
        return self.visible.real

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

    def remembering(self, model: Model) -> Model:
        """Return a model that remembers, of its data, what the one to go on from does."""
        return self.start.told(model) if self.from_model else model

    def shape(self) -> Shape:
        """Return where the hidden units start, and what is learned of them."""
        if self.from_model and self.hidden is not None:
            return shape_of(self.start, self.truncation, self.hidden)
        return Shape.of(self.n_hidden, self.truncation, self.hidden, self.dtype)

    def identity(self) -> dict[str, Any]:
        """Return what makes a run the same run, as numbers and words."""
        words: dict[str, Any] = {
            name: value if isinstance(value, int | float) else repr(without_functions(value))
            for name, value in vars(self).items()
        }
        words |= {"dtype": str(self.dtype)} | ({} if self.hidden else {"hidden": "Bernoulli"})
        words["optimizer"] = identity_of(self.optimizer)
        if not self.from_model:
            return words
        parts = np.concatenate([np.ravel(array) for array in self.start.arrays().values()])
        return words | {"start": f"{self.start!r} {data_identity(parts)}"}

    def rates(
        self,
        learning: Rate,
        usual_truncation: tuple[float, float],
        usual_precision: tuple[float, float],
        epochs: int,
        usual_visible: tuple[float, float] | None = None,
    ) -> Rates:
        """Return the rates: the optimizer's of truncation points, the units' of precisions."""
        truncation = self.optimizer.truncation_rate
        if truncation is not None and not self.shape().learns_ends:
            raise ValueError("truncation_rate has no effect: no truncation point is learned")
        hidden = None if self.hidden is None else self.hidden.precision_rate
        own = self.visible
        learns = own.learned(self.n_visible).any() if own.kind == MIXED else own.real
        schedule = partial(as_schedule, epochs=epochs)
        return Rates(
            schedule("learning_rate", learning),
            schedule("truncation_rate", truncation, usual_truncation),
            schedule("precision_rate", hidden, usual_precision),
            sweeps(self.sampler.n_gibbs),
            as_penalties(self.optimizer, self.matrices, epochs),
            None
            if not learns
            else schedule("precision_rate", own.precision_rate, usual_visible or usual_precision),
        )


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
