"""Stochastic neural networks with truncated Gaussian hidden units.

The names are those of ``__init__.pyi``.  Each is imported when it is first used, so that truncated
normals do not wait for models, nor a command's help for Numba.
"""

from typing import Any

from ._common.lazy import attach

_imported, __dir__, __all__ = attach(__name__)


def __getattr__(name: str) -> Any:
    """Import what has not been used before."""
    if name == "__version__":
        from importlib.metadata import version  # which takes longer than all else here

        return version("trug-fast")
    return _imported(name)
