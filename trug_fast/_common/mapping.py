"""Arrays passed through some rows at a time; those mapped from files do not stay in memory.

Tested in tests/_common/test_mapping.py.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**22  # numbers that are looked at at a time


def mapped(array: Any) -> np.memmap[Any, Any] | None:
    """Return the array in a file that an array is, or is a view of, if it is one."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array


def release(array: NDArray[Any]) -> None:
    """Let go of the pages of a file that an array has brought into memory; they can be read again.

    A mapping counts as memory of this process, page by page as it is read: 5 GB of a file as 5 GB.
    Private copies of pages, which a mapping in mode "c" may have, are kept.
    """
    owner = mapped(array)
    if owner is None or getattr(owner, "mode", "c") == "c" or not hasattr(mmap, "MADV_DONTNEED"):
        return
    base: Any = owner
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None:
        base.madvise(mmap.MADV_DONTNEED)


def blocks(array: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the number of the first row of each block, and its rows, in order."""
    if array.ndim == 0 or array.size <= BLOCK:
        yield 0, array
        return
    rows = max(1, BLOCK // (array.size // len(array)))
    for start in range(0, len(array), rows):
        yield start, array[start : start + rows]
        release(array)
