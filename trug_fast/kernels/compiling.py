"""The four ways a kernel is compiled, decided once for the whole folder."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import config, njit

from .caching import KernelCache

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("trug_fast consists of compiled kernels: unset NUMBA_DISABLE_JIT")

F = TypeVar("F", bound=Callable[..., Any])

# "contract" lets a multiply and an add fuse; anything more would delete the tests for infinite
# bounds and NaN.  error_model="numpy" drops the zero-division branch that stops vectorisation
# (5.7 against 1.4 ns for one tail function).
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


def _compile(function: F, **options: Any) -> F:
    dispatcher = njit(**_OPTIONS, **options)(function)
    dispatcher._cache = KernelCache(function)
    return dispatcher


def scalar(function: F) -> F:
    """Compile a function of numbers that is inlined into every loop that calls it.

    Without ``forceinline`` a loop over such a function does not vectorise (55 against 14 ns).
    """
    return _compile(function, forceinline=True, inline="never")


def serial(function: F) -> F:
    """Compile a function of arrays that runs in the calling thread, without the GIL."""
    return _compile(function, nogil=True)


def pattern(function: F) -> F:
    """Compile a loop that is given the scalars to call, into each kernel that names them.

    Inlined, it leaves no function argument behind: with one Numba keeps nothing on disk, and of a
    kernel made by a closure over its scalars it finds nothing again in the next process.
    """
    return _compile(function, inline="always")


def parallel(function: F) -> F:
    """Compile a function of arrays whose ``prange`` loops run in all Numba threads."""
    return _compile(function, parallel=True, nogil=True)
