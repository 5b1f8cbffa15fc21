"""How an RBM or a temporal one is trained: what both take, checked before anything is computed.

Tested in tests/training/rbm/test_settings.py and tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np

from trug_fast.models.two_layers import TwoLayers
from trug_fast.training.chunks import data_identity
from trug_fast.units.layer import MIXED
from trug_fast.units.truncation import Truncation

from .going_on import shape_of
from .options import Monitor, Optimizer, as_monitor, identity_of
from .rates import Rate, Schedule, as_schedule, sweeps, without_functions
from .steps import as_penalties
from .unit_parameters import Shape
from .units import TruGUnits, Visible

Given = TypeVar("Given", bound="Settings")
Model = TypeVar("Model", bound=TwoLayers)

VISIBLE_RATE = "precision_rate of visible units"


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller; each part of a training reads here what is its own."""

    n_visible: int  # columns, of which categorical units have one for each state
    n_hidden: int
    truncation: Truncation
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: Visible
    sampler: Any
    optimizer: Optimizer
    average: float
    batch_size: int
    epochs: int
    monitor: Monitor | None  # what is scored
    dtype: np.dtype[Any]
    start: Any  # a model, or how to begin without one
    rates: Mapping[str, Schedule]  # over the run, by what they are called
    matrices: ClassVar[tuple[str, ...]] = ("weights",)  # that the model has

    @property
    def real(self) -> bool:
        """Whether visible units, or some of them, take real numbers."""
        return self.visible.real

    @property
    def from_model(self) -> bool:
        """Whether training goes on from a model."""
        return isinstance(self.start, TwoLayers)

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
        words: dict[str, Any] = {}
        for name in (each.name for each in fields(self)):
            value = getattr(self, name)
            alike = isinstance(value, int | float)
            words[name] = value if alike else repr(without_functions(value))
        del words["rates"]
        words |= {"dtype": str(self.dtype)} | ({} if self.hidden else {"hidden": "Bernoulli"})
        words |= {"optimizer": identity_of(self.optimizer), "monitor": repr(self.monitor)}
        words |= {name: rate.identity() for name, rate in self.rates.items()}
        if not self.from_model:
            return words
        parts = np.concatenate([np.ravel(array) for array in self.start.arrays().values()])
        return words | {"start": f"{self.start!r} {data_identity(parts)}"}

    def over(self: Given, learning: Rate, usual: Mapping[str, tuple[float, float]]) -> Given:
        """Return the same with its rates over the run; ``usual`` are those not given."""
        truncation = self.optimizer.truncation_rate
        if truncation is not None and not self.shape().learns_ends:
            raise ValueError("truncation_rate has no effect: no truncation point is learned")
        hidden = None if self.hidden is None else self.hidden.precision_rate
        schedule = partial(as_schedule, epochs=self.epochs)
        rates = {
            "learning_rate": schedule("learning_rate", learning),
            "truncation_rate": schedule("truncation_rate", truncation, usual["truncation_rate"]),
            "precision_rate": schedule("precision_rate", hidden, usual["precision_rate"]),
            "n_gibbs": sweeps(self.sampler.n_gibbs, self.epochs),
        }
        own = self.visible
        if own.learned(self.n_visible).any() if own.kind == MIXED else own.real:
            found = schedule("precision_rate", own.precision_rate, usual[VISIBLE_RATE])
            rates[VISIBLE_RATE] = found
        return replace(self, rates=rates | as_penalties(self.optimizer, self.matrices, self.epochs))


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
