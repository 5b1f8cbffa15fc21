"""What each row counts for, checked at the door.

Tested in tests/training/test_weighing.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks

Weights = NDArray[np.float64]


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
