"""Matrix products on row-strided views, inside compiled code and inside ``prange``.

``np.dot`` in Numba copies every slice of columns and cannot accumulate; this calls the same BLAS
routine with its leading dimensions, so a thread can multiply its own block of a matrix in place.
Callers must hold BLAS to one thread (trug_fast.threads): its threads and Numba's would fight.
"""

from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import get_cython_function_address, intrinsic

from .numba_parts import PLAIN, ensure_blas, get_blas_kind

if PLAIN:  # SciPy's routines, which Numba calls too
    for _name in ("sgemm", "dgemm"):
        _address = get_cython_function_address("scipy.linalg.cython_blas", _name)
        llvm.add_symbol(f"trug_fast_{_name}", _address)


_CHAR = ir.IntType(8)


@intrinsic
def gemm(typingctx, transpose_a, transpose_b, alpha, a, b, beta, c):
    """C = alpha op(a) op(b) + beta c, where op transposes if its flag is true.

    a, b, c are matrices of one float type whose rows are contiguous (last stride one item); the
    distance between rows is free.  Sizes are the caller's responsibility.
    """
    for matrix in (a, b, c):
        if not isinstance(matrix, types.Array) or matrix.ndim != 2 or matrix.dtype != c.dtype:
            raise TypingError(f"gemm takes matrices of one float type, got {a}, {b}, {c}")
    if not PLAIN:
        ensure_blas()

    def codegen(context, builder, signature, args):
        flag_a, flag_b, alpha_, a_, b_, beta_, c_ = args
        arrays = [
            context.make_array(t)(context, builder, v)
            for t, v in zip(signature.args[3:5] + signature.args[6:7], (a_, b_, c_), strict=True)
        ]
        size = context.get_value_type(types.intp)
        itemsize = size(8 if c.dtype == types.float64 else 4)

        def dims(array: Any) -> Any:
            return cgutils.unpack_tuple(builder, array.shape, 2)

        def row_length(array: Any) -> Any:
            # A single row may have any stride (x[None] has 0); BLAS wants no less than its length.
            stride = builder.sdiv(cgutils.unpack_tuple(builder, array.strides, 2)[0], itemsize)
            length = dims(array)[1]
            return builder.select(builder.icmp_signed("<", stride, length), length, stride)

        def scalar_pointer(value: Any, kind_: Any) -> Any:
            cast = context.cast(builder, value, kind_, c.dtype)
            slot = cgutils.alloca_once_value(builder, cast)
            return builder.bitcast(slot, ir.IntType(8).as_pointer())

        def data(array: Any) -> Any:
            return builder.bitcast(array.data, ir.IntType(8).as_pointer())

        rows_c, columns_c = dims(arrays[2])
        rows_a, columns_a = dims(arrays[0])
        truth_a = context.is_true(builder, signature.args[0], flag_a)
        truth_b = context.is_true(builder, signature.args[1], flag_b)
        inner = builder.select(truth_a, rows_a, columns_a)
        letter_a = builder.select(truth_a, _CHAR(ord("t")), _CHAR(ord("n")))
        letter_b = builder.select(truth_b, _CHAR(ord("t")), _CHAR(ord("n")))
        # BLAS is column-major: compute c^T = op(b)^T op(a)^T.
        flags = [letter_b, letter_a]
        sizes = [columns_c, rows_c, inner]
        leading = [row_length(arrays[i]) for i in (1, 0, 2)]
        numbers = [scalar_pointer(v, signature.args[i]) for v, i in ((alpha_, 2), (beta_, 5))]
        matrices = [data(arrays[i]) for i in (1, 0, 2)]
        if PLAIN:
            _call_routine(builder, c.dtype, flags, sizes, leading, numbers, matrices)
        else:
            _call_helper(builder, c.dtype, flags, sizes, leading, numbers, matrices)
        return context.get_dummy_value()

    return types.void(transpose_a, transpose_b, alpha, a, b, beta, c), codegen


def _call_helper(builder, dtype, flags, sizes, leading, numbers, matrices):
    pointer, size = numbers[0].type, sizes[0].type
    kinds = [one.type for one in (*flags, *sizes)]
    kinds += [pointer, pointer, size, pointer, size, pointer, pointer, size]
    name = ir.FunctionType(ir.IntType(32), [_CHAR, *kinds])
    function = cgutils.get_or_insert_function(builder.module, name, "numba_xxgemm")
    (alpha, beta), (a, b, c), (lda, ldb, ldc) = numbers, matrices, leading
    kind = _CHAR(ord(get_blas_kind(dtype)))
    builder.call(function, [kind, *flags, *sizes, alpha, a, lda, b, ldb, beta, c, ldc])


def _call_routine(builder, dtype, flags, sizes, leading, numbers, matrices):
    """Emit a call of the routine, which is given the places of all its arguments."""
    pointer, integer = numbers[0].type, ir.IntType(32)

    def place(value):
        slot = cgutils.alloca_once_value(builder, value)
        return builder.bitcast(slot, pointer)

    (alpha, beta), (a, b, c) = numbers, matrices
    lengths = [place(builder.trunc(one, integer)) for one in (*sizes, *leading)]
    m, n, k, lda, ldb, ldc = lengths
    letters = [place(one) for one in flags]
    given = [*letters, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc]
    kind = ir.FunctionType(ir.VoidType(), [pointer] * len(given))
    name = "trug_fast_dgemm" if dtype == types.float64 else "trug_fast_sgemm"
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), given)
