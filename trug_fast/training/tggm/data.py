"""The rows of a regression's training: checked, standardised, and what they are for.

The scales by which they are standardised are folded into the model in the end.

Tested in tests/training/tggm/test_data.py and test_learner.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, frames
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import USER
from trug_fast.models.scaling import Scaling
from trug_fast.training.chunks import data_identity
from trug_fast.training.weighing import Weights, as_weights, mean_of, normalised, weights_identity

from .options import HoldOut

CONSTANT = 2.0**-26  # a constant target is forecast as exactly as the root of float64's grid


@dataclass(frozen=True)
class Scale:
    """Means and deviations by which data is standardised, and which columns vary at all."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, data: NDArray[Any], constant: float, weights: Weights | None = None) -> Scale:
        """Take them from the rows of ``data``, which may have weights.

        The deviation of a constant column is ``constant`` times its value (or 1, if that is 0).
        Infinity makes the column 0, and its weights 0 in the model's own units: what never varied
        in training has no influence on predictions.
        """
        found = Scaling.of_rows(data, weights)
        size = np.where(abs(found.mean) < 1e-100, 1.0, abs(found.mean))
        deviation = np.where(found.varies, found.deviation, constant * size)
        return cls(found.mean, deviation, found.varies)

    @classmethod
    def none(cls, columns: int) -> Scale:
        """Leave data as it is."""
        return cls(np.zeros(columns), np.ones(columns), np.ones(columns, bool))

    def apply(self, data: NDArray[Any], dtype: np.dtype[Any]) -> FloatArray:
        """Return standardised rows."""
        scaled = (np.asarray(data, np.float64) - self.mean) / self.deviation
        return np.ascontiguousarray(scaled, dtype=dtype)


class Examples(NamedTuple):
    """Rows of standardised inputs, of their targets, and what each counts for."""

    inputs: FloatArray
    targets: FloatArray
    weights: FloatArray  # (rows,)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the inputs."""
        return self.inputs.shape

    def at(self, rows: NDArray[np.int64]) -> Examples:
        """Return copies of some rows; their weights are 1 on average again."""
        return Examples(self.inputs[rows], self.targets[rows], self.weights[rows]).evened()

    def evened(self) -> Examples:
        """Return the same with weights that are 1 on average."""
        if (self.weights == self.weights[0]).all():
            return self._replace(weights=np.ones_like(self.weights))
        weights = normalised(self.weights.astype(np.float64))
        return self._replace(weights=weights.astype(self.weights.dtype))

    def mean(self, values: NDArray[Any]) -> float:
        """Return the weighted mean of a value of each row."""
        if (self.weights == 1).all():
            return float(values.mean())
        return float(mean_of(values, self.weights.astype(np.float64)))


class Scales(NamedTuple):
    """Those of inputs and targets."""

    inputs: Scale
    targets: Scale

    @classmethod
    def of(cls, X: NDArray[Any], y: NDArray[Any], weights: Weights | None = None) -> Scales:
        """Take them from training data."""
        return cls(Scale.of(X, np.inf, weights), Scale.of(y, CONSTANT, weights))

    def none(self) -> Scales:
        """Return those that leave data of these widths as it is."""
        return Scales(*(Scale.none(scale.mean.size) for scale in self))

    def apply(
        self,
        X: NDArray[Any],
        y: NDArray[Any],
        dtype: np.dtype[Any],
        weights: Weights | None = None,
    ) -> Examples:
        """Return standardised rows."""
        given = np.ones(len(X), dtype) if weights is None else weights.astype(dtype)
        return Examples(self.inputs.apply(X, dtype), self.targets.apply(y, dtype), given)


class Sets(NamedTuple):
    """Standardised rows, by what they are for."""

    every: Examples  # that was given to be trained on
    trained: Examples  # those of them that the runs with a rate train on
    held: Examples | None  # what these runs are scored on
    places: NDArray[np.int64]  # of those that are scored, in `known`
    known: Examples  # all that may be scored in one seed or another


@dataclass(frozen=True)
class RegressionRows:
    """Rows to be trained on, and how many of them are held back, or which others are scored."""

    X: NDArray[Any]
    y: NDArray[Any]  # a matrix
    weights: Weights | None
    held: int
    own: tuple[NDArray[Any], NDArray[Any]] | None
    columns: frames.Names = None

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        validation: HoldOut | tuple[ArrayLike, ArrayLike] | None,
        names: frames.Names = None,
    ) -> RegressionRows:
        """Check them, and leave out those of weight 0."""
        inputs = checks.matrix("X", frames.arranged("X", X, names))
        targets = checks.targets("y", y, len(inputs))
        weights = as_weights(sample_weight, len(inputs))
        if weights is not None:
            kept = weights > 0
            inputs, targets, weights = inputs[kept], targets[kept], weights[kept]
            weights = None if (weights == weights[0]).all() else normalised(weights)
        if validation is None:
            return cls(inputs, targets, weights, 0, None, names)
        if not isinstance(validation, HoldOut):
            fresh = frames.arranged("X of validation", validation[0], names)
            fresh = checks.matrix("X of validation", fresh, inputs.shape[1])
            aims = checks.targets("y of validation", validation[1], len(fresh), targets.shape[1])
            return cls(inputs, targets, weights, 0, (fresh, aims), names)
        held = max(1, round(validation.fraction * len(inputs)))
        if held >= len(inputs):
            raise ValueError(
                f"X has n_samples={len(inputs)} rows, too few to hold {held} back; give other rows "
                "as validation, or None"
            )
        return cls(inputs, targets, weights, held, None, names)

    def identity(self) -> dict[str, Any]:
        """Return what makes them the same rows."""
        named = {"X": self.X, "y": self.y}
        if self.own is not None:
            named |= {"X of validation": self.own[0], "y of validation": self.own[1]}
        words: dict[str, Any] = {name: data_identity(array) for name, array in named.items()}
        return words | {"rows held back": self.held} | weights_identity(self.weights)

    def sets(self, scales: Scales, dtype: np.dtype[Any], seed: int) -> Sets:
        """Return all rows standardised; those held back are drawn at random."""
        every = scales.apply(self.X, self.y, dtype, self.weights)
        if self.own is not None:
            given = scales.apply(*self.own, dtype)
            return Sets(every, every, given, np.arange(len(given.inputs)), given)
        if not self.held:
            return Sets(every, every, None, np.arange(0), every)
        generator = np.random.Generator(np.random.Philox(key=[seed, USER]))
        order = generator.permutation(len(self.X))
        held, kept = np.sort(order[: self.held]), np.sort(order[self.held :])
        return Sets(every, every.at(kept), every.at(held), held, every)
