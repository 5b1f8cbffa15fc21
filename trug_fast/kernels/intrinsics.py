"""Single machine instructions that Numba has no name for, for float32 and float64 alike.

Tested in tests/kernels/special/test_elementary.py.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

# Polynomials of this many coefficients are summed in two and in four strands, of every second and
# every fourth power.  One strand has to wait four cycles for each term, more than the work beside
# it fills: a draw took 18.6 ns with one strand, 16.9 with two, two ns less again with four.
TWO_STRANDS, FOUR_STRANDS = 9, 16

_MANTISSA_BITS = {types.float64: 52, types.float32: 23}
_BIAS = {types.float64: 1023, types.float32: 127}
_BITS = {types.float64: 64, types.float32: 32}


def _require_float(name: str, *arguments: Any) -> None:
    for argument in arguments:
        if argument not in _MANTISSA_BITS:
            raise TypingError(f"{name} takes float32 or float64, got {argument}")


def _constant(kind: Any, value: float) -> ir.Constant:
    return ir.Constant(ir.DoubleType() if kind == types.float64 else ir.FloatType(), value)


def _fma(builder: Any, kind: Any, x: Any, y: Any, z: Any) -> Any:
    """Emit one fused multiply-add; exact even where the processor lacks the instruction."""
    llvm = ir.DoubleType() if kind == types.float64 else ir.FloatType()
    name = "llvm.fma.f64" if kind == types.float64 else "llvm.fma.f32"
    signature = ir.FunctionType(llvm, [llvm, llvm, llvm])
    function = builder.module.globals.get(name) or ir.Function(builder.module, signature, name)
    return builder.call(function, [x, y, z])


@intrinsic
def fma(typingctx, x, y, z):
    """Return x*y + z with one rounding; all three of one float type."""
    _require_float("fma", x, y, z)

    def codegen(context, builder, signature, args):
        return _fma(builder, signature.return_type, *args)

    return x(x, x, x), codegen


@intrinsic
def rounded(typingctx, x, y):
    """Return x*y rounded, which the compiler may not fuse with a sum it goes into."""
    _require_float("rounded", x, y)

    def codegen(context, builder, signature, args):
        zero = _constant(signature.return_type, 0.0)
        return _fma(builder, signature.return_type, *args, zero)

    return x(x, x), codegen


@intrinsic
def like(typingctx, x, value):
    """Return the number ``value`` in the float type of ``x``."""
    _require_float("like", x)

    def codegen(context, builder, signature, args):
        return context.cast(builder, args[1], signature.args[1], signature.return_type)

    return x(x, value), codegen


@intrinsic
def pick(typingctx, x, double, single):
    """Return ``double`` if x is float64, else ``single``, in the float type of ``x``."""
    _require_float("pick", x)

    def codegen(context, builder, signature, args):
        chosen = 1 if signature.return_type == types.float64 else 2
        return context.cast(builder, args[chosen], signature.args[chosen], signature.return_type)

    return x(x, double, single), codegen


@intrinsic
def power_of_two(typingctx, magic):
    """Return 2**k where ``magic`` holds k in its low mantissa bits (k + 1.5 * 2**mantissa)."""
    _require_float("power_of_two", magic)
    mantissa, bias, width = _MANTISSA_BITS[magic], _BIAS[magic], _BITS[magic]

    def codegen(context, builder, signature, args):
        integer = ir.IntType(width)
        bits = builder.bitcast(args[0], integer)
        shifted = builder.shl(builder.add(bits, integer(bias)), integer(mantissa))
        return builder.bitcast(shifted, args[0].type)

    return magic(magic), codegen


@intrinsic
def split_exponent(typingctx, x):
    """Return (m, e) with x = m * 2**e and m in [1/sqrt(2), sqrt(2)), both in the type of x > 0."""
    _require_float("split_exponent", x)
    mantissa, width = _MANTISSA_BITS[x], _BITS[x]
    half_root = 0x3FE6A09E667F3BCD if x == types.float64 else 0x3F3504F3  # bits of 1/sqrt(2)

    def codegen(context, builder, signature, args):
        integer, real = ir.IntType(width), args[0].type
        bits = builder.bitcast(args[0], integer)
        exponent = builder.ashr(builder.sub(bits, integer(half_root)), integer(mantissa))
        fraction = builder.sub(bits, builder.shl(exponent, integer(mantissa)))
        # The exponent fits 32 bits, whose conversion to float exists as a vector instruction on
        # every processor; that of 64-bit integers does not.
        small = builder.trunc(exponent, ir.IntType(32)) if width == 64 else exponent
        parts = [builder.bitcast(fraction, real), builder.sitofp(small, real)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(x, 2)(x), codegen


def _sum(builder: Any, kind: Any, rising: tuple[float, ...], x: Any, strands: int) -> Any:
    """Emit the sum of rising powers of x, each strand by Horner's rule."""
    if strands == 1:
        total = _constant(kind, rising[-1])
        for coefficient in rising[-2::-1]:
            total = _fma(builder, kind, total, x, _constant(kind, coefficient))
        return total
    square = builder.fmul(x, x)
    even = _sum(builder, kind, rising[0::2], square, strands // 2)
    odd = _sum(builder, kind, rising[1::2], square, strands // 2)
    return _fma(builder, kind, odd, x, even)


def polynomial(double: tuple[float, ...], single: tuple[float, ...]) -> Any:
    """Make a function of one number, by Horner's rule from coefficients, highest power first.

    The coefficients become constants of the machine code, the long ones for float64, the short
    ones for float32.
    """

    @intrinsic
    def evaluate(typingctx, x):
        _require_float("polynomial", x)

        def codegen(context, builder, signature, args):
            kind = signature.return_type
            coefficients = double if kind == types.float64 else single
            size = len(coefficients)
            strands = 1 if size < TWO_STRANDS else (2 if size < FOUR_STRANDS else 4)
            return _sum(builder, kind, coefficients[::-1], args[0], strands)

        return x(x), codegen

    return evaluate


@intrinsic
def pick_count(typingctx, x, double, single):
    """Return the integer ``double`` if x is float64, else ``single``; a constant trip count."""
    _require_float("pick_count", x)

    def codegen(context, builder, signature, args):
        chosen = 1 if signature.args[0] == types.float64 else 2
        return context.cast(builder, args[chosen], signature.args[chosen], types.int64)

    return types.int64(x, double, single), codegen
