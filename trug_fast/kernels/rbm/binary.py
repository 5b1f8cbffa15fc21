"""Products with a matrix of zeros and ones: sums of the rows that its ones select.

Visible states are zeros and ones, mostly zeros.  A dense product multiplies by all of them; here
64 entries become one word of bits, and for each bit that is set one row of the other matrix is
added, from a panel that lies packed in the first-level cache.  100x784x500 in float32, one thread:
0.20 ms at 13 % ones, 0.53 at nothing but ones, beside 0.80 for the dense product.

Every element is a sum in the order of the rows, whatever the size of the tile it is computed in.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from trug_fast.kernels.allocation import empty, zeros
from trug_fast.kernels.compiling import linked, scalar
from trug_fast.kernels.intrinsics import like, pick_count
from trug_fast.kernels.tiles import copy_rows

WORD = 64  # entries in a word of bits, rows in a panel
LANES_64, LANES_32 = 64, 128  # columns of a panel: eight registers of 512 bits, or sixteen of 256
REGISTERS = 8


@intrinsic
def add_selected(typingctx, bits, panel, total):
    """Add to the vector ``total`` the rows of ``panel`` whose bit is set in ``bits`` (uint64).

    total : (lanes,) and panel : (WORD, lanes), contiguous, of one float type.  The sums stay in
    registers: a loop in Numba loads and stores them for each row, three times as slow.
    """
    if panel.dtype != total.dtype or panel.layout != "C" or total.layout != "C":
        raise TypingError(f"add_selected takes contiguous arrays of one type, got {panel}, {total}")
    double = total.dtype == types.float64
    lanes = (LANES_64 if double else LANES_32) // REGISTERS
    vector = ir.VectorType(ir.DoubleType() if double else ir.FloatType(), lanes)
    align = 8 if double else 4

    def codegen(context, builder, signature, args):
        word = ir.IntType(64)
        arrays = [
            context.make_array(t)(context, builder, v)
            for t, v in zip(signature.args[1:], args[1:], strict=True)
        ]
        rows, sums = (builder.bitcast(a.data, vector.as_pointer()) for a in arrays)

        def at(base: Any, index: Any) -> Any:
            return builder.gep(base, [index])

        start = builder.block
        begun = [builder.load(at(sums, word(i)), align=align) for i in range(REGISTERS)]
        head, body, end = (builder.append_basic_block(n) for n in ("head", "body", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        left = builder.phi(word)
        left.add_incoming(args[0], start)
        running = [builder.phi(vector) for _ in range(REGISTERS)]
        for phi, value in zip(running, begun, strict=True):
            phi.add_incoming(value, start)
        builder.cbranch(builder.icmp_unsigned("!=", left, word(0)), body, end)
        builder.position_at_end(body)
        row = builder.mul(builder.cttz(left, ir.Constant(ir.IntType(1), 1)), word(REGISTERS))
        for i, phi in enumerate(running):
            entry = builder.load(at(rows, builder.add(row, word(i))), align=align)
            phi.add_incoming(builder.fadd(phi, entry), body)
        left.add_incoming(builder.and_(left, builder.sub(left, word(1))), body)
        builder.branch(head)
        builder.position_at_end(end)
        for i, phi in enumerate(running):
            builder.store(phi, at(sums, word(i)), align=align)
        return context.get_dummy_value()

    return types.void(types.uint64, panel, total), codegen


@intrinsic
def compared(typingctx, entries):
    """Return two words (uint64): which of the first 64 entries are one, and which are zero.

    entries : (64 or more,), contiguous, float32 or float64.  A few compare instructions; a loop in
    Numba widens each entry to a word of its own, fifteen times as slow.
    """
    if entries.layout != "C":
        raise TypingError(f"compared takes a contiguous array, got {entries}")
    double = entries.dtype == types.float64
    vector = ir.VectorType(ir.DoubleType() if double else ir.FloatType(), WORD)

    def codegen(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.bitcast(array.data, vector.as_pointer())
        values = builder.load(place, align=8 if double else 4)
        words = [
            builder.bitcast(
                builder.fcmp_ordered("==", values, ir.Constant(vector, [number] * WORD)),
                ir.IntType(WORD),
            )
            for number in (1.0, 0.0)
        ]
        return context.make_tuple(builder, signature.return_type, words)

    return types.UniTuple(types.uint64, 2)(entries), codegen


@linked
def row_bits(matrix, row, row_stop, bits):
    """Write the ones of some rows as bits; return whether they hold only zeros and ones.

    bits : (words, rows) uint64; entry (row + r, 64 w + i) is bit i of bits[w, r].  Rows after one
        that holds anything else are left out.
    """
    whole = matrix.shape[1] // WORD
    for r in range(row_stop - row):
        other = np.uint64(0)
        for w in range(whole):
            ones, noughts = compared(matrix[row + r, w * WORD : (w + 1) * WORD])
            bits[w, r] = ones
            other |= ~(ones | noughts)
        rest = matrix[row + r, whole * WORD :]
        if rest.size > 0:
            word = np.uint64(0)
            for i in range(rest.size):
                zero, one = like(rest[i], 0.0), like(rest[i], 1.0)
                word |= np.uint64(rest[i] == one) << np.uint64(i)
                other |= np.uint64(rest[i] != zero) & np.uint64(rest[i] != one)
            bits[whole, r] = word
        if other != np.uint64(0):
            return False
    return True


@linked
def column_bits(matrix, column, column_stop, bits):
    """Do the same for some columns: entry (64 w + i, column + c) is bit i of bits[w, c]."""
    other = 0
    bits[:, :] = np.uint64(0)
    for r in range(matrix.shape[0]):
        source, target = matrix[r, column:column_stop], bits[r // WORD]
        shift = np.uint64(r % WORD)
        for c in range(source.size):
            zero, one = like(source[c], 0.0), like(source[c], 1.0)
            target[c] |= np.uint64(source[c] == one) << shift
            other |= int(source[c] != zero) & int(source[c] != one)
    return other == 0


@scalar
def lanes_of(matrix):
    """Return the columns of a panel for a matrix of this float type."""
    return pick_count(matrix[0, 0], LANES_64, LANES_32)


@scalar
def words_for(entries):
    """Return how many words hold this many bits."""
    return -(-entries // WORD)


@linked
def pack(source, word, start, stop, scale, panel):
    """Copy rows 64 word ... of scale * source, columns start..stop, into a panel."""
    factor = like(panel[0, 0], scale)
    first = word * WORD
    for i in range(first, min(first + WORD, source.shape[0])):
        row, packed = source[i, start:stop], panel[i - first]
        for j in range(row.size):
            packed[j] = factor * row[j]


@linked
def add_panel(bits, panel, total):
    """Add to each row of ``total`` the rows of the panel that its word of ``bits`` selects."""
    for r in range(total.shape[0]):
        add_selected(bits[r], panel, total[r])


@linked
def multiply(matrix, source, out, part):
    """Write the tile ``part`` of matrix @ source into the same place of ``out``.

    Return False, with nothing written, if its rows hold anything but zeros and ones.
    matrix : (rows, n); source : (n, columns); out : (rows, columns); C order
    """
    row, row_stop, start, stop = part
    bits = empty((words_for(matrix.shape[1]), row_stop - row), np.uint64)
    if not row_bits(matrix, row, row_stop, bits):
        return False
    lanes = lanes_of(source)
    total = empty((row_stop - row, lanes), out.dtype)
    panel = zeros((WORD, lanes), out.dtype)
    for first in range(start, stop, lanes):
        last = min(first + lanes, stop)
        total[:, :] = like(total[0, 0], 0.0)
        for word in range(bits.shape[0]):
            pack(source, word, first, last, 1.0, panel)
            add_panel(bits[word], panel, total)
        copy_rows(total, out[row:row_stop, first:last])
    return True
