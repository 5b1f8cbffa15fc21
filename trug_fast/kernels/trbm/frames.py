"""What the temporal machine needs beyond the RBM on all frames at once: products, real visibles.

Rows are frames.  Formulas: math.md section 4.
"""

import numpy as np
from numba import prange

from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import parallel, scalar, serial
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM
from trug_fast.kernels.random.philox import padded, uniform_row
from trug_fast.kernels.rbm.gibbs import (
    HIDDEN,
    ROWS,
    VISIBLE,
    Address,
    add_bias,
    draw_visible_row,
    hidden_statistics,
    step_hidden,
    tile,
    tile_count,
)
from trug_fast.kernels.rbm.hidden import moments_row, part_of
from trug_fast.kernels.special.elementary import exp, sigmoid
from trug_fast.kernels.unit.nonpositive_precision import evaluate_flat
from trug_fast.kernels.unit.normalizer import evaluate


@parallel
def product(transpose_a, transpose_b, a, b, scale, keep, out):
    """Compute out = scale op(a) op(b) + keep out in all threads; op transposes if so flagged."""
    rows, columns = out.shape
    for index in prange(tile_count(rows, columns, HIDDEN)):
        row, row_stop, first, last = tile(index, rows, columns, HIDDEN)
        part = out[row:row_stop, first:last]
        if transpose_a:
            gemm(True, False, scale, a[:, row:row_stop], b[:, first:last], keep, part)
        elif transpose_b:
            gemm(False, True, scale, a[row:row_stop], b[first:last], keep, part)
        else:
            gemm(False, False, scale, a[row:row_stop], b[:, first:last], keep, part)


@serial
def visible_row(net, precision, draw, uniform, sample):
    """Replace net inputs by means, and write draws, or the means again.

    precision : empty for visibles of 0 and 1, else the precisions of Gaussian ones
    """
    if draw:
        draw_visible_row(net, precision, uniform, sample)
        return
    for i in range(net.size):
        net[i] = sigmoid(net[i]) if precision.size == 0 else net[i] / precision[i]
        sample[i] = net[i]


@parallel
def step_visible(layers, precision, address, draw, hidden, mean, sample, total):
    """Write means and draws (or means twice) of the visible layer given the hidden one.

    total : (rows, visible), to which the means are added; left alone if it has no entries
    """
    rows, units = sample.shape
    for index in prange(tile_count(rows, units, VISIBLE)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, VISIBLE)
        part = mean[row:row_stop, unit:unit_stop]
        gemm(False, True, 1.0, hidden[row:row_stop], layers.weights[unit:unit_stop], 0.0, part)
        add_bias(mean, layers.visible_bias, row, row_stop, unit, unit_stop)
        uniform = np.zeros(padded(unit_stop - unit), mean.dtype)
        precisions = precision[unit:unit_stop]
        for r in range(row, row_stop):
            if draw:
                chain = address.first_chain + r
                uniform_row(address.seed, address.purpose, address.step, chain, unit, uniform)
            visible_row(
                mean[r, unit:unit_stop], precisions, draw, uniform, sample[r, unit:unit_stop]
            )
            if total.size > 0:
                target, source = total[r, unit:unit_stop], mean[r, unit:unit_stop]
                for i in range(target.size):
                    target[i] += source[i]


@serial
def model_phase(
    layers, precision, k, seed, first_step, hidden, visible, visible_mean, net, mean, sums
):
    """Run k sweeps visible <- hidden <- visible, in place, and take statistics at the last.

    As gibbs.model_phase for chains that are not kept, but for visibles of either kind.
    """
    for i in range(k):
        step = first_step + i
        address = Address(seed, VISIBLE_STREAM, step, 0)
        step_visible(
            layers, precision, address, True, hidden, visible_mean, visible, visible_mean[:0]
        )
        if i + 1 < k:
            step_hidden(layers, visible, Address(seed, HIDDEN_STREAM, step, 0), net, hidden)
        else:
            hidden_statistics(layers, visible, net, mean, sums)


@serial
def predict_visible(
    layers, precision, count, skip, draw, seed, first_step, visible, mean, hidden, net, total
):
    """Run ``count`` sweeps hidden <- visible, visible <- hidden, by draws or by means, in place.

    The means of all but the first ``skip`` sweeps are added to ``total``.
    """
    no_sums = np.empty((0, 4, 0))
    for i in range(count):
        step = first_step + i
        if draw:
            step_hidden(layers, visible, Address(seed, HIDDEN_STREAM, step, 0), net, hidden)
        else:
            hidden_statistics(layers, visible, net, hidden, no_sums)
        address = Address(seed, VISIBLE_STREAM, step, 0)
        added = total if i >= skip else total[:0]
        step_visible(layers, precision, address, draw, hidden, mean, visible, added)


@parallel
def net_moments(layers, net, mean, variance):
    """Write means and variances of hidden units from their net inputs, all (rows, hidden)."""
    rows, units = net.shape
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        part = part_of(layers, unit, unit_stop)
        low = np.empty(unit_stop - unit, net.dtype)
        high = np.empty(unit_stop - unit, net.dtype)
        for r in range(row, row_stop):
            m, v = mean[r, unit:unit_stop], variance[r, unit:unit_stop]
            moments_row(net[r, unit:unit_stop], part, m, v, low, high)


@scalar
def _slopes(m, v, third, log_low, log_high, lower, upper):
    """Return E[h^2], the end densities, and the mean's derivatives by d, lower and upper."""
    low, high, zero = exp(log_low), exp(log_high), like(m, 0.0)
    by_lower = low * (m - lower) if low > zero else zero  # an infinite end has density 0
    by_upper = high * (upper - m) if high > zero else zero
    return v + m * m, low, high, -(like(m, 0.5) * third + m * v), by_lower, by_upper


@serial
def _slopes_row(net, units, delta, squares, low, high, by_precision, by_lower, by_upper):
    """Add one row's share to slope_sums.  One array a sum: rows of one matrix do not vectorise."""
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        _, _, m, v, third, log_low, log_high, _ = evaluate(net[j], precision[j], lower[j], upper[j])
        s0, s1, s2, s3, s4, s5 = _slopes(m, v, third, log_low, log_high, lower[j], upper[j])
        zero = like(net[j], 0.0)
        flat = precision[j] <= zero
        squares[j] += zero if flat else s0
        low[j] += zero if flat else s1
        high[j] += zero if flat else s2
        by_precision[j] += zero if flat else delta[j] * s3
        by_lower[j] += zero if flat else delta[j] * s4
        by_upper[j] += zero if flat else delta[j] * s5
    if units.n_flat > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                _, _, m, v, third, log_low, log_high, _ = evaluate_flat(
                    net[j], precision[j], lower[j], upper[j]
                )
                s0, s1, s2, s3, s4, s5 = _slopes(m, v, third, log_low, log_high, lower[j], upper[j])
                squares[j] += s0
                low[j] += s1
                high[j] += s2
                by_precision[j] += delta[j] * s3
                by_lower[j] += delta[j] * s4
                by_upper[j] += delta[j] * s5


@parallel
def slope_sums(layers, net, delta, sums):
    """Write sums over rows that the gradients by d, lower and upper are made of (math.md 4.2).

    net, delta : (rows, hidden)
    sums : (row tiles, 6, hidden) float64, overwritten with sums of E[h^2], p(h = lower),
        p(h = upper), and of delta times the mean's derivatives by d, lower and upper
    """
    rows, units = net.shape
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        part = part_of(layers, unit, unit_stop)
        total = np.zeros((6, unit_stop - unit), net.dtype)
        for r in range(row, row_stop):
            _slopes_row(
                net[r, unit:unit_stop],
                part,
                delta[r, unit:unit_stop],
                total[0],
                total[1],
                total[2],
                total[3],
                total[4],
                total[5],
            )
        sums[row // ROWS, :, unit:unit_stop] = total
