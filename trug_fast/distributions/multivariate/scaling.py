"""Cut normal vectors in units in which their deviations are near 1.

Tested in tests/distributions/multivariate/test_scaling.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .checking import CutNormal

LARGEST = 1e150  # deviations from 0: squares are within what floats hold


def in_units(cut: CutNormal) -> tuple[CutNormal, NDArray[np.int64]]:
    """Return the same vector in its own units, and their exponents: unit j is 2**exponent[j].

    Rows of A are scaled too, so that their largest number is near 1.  Nothing is rounded.  Ends
    that are out of sight become infinite.

    Raises
    ------
    ValueError
        If mean, lower or upper is too far out.
    """
    exponents = np.rint(0.5 * np.log2(np.diagonal(cut.cov))).astype(np.int64)
    A, rows = cut.A, exponents
    if A is not None:
        with np.errstate(divide="ignore"):
            sizes = np.log2(np.abs(A)) + exponents
        rows = np.rint(sizes.max(axis=1)).astype(np.int64)
        A = _times_power(A, exponents - rows[:, None])
    mean, lower, upper = (
        _times_power(vector, -powers)
        for vector, powers in ((cut.mean, exponents), (cut.lower, rows), (cut.upper, rows))
    )
    _require_near("mean", np.abs(mean) <= LARGEST, cut.mean)
    _require_near("lower", lower <= LARGEST, cut.lower)
    _require_near("upper", upper >= -LARGEST, cut.upper)
    lower[lower < -LARGEST] = -np.inf
    upper[upper > LARGEST] = np.inf
    cov = _times_power(cut.cov, -(exponents[:, None] + exponents))
    return CutNormal(mean, cov, lower, upper, A, cut.dtype), exponents


def _times_power(values: NDArray[np.float64], exponents: NDArray[np.int64]) -> NDArray[np.float64]:
    if not exponents.any():
        return values.copy()
    with np.errstate(over="ignore", under="ignore"):
        result: NDArray[np.float64] = np.ldexp(values, exponents)
    return result


def _require_near(name: str, good: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
    if not good.all():
        j = int(np.argmin(good))
        raise ValueError(
            f"{name} must come within {LARGEST:g} deviations of 0, got {values[j]} at index {j}"
        )
