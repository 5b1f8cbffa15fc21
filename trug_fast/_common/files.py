"""Reading and writing of model files: plain ``.npz``, no pickles, whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from . import archives, checks

try:
    import fcntl
except ImportError:  # Windows, where nobody can remove a file that is open
    fcntl = None  # type: ignore[assignment]

FORMAT_VERSION = 2
PARTIAL = ".part"  # ends the name of a file that is being written
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # errors of writing that name no file
_META = ("format_version", "kind", "digest")

Arrays = Mapping[str, NDArray[Any]]


def write(path: str | Path, kind: str, arrays: Arrays) -> None:
    """Write arrays under a kind, the format version and a digest of them all.

    The file is written beside its place and moved there, so a reader or a crash never sees half.
    What processes that were killed while they wrote the same file have left is removed.
    """
    with replacing(path) as stream:
        meta = {"format_version": np.array(FORMAT_VERSION), "kind": np.array(kind)}
        meta["digest"] = np.array(_digest(arrays))
        archives.write(stream, meta | dict(arrays))


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to be written, which takes the place of this name whole or not at all."""
    target = checks.file_path("path", path)
    _remove_leftovers(target)
    with naming(target):
        temporary, stream = _beside(target)
        try:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl is None:
                stream.close()
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):  # of what waits to be written
                stream.close()
            temporary.unlink(missing_ok=True)
            raise
        finally:
            stream.close()


@contextmanager
def naming(path: str | Path | None) -> Iterator[None]:
    """Name the file in errors of writing it that do not, as where the disk is full."""
    try:
        yield
    except OSError as error:
        if path is None:
            raise
        unnamed = error.errno in FULL and error.filename is None
        if unnamed or str(error.filename).endswith(PARTIAL):
            raise OSError(error.errno, error.strerror, str(path)) from error
        if error.errno is None and "requested and" in str(error):  # NumPy's words for a full disk
            raise OSError(f"cannot write {path}: {error}") from error
        raise


def read_kind(path: str | Path) -> str:
    """Return what kind of object the file holds."""
    path = checks.file_path("path", path)
    return text(path, "kind", _load(path)["kind"])


def read(
    path: str | Path, kind: str, names: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of this kind: the named ones, and the optional ones it holds."""
    path = checks.file_path("path", path)
    contents = _load(path)
    found = text(path, "kind", contents["kind"])
    if found != kind:
        raise ValueError(f"{path} holds a {found}, expected a {kind}")
    missing = [name for name in names if name not in contents]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}; it is damaged")
    wanted = [*names, *(name for name in optional if name in contents)] if names else contents
    return {name: contents[name] for name in wanted if name not in _META}


def text(path: Path, name: str, array: NDArray[Any]) -> str:
    """Return the string that an array of a file is; ValueError if it is none."""
    if array.ndim == 0 and array.dtype.kind == "U":
        with suppress(ValueError):  # of bytes that are no characters
            return str(array)
    raise ValueError(f"{path} is damaged: {name} should be a text, is {_what(array)}")


def whole(path: Path, name: str, array: NDArray[Any]) -> int:
    """Return the whole number from 0 that an array of a file is; ValueError if it is none."""
    if array.ndim == 0 and array.dtype.kind in "iu" and array >= 0:
        return int(array)
    raise ValueError(f"{path} is damaged: {name} should be a whole number, is {_what(array)}")


class FormerLayoutError(ValueError):
    """What a file holds is whole, but laid out as earlier versions did."""


@contextmanager
def building_from(path: str | Path) -> Iterator[None]:
    """Turn the refusal of what a file holds into a ValueError that names the file."""
    try:
        yield
    except FormerLayoutError as error:
        raise FormerLayoutError(f"{path} is of a former layout: {error}") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _what(array: NDArray[Any]) -> str:
    return f"{array.shape} {array.dtype}"


def _load(path: Path) -> dict[str, NDArray[Any]]:
    try:
        contents = archives.read(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"no such file: {path}") from None
    except ValueError as error:
        raise ValueError(f"{path} is no trug_fast file or is damaged: {error}") from error
    if any(name not in contents for name in _META[:2]):
        raise ValueError(f"{path} is no trug_fast file: it does not say what it holds")
    version = whole(path, "format_version", contents["format_version"])
    if version != FORMAT_VERSION:
        newer = ", and a newer one wrote the file" if version > FORMAT_VERSION else ""
        raise ValueError(
            f"{path} has format version {version}; this version of trug_fast reads "
            f"{FORMAT_VERSION}{newer}"
        )
    # The check sum of each array does not tell that two were exchanged, or that one was lost.
    digest = _digest({name: array for name, array in contents.items() if name not in _META})
    if "digest" not in contents or text(path, "digest", contents["digest"]) != digest:
        raise ValueError(f"{path} is damaged: its arrays are not those that were written")
    return contents


def _digest(arrays: Arrays) -> str:
    """Return a hash of the names, shapes, types and values of arrays, whatever their order."""
    sha = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        sha.update(f"{name} {array.shape} {array.dtype.str} ".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()


def _beside(target: Path) -> tuple[Path, IO[bytes]]:
    """Return the place of a new file beside the target, and it, open and locked."""
    while True:
        # Not tempfile's: its files are for their owner's eyes only, a result is for all the umask
        # lets.
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{PARTIAL}")
        stream = temporary.open("xb")
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(stream, fcntl.LOCK_EX)
        if temporary.exists():  # else taken for a leftover before it was locked
            return temporary, stream
        stream.close()


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes have left of this file; those that still write hold locks."""
    name = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in target.name)
    for leftover in target.parent.glob(f".{name}.????????{PARTIAL}"):
        with suppress(OSError):
            if fcntl is None:
                leftover.unlink()
                continue
            with leftover.open("rb") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                leftover.unlink()
