"""Small helpers of several models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import FloatArray


def log_sum_exp(values: NDArray[np.float64]) -> float:
    """Log of the sum of exp(values), without overflow; -inf for values all -inf.

    Of our own, since importing scipy.special takes 0.13 s.
    """
    largest = values.max()
    if not np.isfinite(largest):
        return float(largest)
    return float(largest + np.log(np.exp(values - largest).sum()))


def log_mean_exp(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of the mean of exp(values) over the first axis, without overflow."""
    if len(values) == 1:
        only: NDArray[np.float64] = values[0]
        return only
    largest = values.max(axis=0)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):  # all -inf
        result: NDArray[np.float64] = shift + np.log(np.exp(values - shift).mean(axis=0))
    return result


def effective_size(log_weights: NDArray[np.float64]) -> float:
    """Return (sum w)^2 / sum w^2, of how many equal weights such weights w are worth."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def resampled(
    log_weights: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return which one each new draw is a copy of: n w of each, rounded up or down by chance.

    Systematic resampling, with one random number.
    """
    sums, n = np.cumsum(np.exp(log_weights - log_weights.max())), len(log_weights)
    points = (generator.random() + np.arange(n)) / n
    chosen: NDArray[np.int64] = np.searchsorted(sums, points * sums[-1])
    return np.minimum(chosen, n - 1)


def read_only(weights: FloatArray) -> FloatArray:
    """Return a view that cannot be written to.

    To Numba an array that can be written to is another type.  A model's weights cannot, those in
    training could: seen alike, one set of compiled kernels serves both.
    """
    view = weights.view()
    view.flags.writeable = False
    return view


def rows_for_kernels(array: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """Return data row after row, in memory that can be written to.

    To Numba any other data are of another type, for which each kernel would be compiled again.
    """
    return np.require(array, dtype, ["C", "W", "E"])
