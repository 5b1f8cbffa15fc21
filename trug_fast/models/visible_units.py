"""The two kinds of visible units, as the Python layer needs them: zeros and ones, or Gaussian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray

from .fields import Field

Floats = NDArray[np.float64]
PRECISION = Field("visible_precision", ("n_visible",), positive=True, optional=True)
SMOOTHING = 0.01  # added to pixel means and to their complements before their log-odds


class BernoulliVisible:
    """Units of 0 and 1; numbers between are taken as probabilities."""

    name = "bernoulli"

    @staticmethod
    def checked(
        name: str,
        value: ArrayLike,
        columns: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of states."""
        return checks.visible(name, value, columns, soft=soft, missing=missing)

    def require_held(self, name: str, values: Floats) -> None:
        """Refuse values at which no unit can be held."""
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(
                f"{name} must hold numbers in [0, 1], and NaN at the free units (real numbers "
                "need a model with visible_precision)"
            )

    def for_kernels(self, dtype: Any) -> FloatArray:
        """Return the precisions as the kernels take them; none stand for zeros and ones."""
        return np.empty(0, dtype)

    def energy(self, X: Floats) -> Floats:
        """Return what each row's energy has beside the terms of biases and weights."""
        return np.zeros(len(X))

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs."""
        return np.asarray(np.exp(-np.logaddexp(0.0, -net)))

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        return np.asarray(np.logaddexp(0.0, net).sum(axis=-1))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means, not quite those if they are 0 or 1."""
        return np.asarray(np.log((mean + SMOOTHING) / (1 - mean + SMOOTHING)))

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return states that know nothing of the weights: each unit 0 or 1 with equal chance."""
        return rng.integers(0, 2, (rows, bias.size)).astype(np.float64)

    def drawn(self, rng: np.random.Generator, data: NDArray[Any]) -> Floats:
        """Return states with these means; zeros and ones stay what they are."""
        return (rng.random(data.shape) < data).astype(np.float64)


class GaussianVisible:
    """Real numbers; given the hidden ones, of variance 1 / precision (mathematics 4.1)."""

    name = "gaussian"

    def __init__(self, precision: FloatArray) -> None:
        self.precision = precision.astype(np.float64)

    @staticmethod
    def checked(
        name: str,
        value: ArrayLike,
        columns: int | None = None,
        *,
        soft: bool = True,
        missing: bool | None = None,
    ) -> NDArray[Any]:
        """Return ``value`` as a matrix of finite numbers."""
        return checks.matrix(name, value, columns, missing=missing)

    def require_held(self, name: str, values: Floats) -> None:
        """Refuse values at which no unit can be held."""
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must hold finite numbers, and NaN at the free units")

    def for_kernels(self, dtype: Any) -> FloatArray:
        """Return the precisions as the kernels take them."""
        return self.precision.astype(dtype)

    def energy(self, X: Floats) -> Floats:
        """Return x'diag(a)x / 2 of each row."""
        return np.asarray(0.5 * (X * X) @ self.precision)

    def mean(self, net: Floats) -> Floats:
        """Return the units' means at their net inputs."""
        return np.asarray(net / self.precision)

    def log_norm(self, net: Floats) -> Floats:
        """Return the log-normalisers at the net inputs, summed over each row."""
        each = np.log(2 * np.pi / self.precision) + net * net / self.precision
        return np.asarray(0.5 * each.sum(axis=-1))

    def bias(self, mean: FloatArray) -> FloatArray:
        """Return the biases of units with these means."""
        return (mean * self.precision).astype(mean.dtype)

    def noise(self, rng: np.random.Generator, rows: int, bias: FloatArray) -> Floats:
        """Return draws of the units without the hidden ones, N(b / a, 1 / a)."""
        spread = rng.normal(size=(rows, bias.size)) / np.sqrt(self.precision)
        return np.asarray(bias / self.precision + spread)

    def drawn(self, rng: np.random.Generator, data: NDArray[Any]) -> Floats:
        """Return the data: they are states."""
        return data.astype(np.float64)


VisibleUnits = BernoulliVisible | GaussianVisible


def units_of(precision: FloatArray | None) -> VisibleUnits:
    """Return Gaussian units of these precisions; of None, or of no entries, Bernoulli ones."""
    if precision is None or precision.size == 0:
        return BernoulliVisible()
    return GaussianVisible(precision)


def checked_states(
    kind: str,
    name: str,
    value: ArrayLike,
    columns: int | None = None,
    *,
    missing: bool | None = None,
) -> NDArray[Any]:
    """Return ``value`` as a matrix of states of units of this kind, "bernoulli" or "gaussian".

    missing : whether NaN stands for a missing value
    """
    units = GaussianVisible if kind == GaussianVisible.name else BernoulliVisible
    return units.checked(name, value, columns, missing=missing)
