"""Files of NumPy and of MATLAB, in which sets of the tables come: no larger than they should be.

Tested in tests/test_damage.py.
"""

import math
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from trug_fast._common import archives

PACKED = 15  # a part of a MATLAB file that is compressed
INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMERIC = {"double", "single", "logical"} | INTEGERS


def read_npz(path: Path, keys: Sequence[str], numbers: int) -> list[npt.NDArray[Any]]:
    """Read arrays by name from a file of numpy.savez; they hold at most so many numbers in all.

    A kilobyte of a packed file can stand for a megabyte, so that what it says is not enough.
    """
    try:
        content = archives.read(path, keys, most=8 * numbers + 2**20)
    except ValueError as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
    return _all_of(keys, content, path)


def read_mat(path: Path, keys: Sequence[str], numbers: int) -> list[npt.NDArray[Any]]:
    """Read arrays by name from a MATLAB 5 file; they hold at most so many numbers in all."""
    from scipy.io import loadmat, whosmat  # here: few need it, and importing it takes time

    content = {}
    try:
        _require_small(path, 8 * numbers + 2**20)
        for name, shape, kind in whosmat(path):
            if name in keys and (kind not in NUMERIC or math.prod(shape) > numbers):
                raise ValueError(f"{name} should hold at most {numbers} numbers, is {shape} {kind}")
        content = loadmat(path, variable_names=list(keys))
    except FileNotFoundError:
        raise
    except Exception as error:  # what a damaged file raises differs: TypeError, zlib.error, ...
        raise ValueError(f"{path} is damaged or not a MATLAB 5 file: {error}") from error
    return _all_of(keys, content, path)


def _require_small(path: Path, most: int) -> None:
    """Refuse a MATLAB 5 file whose packed parts are more than ``most`` bytes once unpacked.

    After a header of 128 bytes come the parts, each with its type and size in 32 bits; a packed one
    has type 15.
    """
    with path.open("rb") as stream:
        order: Literal["big", "little"] = "big" if stream.read(128)[126:] == b"MI" else "little"
        while tag := stream.read(8):
            kind, size = (int.from_bytes(part, order) for part in (tag[:4], tag[4:]))
            if kind == PACKED:
                unpacker = zlib.decompressobj()
                most -= len(unpacker.decompress(stream.read(size), most))
                if not unpacker.eof:
                    raise ValueError("a packed part is cut short, or is larger than it may be")
            else:
                stream.seek(size, os.SEEK_CUR)


def _all_of(keys: Sequence[str], content: dict[str, Any], path: Path) -> list[npt.NDArray[Any]]:
    if missing := [key for key in keys if key not in content]:
        raise ValueError(f"{path} lacks the arrays {', '.join(missing)}")
    return [content[key] for key in keys]
