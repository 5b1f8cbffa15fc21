"""New arrays for kernels to work in.

NumPy's functions, which Numba has too, are compiled for each number of dimensions and each type:
sixteen times, in 0.9 s, for ``train_rbm``.  These are a few instructions.

Tested in tests/kernels/test_linking.py.
"""

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from .numba_parts import PLAIN, make_array, populate_array

_TUPLES = (types.UniTuple, types.Tuple)
ALIGNMENT = 64  # bytes: the widest registers, and lines of the caches


def _kind_of(shape: Any, dtype: Any) -> Any:
    lengths = shape.types if isinstance(shape, _TUPLES) else (shape,)
    numbers = getattr(dtype, "dtype", None)
    if not all(isinstance(one, types.Integer) for one in lengths) or numbers is None:
        raise TypingError(f"an array takes its lengths and a dtype, got {shape} and {dtype}")
    return types.Array(numbers, len(lengths), "C")


def _allocate(context: Any, builder: Any, signature: Any, shape: Any) -> tuple[Any, Any]:
    """Emit what makes an array; return it, and its size in bytes."""
    kind, given = signature.return_type, signature.args[0]
    pairs = [(shape, given)]
    if isinstance(given, _TUPLES):
        pairs = list(zip(cgutils.unpack_tuple(builder, shape), given.types, strict=True))
    lengths = [context.cast(builder, length, one, types.intp) for length, one in pairs]
    numbers = context.get_data_type(kind.dtype)
    itemsize = size = context.get_constant(types.intp, context.get_abi_sizeof(numbers))
    strides: list[Any] = []
    for length in reversed(lengths):
        strides.insert(0, size)
        size = builder.mul(size, length)
    block = context.nrt.meminfo_alloc_aligned(builder, size, ALIGNMENT)
    data = builder.bitcast(context.nrt.meminfo_data(builder, block), numbers.as_pointer())
    array = make_array(kind)(context, builder)
    populate_array(array, data, lengths, strides, itemsize, block)
    return array, size


@intrinsic
def empty(typingctx, shape, dtype):
    """Return a new array of any numbers, as numpy.empty does."""

    def codegen(context, builder, signature, args):
        return _allocate(context, builder, signature, args[0])[0]._getvalue()

    return _kind_of(shape, dtype)(shape, dtype), codegen


@intrinsic
def zeros(typingctx, shape, dtype):
    """Return a new array of zeros, as numpy.zeros does."""

    def codegen(context, builder, signature, args):
        array, size = _allocate(context, builder, signature, args[0])
        cgutils.memset(builder, array.data, size, 0)
        return array._getvalue()

    return _kind_of(shape, dtype)(shape, dtype), codegen


if PLAIN:

    def empty(shape, dtype):  # type: ignore[misc]
        """Return a new array of any numbers."""
        raise NotImplementedError

    def zeros(shape, dtype):  # type: ignore[misc]
        """Return a new array of zeros."""
        raise NotImplementedError

    @overload(empty)
    def _empty(shape, dtype):
        _kind_of(shape, dtype)
        return lambda shape, dtype: np.empty(shape, dtype)

    @overload(zeros)
    def _zeros(shape, dtype):
        _kind_of(shape, dtype)
        return lambda shape, dtype: np.zeros(shape, dtype)
