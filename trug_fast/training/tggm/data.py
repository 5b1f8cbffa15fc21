"""The rows of a regression's training, checked, and what they are for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks, frames
from trug_fast.kernels.random.philox import USER
from trug_fast.training.checkpoints import data_identity
from trug_fast.training.weighing import Weights, as_weights, normalised, weights_identity

from .options import HoldOut
from .scaling import Examples, Scales


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
        """Check them, and leave out those of weight 0.

        Raises
        ------
        TypeError, ValueError
            Naming the argument; if the rows are too few to hold some back.
        """
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
