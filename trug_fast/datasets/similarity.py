"""Weights of rows that are alike, such as sequences of related proteins."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.threads import computing
from trug_fast.kernels.datasets import count_similar

CATEGORIES = 256  # in a column at most


def similarity_weights(X: ArrayLike, threshold: float = 0.8) -> NDArray[np.float64]:
    """Weights by which a crowd of similar rows counts as one.

    The weight of a row is one over the number of rows, itself among them, that agree with it in at
    least this share of the columns: what is usual for sequences of proteins, of which some families
    have been sequenced far more often than others.  The sum of the weights is the effective number
    of rows.  Pass them as ``sample_weight`` to a training.

    Parameters
    ----------
    X : array_like, shape (rows, columns)
        Categories, such as the letters of aligned sequences as numbers: up to 256 different ones in
        a column.  One column for each letter, not one for each letter that there might be: zeros
        and ones of the latter agree mostly.
    threshold : float
        Share of the columns, above 0 and at most 1.

    Returns
    -------
    ndarray, shape (rows,), float64

    Raises
    ------
    TypeError, ValueError
        If X is no matrix of finite numbers, has too many categories in a column, or the threshold
        is out of bounds.

    Notes
    -----
    All pairs of rows are compared, in all threads (mathematics 2.10; the weights are those of
    Morcos et al., PNAS 108, 2011, E1293).

    Examples
    --------
    >>> import trug_fast as tf
    >>> letters = [[0, 1, 2, 3, 4], [0, 1, 2, 3, 0], [4, 3, 2, 1, 0]]
    >>> tf.datasets.similarity_weights(letters)
    array([0.5, 0.5, 1. ])
    """
    matrix = checks.matrix("X", X)
    share = checks.number("threshold", threshold, least=0.0, most=1.0)
    if share == 0.0:
        raise ValueError("threshold must be positive, got 0: all rows are alike")
    rows, columns = _coded(matrix), matrix.shape[1]
    least = math.ceil(share * columns * (1 - 1e-12))  # 0.8 * 5 may be a little above 4
    found = np.empty(len(rows), np.int64)
    with computing(float(len(rows)) ** 2 * columns / 16):
        count_similar(rows, np.ascontiguousarray(rows.T), least, found)
    return np.asarray(1.0 / found)


def _coded(matrix: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Return categories as bytes: those of each column by their own numbers."""
    if matrix.dtype in (np.dtype(np.uint8), np.dtype(bool)):
        return np.ascontiguousarray(matrix, np.uint8)
    codes = np.empty(matrix.shape, np.uint8)
    for c in range(matrix.shape[1]):
        kinds, code = np.unique(matrix[:, c], return_inverse=True)
        if kinds.size > CATEGORIES:
            raise ValueError(
                f"X must hold categories, up to {CATEGORIES} different ones in a column, got "
                f"{kinds.size} in column {c}"
            )
        codes[:, c] = code.reshape(-1)
    return codes
