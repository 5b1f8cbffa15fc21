"""Finding and reading the files of the data sets.

A missing file gives a FileNotFoundError, a damaged one a ValueError; both name it.

Tested in tests/datasets/test_images.py and tests/test_damage.py.
"""

import gzip
import math
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trug_fast._common import archives

PACKED = 15  # a part of a MATLAB file that is compressed
INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
NUMERIC = {"double", "single", "logical"} | INTEGERS
ENVIRONMENT_VARIABLE = "TRUG_FAST_DATA"
FETCHED = "~/.cache/trug_fast"  # where fetched files are put, if nothing is said

Directory = str | os.PathLike[str] | None


class Folder:
    """The places where the files of one data set may lie.

    `subfolders` are those of the user's folder that are looked into after the folder itself;
    `home` says where the files can be got, `fetch` under which name they can be fetched.
    """

    def __init__(
        self, directory: Directory, subfolders: Sequence[str], home: str, fetch: str = ""
    ) -> None:
        top = top_of(directory)
        self.places = [top / sub for sub in ("", *subfolders)] if top else []
        self.home, self.fetch = home, fetch

    def find(self, *names: str) -> Path | None:
        """Give the first file that has one of these names."""
        paths = (place / name for place in self.places for name in names)
        return next((path for path in paths if path.is_file()), None)

    def missing(self, *names: str) -> FileNotFoundError:
        """Give the error that says what was looked for, where, and where it can be got."""
        where = f"in {', '.join(map(str, self.places))}" if self.places else "nowhere"
        how = f", or fetch them with datasets.fetch({self.fetch!r})" if self.fetch else ""
        return FileNotFoundError(
            f"no file {' or '.join(names)} (looked {where}); the files come from {self.home}; "
            f"name their folder by the argument directory or by the environment variable "
            f"{ENVIRONMENT_VARIABLE}{how}"
        )

    def need(self, *names: str) -> Path:
        """Give the first file that has one of these names, or raise FileNotFoundError."""
        path = self.find(*names)
        if path is None:
            raise self.missing(*names)
        return path


def top_of(directory: Directory) -> Path | None:
    """Return the folder of data sets: what is said, or that of fetched files if it is there."""
    if directory is not None and not isinstance(directory, str | os.PathLike):
        raise TypeError(f"directory must be a path or None, got {type(directory).__name__}")
    if directory == "":
        raise ValueError("directory must name a folder, got ''")
    top, fetched = directory or os.environ.get(ENVIRONMENT_VARIABLE), Path(FETCHED).expanduser()
    return Path(top).expanduser() if top else fetched if fetched.is_dir() else None


def read_idx(path: Path, shape: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Read an idx file of bytes, gzipped if its name ends in .gz.

    The format: two zero bytes, 8 for the type "unsigned byte", the number of dimensions; then
    each dimension as a big-endian 32-bit number; then the values, last dimension fastest.

    shape : the largest number of items, and the exact size of each.
    """
    # No more is unpacked than the file should hold: a small file can stand for any number of bytes.
    header, most = 4 + 4 * len(shape), 5 + 4 * len(shape) + math.prod(shape)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
    sizes = tuple(int.from_bytes(content[k : k + 4], "big") for k in range(4, header, 4))
    if content[:4] != bytes((0, 0, 8, len(shape))) or len(content) != header + math.prod(sizes):
        raise ValueError(
            f"{path} is damaged, cut short, or no idx file of bytes in {len(shape)} dimensions: it "
            f"says {sizes}, of {len(content)} bytes"
        )
    if sizes[1:] != tuple(shape[1:]) or sizes[0] > shape[0]:
        raise ValueError(f"{path} must hold bytes of shape {tuple(shape)} at most, got {sizes}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(sizes)


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
