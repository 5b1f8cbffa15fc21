"""Data that is standardised for training, and the scales that are folded into the model.

Tested in tests/training/tggm/test_learner.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.models.scaling import Scaling
from trug_fast.training.weighing import Weights, mean_of, normalised

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
