"""From what a user passes to the vectors that the kernels take, and back.

Tested in tests/distributions/test_truncnorm.py.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.threads import available
from trug_fast.kernels import arrays

# Starting threads costs about 0.1 ms; this many elements take some ten times as long in one.
_WORTH_A_THREAD = 32_768

Columns = list[NDArray[Any]]
NAMES = ("a", "b", "loc", "scale")


def is_python_number(value: object) -> bool:
    """Tell whether ``value`` takes the float type of the arrays beside it, as in NumPy."""
    return type(value) in (bool, int, float)


def _float_type(values: tuple[Any, ...]) -> Any:
    """Return float32 if every array or NumPy number is float32 (and there is one), else float64."""
    typed = [np.asarray(v).dtype for v in values if not is_python_number(v)]
    return np.float32 if typed and all(t == np.float32 for t in typed) else np.float64


def columns_of(
    names: tuple[str, ...], values: tuple[ArrayLike, ...], shape: tuple[int, ...] | None = None
) -> tuple[Columns, tuple[int, ...], Any]:
    """Return the values as vectors of the full size or of 1, the full shape, and its float type."""
    if all(map(is_python_number, values)):
        with suppress(OverflowError):  # told of below
            return list(np.array(values, np.float64).reshape(-1, 1)), shape or (), np.float64
    dtype = _float_type(values)
    columns = []
    for name, value in zip(names, values, strict=True):
        checks.unmasked(name, value)
        array = np.asarray(value)
        if array.dtype.kind not in "buif":
            raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
        columns.append(array.astype(dtype, copy=False))
    try:
        common = np.broadcast_shapes(*(c.shape for c in columns))
        full = common if shape is None else np.broadcast_shapes(common, shape)
    except ValueError:
        full = None
    if full is None or (shape is not None and full != shape):
        shapes = ", ".join(f"{n} {c.shape}" for n, c in zip(names, columns, strict=True))
        wanted = "" if shape is None else f" with size {shape}"
        raise ValueError(f"shapes must broadcast{wanted}, got {shapes}")
    for i, column in enumerate(columns):
        # What broadcast_to returns is read-only, hence copied: 4 ns an element of four columns, 14
        # where the memory is new.
        whole = column.size == 1 or column.shape == full
        spread = column if whole else np.broadcast_to(column, full)
        # A read-only array would be another type to Numba, hence another compilation.  Its flag is
        # not asked: arrays of np.broadcast_arrays, which SciPy passes on, answer with a warning.
        if not spread.flags.c_contiguous or spread.__array_interface__["data"][1]:
            spread = spread.copy()
        columns[i] = spread.reshape(-1)
    return columns, full, dtype


def spread(kernel: Callable[..., None], columns: Columns, out: NDArray[Any]) -> None:
    """Run ``kernel(first, *columns, out)`` on parts of the vectors, in as many threads as pay."""
    n = out.size
    if n == 0:
        return
    threads = n // _WORTH_A_THREAD
    if threads > 1:
        threads = min(threads, available())
    if threads < 2:
        kernel(0, *columns, out)
        return
    # Four parts a thread even out what other processes take of the cores.
    length = -(-n // (4 * threads * arrays.BLOCK)) * arrays.BLOCK

    def part(first: int) -> None:
        cut = slice(first, min(first + length, n))
        kernel(first, *(c if c.size == 1 else c[cut] for c in columns), out[cut])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(0, n, length)))


def elementwise(
    kernel: Callable[..., None],
    a: ArrayLike,
    b: ArrayLike,
    loc: ArrayLike = 0,
    scale: ArrayLike = 1,
    **first: ArrayLike,
) -> Any:
    """Return the kernel's function of points and parameters, an array or a NumPy number."""
    values = *first.values(), a, b, loc, scale
    columns, shape, dtype = columns_of((*first, *NAMES), values)
    out = np.empty(shape, dtype)
    spread(lambda _, *vectors: kernel(*vectors), columns, out.reshape(-1))
    return out if out.ndim else out[()]
