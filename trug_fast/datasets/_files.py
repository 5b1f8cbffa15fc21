"""Finding and reading the files of the data sets.

A missing file gives a FileNotFoundError, a damaged one a ValueError; both name it.
"""

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ENVIRONMENT_VARIABLE = "TRUG_FAST_DATA"

Directory = str | os.PathLike[str] | None


class Folder:
    """The places where the files of one data set may lie.

    `subfolders` are those of the user's folder that are looked into after the folder itself;
    `home` says where the files can be got.
    """

    def __init__(self, directory: Directory, subfolders: Sequence[str], home: str) -> None:
        if directory is not None and not isinstance(directory, (str, os.PathLike)):
            raise TypeError(f"directory must be a path or None, got {type(directory).__name__}")
        top = directory or os.environ.get(ENVIRONMENT_VARIABLE)
        self.places = [Path(top, sub) for sub in ("", *subfolders)] if top else []
        self.home = home

    def find(self, *names: str) -> Path | None:
        """Give the first file that has one of these names."""
        for place in self.places:
            for name in names:
                if (place / name).is_file():
                    return place / name
        return None

    def missing(self, *names: str) -> FileNotFoundError:
        """Give the error that says what was looked for, where, and where it can be got."""
        where = f"in {', '.join(map(str, self.places))}" if self.places else "nowhere"
        return FileNotFoundError(
            f"no file {' or '.join(names)} (looked {where}); the files come from {self.home}; "
            f"name their folder by the argument directory or by the environment variable "
            f"{ENVIRONMENT_VARIABLE}"
        )

    def need(self, *names: str) -> Path:
        """Give the first file that has one of these names, or raise FileNotFoundError."""
        path = self.find(*names)
        if path is None:
            raise self.missing(*names)
        return path


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn what the readers raise at a damaged file into a ValueError that names the file."""
    try:
        yield
    except (EOFError, ValueError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error


def read_idx(path: Path, n_dimensions: int) -> npt.NDArray[np.uint8]:
    """Read an idx file of bytes, gzipped if its name ends in .gz.

    The format: two zero bytes, 8 for the type "unsigned byte", the number of dimensions; then
    each dimension as a big-endian 32-bit number; then the values, last dimension fastest.
    """
    with _naming(path):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header = 4 + 4 * n_dimensions
    magic = 0x800 + n_dimensions
    found = int.from_bytes(content[:4], "big")
    if len(content) < header or found != magic:
        raise ValueError(
            f"{path} is not an idx file of bytes in {n_dimensions} dimensions: "
            f"expected the magic number {magic}, got {found}"
        )
    shape = np.frombuffer(content, ">u4", n_dimensions, offset=4).astype(int)
    if len(content) - header != shape.prod():
        raise ValueError(
            f"{path} is damaged or cut short: expected {shape.prod()} bytes after the header "
            f"for shape {tuple(shape.tolist())}, got {len(content) - header}"
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def read_npz(path: Path, keys: Sequence[str]) -> list[npt.NDArray[Any]]:
    """Read arrays by name from a file of numpy.savez."""
    if not zipfile.is_zipfile(path):  # numpy would take it for a pickle, and say so
        raise ValueError(f"{path} is damaged or cut short: not an npz archive")
    with _naming(path), np.load(path, allow_pickle=False) as archive:
        content = {key: archive[key] for key in keys if key in archive}
    return _all_of(keys, content, path)


def read_amat(path: Path, n_columns: int) -> npt.NDArray[np.uint8]:
    """Read a text of digits 0 and 1, separated by blanks, one image a line."""
    content = path.read_bytes().strip()
    characters = np.frombuffer(content, np.uint8)
    is_digit = (characters == ord("0")) | (characters == ord("1"))
    if not np.isin(characters[~is_digit], list(b" \t\r\n")).all():
        raise ValueError(f"{path} is not a text of the digits 0 and 1")
    n_rows = content.count(b"\n") + 1
    values: npt.NDArray[np.uint8] = characters[is_digit] - np.uint8(ord("0"))
    if values.size != n_rows * n_columns:
        raise ValueError(
            f"{path} is damaged or cut short: expected {n_columns} digits in each of its "
            f"{n_rows} lines, got {values.size} in all"
        )
    return values.reshape(n_rows, n_columns)


def read_mat(path: Path, keys: Sequence[str]) -> list[npt.NDArray[Any]]:
    """Read arrays by name from a MATLAB 5 file."""
    from scipy.io import loadmat  # here, because few need it and importing it takes time

    try:
        content = loadmat(path, variable_names=list(keys))
    except Exception as error:  # what a damaged file raises differs: TypeError, zlib.error, ...
        raise ValueError(f"{path} is damaged or not a MATLAB 5 file: {error}") from error
    return _all_of(keys, content, path)


def _all_of(keys: Sequence[str], content: dict[str, Any], path: Path) -> list[npt.NDArray[Any]]:
    if missing := [key for key in keys if key not in content]:
        raise ValueError(f"{path} lacks the arrays {', '.join(missing)}")
    return [content[key] for key in keys]
