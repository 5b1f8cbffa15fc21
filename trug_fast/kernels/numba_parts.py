"""The private parts of Numba that kernels are compiled by, and whether to do without.

The linked way (``linking.py``, ``libraries.py``, ``loading.py``) is quick to compile, and stands on
what Numba promises to nobody.  The plain way (``plain.py``) takes longer and needs nothing of it.
It is taken where TRUG_FAST_PLAIN_NUMBA=1 asks for it, and by itself where a part is missing or
Numba is newer than the newest that was tried; TRUG_FAST_PLAIN_NUMBA=0 tries a newer one.

Tested in tests/kernels/test_plain.py.
"""

import importlib
import os
import warnings
from typing import Any

import numba

NEWEST = (0, 68)  # the newest Numba that all tests have run with

# Every name that Numba does not document and that is imported here: no other file does.
_PARTS = {
    "numba.core.caching": "CompileResultCacheImpl FunctionCache IndexDataCacheFile",
    "numba.core.codegen": "JITCodeLibrary",
    "numba.core.compiler": "CompilerBase DefaultPassBuilder",
    "numba.core.compiler_machinery": "LoweringPass register_pass",
    "numba.core.ir": "Assign Expr",
    "numba.core.registry": "CPUDispatcher",
    "numba.core.typed_passes": "AnnotateTypes NopythonRewrites",
    "numba.core.untyped_passes": "InlineClosureLikes",
    "numba.np.arrayobj": "make_array populate_array",
    "numba.np.linalg": "ensure_blas get_blas_kind",
}
# What is called or replaced of them.
_METHODS = {
    "CPUDispatcher": "add_overload compile get_call_template",
    "CompileResultCacheImpl": "_locator_classes rebuild reduce",
    "DefaultPassBuilder": "define_nopython_pipeline",
    "FunctionCache": "_impl_class _index_key _load_overload _save_overload",
    "IndexDataCacheFile": "_load_index flush load save",
    "JITCodeLibrary": "_finalize_dynamic_globals _finalize_final_module _get_module_for_linking "
    "_optimize_final_module _optimize_functions _unserialize add_ir_module codegen "
    "enable_object_caching get_pointer_to_function serialize_using_object_code",
}


def _found() -> tuple[dict[str, Any], list[str]]:
    """Return the parts that are there, by name, and the full names of those that are not."""
    parts: dict[str, Any] = {}
    missing = []
    for module, names in _PARTS.items():
        for name in names.split():
            try:
                parts[name] = part = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError):
                missing.append(f"{module}.{name}")
                continue
            gone = [one for one in _METHODS.get(name, "").split() if not hasattr(part, one)]
            missing += [f"{module}.{name}.{one}" for one in gone]
    return parts, missing


def _choose() -> bool:
    """Tell whether to compile the plain way; say so where nobody has asked for it."""
    asked = os.environ.get("TRUG_FAST_PLAIN_NUMBA", "")
    if asked not in ("", "0", "1"):
        raise ValueError(f"TRUG_FAST_PLAIN_NUMBA must be 0 or 1, got {asked!r}")
    if asked == "1":
        return True
    version = tuple(int(part) for part in numba.__version__.split(".")[:2])
    if _MISSING:
        why = f"lacks {', '.join(_MISSING)}"
    elif version > NEWEST and asked != "0":
        why = f"is newer than {'.'.join(map(str, NEWEST))}, the newest that was tried"
    else:
        return False
    warnings.warn(
        f"Numba {numba.__version__} {why}: trug_fast compiles its kernels the plain way, which "
        "takes longer and gives the same results; TRUG_FAST_PLAIN_NUMBA=1 silences this",
        RuntimeWarning,
        stacklevel=2,
    )
    return True


_FOUND, _MISSING = _found()
PLAIN = _choose()


def __getattr__(name: str) -> Any:
    """Return a part; in the plain way none of them."""
    if name not in " ".join(_PARTS.values()).split():
        raise AttributeError(name)
    return None if PLAIN else _FOUND[name]
