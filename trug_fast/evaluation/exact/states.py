"""All states of a few units of zeros and ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks

MAX_UNITS = 22  # 4 million states, about a minute


def binary_states(n_units: int) -> NDArray[np.float64]:
    """Return all states of units that are 0 or 1.

    Parameters
    ----------
    n_units : int
        At most 22.

    Returns
    -------
    ndarray, shape (2 ** n_units, n_units), float64
        Row k has unit i = bit i of k.

    Raises
    ------
    TypeError, ValueError
        If ``n_units`` is no such number.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.exact.binary_states(2)
    array([[0., 0.],
           [1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    units = checks.count("n_units", n_units)
    if units > MAX_UNITS:
        raise ValueError(f"n_units must be at most {MAX_UNITS}, got {units}")
    return ((np.arange(2**units)[:, None] >> np.arange(units)) & 1).astype(np.float64)
