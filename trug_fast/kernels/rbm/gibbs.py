"""Half steps of block Gibbs sampling over tiles of the matrix product, and whole sweeps.

Work is cut into tiles of some chains times some units: each is a product, its biases and its
draws while the tile is in cache.  Cutting along units rather than chains spares every thread
from packing the whole weight matrix: 441 against 487 us for 100x784x500 on two cores, and the two
barriers a sweep then needs cost 1.5 us each.  Tiles and streams depend on the shapes alone, so
any number of threads gives the same bits.

Biases have one row for all chains, or one row each (the temporal model).
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import parallel, serial
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM
from trug_fast.kernels.random.philox import padded, uniform_row
from trug_fast.kernels.special.elementary import sigmoid
from trug_fast.kernels.unit.quantile import quantile

from .binary import multiply
from .hidden import draw_row, mean_row, moments_row, part_of, statistics_row

ROWS, HIDDEN, VISIBLE = 256, 128, 64  # size of a tile; units in multiples of 64 (philox.py)


class Layers(NamedTuple):
    """A model as the kernels see it: arrays of one float type.

    Flat, because Numba's parallel loops do not take a tuple within a tuple.
    """

    weights: np.ndarray  # (visible, hidden), C order
    visible_bias: np.ndarray  # (1 or chains, visible)
    hidden_bias: np.ndarray  # (1 or chains, hidden)
    kind: int  # hidden.TRUG or hidden.BERNOULLI
    precision: np.ndarray  # (hidden,)
    lower: np.ndarray  # (hidden,)
    upper: np.ndarray  # (hidden,)
    n_flat: int  # how many units have precision <= 0
    visible_precision: np.ndarray  # (visible,) of Gaussian units; empty: zeros and ones


class Address(NamedTuple):
    """Where a half step's random numbers come from (philox.py); row r is chain first_chain + r."""

    seed: int
    purpose: int
    step: int
    first_chain: int


@serial
def tile(index, rows, units, width):
    """Return the bounds (row, row_stop, unit, unit_stop) of tile ``index``.

    The last columns come first: that tile may be narrow, and the first thread gets one tile more
    where their number is odd.  784 units fall to two threads as 400 and 384, not as 448 and 336.
    """
    across = -(-units // width)
    row, unit = (index // across) * ROWS, (across - 1 - index % across) * width
    return row, min(row + ROWS, rows), unit, min(unit + width, units)


@serial
def tile_count(rows, units, width):
    """Return how many tiles of this width a layer of this size has."""
    return -(-rows // ROWS) * -(-units // width)


@serial
def add_bias(net, bias, row, row_stop, unit, unit_stop):
    """Add to each row of a tile its row of biases."""
    for r in range(row, row_stop):
        # Integer, then slice: Numba keeps such a view contiguous, and its loop vectorises.
        target = net[r, unit:unit_stop]
        source = bias[r if bias.shape[0] > 1 else 0, unit:unit_stop]
        for j in range(target.size):
            target[j] += source[j]


@serial
def hidden_net(layers, visible, net, row, row_stop, unit, unit_stop):
    """Write the net inputs of one tile of hidden units."""
    if not multiply(visible, row, row_stop, layers.weights, unit, unit_stop, net):
        part, weights = net[row:row_stop, unit:unit_stop], layers.weights[:, unit:unit_stop]
        gemm(False, False, 1.0, visible[row:row_stop], weights, 0.0, part)
    add_bias(net, layers.hidden_bias, row, row_stop, unit, unit_stop)


@parallel
def hidden_statistics(layers, visible, net, mean, sums):
    """Write net inputs and means given visibles, and column sums of the statistics.

    visible : (rows, visible); net, mean : (rows, hidden), overwritten
    sums : (row tiles, 4, hidden) float64, overwritten with the sums over each tile's rows of
        E[h], E[h^2], p(h = lower), p(h = upper); left alone if it has no entries
    """
    rows, units = net.shape
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        hidden_net(layers, visible, net, row, row_stop, unit, unit_stop)
        hidden = part_of(layers, unit, unit_stop)
        if sums.size == 0:
            for r in range(row, row_stop):
                mean_row(net[r, unit:unit_stop], hidden, mean[r, unit:unit_stop])
        else:
            # In the layer's own type: mixing widths costs more than the sums of 256 rows lose.
            total = np.zeros((4, unit_stop - unit), net.dtype)
            for r in range(row, row_stop):
                statistics_row(
                    net[r, unit:unit_stop],
                    hidden,
                    mean[r, unit:unit_stop],
                    total[0],
                    total[1],
                    total[2],
                    total[3],
                )
            sums[row // ROWS, :, unit:unit_stop] = total


@serial
def draw_hidden_tile(net, layers, address, sample, row, row_stop, unit, unit_stop):
    """Draw one tile of hidden units from their net inputs."""
    part = part_of(layers, unit, unit_stop)
    uniform = np.empty(padded(unit_stop - unit), net.dtype)
    for r in range(row, row_stop):
        chain = address.first_chain + r
        uniform_row(address.seed, address.purpose, address.step, chain, unit, uniform)
        draw_row(net[r, unit:unit_stop], part, uniform, sample[r, unit:unit_stop])


@parallel
def draw_hidden(layers, net, address, sample):
    """Draw hidden units from their net inputs, both (rows, hidden)."""
    rows, units = net.shape
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        draw_hidden_tile(net, layers, address, sample, row, row_stop, unit, unit_stop)


@parallel
def step_hidden(layers, visible, address, net, sample):
    """Write net inputs and draws of the hidden layer given the visible one."""
    rows, units = net.shape
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        hidden_net(layers, visible, net, row, row_stop, unit, unit_stop)
        draw_hidden_tile(net, layers, address, sample, row, row_stop, unit, unit_stop)


@parallel
def step_visible(layers, hidden, address, mean, sample):
    """Write means and draws of the visible layer given the hidden one."""
    rows, units = sample.shape
    for index in prange(tile_count(rows, units, VISIBLE)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, VISIBLE)
        part = mean[row:row_stop, unit:unit_stop]
        gemm(False, True, 1.0, hidden[row:row_stop], layers.weights[unit:unit_stop], 0.0, part)
        add_bias(mean, layers.visible_bias, row, row_stop, unit, unit_stop)
        uniform = np.empty(padded(unit_stop - unit), sample.dtype)
        precision = layers.visible_precision[unit:unit_stop]
        for r in range(row, row_stop):
            chain = address.first_chain + r
            uniform_row(address.seed, address.purpose, address.step, chain, unit, uniform)
            draw_visible_row(mean[r, unit:unit_stop], precision, uniform, sample[r, unit:unit_stop])


@serial
def draw_visible_row(net, precision, uniform, sample):
    """Replace net inputs by means and draw: zeros and ones, or, given precisions, Gaussians."""
    if precision.size == 0:
        for i in range(net.size):
            net[i] = sigmoid(net[i])
            sample[i] = like(net[i], 1.0) if uniform[i] < net[i] else like(net[i], 0.0)
        return
    infinity = like(net[0], float("inf"))
    for i in range(net.size):
        sample[i] = quantile(uniform[i], net[i], precision[i], -infinity, infinity)
        net[i] = net[i] / precision[i]


@parallel
def hidden_moments(layers, visible, net, mean, variance, log_low, log_high):
    """Write net inputs, means, variances and log end densities, all (rows, hidden)."""
    rows, units = net.shape
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        hidden_net(layers, visible, net, row, row_stop, unit, unit_stop)
        part = part_of(layers, unit, unit_stop)
        for r in range(row, row_stop):
            moments_row(
                net[r, unit:unit_stop],
                part,
                mean[r, unit:unit_stop],
                variance[r, unit:unit_stop],
                log_low[r, unit:unit_stop],
                log_high[r, unit:unit_stop],
            )


@serial
def run_chains(layers, count, seed, first_step, visible, visible_mean, hidden, net):
    """Run ``count`` sweeps hidden <- visible, visible <- hidden, in place, for sampling."""
    for k in range(first_step, first_step + count):
        step_hidden(layers, visible, Address(seed, HIDDEN_STREAM, k, 0), net, hidden)
        step_visible(layers, hidden, Address(seed, VISIBLE_STREAM, k, 0), visible_mean, visible)


@serial
def model_phase(
    layers, k, persistent, seed, first_step, hidden, visible, visible_mean, net, mean, sums
):
    """Run k sweeps visible <- hidden <- visible, in place, and take statistics at the last.

    Sweep i uses step first_step + i of the streams.  ``hidden`` is drawn anew after the last sweep
    if ``persistent``, else left as it entered that sweep.
    """
    for i in range(k):
        step = first_step + i
        address = Address(seed, VISIBLE_STREAM, step, 0)
        step_visible(layers, hidden, address, visible_mean, visible)
        address = Address(seed, HIDDEN_STREAM, step, 0)
        if i + 1 < k:
            step_hidden(layers, visible, address, net, hidden)
        else:
            hidden_statistics(layers, visible, net, mean, sums)
            if persistent:
                draw_hidden(layers, net, address, hidden)
