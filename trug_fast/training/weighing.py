"""Weights of rows: what each counts for in the objective, in scores, and in what data decide.

Tested in tests/training/test_weighing.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import array_identity
from trug_fast._common.checks import FloatArray
from trug_fast._common.checks import Weights as Weights
from trug_fast._common.checks import as_weights as as_weights


class Weighted(NamedTuple):
    """A matrix and the weights of its rows."""

    rows: NDArray[Any]
    weights: Weights


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
