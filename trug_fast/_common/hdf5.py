"""HDF5 files, whose library is imported when one is opened.

Tested in tests/models/test_rbms_files.py and tests/datasets/test_hdf5.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import archives, checks, files
from .lazy import need

SUFFIXES = {".h5", ".hdf5"}


def _library() -> Any:
    return need("h5py", "HDF5 files need h5py", "hdf5")


@contextmanager
def opened(path: str | Path) -> Iterator[Any]:
    """Open a file to be read; ValueError, with its name, if it is damaged or no file of HDF5."""
    place, library = checks.file_path("path", path), _library()
    if not place.exists():
        raise FileNotFoundError(f"no such file: {place}")
    if archives.is_stream(place):
        raise ValueError(f"{place} is a pipe or a device, no file of HDF5")
    try:
        with library.File(place, "r") as file:
            yield file
    except PermissionError:
        raise
    except (OSError, RuntimeError, KeyError) as error:  # what the library raises at such a file
        raise ValueError(f"{place} is damaged, or no file of HDF5: {error}") from error


@contextmanager
def written(path: str | Path) -> Iterator[Any]:
    """Open a file to be written, which appears whole or not at all."""
    content = BytesIO()
    with _library().File(content, "w") as file:
        yield file
    with files.replacing(path) as stream:
        stream.write(content.getbuffer())


def numeric_names(path: str | Path) -> list[str]:
    """Return the names of the arrays of numbers in a file, in its groups too."""
    names: list[str] = []

    def note(name: str, item: Any) -> None:
        if hasattr(item, "dtype") and item.ndim and item.dtype.kind in "buif":
            names.append(name)

    with opened(path) as file:
        file.visititems(note)
    return sorted(names)


def array(path: str | Path, name: str) -> NDArray[Any]:
    """Return an array of a file."""
    with opened(path) as file:
        archives.require_modest(path, file[name].nbytes, Path(path).stat().st_size)
        return np.asarray(file[name][()])
