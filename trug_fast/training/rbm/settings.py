"""How an RBM is trained and where that starts, checked together before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import INITIAL
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.trbm import TruGTRBM
from trug_fast.models.truncation import Truncation
from trug_fast.training.checkpoints import State, data_identity
from trug_fast.training.options import CD, Optimizer, ParallelTempering, RandomWeights, Sampler
from trug_fast.training.rates import Schedule
from trug_fast.training.unit_parameters import Shape
from trug_fast.training.units import BernoulliUnits, GaussianUnits, TruGUnits

Model = TruGRBM | BernoulliRBM


class Pace(NamedTuple):
    """How far one update goes."""

    learning_rate: float
    truncation_rate: float
    precision_rate: float
    n_gibbs: int


@dataclass(frozen=True)
class Rates:
    """The rates of a run."""

    learning: Schedule
    truncation: Schedule
    precision: Schedule
    n_gibbs: Schedule

    def at(self, share: float) -> Pace:
        """Return how far an update goes when this share of the run is done."""
        return Pace(
            self.learning.at(share),
            self.truncation.at(share),
            self.precision.at(share),
            round(self.n_gibbs.at(share)),
        )

    def identity(self) -> dict[str, Any]:
        """Return what makes them the same rates; the sweeps are the sampler's."""
        rates = self.learning, self.truncation, self.precision
        return {rate.name: rate.identity() for rate in rates}


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller."""

    n_visible: int
    n_hidden: int
    truncation: Truncation
    hidden: TruGUnits | None  # None: Bernoulli units
    visible: BernoulliUnits | GaussianUnits
    sampler: Sampler
    optimizer: Optimizer
    average: float
    batch_size: int
    n_chains: int
    dtype: np.dtype[Any]
    start: RandomWeights | Model

    @property
    def persistent(self) -> bool:
        """Whether chains go on from update to update."""
        return not isinstance(self.sampler, CD)

    @property
    def betas(self) -> tuple[float, ...]:
        """Inverse temperatures of parallel tempering, else none."""
        return self.sampler.ladder if isinstance(self.sampler, ParallelTempering) else ()

    @property
    def most_sweeps(self) -> int:
        """The most Gibbs sweeps of an update."""
        return int(np.max(self.sampler.n_gibbs))

    def shape(self) -> Shape:
        """Return where the hidden units start, and what is learned of them."""
        if isinstance(self.start, RandomWeights):
            return Shape.of(self.n_hidden, self.truncation, self.hidden, self.dtype)
        if isinstance(self.start, BernoulliRBM):
            return Shape.of(self.n_hidden, self.truncation, None, self.dtype)
        return shape_of(self.start, self.truncation, self.hidden or TruGUnits())

    def visible_precision(self) -> FloatArray:
        """Return the precisions of Gaussian visible units, none of Bernoulli ones."""
        if isinstance(self.visible, BernoulliUnits):
            return np.empty(0, self.dtype)
        if isinstance(self.start, RandomWeights):
            return np.full(self.n_visible, self.visible.precision or 1.0, self.dtype)
        return np.array(self.start.visible_precision, self.dtype)

    def weights(self, seed: int) -> FloatArray:
        """Return the weights at the start."""
        if not isinstance(self.start, RandomWeights):
            return np.array(self.start.weights, self.dtype)
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        shape = self.n_visible, self.n_hidden
        return generator.normal(0.0, self.start.scale or 0.0, shape).astype(self.dtype)

    def biases(self) -> State:
        """Return the biases of the model to go on from, if there is one."""
        if isinstance(self.start, RandomWeights):
            return {}
        names = ("visible_bias", "hidden_bias")
        return {name: np.array(getattr(self.start, name), self.dtype) for name in names}

    def identity(self) -> dict[str, Any]:
        """Return what makes a run the same run, as numbers and words."""
        words: dict[str, Any] = {
            name: value if isinstance(value, int | float) else repr(value)
            for name, value in vars(self).items()
        }
        words |= {"dtype": str(self.dtype)} | ({} if self.hidden else {"hidden": "Bernoulli"})
        if isinstance(self.start, RandomWeights):
            return words
        parts = [np.ravel(getattr(self.start, name)) for name in self.start.names]
        return words | {"start": f"{self.start!r} {data_identity(np.concatenate(parts))}"}


def shape_of(model: TruGRBM | TruGTRBM, truncation: Truncation, units: TruGUnits) -> Shape:
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


def _require_precision(name: str, wanted: float, found: NDArray[Any]) -> None:
    """Refuse a precision that is asked for where training goes on with others."""
    if (found != wanted).any():
        raise ValueError(
            f"{name} has precision={wanted}, but start has units of precision "
            f"{found.min():g} to {found.max():g}, with which training goes on"
        )


def checked_start(
    start: Model | RandomWeights | None,
    shape: tuple[int, int],
    hidden: TruGUnits | None,
    visible: BernoulliUnits | GaussianUnits,
) -> RandomWeights | Model:
    """Return where training starts, if that is a model of these sizes and kinds of units.

    Raises
    ------
    TypeError, ValueError
        If it is not.
    """
    if start is None:
        return RandomWeights()
    checks.kind("start", start, TruGRBM, BernoulliRBM, RandomWeights)
    if isinstance(start, RandomWeights):
        return start
    kind = "gaussian" if isinstance(visible, GaussianUnits) else "bernoulli"
    for what, wanted, found in (
        ("visible units", shape[0], start.n_visible),
        ("hidden units", shape[1], start.n_hidden),
        ("kind of hidden units", "bernoulli" if hidden is None else "trug", _hidden_kind(start)),
        ("kind of visible units", kind, start.visible),
    ):
        if wanted != found:
            raise ValueError(f"start must agree in the {what}: {wanted} asked for, {found} in it")
    if isinstance(visible, GaussianUnits) and visible.precision is not None:
        _require_precision("visible", visible.precision, np.asarray(start.visible_precision))
    return start


def _hidden_kind(model: Model) -> str:
    return "trug" if isinstance(model, TruGRBM) else "bernoulli"
