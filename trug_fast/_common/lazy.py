"""What is imported when it is first used: names of a package, libraries that not everybody needs.

Tested in tests/_common/test_lazy.py and tests/datasets/test_files.py.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from threading import RLock
from typing import Any

_IMPORTING = RLock()
IMPORTING_SECONDS = 10.0


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Its stub, ``__init__.pyi``, which editors and type checkers read, is the only place where its
    names stand: as ``from .module import name as name``.  lazy_loader does the same, but asks the
    file system, which knows no package in a zip, and has no lock for threads.
    """
    module: Any = sys.modules[package]
    stub = module.__spec__.loader.get_data(os.path.join(module.__path__[0], "__init__.pyi"))
    homes = {
        alias.name: ("." * node.level, node.module)
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def getattr_(name: str) -> Any:
        if name not in homes:
            # Name and object are what Python's "Did you mean" goes by.
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=module)
        value = _imported(name, *homes[name], package)
        setattr(module, name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*homes, *(name for name in vars(module) if name.startswith("__"))})

    return getattr_, dir_, sorted(homes)


def _imported(name: str, dots: str, home: str | None, package: str) -> Any:
    """Import a name from the module it lives in, one thread at a time.

    Threads that import parts of one package at once see some of them half made, or wait for each
    other until Python ends that by an error.  The wait here is bounded, since a thread that imports
    a part by its full name may hold what this one needs.
    """
    held = _IMPORTING.acquire(timeout=IMPORTING_SECONDS)
    try:
        if home is None:
            return import_module(dots + name, package)
        return getattr(import_module(dots + home, package), name)
    finally:
        if held:
            _IMPORTING.release()


def need(module: str, words: str, extra: str) -> Any:
    """Return a module of a library that an extra of this package brings.

    words : what needs which library, as the error begins: "HDF5 files need h5py"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'{words}: pip install "trug-fast[{extra}]"') from error
