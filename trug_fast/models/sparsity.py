"""How sparse the connections of a model are, unit by unit.

Tested in tests/models/test_sparsity.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Sparsity(NamedTuple):
    """Numbers of the weights of each unit; float64 arrays of shape (units,)."""

    norm: NDArray[np.float64]  # root of the sum of the squares
    participation: NDArray[np.float64]  # so many weights matter (mathematics 2.14)
    zeros: NDArray[np.float64]  # share of the weights that are exactly zero


def sparsity_of(weights: NDArray[np.floating]) -> Sparsity:
    """Return the numbers of the last axis of an array of weights."""
    matrix = weights.reshape(-1, weights.shape[-1]).astype(np.float64)
    largest = np.abs(matrix).max(axis=0)
    scaled = matrix / np.where(largest > 0, largest, 1.0)  # squares of squares stay in range
    squares = np.square(scaled).sum(axis=0)
    fourth = np.square(np.square(scaled)).sum(axis=0)
    participation = np.square(squares) / np.where(fourth > 0, fourth, 1.0)
    return Sparsity(largest * np.sqrt(squares), participation, np.mean(matrix == 0, axis=0))
