"""The two kinds of hidden units: their own parameters, checks, and what kernels take of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import BERNOULLI, HiddenUnits, trug_units

from .fields import Field
from .normalizable import require_normalizable


@dataclass(frozen=True)
class TruGHidden:
    """Doubly truncated Gaussians; of each unit the precision before truncation, and its ends."""

    precision: FloatArray
    lower: FloatArray
    upper: FloatArray
    fields: ClassVar = (
        Field("precision", ("n_hidden",)),
        Field("lower", ("n_hidden",), infinite=True),
        Field("upper", ("n_hidden",), infinite=True),
    )

    @classmethod
    def of(cls, model: Any) -> TruGHidden:
        """Return the hidden units of a model that has these fields."""
        return cls(model.precision, model.lower, model.upper)

    def check(
        self,
        weights: FloatArray,
        visible_precision: FloatArray | None,
        visible_ends: NDArray[np.float64] | None = None,
    ) -> None:
        """Refuse units that cannot be normalized."""
        checks.intervals(self.precision, self.lower, self.upper)
        own = self.precision, self.lower, self.upper
        require_normalizable(weights, *own, visible_precision, visible_ends)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The lower and the upper ends."""
        return self.lower, self.upper

    def states(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """Return ``value`` as a matrix of states, each between its unit's ends."""
        array = checks.matrix(name, value, self.lower.size)
        return _within(name, checks.cast(name, array, self.lower.dtype), self.lower, self.upper)

    def for_kernels(self, dtype: Any = None) -> HiddenUnits:
        """Return the units as the kernels take them: in another float type copies, else shared."""
        precision, lower, upper = (
            array if dtype is None else array.astype(dtype)
            for array in (self.precision, self.lower, self.upper)
        )
        units: HiddenUnits = trug_units(precision, lower, upper)
        return units


@dataclass(frozen=True)
class BernoulliHidden:
    """Units of 0 and 1, which have no parameters of their own."""

    size: int
    dtype: np.dtype[Any]
    fields: ClassVar = ()

    @classmethod
    def of(cls, model: Any) -> BernoulliHidden:
        """Return the hidden units of a model."""
        return cls(model.n_hidden, model.dtype)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The lower and the upper ends."""
        return np.zeros(self.size, self.dtype), np.ones(self.size, self.dtype)

    def check(
        self,
        weights: FloatArray,
        visible_precision: FloatArray | None,
        visible_ends: NDArray[np.float64] | None = None,
    ) -> None:
        """Refuse nothing."""

    def states(self, name: str, value: ArrayLike) -> NDArray[Any]:
        """Return ``value`` as a matrix of states, or of means between 0 and 1."""
        array = checks.cast(name, checks.matrix(name, value, self.size), self.dtype)
        return _within(name, array, np.zeros(self.size), np.ones(self.size))

    def for_kernels(self, dtype: Any = None) -> HiddenUnits:
        """Return the units as the kernels take them."""
        unused = np.ones(self.size, dtype or self.dtype)
        return HiddenUnits(BERNOULLI, unused, unused, unused, 0)


HiddenLayer = TruGHidden | BernoulliHidden


def log_norms(layers: gibbs.Layers, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over hidden units of L at their net inputs (mathematics 2.1), for each row.

    Of layers in float64; BLAS must be held to one thread.
    """
    return np.asarray(gibbs.log_norm_parts(layers, rows).sum(axis=1))


def _within(name: str, rows: NDArray[Any], lower: FloatArray, upper: FloatArray) -> NDArray[Any]:
    """Return ``rows`` if every column lies between its ends."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    outside = (low < lower) | (high > upper)
    if outside.any():
        j = int(np.argmax(outside))
        value = low[j] if low[j] < lower[j] else high[j]
        raise ValueError(
            f"{name} must lie where hidden units may be, got {value} at unit {j}, which lies in "
            f"[{lower[j]}, {upper[j]}]"
        )
    return rows
