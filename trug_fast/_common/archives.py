"""Writing ``.npz`` files, and reading ones of unknown origin, whose sizes are known beforehand.

NumPy's own reader believes what a file says of itself: some kilobytes can ask for gigabytes.  Here
an array's shape and type must agree with the size of its member, and all members together must fit
a bound.

Tested in tests/test_damage.py.
"""

from __future__ import annotations

import math
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
CHUNK = 1 << 20  # bytes decompressed at a time
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def write(stream: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as :func:`numpy.savez` does, never as pickles."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, array, allow_pickle=False)


def read(
    path: Path, names: Collection[str] | None = None, most: int | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays in a ``.npz`` file by their names.

    Parameters
    ----------
    path : Path
    names : collection of str, optional
        The arrays to read, where the file holds them; by default all.
    most : int, optional
        Bytes that they may take.  By default the file's own size: then nothing may be compressed.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is no such file or is damaged, without its name.
    """
    if is_stream(path):
        raise ValueError("it is a pipe or a device, no file")
    with path.open("rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                plain = most is None
                bound = os.fstat(stream.fileno()).st_size if most is None else most
                members = _members(archive, names, bound, plain)
                return {name: _array(archive, info) for name, info in members.items()}
        except ValueError:
            raise
        # A damaged archive makes zipfile raise many things beside BadZipFile: NotImplementedError
        # (a method or version), RuntimeError (a password), EOFError, OSError, OverflowError,
        # struct.error, zlib.error.
        except Exception as error:
            raise ValueError(str(error) or type(error).__name__) from error


def is_stream(path: Path) -> bool:
    """Tell whether a path is a pipe or a device, which may have no end, and has no beginning."""
    return path.exists() and not path.is_file() and not path.is_dir()


def require_modest(name: str | Path, size: int, own: int) -> None:
    """Refuse data that take far more bytes than the file that they are packed in.

    Raises
    ------
    ValueError
        Naming the file.
    """
    if size > max(ROOM, PACKED * own):
        raise ValueError(
            f"{name} holds {size / 2**30:.1f} GiB in a file of {own / 2**20:.1f} MiB; if that is "
            "meant, store them unpacked, as numpy.save does"
        )


def require_whole(path: Path, name: str | None = None) -> None:
    """Refuse an array that says it is larger than what the file holds of it.

    Parameters
    ----------
    path : Path
        A ``.npy`` file, or with ``name`` an ``.npz`` file.  What is neither passes.

    Raises
    ------
    ValueError
        Without the name of the file.
    """
    with path.open("rb") as stream:
        if name is None:
            _require_held(stream, "it", os.fstat(stream.fileno()).st_size)
            return
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                if info.filename == f"{name}.npy":
                    with archive.open(info) as member:
                        _require_held(member, info.filename, info.file_size)


def _require_held(stream: IO[bytes], name: str, whole: int) -> None:
    try:
        shape, _, dtype = _header(stream)
    except ValueError:  # no array: whoever reads it says so
        return
    size, held = dtype.itemsize * math.prod(shape), whole - stream.tell()
    if not dtype.hasobject and size > held:
        raise ValueError(f"{name} should hold {size} bytes, of {shape} {dtype}, it holds {held}")


def _members(
    archive: zipfile.ZipFile, names: Collection[str] | None, bound: int, plain: bool
) -> dict[str, zipfile.ZipInfo]:
    """Return the members that hold the arrays, once their sizes are known to be possible."""
    found: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in found or name == info.filename:
            raise ValueError(f"member {info.filename} is there twice or is no array")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"member {name} is compressed by method {info.compress_type}")
        if plain and info.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"member {name} is compressed")
        found[name] = info
    wanted = {name: info for name, info in found.items() if names is None or name in names}
    total = sum(info.file_size for info in wanted.values())
    if total > bound:
        raise ValueError(f"its arrays should take at most {bound} bytes, they take {total}")
    return wanted


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """Return the array in a member, of which the size is known to be harmless."""
    with archive.open(info) as stream:
        shape, by_columns, dtype = _header(stream)
        if dtype.kind not in KINDS:
            raise ValueError(f"member {info.filename} has type {dtype}, neither numbers nor text")
        size = dtype.itemsize * math.prod(shape)
        if min(shape, default=0) < 0 or stream.tell() + size != info.file_size:
            raise ValueError(
                f"member {info.filename} should hold {size} bytes, of shape {shape} and type "
                f"{dtype}, it holds {info.file_size - stream.tell()}"
            )
        content = np.empty(size, np.uint8)
        for start in range(0, size, CHUNK):
            chunk = stream.read(min(CHUNK, size - start))
            content[start : start + CHUNK] = np.frombuffer(chunk, np.uint8)
        if stream.read(1):  # at the end the check sum is compared
            raise ValueError(f"member {info.filename} does not end where it should")
    return content.view(dtype).reshape(shape, order="F" if by_columns else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        return HEADERS[npy.read_magic(stream)](stream)
    # It is a Python literal: parsing nonsense raises SyntaxError, RecursionError, MemoryError, ...
    except Exception as error:
        raise ValueError(f"no header of an array: {error}") from error
