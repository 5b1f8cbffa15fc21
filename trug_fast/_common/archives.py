"""Writing ``.npz`` files, and reading ones of unknown origin, whose sizes are known beforehand.

NumPy's own reader believes what a file says of itself: some kilobytes can stand for gigabytes.
Here all members together must fit a bound.  (A header that claims more than its member holds is
refused by NumPy: memory that it asks for and never fills costs nothing.)

Tested in tests/test_damage.py.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

KINDS = "biufSU"  # of numbers and texts: what our files and the data sets hold
ROOM = 2**30  # bytes that data may take however small their file is
PACKED = 100  # times the bytes of their file that more may take: zeros and ones pack that well


def write(stream: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as :func:`numpy.savez` does, never as pickles."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)


def read(
    path: Path, wanted: Collection[str] | None = None, most: int | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays in a ``.npz`` file by their names: all, or those wanted that it holds.

    A ValueError, without the file's name, if it is no such file or is damaged.

    most : bytes that they may take.  By default the file's own size, and nothing compressed.
    """
    if is_stream(path):
        raise ValueError("it is a pipe or a device, no file")
    with path.open("rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                members = _members(archive, plain=most is None)
                if wanted is not None:
                    members = {name: members[name] for name in wanted if name in members}
                bound = os.fstat(stream.fileno()).st_size if most is None else most
                if (total := sum(each.file_size for each in members.values())) > bound:
                    raise ValueError(
                        f"its arrays should take at most {bound} bytes, they take {total}"
                    )
                return {name: _array(archive, each) for name, each in members.items()}
        except ValueError:
            raise
        # A damaged archive makes zipfile raise many things beside BadZipFile: NotImplementedError
        # (a method or version), RuntimeError (a password), EOFError, OSError, OverflowError,
        # struct.error, zlib.error.
        except Exception as error:
            raise ValueError(str(error) or type(error).__name__) from error


def names(path: Path) -> list[str]:
    """Return the names of the arrays in a file of somebody's, if they are of modest size."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError) as error:
        raise ValueError(f"{path} is damaged, or no archive of NumPy's: {error}") from error
    require_modest(path, sum(each.file_size for each in members), path.stat().st_size)
    return [each.filename.removesuffix(".npy") for each in members]


def is_stream(path: Path) -> bool:
    """Tell whether a path is a pipe or a device, which may have no end, and has no beginning."""
    return path.exists() and not path.is_file() and not path.is_dir()


def require_modest(name: str | Path, size: int, own: int) -> None:
    """Refuse data that take far more bytes than the file that they are packed in, by its name."""
    if size > max(ROOM, PACKED * own):
        raise ValueError(
            f"{name} holds {size / 2**30:.1f} GiB in a file of {own / 2**20:.1f} MiB; if that is "
            "meant, store them unpacked, as numpy.save does"
        )


def _members(archive: zipfile.ZipFile, plain: bool) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    methods = (zipfile.ZIP_STORED,) if plain else (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in found or name == info.filename:
            raise ValueError(f"member {info.filename} is there twice or is no array")
        if info.compress_type not in methods:
            raise ValueError(f"member {name} is compressed, by method {info.compress_type}")
        found[name] = info
    return found


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array in a member, of which the size is known to be harmless."""
    with archive.open(info) as stream:
        array: NDArray[Any] = np.asarray(npy.read_array(stream, allow_pickle=False))
        if stream.read(1):  # at the end the check sum is compared
            raise ValueError(f"member {info.filename} does not end where it should")
    if array.dtype.kind not in KINDS:
        raise ValueError(f"member {info.filename} has type {array.dtype}, neither number nor text")
    return array
