"""What the temporal model needs beyond the RBM on all frames at once.

Rows are frames.  Formulas: mathematics 4.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import zeros
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked, pattern, rare_row, rarely, row_loop, scalar
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.loops import each
from trug_fast.kernels.rbm.hidden import NONPOSITIVE, part_of
from trug_fast.kernels.special.elementary import exp
from trug_fast.kernels.tiles import HIDDEN, ROWS, copy_rows, tile, tile_count
from trug_fast.kernels.unit.any_precision import evaluate_any
from trug_fast.kernels.unit.normalizer import evaluate

TALL, WIDE = 512, 256  # size of a tile of a large product, with which nothing else is done


class Slopes(NamedTuple):
    """Running sums over rows: statistics of the units, and what the mean's derivatives bring."""

    squares: np.ndarray  # (hidden,) of E[h^2]
    at_lower: np.ndarray  # (hidden,) of p(h = lower)
    at_upper: np.ndarray  # (hidden,) of p(h = upper)
    by_precision: np.ndarray  # (hidden,) of delta times the mean's derivative by d
    by_lower: np.ndarray  # (hidden,) the same by lower
    by_upper: np.ndarray  # (hidden,) the same by upper


@scalar
def product_width(rows, columns):
    """Return the width of a tile of a product: BLAS packs its rows anew for the tile beside it.

    Small products keep narrow ones, so that there are four tiles.  One thread, 400x900 by 900x900:
    8.3 ms in tiles of 256x128, 7.6 in 512x256, 7.2 as a whole, which leaves other threads nothing.
    """
    return WIDE if max(rows, columns) > TALL else HIDDEN


@linked
def _product_tile(index, transpose, a, b, scale, out):
    rows, columns = out.shape
    row, row_stop, first, last = tile(index, rows, columns, product_width(rows, columns), TALL)
    part = out[row:row_stop, first:last]
    if transpose:
        gemm(True, False, scale, a[:, row:row_stop], b[:, first:last], 1.0, part)
    else:
        gemm(False, False, scale, a[row:row_stop], b[:, first:last], 1.0, part)


@kernel
def add_product(transpose, a, b, scale, out):
    """Add scale op(a) b to ``out`` in all threads; op transposes if so flagged."""
    rows, columns = out.shape
    count = tile_count(rows, columns, product_width(rows, columns), TALL)
    each(_product_tile, count, (transpose, a, b, scale, out))


@pattern
def _slopes(evaluated, net, units, delta, sums):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        value = evaluated(net[j], precision[j], lower[j], upper[j])
        _, _, m, v, third, log_low, log_high, _ = value
        low, high, zero = exp(log_low), exp(log_high), like(m, 0.0)
        by_lower = low * (m - lower[j]) if low > zero else zero  # an infinite end has density 0
        by_upper = high * (upper[j] - m) if high > zero else zero
        sums.squares[j] += v + m * m
        sums.at_lower[j] += low
        sums.at_upper[j] += high
        sums.by_precision[j] += delta[j] * -(like(m, 0.5) * third + m * v)
        sums.by_lower[j] += delta[j] * by_lower
        sums.by_upper[j] += delta[j] * by_upper


@rare_row(NONPOSITIVE)
def _slopes_of_any(net, units, delta, sums):
    _slopes(evaluate_any, net, units, delta, sums)


@row_loop
def slopes_row(net, units, delta, sums):
    """Add one row's share to the running sums of TruG units."""
    if units.n_nonpositive > 0:
        rarely(_slopes_of_any, (net, units, delta, sums))
    else:
        _slopes(evaluate, net, units, delta, sums)


@linked
def _slopes_rows(net, units, delta, sums, here):
    unit, unit_stop = here.unit, here.unit_stop
    for r in range(here.row, here.row_stop):
        slopes_row(net[r, unit:unit_stop], units, delta[r, unit:unit_stop], sums)


@linked
def _slopes_tile(index, layers, net, delta, sums):
    rows, units = net.shape
    here = tile(index, rows, units, HIDDEN)
    row, _, unit, unit_stop = here
    part = part_of(layers, unit, unit_stop)
    total = zeros((6, unit_stop - unit), net.dtype)
    added = Slopes(total[0], total[1], total[2], total[3], total[4], total[5])
    _slopes_rows(net, part, delta, added, here)
    copy_rows(total, sums[row // ROWS, :, unit:unit_stop])


@kernel
def slope_sums(layers, net, delta, sums):
    """Write sums over rows that the gradients by d, lower and upper are made of (mathematics 4.2).

    net, delta : (rows, hidden)
    sums : (row tiles, 6, hidden) float64, overwritten with the sums of Slopes
    """
    rows, units = net.shape
    each(_slopes_tile, tile_count(rows, units, HIDDEN), (layers, net, delta, sums))
