"""Checks at the door: every public function calls these before it computes or changes anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.floating[Any]]


def _numbers(name: str, value: ArrayLike) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "buif":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
    return array


def _finite(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[index]} at index {index}")


def matrix(name: str, value: ArrayLike, columns: int | None = None) -> NDArray[Any]:
    """Return ``value`` as a non-empty, finite matrix of the expected width."""
    array = _numbers(name, value)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix (rows, columns), got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, got {array.shape[1]}")
    _finite(name, array)
    return array


def visible(name: str, value: ArrayLike, columns: int | None = None, *, soft: bool) -> NDArray[Any]:
    """Return ``value`` as a matrix of zeros and ones, or of numbers in [0, 1] if ``soft``."""
    array = matrix(name, value, columns)
    inside = (array >= 0) & (array <= 1) if soft else (array == 0) | (array == 1)
    if not inside.all():
        row, column = (int(i) for i in np.argwhere(~inside)[0])
        wanted = "lie in [0, 1]" if soft else "be 0 or 1"
        hint = "" if soft else " (binarize the data, or pass soft=True for values in [0, 1])"
        raise ValueError(
            f"{name} must {wanted}, got {array[row, column]} at row {row}, column {column}{hint}"
        )
    return array


def targets(name: str, value: ArrayLike, rows: int, columns: int | None = None) -> NDArray[Any]:
    """Return ``value`` as a finite matrix with as many rows; a vector stands for one column."""
    array = _numbers(name, value)
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise ValueError(
            f"{name} must be a vector or matrix with a row for each of the {rows} rows of X, "
            f"got shape {array.shape}"
        )
    return matrix(name, array.reshape(rows, -1), columns)


def vector(name: str, value: ArrayLike, length: int, dtype: Any, *, infinite: bool) -> FloatArray:
    """Return a new contiguous vector; a number stands for a constant vector."""
    array = _numbers(name, value)
    if array.ndim not in (0, 1) or (array.ndim == 1 and array.shape[0] != length):
        raise ValueError(f"{name} must be a number or have shape ({length},), got {array.shape}")
    if np.isnan(array).any():
        raise ValueError(
            f"{name} must not be NaN, got it at unit {int(np.argmax(np.isnan(array)))}"
        )
    if not infinite:
        _finite(name, array)
    return np.array(np.broadcast_to(array, (length,)), dtype=dtype, order="C")


def positive(name: str, array: FloatArray) -> None:
    """Check that all entries are above 0."""
    if not (array > 0).all():
        index = int(np.argmax(~(array > 0)))
        raise ValueError(f"{name} must be positive, got {array[index]} at index {index}")


def intervals(precision: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    """Check lower < upper, and precision > 0 wherever an end is infinite."""
    crossed = ~(lower < upper)
    if crossed.any():
        j = int(np.argmax(crossed))
        raise ValueError(
            f"lower must be below upper, got lower={lower[j]}, upper={upper[j]} at unit {j}"
        )
    loose = (np.isinf(lower) | np.isinf(upper)) & ~(precision > 0)
    if loose.any():
        j = int(np.argmax(loose))
        raise ValueError(
            f"precision must be positive where an end is infinite, got precision={precision[j]}, "
            f"lower={lower[j]}, upper={upper[j]} at unit {j}"
        )


def count(name: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be an int, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def number(
    name: str,
    value: object,
    *,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """Return ``value`` as a finite float within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number, got {value!r}")
    result = float(value)
    if not np.isfinite(result):
        raise ValueError(f"{name} must be finite, got {result}")
    if least is not None and not result >= least:
        raise ValueError(f"{name} must be at least {least}, got {result}")
    if below is not None and not result < below:
        raise ValueError(f"{name} must be below {below}, got {result}")
    if most is not None and not result <= most:
        raise ValueError(f"{name} must be at most {most}, got {result}")
    return result


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return str(value)


def float_dtype(name: str, value: object) -> np.dtype[Any]:
    """Return float32 or float64 as a dtype."""
    try:
        dtype = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(f"{name} must be float32 or float64, got {value!r}") from None
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name} must be float32 or float64, got {dtype}")
    return dtype  # type: ignore[no-any-return]
