"""How far samples are from the data that a model was trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast.datasets.alignments import states

MOST_STATES = 256
BLOCK = 1 << 15  # rows compared at a time, whose counts stay in the cache


def nearest_distances(X: ArrayLike, reference: ArrayLike | None = None) -> NDArray[np.int64]:
    """Return how many sites of each row differ from those of the nearest row of others.

    Of samples it says whether a model makes new sequences or repeats its training data.

    Parameters
    ----------
    X : array_like, shape (rows, sites)
        Whole numbers from 0 to 255, such as the letters of aligned sequences.
    reference : array_like, shape (n, sites), optional
        What they are compared with, such as the training data; by default the other rows of X.

    Returns
    -------
    ndarray, shape (rows,), int64
        The smallest Hamming distance of each.

    Raises
    ------
    TypeError, ValueError
        If one does not hold such numbers, they have other sites, or a row has no other.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.evaluation.nearest_distances([[0, 1, 2], [2, 2, 2]], [[0, 1, 1], [0, 2, 2]])
    array([1, 1])
    """
    rows = states("X", X, MOST_STATES).astype(np.uint8, copy=False)
    others = rows if reference is None else states("reference", reference, MOST_STATES)
    if others.shape[1] != rows.shape[1]:
        raise ValueError(f"reference must have {rows.shape[1]} columns, got {others.shape[1]}")
    if reference is None and len(rows) < 2:
        raise ValueError("X must have two rows or more without a reference, got 1")
    sites = np.ascontiguousarray(others.T, np.uint8)
    count = np.uint8 if len(sites) < 256 else np.uint32
    nearest = np.full(len(rows), len(sites), np.int64)
    for start in range(0, len(others), BLOCK):
        block = np.ascontiguousarray(sites[:, start : start + BLOCK])
        for k, row in enumerate(rows):
            found = _differing(block, row, count)
            if reference is None and start <= k < start + block.shape[1]:
                found[k - start] = len(sites)  # itself
            nearest[k] = min(nearest[k], int(found.min()))
    return nearest


def _differing(
    sites: NDArray[np.uint8], row: NDArray[np.uint8], count: type[np.unsignedinteger]
) -> NDArray[np.unsignedinteger]:
    """Return how many sites of each of the others differ from those of a row."""
    total = np.zeros(sites.shape[1], count)
    for site, letter in zip(sites, row, strict=True):
        total += site != letter
    return total
