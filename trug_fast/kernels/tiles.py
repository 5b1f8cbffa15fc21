"""Tiles of matrices, as parallel loops go over them, and rows gathered into one matrix.

Work is cut into tiles of some rows times some units: each is a product, its biases and its draws
while the tile is in cache.  Cutting along units rather than rows spares every thread from packing
the whole weight matrix: 441 against 487 us for 100x784x500 on two cores, and the two barriers a
sweep then needs cost 1.5 us each.  Tiles depend on the shapes alone, so any number of threads gives
the same bits.
"""

from typing import NamedTuple

from .compiling import kernel, linked, scalar
from .loops import each

ROWS, HIDDEN, VISIBLE = 256, 128, 64  # size of a tile; units in multiples of 64 (philox.py)
GATHERED = 16  # rows that a thread gathers at a time
SHARED = 4  # chains from which two threads have a block each
STRIPS = 8  # of a weight matrix's rows; 14 instead of 8 cost 10 % at 784x500, 4 instead gain 7 %


class Tile(NamedTuple):
    """Rows ``row`` to ``row_stop`` of units ``unit`` to ``unit_stop``."""

    row: int
    row_stop: int
    unit: int
    unit_stop: int


@scalar
def tile(index, rows, units, width, height=ROWS):
    """Return tile ``index`` of a matrix that is cut into tiles of this width and height.

    The last columns come first: that tile may be narrow, and the first thread gets one tile more
    where their number is odd.  784 units fall to two threads as 400 and 384, not as 448 and 336.
    """
    across = -(-units // width)
    row, unit = (index // across) * height, (across - 1 - index % across) * width
    return Tile(row, min(row + height, rows), unit, min(unit + width, units))


def count_tiles(rows, units, width, height=ROWS):
    """Return how many tiles of this size such a matrix has."""
    return -(-rows // height) * -(-units // width)


tile_count = scalar(count_tiles)  # the same for kernels


@scalar
def block_height(chains, most):
    """Return how many chains go together: an even number of blocks, by the chains alone."""
    blocks = 2 * -(-chains // (2 * most)) if chains >= SHARED else 1
    return -(-chains // blocks)


@linked
def copy(source, out):
    """Copy a vector."""
    for i in range(out.size):
        out[i] = source[i]


@linked
def copy_rows(source, out):
    """Copy a matrix; what an assignment of arrays does, without code for its messages (0.7 s)."""
    for r in range(out.shape[0]):
        row, target = source[r], out[r]
        for i in range(target.size):
            target[i] = row[i]


@linked
def add_rows(source, out):
    """Add a matrix to another."""
    for r in range(out.shape[0]):
        row, target = source[r], out[r]
        for i in range(target.size):
            target[i] += row[i]


@linked
def _gather_some(index, source, order, out):
    for r in range(index * GATHERED, min((index + 1) * GATHERED, order.size)):
        row, target = source[order[r]], out[r]
        for i in range(target.size):
            target[i] = row[i]


@kernel
def gather(source, order, out):
    """Copy rows ``order`` of ``source`` (any number type) to ``out`` (rows, columns)."""
    each(_gather_some, -(-order.size // GATHERED), (source, order, out))
