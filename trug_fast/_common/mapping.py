"""Arrays passed through some rows at a time; those mapped from files do not stay in memory.

Tested in tests/_common/test_mapping.py.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 2**22  # numbers that are looked at at a time


def mapped(array: Any) -> np.memmap[Any, Any] | None:
    """Return the array in a file that an array is, or is a view of, if it is one."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array


class FileState(NamedTuple):
    """What tells that a file that is mapped to memory has been written to."""

    path: str
    inode: int
    size: int
    written: int  # in nanoseconds

    @classmethod
    def of(cls, array: Any) -> FileState | None:
        """Return the state of the file that an array is in, if it is in one that is there."""
        path = getattr(mapped(array), "filename", None)
        try:
            found = os.stat(path)  # type: ignore[arg-type]
        except (OSError, TypeError):
            return None
        return cls(str(path), found.st_ino, found.st_size, found.st_mtime_ns)

    def change(self, array: Any) -> str | None:
        """Return in words that the file has been written to since, or nothing.

        One that was removed or replaced is not the one that is mapped, which has not changed.
        """
        now = FileState.of(array)
        if now is None or now.inode != self.inode or now == self:
            return None
        sizes = "" if now.size == self.size else f", from {self.size} to {now.size} bytes"
        return (
            f"{self.path}, which is mapped to memory, was written to while it was trained on{sizes}"
            ": the model is of no one state of it; train on a file that nobody writes, or a copy"
        )


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
