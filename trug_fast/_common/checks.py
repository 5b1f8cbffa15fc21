"""Checks at the door: every public function calls these before it computes or changes anything.

Tested in tests/test_bad_input.py, tests/test_input_kinds.py and tests/training/test_weighing.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .mapping import blocks

FloatArray = NDArray[np.floating[Any]]
Weights = NDArray[np.float64]
MOST = 2**63 - 1  # what a kernel can count to
HINT = " (visible units with missing='draw' take NaN for a missing value)"


def numbers(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return ``value`` as an array of bools, ints or floats that kernels know.

    float16 becomes float32, wider floats float64, another byte order this machine's; everything
    else shares memory with what was given.
    """
    unmasked(name, value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name} must be an array of real numbers: {error}") from error
    if array.dtype.kind not in "buif":
        what = f"dtype {array.dtype}"
        if array.dtype == object:  # such as pandas' columns that may have missing values
            what += "; without missing values, astype(float) makes numbers of it"
        if array.ndim == 0:
            what = type(value).__name__
        raise TypeError(f"{name} must hold real numbers, got {what}")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        wider = np.float32 if array.dtype.itemsize == 2 else np.float64
        return cast(name, array, wider)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def cast(name: str, array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return ``array`` in another type, itself if that is its own; no number becomes infinite."""
    dtype = np.dtype(dtype)
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore"):
        result = array.astype(dtype)
    if array.dtype.kind == "f" and array.dtype.itemsize > dtype.itemsize:
        lost = np.isinf(result) & np.isfinite(array)
        if lost.any():
            raise ValueError(f"{name} must fit {dtype}, got {array[lost][0]}")
    return result


def unmasked(name: str, value: object) -> None:
    """Refuse masked elements, which NumPy would take for ordinary ones; look into lists too."""
    if isinstance(value, np.ma.MaskedArray):
        hidden = int(np.count_nonzero(np.ma.getmaskarray(value)))
        if hidden:
            raise ValueError(
                f"{name} must not have masked elements, got {hidden} of {value.size}; "
                "fill them in or leave their rows out"
            )
    elif isinstance(value, list | tuple):
        for part in value:
            if isinstance(part, list | tuple | np.ma.MaskedArray):
                unmasked(name, part)


def _finite(name: str, array: NDArray[Any], missing: bool | None = None) -> None:
    if array.dtype.kind != "f":
        return
    for start, part in blocks(array):
        wrong = np.isinf(part) if missing else ~np.isfinite(part)
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            place = (index[0] + start, *index[1:]) if index else index
            hint = HINT if missing is False and np.isnan(part[index]) else ""
            found = f"{part[index]}{_at(place)}{hint}"
            raise ValueError(f"{name} must be finite, got {found}")


def _at(place: tuple[int, ...]) -> str:
    """Return in words where in an array; a number has no index."""
    if not place:
        return ""
    return f" at index {place[0] if len(place) == 1 else place}"


def matrix(
    name: str, value: ArrayLike, columns: int | None = None, *, missing: bool | None = None
) -> NDArray[Any]:
    """Return ``value`` as a non-empty, finite matrix of the expected width.

    missing : whether NaN stands for a missing value; False says how it can
    """
    array = numbers(name, value)
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix (rows, columns), got shape {array.shape}")
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, got {array.shape[1]}")
    _finite(name, array, missing)
    return array


def targets(name: str, value: ArrayLike, rows: int, columns: int | None = None) -> NDArray[Any]:
    """Return ``value`` as a finite matrix with as many rows; a vector stands for one column."""
    array = numbers(name, value)
    if array.ndim not in (1, 2) or array.shape[0] != rows:
        raise ValueError(
            f"{name} must be a vector or matrix with a row for each of the {rows} rows of X, "
            f"got shape {array.shape}"
        )
    return matrix(name, array.reshape(rows, -1), columns)


def as_weights(value: ArrayLike | None, rows: int, what: str = "row") -> Weights | None:
    """Return weights as they are given, or None where all count alike."""
    if value is None:
        return None
    found = numbers("sample_weight", value)
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


def vector(name: str, value: ArrayLike, length: int, dtype: Any, *, infinite: bool) -> FloatArray:
    """Return a new contiguous vector; a number stands for a constant vector."""
    array = numbers(name, value)
    if array.ndim not in (0, 1) or (array.ndim == 1 and array.shape[0] != length):
        raise ValueError(f"{name} must be a number or have shape ({length},), got {array.shape}")
    if np.isnan(array).any():
        place = tuple(int(i) for i in np.argwhere(np.isnan(array))[0])
        raise ValueError(f"{name} must not be NaN, got nan{_at(place)}")
    if not infinite:
        _finite(name, array)
    array = cast(name, array, dtype)
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
    if value > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {value}")
    return int(value)


def flag(name: str, value: object) -> bool:
    """Return ``value`` as a bool; words such as "no" are true to Python, and refused here."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


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
    try:
        result = float(value)
    except OverflowError:  # an int of hundreds of digits
        result = np.inf
    if not np.isfinite(result):
        raise ValueError(f"{name} must be finite, got {result}")
    if least is not None and not result >= least:
        raise ValueError(f"{name} must be at least {least}, got {result}")
    if below is not None and not result < below:
        raise ValueError(f"{name} must be below {below}, got {result}")
    if most is not None and not result <= most:
        raise ValueError(f"{name} must be at most {most}, got {result}")
    return result


def above_zero(name: str, value: object, *, below: float | None = None) -> float:
    """Return ``value`` as a finite float above 0."""
    result = number(name, value, least=0.0, below=below)
    if result == 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return result


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return str(value)


def kind(name: str, value: object, *classes: type) -> None:
    """Check that ``value`` is of one of the classes."""
    if not isinstance(value, classes):
        words = " or ".join(each.__name__ for each in classes)
        raise TypeError(f"{name} must be a {words}, got {type(value).__name__}")


def image_shape(value: object) -> tuple[int, int]:
    """Return ``value`` as height and width."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(f"image_shape must be a pair (height, width), got {value!r}")
    return count("image_shape", value[0]), count("image_shape", value[1])


def float_dtype(name: str, value: object) -> np.dtype[Any]:
    """Return float32 or float64 as a dtype."""
    try:
        if value is None:  # float64 to NumPy
            raise TypeError
        dtype = np.dtype(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):
        raise TypeError(f"{name} must be float32 or float64, got {value!r}") from None
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"{name} must be float32 or float64, got {dtype}")
    return dtype  # type: ignore[no-any-return]


def file_path(name: str, value: object) -> Path:
    """Return ``value`` as the path of a file; an empty one would be the current folder."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {type(value).__name__}")
    words = os.fsdecode(value)
    if not words or "\0" in words or Path(words).is_dir():
        raise ValueError(f"{name} must name a file, got {words!r}")
    return Path(words)
