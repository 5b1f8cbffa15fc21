"""Parallel tempering: replicas of every chain at inverse temperatures that exchange their states.

Replica r of a chain follows the path of math.md 3.2 with s = t,

    p_t(x, h) ~ exp(-h'Dh/2 + t (x'W + c') h + x' ((1 - t) base + t b)),

from independent pixels at t = 0 to the model at t = 1.  Rows are ordered by temperature: row
r * chains + m is replica r of chain m.  States are exchanged with the hidden units summed out,
which accepts more often than exchanging both layers.
"""

import math

import numpy as np
from numba import prange

from trug_fast.kernels.compiling import parallel, serial
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import SWAP, block, double_from_words
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM

from .gibbs import HIDDEN, Address, draw_hidden_tile, hidden_net, step_visible, tile
from .gibbs import tile_count as tiles
from .hidden import log_norm_row, part_of


@parallel
def net_inputs(layers, visible, net):
    """Write the net inputs at t = 1 of all rows."""
    rows, units = net.shape
    for index in prange(tiles(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        hidden_net(layers, visible, net, row, row_stop, unit, unit_stop)


@parallel
def draw_scaled(layers, t, net, address, scaled):
    """Draw hidden units at each row's temperature and store t h, as the visibles need it.

    t : (rows,), of the layers' float type; net : (rows, hidden) at t = 1, overwritten by t net
    """
    rows, units = net.shape
    for index in prange(tiles(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        scale_rows(net, t, row, row_stop, unit, unit_stop)
        draw_hidden_tile(net, layers, address, scaled, row, row_stop, unit, unit_stop)
        scale_rows(scaled, t, row, row_stop, unit, unit_stop)


@serial
def scale_rows(array, t, row, row_stop, unit, unit_stop):
    """Multiply each row of a tile by its number."""
    for r in range(row, row_stop):
        part = array[r, unit:unit_stop]
        for j in range(part.size):
            part[j] *= t[r]


@serial
def log_ratio(layers, tilt, t, other, visible, net, values):
    """Return log p_other(x) - log p_t(x), unnormalised, of one row."""
    units = part_of(layers, 0, net.size)
    linear = 0.0
    for i in range(visible.size):
        linear += np.float64(visible[i]) * np.float64(tilt[i])
    total = (other - t) * linear
    total += log_norm_row(net, units, other, 1.0, values)
    total -= log_norm_row(net, units, t, 1.0, values)
    return total


@serial
def swap_rows(array, first, second):
    """Exchange two rows."""
    a, b = array[first], array[second]
    for i in range(a.size):
        kept = a[i]
        a[i] = b[i]
        b[i] = kept


@parallel
def exchange(layers, tilt, t, chains, seed, step, visible, net, accepted):
    """Let neighbours exchange their states, pairs (0, 1), (2, 3), ... and (1, 2), ... in turns.

    Alternating instead of choosing at random carries states along the ladder faster.

    tilt : (visible,), b - base; t : (rows,)
    visible, net : (rows, visible) and (rows, hidden), net at t = 1; rows are exchanged in place
    accepted : (temperatures - 1, chains), 1 added where a pair was exchanged
    """
    pairs = accepted.shape[0]
    for m in prange(chains):
        values = np.empty(net.shape[1])
        for r in range(step % 2, pairs, 2):
            low, high = r * chains + m, (r + 1) * chains + m
            cold, hot = np.float64(t[high]), np.float64(t[low])
            gain = log_ratio(layers, tilt, hot, cold, visible[low], net[low], values)
            gain += log_ratio(layers, tilt, cold, hot, visible[high], net[high], values)
            w0, w1, _, _ = block(seed, SWAP, step, m, r)
            if math.log(double_from_words(w0, w1)) < gain:
                swap_rows(visible, low, high)
                swap_rows(net, low, high)
                accepted[r, m] += 1


@serial
def sweeps(layers, tilt, t, chains, k, seed, first_step, scaled, visible, mean, net, accepted):
    """Run k sweeps visible <- hidden, exchange, hidden <- visible of all replicas, in place.

    layers : visible_bias has a row for each row, at its temperature
    scaled : (rows, hidden), t h as it enters and as it leaves
    visible : (rows, visible), as of the last exchange
    """
    for step in range(first_step, first_step + k):
        step_visible(layers, scaled, Address(seed, VISIBLE_STREAM, step, 0), mean, visible)
        net_inputs(layers, visible, net)
        exchange(layers, tilt, t, chains, seed, step, visible, net, accepted)
        draw_scaled(layers, t, net, Address(seed, HIDDEN_STREAM, step, 0), scaled)
