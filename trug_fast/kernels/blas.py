"""Matrix products on row-strided views, inside compiled code and inside ``prange``.

``np.dot`` in Numba copies every slice of columns and cannot accumulate; this calls the same BLAS
routine with its leading dimensions, so a thread can multiply its own block of a matrix in place.
Callers must hold BLAS to one thread (trug_fast.threads): its threads and Numba's would fight.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.linalg import ensure_blas, get_blas_kind


@intrinsic
def gemm(typingctx, transpose_a, transpose_b, alpha, a, b, beta, c):
    """C = alpha op(a) op(b) + beta c, where op transposes if its flag is true.

    a, b, c are matrices of one float type whose rows are contiguous (last stride one item); the
    distance between rows is free.  Sizes are the caller's responsibility.
    """
    ensure_blas()
    for matrix in (a, b, c):
        if not isinstance(matrix, types.Array) or matrix.ndim != 2 or matrix.dtype != c.dtype:
            raise TypingError(f"gemm takes matrices of one float type, got {a}, {b}, {c}")
    kind = get_blas_kind(c.dtype)

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
        char = ir.IntType(8)
        letter_a = builder.select(truth_a, char(ord("t")), char(ord("n")))
        letter_b = builder.select(truth_b, char(ord("t")), char(ord("n")))
        pointer = char.as_pointer()
        name = ir.FunctionType(
            ir.IntType(32),
            [char, char, char, size, size, size, pointer, pointer, size, pointer, size]
            + [pointer, pointer, size],
        )
        function = cgutils.get_or_insert_function(builder.module, name, "numba_xxgemm")
        # BLAS is column-major: compute c^T = op(b)^T op(a)^T.
        builder.call(
            function,
            [
                char(ord(kind)),
                letter_b,
                letter_a,
                columns_c,
                rows_c,
                inner,
                scalar_pointer(alpha_, signature.args[2]),
                data(arrays[1]),
                row_length(arrays[1]),
                data(arrays[0]),
                row_length(arrays[0]),
                scalar_pointer(beta_, signature.args[5]),
                data(arrays[2]),
                row_length(arrays[2]),
            ],
        )
        return context.get_dummy_value()

    return types.void(transpose_a, transpose_b, alpha, a, b, beta, c), codegen
