"""How a temporal RBM is trained and where that starts, checked together before it is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from trug_fast._common import checks
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.models.truncation import Truncation, TruncationLike, as_truncation
from trug_fast.training.checkpoints import data_identity
from trug_fast.training.options import Optimizer
from trug_fast.training.rates import Rate, Schedule, as_schedule, sweeps
from trug_fast.training.rbm.settings import shape_of
from trug_fast.training.unit_parameters import Shape
from trug_fast.training.units import BernoulliUnits, GaussianUnits, TruGUnits

from .options import LinearStart, SequenceCD

TemporalModel = TruGTRBM | BernoulliTRBM

# The best that we know: of Bernoulli visibles on bouncing balls, of Gaussian on motion capture.
BEST_TRUNCATION = {
    "bernoulli": Truncation(-1.0, 1.0, learn="per_unit"),
    "gaussian": Truncation(-4.0, 4.0, learn="per_unit"),
}
BEST_ORDER: dict[str, Literal[1, 2]] = {"bernoulli": 1, "gaussian": 2}
AVERAGE = 0.05
RATES = {
    "bernoulli": {"sgd": (0.05, 0.0005), "rmsprop": (1e-3, 1e-5), "adam": (8e-3, 2e-4)},
    "gaussian": {"sgd": (0.05, 0.0005), "rmsprop": (1e-4, 1e-5), "adam": (1e-4, 1e-5)},
}
UNIT_RATES = {
    "bernoulli": {"sgd": (0.05, 0.0005), "rmsprop": (5e-4, 5e-5), "adam": (5e-4, 5e-5)},
    "gaussian": {"sgd": (0.05, 0.0005), "rmsprop": (1e-4, 1e-5), "adam": (1e-4, 1e-5)},
}


class SequencePace(NamedTuple):
    """How far one update goes."""

    learning_rate: float
    truncation_rate: float
    precision_rate: float
    visible_precision_rate: float
    n_gibbs: int


@dataclass(frozen=True)
class SequenceRates:
    """The rates of a run."""

    learning: Schedule
    truncation: Schedule
    precision: Schedule
    visible_precision: Schedule
    n_gibbs: Schedule

    def at(self, share: float) -> SequencePace:
        """Return how far an update goes when this share of the run is done."""
        return SequencePace(
            self.learning.at(share),
            self.truncation.at(share),
            self.precision.at(share),
            self.visible_precision.at(share),
            round(self.n_gibbs.at(share)),
        )

    def identity(self) -> dict[str, Any]:
        """Return what makes them the same rates; the sweeps are the sampler's."""
        return {k: rate.identity() for k, rate in vars(self).items() if rate is not self.n_gibbs}


@dataclass(frozen=True)
class SequenceSettings:
    """How to train, checked by the caller."""

    n_visible: int
    n_hidden: int
    truncation: Truncation
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: BernoulliUnits | GaussianUnits
    sampler: SequenceCD
    optimizer: Optimizer
    average: float
    batch_size: int
    corruption: float
    dtype: np.dtype[Any]
    start: LinearStart | TemporalModel

    @property
    def real(self) -> bool:
        """Whether visible units are Gaussian."""
        return isinstance(self.visible, GaussianUnits)

    @property
    def learns_visible_precision(self) -> bool:
        """Whether the precisions of the visible units move."""
        return isinstance(self.visible, GaussianUnits) and self.visible.learn_precision

    @property
    def most_sweeps(self) -> int:
        """The most Gibbs sweeps of an update."""
        return int(np.max(self.sampler.n_gibbs))

    def shape(self) -> Shape:
        """Return where the hidden units start, and what is learned of them."""
        if isinstance(self.start, TruGTRBM):
            return shape_of(self.start, self.truncation, self.hidden or TruGUnits())
        return Shape.of(self.n_hidden, self.truncation, self.hidden, self.dtype)

    def identity(self) -> dict[str, Any]:
        """Return what makes a run the same run, as numbers and words."""
        words = {name: repr(value) for name, value in vars(self).items()}
        words["hidden"] = "Bernoulli" if self.hidden is None else repr(self.hidden)
        if isinstance(self.start, LinearStart):
            return words
        arrays = (getattr(self.start, name) for name in self.start.names)
        parts = np.concatenate([np.ravel(array) for array in arrays if array is not None])
        return words | {"start": f"{self.start!r} {data_identity(parts)}"}


def checked(settings: SequenceSettings, truncation: TruncationLike | None) -> SequenceSettings:
    """Return the settings with truncation and start as asked for, if all agree.

    Raises
    ------
    TypeError, ValueError
        If they do not, or an argument has no effect.
    """
    if settings.hidden is None and truncation is not None:
        raise ValueError("truncation is for hidden='trug'; Bernoulli units have none")
    if isinstance(settings.visible, BernoulliUnits) and settings.visible.soft:
        raise ValueError("visible: soft has no effect in train_trbm, which takes values in [0, 1]")
    kind = "gaussian" if settings.real else "bernoulli"
    start, own = settings.start, truncation
    if isinstance(start, LinearStart):
        start = replace(start, order=BEST_ORDER[kind]) if start.order is None else start
        if start.order == 2 and not settings.real:
            raise ValueError("start: LinearStart of order 2 is for visible='gaussian'")
    else:
        _require_agreement(start, settings, kind)
        if own is None and isinstance(start, TruGTRBM):
            if np.isinf(start.upper - start.lower).any():
                own = Truncation(float(start.lower[0]), float(start.upper[0]))
    ends = as_truncation(BEST_TRUNCATION[kind] if own is None else own)
    settings = replace(settings, truncation=ends, start=start)
    settings.shape()  # refuses units that cannot be
    return settings


def _require_agreement(start: TemporalModel, settings: SequenceSettings, kind: str) -> None:
    """Refuse a model of other sizes or units."""
    trug = {True: "trug", False: "bernoulli"}
    for what, wanted, found in (
        ("visible units", settings.n_visible, start.n_visible),
        ("hidden units", settings.n_hidden, start.n_hidden),
        ("hidden", trug[settings.hidden is not None], trug[isinstance(start, TruGTRBM)]),
        ("visible", kind, start.visible),
    ):
        if wanted != found:
            raise ValueError(f"start must agree in {what}: {wanted} asked for, {found} in it")
    precision = getattr(settings.visible, "precision", None)
    if precision is not None and (start.visible_precision != precision).any():
        raise ValueError(
            f"visible has precision={precision}, but start has others, with which training goes on"
        )


def rates_of(
    settings: SequenceSettings, learning_rate: Rate | None, truncation_rate: Rate | None
) -> SequenceRates:
    """Return the rates of a run, those that are not given by the units and the optimizer."""
    if truncation_rate is not None and not settings.shape().learns_ends:
        raise ValueError("truncation_rate has no effect: no truncation point is learned")
    kind, name = "gaussian" if settings.real else "bernoulli", settings.optimizer.name
    own = UNIT_RATES[kind][name]
    return SequenceRates(
        as_schedule("learning_rate", learning_rate, RATES[kind][name]),
        as_schedule("truncation_rate", truncation_rate, own),
        as_schedule("precision_rate", getattr(settings.hidden, "precision_rate", None), own),
        as_schedule("precision_rate", getattr(settings.visible, "precision_rate", None), own),
        sweeps(settings.sampler.n_gibbs),
    )


def checked_start(start: Any) -> LinearStart | TemporalModel:
    """Return where training starts, a linear forecast unless it is said."""
    if start is None:
        return LinearStart()
    checks.kind("start", start, TruGTRBM, BernoulliTRBM, LinearStart)
    return start  # type: ignore[no-any-return]
