"""Reading and writing of model files: plain ``.npz``, no pickles, whole or not at all."""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT_VERSION = 1
PARTIAL = ".part"  # ends the name of a file that is being written
_META = ("format_version", "kind")


def write(path: str | Path, kind: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays under a kind and the format version.

    The file is written beside its place and moved there, so a reader or a crash never sees half.
    """
    target = Path(path)
    # Not tempfile's: its files are for their owner's eyes only, a result is for all the umask lets.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        with temporary.open("xb") as stream:
            meta = {"format_version": np.array(FORMAT_VERSION), "kind": np.array(kind)}
            np.savez(stream, allow_pickle=False, **meta, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_kind(path: str | Path) -> str:
    """Return what kind of object the file holds."""
    return str(_load(Path(path))["kind"])


def read(
    path: str | Path, kind: str, names: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of this kind: the named ones, and the optional ones it holds.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no such file, is damaged, or comes from another version.
    """
    path = Path(path)
    contents = _load(path)
    if str(contents["kind"]) != kind:
        raise ValueError(f"{path} holds a {contents['kind']}, expected a {kind}")
    missing = [name for name in names if name not in contents]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}; it is damaged")
    wanted = [*names, *(name for name in optional if name in contents)] if names else contents
    return {name: contents[name] for name in wanted if name not in _META}


def _load(path: Path) -> dict[str, NDArray[Any]]:
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        # Opened here, since np.load leaves a damaged file open.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            contents = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is no trug_fast file or is damaged: {error}") from error
    if any(name not in contents for name in _META):
        raise ValueError(f"{path} is no trug_fast file: it does not say what it holds")
    version = int(contents["format_version"])
    if version != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}; this version of trug_fast reads {FORMAT_VERSION}"
        )
    return contents
