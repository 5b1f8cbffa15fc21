"""Parallel tempering: replicas of every chain at inverse temperatures that exchange their states.

Replica r of a chain follows the path of mathematics 3.2 with s = t,

    p_t(x, h) ~ exp(-h'Dh/2 + t (x'W + c') h + x' ((1 - t) base + t b)),

from independent pixels at t = 0 to the model at t = 1.  Rows are ordered by temperature: row
r * chains + m is replica r of chain m.  States are exchanged with the hidden units summed out,
which accepts more often than exchanging both layers.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import SWAP, block, double_from_words
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM
from trug_fast.kernels.tiles import HIDDEN, tile, tile_count

from .gibbs import Address, draw_hidden_tile, net_inputs, step_visible
from .hidden import log_norm_row, part_of


class ReplicaStates(NamedTuple):
    """All replicas of all chains, and their working arrays."""

    t: np.ndarray  # (rows,) inverse temperatures, of the layers' float type
    tilt: np.ndarray  # (visible,) b - base
    scaled: np.ndarray  # (rows, hidden) t h: all that one call of ``sweeps`` needs of another
    visible: np.ndarray  # (rows, visible) as of the last exchange
    visible_mean: np.ndarray  # (rows, visible)
    net: np.ndarray  # (rows, hidden) net inputs at t = 1, but from a draw to the next step
    accepted: np.ndarray  # (temperatures - 1, chains) int64, 1 added where a pair was exchanged


@linked
def scale_rows(array, t, part):
    """Multiply each row of a tile by its number."""
    for r in range(part.row, part.row_stop):
        row = array[r, part.unit : part.unit_stop]
        for j in range(row.size):
            row[j] *= t[r]


@linked
def log_ratio(layers, replicas, row, at, values):
    """Return log p_s(x) - log p_t(x), unnormalised: x and t of one row, s of the row ``at``."""
    visible, net, tilt = replicas.visible[row], replicas.net[row], replicas.tilt
    t, other = np.float64(replicas.t[row]), np.float64(replicas.t[at])
    units = part_of(layers, 0, net.size)
    linear = 0.0
    for i in range(visible.size):
        linear += np.float64(visible[i]) * np.float64(tilt[i])
    total = (other - t) * linear
    total += log_norm_row(net, units, other, 1.0, values)
    total -= log_norm_row(net, units, t, 1.0, values)
    return total


@linked
def swap_rows(array, first, second):
    """Exchange two rows."""
    a, b = array[first], array[second]
    for i in range(a.size):
        kept = a[i]
        a[i] = b[i]
        b[i] = kept


@linked
def _draw_scaled_tile(index, layers, replicas, address):
    t, net, scaled = replicas.t, replicas.net, replicas.scaled
    rows, units = net.shape
    part = tile(index, rows, units, HIDDEN)
    scale_rows(net, t, part)
    draw_hidden_tile(net, layers, address, scaled, part)
    scale_rows(scaled, t, part)


@kernel
def draw_scaled(layers, replicas, address):
    """Draw hidden units at each row's temperature and store t h, as the visibles need it.

    The net inputs, at t = 1, are overwritten by t net.
    """
    rows, units = replicas.net.shape
    each(_draw_scaled_tile, tile_count(rows, units, HIDDEN), (layers, replicas, address))


@linked
def _exchange_chain(m, layers, replicas, seed, step):
    visible, net, accepted = replicas.visible, replicas.net, replicas.accepted
    pairs, chains = accepted.shape
    values = empty(net.shape[1], np.float64)
    for r in range(step % 2, pairs, 2):
        low, high = r * chains + m, (r + 1) * chains + m
        gain = log_ratio(layers, replicas, low, high, values)
        gain += log_ratio(layers, replicas, high, low, values)
        w0, w1, _, _ = block(seed, SWAP, step, m, r)
        if math.log(double_from_words(w0, w1)) < gain:
            swap_rows(visible, low, high)
            swap_rows(net, low, high)
            accepted[r, m] += 1


@linked
def exchange(layers, replicas, seed, step):
    """Let neighbours exchange their states, pairs (0, 1), (2, 3), ... and (1, 2), ... in turns.

    Alternating instead of choosing at random carries states along the ladder faster.
    """
    each(_exchange_chain, replicas.accepted.shape[1], (layers, replicas, seed, step))


@kernel
def sweeps(layers, replicas, n_gibbs, seed, first_step):
    """Run sweeps visible <- hidden, exchange, hidden <- visible of all replicas, in place.

    layers : visible_bias has a row for each row, at its temperature
    """
    for step in range(first_step, first_step + n_gibbs):
        address = Address(seed, VISIBLE_STREAM, step, 0)
        step_visible(layers, replicas.scaled, address, replicas.visible_mean, replicas.visible)
        net_inputs(layers, replicas.visible, replicas.net)
        exchange(layers, replicas, seed, step)
        draw_scaled(layers, replicas, Address(seed, HIDDEN_STREAM, step, 0))
