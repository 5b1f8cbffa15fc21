"""The plain way to compile a kernel: by Numba's ``njit``, and nothing that Numba does not document.

Numba copies what a kernel calls into it, at every level of calls anew, rare kernels too; so this
takes longer.  It keeps kernels itself, and checks each against its own file only: the folder that
it is given bears a hash of them all.

Tested in tests/kernels/test_plain.py.
"""

import shutil
from typing import Any

from llvmlite import ir
from numba import config, njit, prange, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from .caching import HOME, OURS, PLACES, warn_of_no_home


def _settle() -> None:
    """Take over kernels that lie where nothing can be written; drop those of older sources."""
    if HOME is None:
        return warn_of_no_home()
    if any(HOME.iterdir()):
        return None
    version = HOME.name.rpartition("-")[0]
    for old in HOME.parent.glob(f"{version}-*"):
        if old != HOME:
            shutil.rmtree(old, ignore_errors=True)
    for place in PLACES[: PLACES.index(HOME)]:
        if place.is_dir():
            shutil.copytree(place, HOME, dirs_exist_ok=True)
    return None


_settle()


def make(kind: str, function: Any, options: dict[str, Any], **more: Any) -> Any:
    """Make a kernel of a function."""
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = str(HOME or "")  # type: ignore[attr-defined]
    try:
        dispatcher = njit(cache=HOME is not None, **options)(function)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
    OURS.add(dispatcher)
    return dispatcher


def want(subject: str) -> None:
    """Do nothing: rare kernels are compiled with what calls them."""


def rarely(kernel, arguments):
    """Call a rare kernel, in compiled code."""
    raise NotImplementedError


# A kernel that is passed on would be an address of this process, which Numba keeps nothing with:
# what takes one is copied where it is called.
@overload(rarely, inline="always")
def _rarely(kernel, arguments):
    if not isinstance(kernel, types.Dispatcher) or not isinstance(arguments, types.BaseTuple):
        raise TypingError(f"rarely takes a rare kernel and its arguments, got {kernel}")
    kernel_itself = kernel.dispatcher
    return lambda kernel, arguments: kernel_itself(*arguments)


@intrinsic
def _place_of(typingctx, arguments):
    """Return the address of a tuple, in memory of the function that calls this."""

    def codegen(context, builder, signature, args):
        return builder.ptrtoint(cgutils.alloca_once_value(builder, args[0]), ir.IntType(64))

    return types.int64(arguments), codegen


def _reader(kind: Any) -> Any:
    """Make what reads a tuple of a type at an address."""

    @intrinsic
    def read(typingctx, address):
        def codegen(context, builder, signature, args):
            pointer = context.get_value_type(kind).as_pointer()
            value = builder.load(builder.inttoptr(args[0], pointer))
            context.nrt.incref(builder, kind, value)
            return value

        return kind(types.int64), codegen

    return read


def each(kernel, count, arguments):
    """Call ``kernel(index, *arguments)`` for each index below ``count``, in compiled code."""
    raise NotImplementedError


@overload(each, inline="always")
def _each(kernel, count, arguments):
    if not isinstance(kernel, types.Dispatcher) or not isinstance(arguments, types.BaseTuple):
        raise TypingError(f"each takes a linked kernel, a count and a tuple, got {kernel}")
    kernel_itself, read = kernel.dispatcher, _reader(arguments)

    @njit(error_model="numpy", nogil=True)
    def call(index, place):
        kernel_itself(index, *read(place))

    # What fails in a thread would be forgotten there.
    @njit(error_model="numpy", nogil=True)
    def failed_at(index, place):
        try:
            call(index, place)
        except Exception:
            return 1
        return 0

    @njit(error_model="numpy", nogil=True, parallel=True)
    def run(count, arguments):
        place = _place_of(arguments)  # a parallel loop takes no tuples of tuples
        failed = 0
        if count == 1:
            failed = failed_at(0, place)
        else:
            for index in prange(count):
                failed += failed_at(types.int64(index), place)
        if failed > 0:
            raise MemoryError("a kernel failed in a thread: no memory for its arrays")

    return lambda kernel, count, arguments: run(count, arguments)
