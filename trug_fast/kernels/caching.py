"""Where compiled kernels are kept: Numba's cache on disk, in whatever state the disk is.

Numba keeps what it has compiled in the first of these folders that can be written: NUMBA_CACHE_DIR,
the __pycache__ beside the sources, the user's own cache.  Where it finds none it refuses to define
a function at all, and it stops at a damaged file.  Here kernels are compiled for this process then.
Folders that can only be read are read too, so that an image built by one user serves another.
"""

import hashlib
import tempfile
import warnings
from pathlib import Path

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.misc.appdirs import AppDirs

from .libraries import ScalarLibrary
from .linking import links_of

FOLDER = Path(__file__).parent


def folder_stamp() -> bytes:
    """Hash of every source file in this folder and the folders in it."""
    sources = sorted(FOLDER.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).digest()


def candidates() -> list[Path]:
    """Return where Numba may keep kernels of this folder, its first choice first."""
    name = f"{FOLDER.name}_{hashlib.sha1(str(FOLDER).encode()).hexdigest()}"  # as Numba names it
    own: str = config.CACHE_DIR  # type: ignore[attr-defined]
    given = [Path(own, name)] if own else []
    user = AppDirs(appname="numba", appauthor=False).user_cache_dir
    return [*given, FOLDER / "__pycache__", Path(user, name)]


def can_be_written(path: Path) -> bool:
    """Tell whether files can be made in a folder, which is made if there is none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError:
        return False
    return True


# Numba checks a cached kernel against its own file only, so an edited helper in another file would
# be ignored.  Checking it against the whole folder costs 0.5 ms at import.
STAMP = folder_stamp()
PLACES = candidates()
HOME = next(filter(can_be_written, PLACES), None)  # of new kernels
READ = PLACES if HOME is None else PLACES[: PLACES.index(HOME) + 1]

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


class _Place:
    """What Numba asks about the place of a function's cache."""

    def __init__(self, function, source):
        self._py_file, self._line = source, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function, source):
        return cls(function, source)

    def get_cache_path(self):
        return str(HOME or PLACES[0])

    def ensure_cache_path(self):
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self):
        return STAMP

    def get_disambiguator(self):
        # Files of one name in two rooms, on any floors, share the one folder of compiled kernels.
        room, top = Path(self._py_file).resolve().parent, FOLDER.resolve()
        name = ".".join(room.relative_to(top).parts) if top in (room, *room.parents) else room.name
        return f"{name}-{self._line}"


class _Placed(CompileResultCacheImpl):
    _locator_classes = [_Place]

    def reduce(self, cres):
        return links_of(cres.library), super().reduce(cres)

    def rebuild(self, target_context, payload):
        links, result = payload
        for link in links:  # their symbols are looked up where the code is loaded
            link.load()
        if result[0][1] != "scalar":
            return super().rebuild(target_context, result)
        found = super().rebuild(_ForScalars(target_context), result)
        return found._replace(target_context=target_context)


class _ForScalars:
    """A target context, and its code generator, that make a ScalarLibrary of what was kept."""

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    def codegen(self):
        return self

    def unserialize_library(self, state):
        return ScalarLibrary._unserialize(self._context.codegen(), state)


class KernelCache(FunctionCache):
    """The cache of one kernel, which no state of the disk keeps from being compiled."""

    _impl_class = _Placed

    def __init__(self, function, purpose=""):
        super().__init__(function)
        base = self._impl.filename_base + purpose
        self._cache_file = IndexDataCacheFile(self._cache_path, base, STAMP)
        self._files = [IndexDataCacheFile(str(path), base, STAMP) for path in READ]

    def _load_overload(self, sig, context):
        key = self._index_key(sig, context.codegen())
        for file in self._files:
            try:
                data = file.load(key)
                found = None if data is None else self._impl.rebuild(context, data)
            except Exception:  # cut off, or not ours to read: as good as none
                continue
            # Two processes that compile a kernel for two types at once may take the same file.
            if found is not None and tuple(found.signature.args) == tuple(sig):
                return found
        if HOME is None:  # said before the wait, not after it
            _warn_once("none of " + ", ".join(map(str, PLACES)) + " can be written")
        return None

    def _save_overload(self, sig, data):
        if HOME is None:
            return
        try:
            try:
                super()._save_overload(sig, data)
            except OSError:
                raise
            except Exception:  # an index that was cut off: begin another
                self._cache_file.flush()
                super()._save_overload(sig, data)
        except OSError as error:
            _warn_once(str(error))
