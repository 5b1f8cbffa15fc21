"""Half steps of block Gibbs sampling over tiles of the matrix product, and whole sweeps.

Biases have one row for all chains, or one row each: a frame of a temporal model given its past is
an RBM with biases of its own.  Streams depend on the shapes alone, as tiles do (tiles.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty, zeros
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM
from trug_fast.kernels.random.philox import padded, uniform_row
from trug_fast.kernels.tiles import (
    HIDDEN,
    ROWS,
    add_rows,
    copy_rows,
    count_tiles,
    tile,
    tile_count,
)
from trug_fast.kernels.unit.quantile_rows import SPACE

from .binary import multiply
from .hidden import (
    Statistics,
    draw_row,
    log_norm_row,
    mean_row,
    moments_row,
    part_of,
    statistics_row,
)
from .visible import (
    VisibleKinds,
    visible_part,
    visible_rows,
    visible_tile,
    visible_tile_count,
)


class Layers(NamedTuple):
    """A model as the kernels see it: arrays of one float type."""

    weights: np.ndarray  # (visible, hidden), C order
    visible_bias: np.ndarray  # (1 or chains, visible)
    hidden_bias: np.ndarray  # (1 or chains, hidden)
    kind: int  # hidden.TRUG or hidden.BERNOULLI
    precision: np.ndarray  # (hidden,)
    lower: np.ndarray  # (hidden,)
    upper: np.ndarray  # (hidden,)
    n_nonpositive: int  # how many units have precision <= 0
    visible_kinds: VisibleKinds


class Address(NamedTuple):
    """Where a half step's random numbers come from (philox.py); row r is chain first_chain + r."""

    seed: int
    purpose: int
    step: int
    first_chain: int


class Phase(NamedTuple):
    """Rows of visible units with everything that the hidden ones are given them.

    One side of the gradient: the data's, or the model's.
    """

    visible: np.ndarray  # (rows, visible)
    net: np.ndarray  # (rows, hidden)
    mean: np.ndarray  # (rows, hidden)
    sums: np.ndarray  # (row tiles, 4, hidden) float64, of Statistics over each tile's rows; or none

    @classmethod
    def new(cls, visible: Any, n_hidden: int, *, statistics: bool = True) -> Phase:
        """Make the arrays for these rows of visible units."""
        rows, dtype = visible.shape[0], visible.dtype
        tiles = count_tiles(rows, 1, 1) if statistics else 0
        net, mean = np.zeros((rows, n_hidden), dtype), np.zeros((rows, n_hidden), dtype)
        return cls(visible, net, mean, np.zeros((tiles, 4, n_hidden)))

    def first(self, rows: int) -> Phase:
        """Return the first rows alone, sharing memory."""
        if rows == self.visible.shape[0]:
            return self
        sums = self.sums[: count_tiles(rows, 1, 1)]
        return Phase(self.visible[:rows], self.net[:rows], self.mean[:rows], sums)

    def means(self) -> Any:
        """Return the mean over rows of E[h], E[h^2], p(h = lower), p(h = upper); (4, hidden)."""
        return self.sums.sum(axis=0) / self.visible.shape[0]


class Chains(NamedTuple):
    """Chains of Gibbs sampling: their states, and the phase that the visible ones make."""

    hidden: np.ndarray  # (rows, hidden)
    visible_mean: np.ndarray  # (rows, visible), from which the visible states were drawn
    phase: Phase

    @classmethod
    def new(cls, visible: Any, n_hidden: int, *, statistics: bool = True) -> Chains:
        """Make the arrays of chains with these visible states."""
        phase = Phase.new(visible, n_hidden, statistics=statistics)
        return cls(np.zeros_like(phase.net), np.zeros_like(visible), phase)

    def first(self, rows: int) -> Chains:
        """Return the first chains alone, sharing memory."""
        if rows == self.hidden.shape[0]:
            return self
        return Chains(self.hidden[:rows], self.visible_mean[:rows], self.phase.first(rows))


class Moments(NamedTuple):
    """What hidden units are given their net inputs; all (rows, hidden)."""

    net: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    log_low: np.ndarray  # log p(h = lower)
    log_high: np.ndarray  # log p(h = upper)


@linked
def add_bias(net, bias, part):
    """Add to each row of a tile its row of biases."""
    for r in range(part.row, part.row_stop):
        # Integer, then slice: Numba keeps such a view contiguous, and its loop vectorises.
        target = net[r, part.unit : part.unit_stop]
        source = bias[r if bias.shape[0] > 1 else 0, part.unit : part.unit_stop]
        for j in range(target.size):
            target[j] += source[j]


@linked
def dense_net(layers, visible, net, part):
    """Write the net inputs of one tile of hidden units by BLAS, whatever the visible ones are."""
    row, row_stop, unit, unit_stop = part
    out, weights = net[row:row_stop, unit:unit_stop], layers.weights[:, unit:unit_stop]
    gemm(False, False, 1.0, visible[row:row_stop], weights, 0.0, out)
    add_bias(net, layers.hidden_bias, part)


@linked
def hidden_net(layers, visible, net, part):
    """Write the net inputs of one tile of hidden units."""
    if multiply(visible, layers.weights, net, part):
        add_bias(net, layers.hidden_bias, part)
    else:
        dense_net(layers, visible, net, part)


@linked
def _net_tile(index, layers, visible, net):
    hidden_net(layers, visible, net, tile(index, net.shape[0], net.shape[1], HIDDEN))


@linked
def net_inputs(layers, visible, net):
    """Write the net inputs of the hidden units given visible ones."""
    rows, units = net.shape
    each(_net_tile, tile_count(rows, units, HIDDEN), (layers, visible, net))


# Loops over the rows of a tile stand apart from what makes arrays: they count no references.
@linked
def mean_rows(net, units, mean, part):
    """Write the means of one tile of hidden units; ``units`` are its own."""
    for r in range(part.row, part.row_stop):
        mean_row(net[r, part.unit : part.unit_stop], units, mean[r, part.unit : part.unit_stop])


@linked
def _statistics_rows(net, units, mean, sums, part):
    unit, unit_stop = part.unit, part.unit_stop
    for r in range(part.row, part.row_stop):
        statistics_row(net[r, unit:unit_stop], units, mean[r, unit:unit_stop], sums)


@linked
def tile_statistics(layers, phase, part):
    """Write means and sums of one tile of hidden units from its net inputs."""
    net, mean, unit, unit_stop = phase.net, phase.mean, part.unit, part.unit_stop
    hidden = part_of(layers, unit, unit_stop)
    if phase.sums.size == 0:
        mean_rows(net, hidden, mean, part)
        return
    # In the layer's own type: mixing widths costs more than the sums of 256 rows lose.
    total = zeros((4, unit_stop - unit), net.dtype)
    added = Statistics(total[0], total[1], total[2], total[3])
    _statistics_rows(net, hidden, mean, added, part)
    copy_rows(total, phase.sums[part.row // ROWS, :, unit:unit_stop])


@linked
def _statistics_tile(index, layers, phase):
    part = tile(index, phase.net.shape[0], phase.net.shape[1], HIDDEN)
    hidden_net(layers, phase.visible, phase.net, part)
    tile_statistics(layers, phase, part)


@linked
def hidden_statistics(layers, phase):
    """Fill a phase from its visible units: net inputs, means, and sums unless it has none."""
    rows, units = phase.net.shape
    each(_statistics_tile, tile_count(rows, units, HIDDEN), (layers, phase))


@linked
def _draw_rows(net, units, address, uniform, sample, part, space):
    unit, unit_stop = part.unit, part.unit_stop
    for r in range(part.row, part.row_stop):
        chain = address.first_chain + r
        uniform_row(address.seed, address.purpose, address.step, chain, unit, uniform)
        draw_row(net[r, unit:unit_stop], units, uniform, sample[r, unit:unit_stop], space)


@linked
def draw_hidden_tile(net, layers, address, sample, part):
    """Draw one tile of hidden units from their net inputs."""
    uniform = empty(padded(part.unit_stop - part.unit), net.dtype)
    units = part_of(layers, part.unit, part.unit_stop)
    _draw_rows(net, units, address, uniform, sample, part, empty(SPACE, net.dtype))


@linked
def _draw_tile(index, layers, net, address, sample):
    draw_hidden_tile(net, layers, address, sample, tile(index, net.shape[0], net.shape[1], HIDDEN))


@linked
def draw_hidden(layers, net, address, sample):
    """Draw hidden units from their net inputs, both (rows, hidden)."""
    rows, units = net.shape
    each(_draw_tile, tile_count(rows, units, HIDDEN), (layers, net, address, sample))


@linked
def _step_hidden_tile(index, layers, visible, address, net, sample):
    rows, units = net.shape
    part = tile(index, rows, units, HIDDEN)
    hidden_net(layers, visible, net, part)
    draw_hidden_tile(net, layers, address, sample, part)


@linked
def step_hidden(layers, visible, address, net, sample):
    """Write net inputs and draws of the hidden layer given the visible one."""
    rows, units = net.shape
    arguments = (layers, visible, address, net, sample)
    each(_step_hidden_tile, tile_count(rows, units, HIDDEN), arguments)


@linked
def _step_visible_tile(index, layers, hidden, address, mean, sample):
    kinds = layers.visible_kinds
    part = visible_tile(index, mean.shape[0], kinds)
    row, row_stop, unit, unit_stop = part
    out = mean[row:row_stop, unit:unit_stop]
    gemm(False, True, 1.0, hidden[row:row_stop], layers.weights[unit:unit_stop], 0.0, out)
    add_bias(mean, layers.visible_bias, part)
    units = visible_part(kinds, unit, unit_stop)
    visible_rows(mean, units, address, empty(units.uniforms, mean.dtype), sample, part)


@linked
def step_visible(layers, hidden, address, mean, sample):
    """Write means and draws of the visible layer given the hidden one.

    sample : (rows, visible), or nothing: then means are all that is written
    """
    arguments = (layers, hidden, address, mean, sample)
    count = visible_tile_count(mean.shape[0], layers.visible_kinds)
    each(_step_visible_tile, count, arguments)


@linked
def _moments_rows(found, units, unused, part):
    unit, unit_stop = part.unit, part.unit_stop
    for r in range(part.row, part.row_stop):
        net, mean = found.net[r, unit:unit_stop], found.mean[r, unit:unit_stop]
        variance = found.variance[r, unit:unit_stop]
        if found.log_low.size > 0:
            low, high = found.log_low[r, unit:unit_stop], found.log_high[r, unit:unit_stop]
            moments_row(net, units, mean, variance, low, high)
        else:
            moments_row(net, units, mean, variance, unused[0], unused[1])


@linked
def _moments_tile(index, layers, found):
    rows, units = found.net.shape
    part = tile(index, rows, units, HIDDEN)
    unused = empty((2, part.unit_stop - part.unit), found.net.dtype)
    _moments_rows(found, part_of(layers, part.unit, part.unit_stop), unused, part)


@kernel
def moments_from_net(layers, found):
    """Write all that ``found`` holds beside the net inputs; logs only if they have entries."""
    rows, units = found.net.shape
    each(_moments_tile, tile_count(rows, units, HIDDEN), (layers, found))


@linked
def _dense_tile(index, layers, visible, net):
    # Models are float64, for which products of zeros and ones would be compiled for nothing else.
    dense_net(layers, visible, net, tile(index, net.shape[0], net.shape[1], HIDDEN))


@kernel
def hidden_moments(layers, visible):
    """Return net inputs, means, variances and log end densities given visible units."""
    shape, dtype = (visible.shape[0], layers.weights.shape[1]), visible.dtype
    net, mean, variance = empty(shape, dtype), empty(shape, dtype), empty(shape, dtype)
    found = Moments(net, mean, variance, empty(shape, dtype), empty(shape, dtype))
    each(_dense_tile, tile_count(shape[0], shape[1], HIDDEN), (layers, visible, net))
    moments_from_net(layers, found)
    return found


@linked
def _log_norm_rows(net, units, values, parts, part, column):
    for r in range(part.row, part.row_stop):
        row = net[r, part.unit : part.unit_stop]
        parts[r, column] = log_norm_row(row, units, 1.0, 1.0, values)


@linked
def _log_norm_tile(index, layers, visible, net, parts):
    rows, units = net.shape
    part = tile(index, rows, units, HIDDEN)
    dense_net(layers, visible, net, part)
    values = empty(part.unit_stop - part.unit, np.float64)
    own = part_of(layers, part.unit, part.unit_stop)
    _log_norm_rows(net, own, values, parts, part, index % parts.shape[1])


@kernel
def log_norm_parts(layers, visible):
    """Return sum_j L(a_j(x)) of each row, by tiles: (rows, hidden tiles) float64, to be added."""
    rows, units = visible.shape[0], layers.weights.shape[1]
    net = empty((rows, units), visible.dtype)
    parts = empty((rows, tile_count(1, units, HIDDEN)), np.float64)
    each(_log_norm_tile, tile_count(rows, units, HIDDEN), (layers, visible, net, parts))
    return parts


@kernel
def run_chains(layers, chains, n_gibbs, seed, first_step):
    """Run sweeps hidden <- visible, visible <- hidden, in place, for sampling."""
    visible, net = chains.phase.visible, chains.phase.net
    for k in range(first_step, first_step + n_gibbs):
        step_hidden(layers, visible, Address(seed, HIDDEN_STREAM, k, 0), net, chains.hidden)
        address = Address(seed, VISIBLE_STREAM, k, 0)
        step_visible(layers, chains.hidden, address, chains.visible_mean, visible)


@kernel
def sum_chains(layers, chains, total, n_gibbs, seed, first_step):
    """Run the same sweeps and add the means of the visible units of each to ``total``."""
    for k in range(first_step, first_step + n_gibbs):
        run_chains(layers, chains, 1, seed, k)
        add_rows(chains.visible_mean, total)


@kernel
def iterate_means(layers, phase, n_gibbs):
    """Run sweeps in which every unit takes its mean in place of a draw: mean field, in place."""
    visible, address = phase.visible, Address(0, VISIBLE_STREAM, 0, 0)
    for _ in range(n_gibbs):
        hidden_statistics(layers, phase)
        step_visible(layers, phase.mean, address, visible, visible[:0])


@linked
def model_phase(layers, chains, n_gibbs, persistent, seed, first_step):
    """Run sweeps visible <- hidden <- visible, in place, and fill the phase at the last.

    Sweep i uses step first_step + i of the streams.  The hidden states are drawn anew after the
    last sweep if ``persistent``, else left as they entered that sweep.
    """
    hidden, phase = chains.hidden, chains.phase
    for i in range(n_gibbs):
        address = Address(seed, VISIBLE_STREAM, first_step + i, 0)
        step_visible(layers, hidden, address, chains.visible_mean, phase.visible)
        address = Address(seed, HIDDEN_STREAM, first_step + i, 0)
        if i + 1 < n_gibbs:
            step_hidden(layers, phase.visible, address, phase.net, hidden)
        else:
            hidden_statistics(layers, phase)
            if persistent:
                draw_hidden(layers, phase.net, address, hidden)
