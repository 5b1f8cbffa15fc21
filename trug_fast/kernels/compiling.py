"""The ways a kernel is compiled, decided once for the whole folder.

=========  ====================================  =============================================
decorator  callers                               for
=========  ====================================  =============================================
scalar     kernels copy it into their loops      functions of numbers, inlined
inner      compiled code copies it               longer ones, and what users may embed
linked     kernels call it                       loops over rows and tiles
row_loop   kernels call it                       loops over one row of several arrays
unfused    kernels call it                       the same, rounding as NumPy does
kernel     kernels call it; Python               what the package calls
rare       kernels call it with ``rarely``       what few models need, compiled when wanted
rare_row   kernels call it with ``rarely``       the same of a row_loop
parallel   kernels call it                       the loop over all threads (loops.py)
pattern    copied where it is named              loops that are given the scalars to call
=========  ====================================  =============================================

Code for Python to call a function is compiled only where Python does: it takes as long as a small
function.  Python may call the others too, which are compiled for it once more.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import config

from .numba_parts import PLAIN

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise ImportError("trug_fast consists of compiled kernels: unset NUMBA_DISABLE_JIT")

if PLAIN:
    from .plain import make, rarely, want
else:
    from .linking import rarely, want  # type: ignore[assignment]
    from .loading import make

__all__ = [
    "inner",
    "kernel",
    "linked",
    "parallel",
    "pattern",
    "rare",
    "rare_row",
    "rarely",
    "row_loop",
    "scalar",
    "unfused",
    "want",
]

F = TypeVar("F", bound=Callable[..., Any])

# "contract" lets a multiply and an add fuse; anything more would delete the tests for infinite
# bounds and NaN.  error_model="numpy" drops the zero-division branch that stops vectorisation
# (5.7 against 1.4 ns for one tail function).
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}


def scalar(function: F) -> F:
    """Compile a function of numbers that is inlined into every loop that calls it.

    Without ``forceinline`` a loop over such a function does not vectorise (55 against 14 ns).
    """
    return make("scalar", function, _OPTIONS | {"forceinline": True})


def inner(function: F) -> F:
    """Compile a function of numbers that is copied into what calls it, to be called there."""
    return make("scalar", function, _OPTIONS)


def linked(function: F) -> F:
    """Compile a function of arrays once, for kernels to call."""
    return make("linked", function, _OPTIONS)


def row_loop(function: F) -> F:
    """Compile a function like ``linked``, whose arrays that it writes to overlap no others.

    A loop over ten arrays stays scalar else: LLVM tests for overlaps of a few only.
    """
    return make("linked", function, _OPTIONS, apart=True)


def unfused(function: F) -> F:
    """Compile such a function without fusing products and sums: each is rounded, as by NumPy."""
    return make("linked", function, _OPTIONS | {"fastmath": False})


def kernel(function: F) -> F:
    """Compile a function of arrays once, for Python and kernels to call; without the GIL."""
    return make("kernel", function, _OPTIONS)


def rare(subject: str) -> Callable[[F], F]:
    """Compile a function of arrays once a subject is wanted (``want``)."""
    return lambda function: make("rare", function, _OPTIONS, subject=subject)


def rare_row(subject: str) -> Callable[[F], F]:
    """Compile a function like ``rare``, whose arrays that it writes to overlap no others."""
    return lambda function: make("rare", function, _OPTIONS, apart=True, subject=subject)


def parallel(function: F) -> F:
    """Compile a function whose ``prange`` loop runs in all Numba threads."""
    return make("linked", function, _OPTIONS | {"parallel": True})


def pattern(function: F) -> F:
    """Compile a loop that is given the scalars to call, into each kernel that names them.

    Inlined, it leaves no function argument behind: with one Numba keeps nothing on disk, and of a
    kernel made by a closure over its scalars it finds nothing again in the next process.
    """
    return make("pattern", function, _OPTIONS | {"inline": "always"})
