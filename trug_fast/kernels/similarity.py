"""How many rows of categories are like each row: pairs of rows compared in blocks.

A block of rows lies column by column, so that one instruction compares a category with those of 64
rows.

Tested in tests/datasets/test_similarity.py.
"""

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, row_loop
from trug_fast.kernels.loops import each

ROWS = 64  # that a thread compares with a block while that is in the first-level cache
BLOCK = 512
COUNTED = 255  # columns whose agreements a byte counts


@row_loop
def _agree(column, category, same):
    """Count where a block of one column has this category."""
    for j in range(same.size):
        same[j] += np.uint8(column[j] == category)


@row_loop
def _gather(same, total):
    """Add agreements to their totals, and begin anew."""
    for j in range(same.size):
        total[j] += same[j]
        same[j] = np.uint8(0)


@linked
def _reached(total, least):
    """Return how many totals reach a number."""
    count = 0
    for j in range(total.size):
        count += int(total[j] >= least)
    return count


@linked
def _count_rows(index, rows, columns, least, out):
    first, stop = index * ROWS, min((index + 1) * ROWS, rows.shape[0])
    for r in range(first, stop):
        out[r] = 0
    same, total = empty(BLOCK, np.uint8), empty(BLOCK, np.int32)
    same[:] = np.uint8(0)
    for start in range(0, rows.shape[0], BLOCK):
        end = min(start + BLOCK, rows.shape[0])
        ours, sums = same[: end - start], total[: end - start]
        for r in range(first, stop):
            sums[:] = np.int32(0)
            for c in range(rows.shape[1]):
                _agree(columns[c, start:end], rows[r, c], ours)
                if (c + 1) % COUNTED == 0:
                    _gather(ours, sums)
            _gather(ours, sums)
            out[r] += _reached(sums, least)


@kernel
def count_similar(rows, columns, least, out):
    """Write how many rows agree with each in so many columns or more, itself among them.

    rows : (n, m) uint8; columns : (m, n), the same column by column; out : (n,) int64
    """
    each(_count_rows, -(-rows.shape[0] // ROWS), (rows, columns, least, out))
