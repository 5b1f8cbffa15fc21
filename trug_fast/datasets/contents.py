"""What a file or folder of one's own holds: its arrays by their names, each read when it is needed.

Tested in tests/datasets/test_files.py and tests/datasets/test_hdf5.py.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trug_fast._common import archives, hdf5

from .pictures import SUFFIXES, read_pictures
from .tables import TABLES, kept_columns, read_table

Array = npt.NDArray[Any]


def contents(
    place: Path, size: tuple[int, int] | None, drop: Sequence[str | int]
) -> tuple[tuple[str, ...] | None, dict[str, Callable[[], Array]]]:
    """Return the names of columns, and what reads each array."""
    if place.is_dir():
        return _folder(place, size, drop)
    kind = place.suffix.lower()
    if kind in TABLES:
        table = read_table(place, drop)
        return table.columns, {"": lambda: table.values}
    if kind == ".npy":
        return None, {"": cache(partial(without, place, partial(load, place), drop))}
    if kind == ".npz":
        names = load(place)
        if not names:
            raise ValueError(f"{place} holds no arrays")
        return None, {
            name: cache(partial(without, place, partial(load, place, name), drop)) for name in names
        }
    if kind in hdf5.SUFFIXES:
        names = hdf5.numeric_names(place)
        if not names:
            raise ValueError(f"{place} holds no arrays")
        return None, {
            name: cache(partial(without, place, partial(hdf5.array, place, name), drop))
            for name in names
        }
    advice = "put images into a folder of their own and name that" if kind in SUFFIXES else (
        "store the data as .npy, .npz or .csv"
    )  # fmt: skip
    raise ValueError(f"{place}: files of kind {kind or 'unknown'} are not read; {advice}")


def _folder(
    place: Path, size: tuple[int, int] | None, drop: Sequence[str | int]
) -> tuple[tuple[str, ...] | None, dict[str, Callable[[], Array]]]:
    """Return what a folder of images or of sequences holds."""
    paths = sorted(
        path
        for path in place.rglob("*")
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(place).parts)
    )
    if not paths:
        raise ValueError(f"{place} holds no files")
    if {path.suffix.lower() for path in paths} <= TABLES | {".npy"}:
        found = [contents(path, None, drop) for path in paths]
        names = [str(path.relative_to(place).with_suffix("")) for path in paths]
        if len({columns for columns, _ in found}) > 1 or len(set(names)) < len(names):
            raise ValueError(f"{place} must hold files with the same columns, each of its own name")
        return found[0][0], {n: each[""] for n, (_, each) in zip(names, found, strict=True)}
    for path in paths:
        if path.suffix.lower() not in SUFFIXES:
            raise ValueError(
                f"{path} is no image; leave nothing but images in the folder, or nothing but "
                "sequences (.npy, .csv)"
            )
    if drop:
        raise ValueError(f"{place}: drop has no effect on images")
    pixels = read_pictures(paths, size)
    return None, {"": lambda: pixels}


def load(place: Path, name: str | None = None) -> Any:
    """Return the array of a .npy file, or the names or one array of a .npz file."""
    words = f"{name} in {place}" if name else str(place)
    try:
        archives.require_whole(place, name)
        found = np.load(place, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        with found:
            if name is not None:
                return found[name]
            names, size = list(found.files), sum(each.file_size for each in found.zip.infolist())
    except MemoryError as error:
        raise MemoryError(f"{words} needs more memory than there is: {error}") from error
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error, KeyError) as error:
        if isinstance(error, PermissionError):
            raise
        if str(error).startswith("Object arrays"):
            raise ValueError(
                f"{words} holds Python objects, not numbers; store X.astype(float), and arrays of "
                "different lengths by numpy.savez"
            ) from None
        why = "it does not begin like one" if "pickle" in str(error) else error
        raise ValueError(f"{words} is damaged, or no file of NumPy's: {why}") from error
    archives.require_modest(place, size, place.stat().st_size)
    return names


def without(place: Path, read: Callable[[], Array], drop: Sequence[str | int]) -> Array:
    """Return an array without some of its columns."""
    array = read()
    if not drop:
        return array
    if array.ndim != 2:
        raise ValueError(f"{place}: drop needs rows and columns, got shape {array.shape}")
    return np.ascontiguousarray(array[:, kept_columns(place, array.shape[1], None, drop)])
