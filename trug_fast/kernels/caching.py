"""Where compiled kernels are kept, in whatever state the disk is.

Numba keeps what it has compiled in the first of these folders that can be written: NUMBA_CACHE_DIR,
the __pycache__ beside the sources, the user's own cache.  Where it finds none it refuses to define
a function at all; here kernels are compiled for this process then.  Folders that can only be read
are read too, so that an image built by one user serves another.
"""

import hashlib
import os
import sys
import tempfile
import warnings
import weakref
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding as llvm
from numba import config

from .numba_parts import PLAIN

FOLDER = Path(__file__).parent


def folder_stamp() -> bytes:
    """Hash of every source and every table in this folder and the folders in it."""
    found = hashlib.sha256()
    for folder, folders, files in os.walk(FOLDER):
        folders[:] = sorted(set(folders) - {"__pycache__"})  # of thousands of files: 10 ms
        for name in sorted(files):
            if name.endswith((".py", ".txt")):
                found.update(Path(folder, name).read_bytes())
    return found.digest()


def candidates() -> list[Path]:
    """Return where Numba may keep kernels of this folder, its first choice first."""
    name = f"{FOLDER.name}_{hashlib.sha1(str(FOLDER).encode()).hexdigest()}"  # as Numba names it
    own: str = config.CACHE_DIR  # type: ignore[attr-defined]
    given = [Path(own, name)] if own else []
    places = [*given, FOLDER / "__pycache__", _of_user() / name]
    # In the plain way Numba checks a kernel against its own file alone: the folder bears the hash.
    return [place / PLAIN_NAME for place in places] if PLAIN else places


def _of_user() -> Path:
    """Return the folder that Numba has in the user's cache."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local", "numba/Cache")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/numba"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "numba")


def can_be_written(path: Path) -> bool:
    """Tell whether files can be made in a folder, which is made if there is none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return False
    return True


def processor() -> tuple[str, ...]:
    """Return what decides for which processor kernels are compiled."""
    features = "".join(sorted(map(str, llvm.get_host_cpu_features().items())))
    own = config.CPU_NAME, config.CPU_FEATURES  # type: ignore[attr-defined]
    return (llvm.get_host_cpu_name(), features, *map(str, own))


# Numba checks a cached kernel against its own file only, so an edited helper in another file would
# be ignored.  Checking it against the whole folder costs 0.5 ms at import.
STAMP = folder_stamp()
PLAIN_NAME = f"plain-{numba.__version__}-{STAMP.hex()[:16]}"
PLACES = candidates()
HOME = next(filter(can_be_written, PLACES), None)  # of new kernels
READ = PLACES if HOME is None else PLACES[: PLACES.index(HOME) + 1]

OURS: "weakref.WeakSet[Any]" = weakref.WeakSet()  # kernels, as Numba has them

_warned = False


def _warn_once(why: str) -> None:
    """Say once that kernels are compiled for this process alone, and what to do about it."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"trug_fast cannot keep its compiled kernels: {why}; each process compiles them anew, "
            "for up to a minute or two, unless NUMBA_CACHE_DIR names a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )


def warn_of_no_home() -> None:
    """Say once that there is no place for kernels."""
    _warn_once("none of " + ", ".join(map(str, PLACES)) + " can be written")
