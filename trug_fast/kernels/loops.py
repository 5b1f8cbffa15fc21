"""The one parallel loop: a kernel for each index, in all of Numba's threads.

Numba compiles a loop of its own for every ``prange``, at 0.5 to 1.5 s each.  Here one such loop, in
terms of addresses, serves all kernels.

Tested in tests/kernels/test_linking.py.
"""

from llvmlite import ir
from numba import prange, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .compiling import parallel
from .numba_parts import PLAIN

_WORD, _POINTER = ir.IntType(64), ir.IntType(8).as_pointer()
_BODY = ir.FunctionType(_WORD, [_WORD, _POINTER])  # whether it failed, of index and arguments


@intrinsic
def _call(typingctx, body, index, arguments):
    """Call what lies at the address ``body``; return 1 if it failed."""

    def codegen(context, builder, signature, args):
        body, index, arguments = args
        function = builder.inttoptr(body, _BODY.as_pointer())
        return builder.call(function, [index, builder.inttoptr(arguments, _POINTER)])

    return types.int64(types.int64, types.int64, types.int64), codegen


@parallel
def run(body, count, arguments):
    """Call the body at an address with each index below ``count``."""
    failed = 0
    if count == 1:
        failed = _call(body, 0, arguments)
    else:
        for index in prange(count):
            failed += _call(body, index, arguments)
    if failed > 0:
        raise MemoryError(
            "a kernel failed in a thread: no memory for its arrays, or it called a rare kernel "
            "that is not wanted"
        )


@intrinsic
def each(typingctx, kernel, count, arguments):
    """Call ``kernel(index, *arguments)``, a linked one, for each index below ``count``."""
    if not isinstance(kernel, types.Dispatcher) or not isinstance(arguments, types.BaseTuple):
        raise TypingError(f"each takes a linked kernel, a count and a tuple, got {kernel}")
    kinds = (types.int64, *arguments.types)
    typingctx.resolve_function_type(kernel, kinds, {})
    runner = types.Dispatcher(run)
    running = typingctx.resolve_function_type(runner, (types.int64,) * 3, {})

    def codegen(context, builder, signature, args):
        described = kernel.dispatcher.described[kinds]
        body = _body(context, builder.module, described, arguments)
        slot = cgutils.alloca_once_value(builder, args[2])
        addresses = [builder.ptrtoint(one, _WORD) for one in (body, slot)]
        context.get_function(runner, running)(builder, (addresses[0], args[1], addresses[1]))
        return context.get_dummy_value()

    return types.void(kernel, types.int64, arguments), codegen


def _body(context, module, described, arguments):
    """Make the function that reads the arguments where they lie and calls the kernel."""
    function = ir.Function(module, _BODY, module.get_unique_name("body"))
    function.linkage = "internal"
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    place = context.get_value_type(arguments).as_pointer()
    values = builder.load(builder.bitcast(function.args[1], place))
    parts = [builder.extract_value(values, i) for i in range(len(arguments))]
    status, _ = context.call_conv.call_function(
        builder,
        context.declare_function(module, described),
        described.restype,
        described.argtypes,
        [function.args[0], *parts],
    )
    builder.ret(builder.zext(status.is_error, _WORD))
    return function


if PLAIN:
    from . import plain

    each = plain.each  # type: ignore[assignment]
