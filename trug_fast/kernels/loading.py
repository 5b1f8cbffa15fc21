"""The linked way to compile a kernel: what is kept of it on disk, and how that is loaded.

Numba stops at a damaged file of its cache; here the kernel is compiled anew.

Tested in tests/kernels/test_caching.py.
"""

from functools import partial
from pathlib import Path
from typing import Any

from numba import njit

from .caching import FOLDER, HOME, OURS, PLACES, READ, STAMP, _warn_once, warn_of_no_home
from .libraries import APART, KernelCompiler, ScalarCompiler, ScalarLibrary
from .linking import Inner, InnerLinked, Linked, Plain, Rare, links_of
from .numba_parts import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile


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
            warn_of_no_home()
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


_KINDS: dict[str, tuple[Any, Any]] = {
    "scalar": (Inner, ScalarCompiler),
    "linked": (InnerLinked, KernelCompiler),
    "kernel": (Linked, KernelCompiler),
    "rare": (Rare, KernelCompiler),
    "entry": (Plain, KernelCompiler),
}


def make(kind: str, function: Any, options: dict[str, Any], *, apart=False, **more: Any) -> Any:
    """Make a kernel of a function."""
    if apart:
        APART.add(function)
    if kind == "pattern":
        dispatcher = njit(**options)(function)
    else:
        for_python = kind in ("kernel", "entry")
        given = {"nopython": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": not for_python}
        dispatchers, compiler = _KINDS[kind]
        dispatcher = dispatchers(
            function, targetoptions=options | given, pipeline_class=compiler, **more
        )
        alike = {name: options[name] for name in ("error_model", "fastmath", "nogil")}
        dispatcher.wrapped = partial(make, "entry", options=alike)
    dispatcher._cache = KernelCache(function, "entry" if kind == "entry" else "")
    OURS.add(dispatcher)
    return dispatcher
