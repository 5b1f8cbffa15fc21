"""Weights of rows: what each counts for in the objective, in scores, and in what data decide.

Tested in tests/training/test_weighing.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import array_identity
from trug_fast._common.checks import FloatArray

Weights = NDArray[np.float64]


class Weighted(NamedTuple):
    """A matrix and the weights of its rows."""

    rows: NDArray[Any]
    weights: Weights


def as_weights(value: ArrayLike | None, rows: int, what: str = "row") -> Weights | None:
    """Return weights as they are given, or None where all count alike.

    Raises
    ------
    TypeError, ValueError
        If they are no finite numbers of 0 or more, one for each row, or none is above 0.
    """
    if value is None:
        return None
    found = checks.numbers("sample_weight", value)
    if found.shape != (rows,):
        raise ValueError(
            f"sample_weight must have a weight for each {what}, shape ({rows},), got shape "
            f"{found.shape}"
        )
    weights = found.astype(np.float64)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(
            f"sample_weight must be finite and 0 or more, got {weights[index]} at {what} {index}"
        )
    if not weights.any():
        raise ValueError(f"sample_weight must be above 0 for some {what}, got zeros only")
    return None if (weights == weights[0]).all() else weights


def normalised(weights: Weights, counts: NDArray[Any] | None = None) -> Weights:
    """Return weights that are 1 on average, over so many ``counts`` of each if these are given."""
    scaled = weights / weights.max()  # sums of finite weights may be infinite
    return np.asarray(scaled / np.average(scaled, weights=counts))


def mean_of(values: NDArray[Any], weights: FloatArray | None) -> NDArray[np.float64]:
    """Return the weighted mean over the rows of some values."""
    if weights is None:
        return np.asarray(values.mean(axis=0))
    return np.asarray(np.average(values, axis=0, weights=weights))


def variance_of_mean(values: NDArray[np.float64], weights: Weights | None) -> float:
    """Return the squared standard error of that mean, of one value a row."""
    if weights is None:
        return float(values.var() / values.size)
    share = weights / weights.sum()
    return float((share**2 * (values - share @ values) ** 2).sum())


def weights_identity(weights: Weights | None) -> dict[str, Any]:
    """Return what makes them the same weights, where there are some."""
    return {} if weights is None else {"sample_weight": array_identity(weights)}
