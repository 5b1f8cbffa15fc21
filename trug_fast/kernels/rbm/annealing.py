"""Annealed importance sampling (mathematics 3), with weights on the visible or on the hidden layer.

Path, after summing out one layer:

    log p_k*(x) = x.((1-s_k) base + s_k b) + sum_j L(t_k a_j(x), q_k d_j)
    log p_k*(h) = t_k c.h - h'dh/2 + sum_i softplus((1-s_k) base_i + s_k b_i + t_k [Wh]_i)

where q_k = 1 on the paths that keep the quadratic term, the only ones that h can be weighed on, and
q_k = t_k on the paper's.  A chain's weight gains log p_k* - log p_(k-1)* at its state before the
transition that leaves p_k invariant.  The transition (a half step to the other layer and one back)
is reversible, so the same code with all schedules turned round is the exact mirror image: started
from draws of the model, its path has the forward path's density times Z/Z_0 exp(-gain).

Other visible units have their own log-normaliser in place of softplus (gains.py).  Gaussian ones of
precision a have the same term -x'diag(a)x/2 in log p_k*(x) at all temperatures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import ANNEAL_HIDDEN, ANNEAL_VISIBLE, padded, uniform_row
from trug_fast.kernels.tiles import HIDDEN, count_tiles, tile, tile_count

from .gains import (
    STRANDS,
    VisibleStep,
    hidden_gain,
    inner,
    new_scratch,
    visible_gain,
)
from .gibbs import Layers, hidden_net
from .hidden import HiddenUnits, draw_row, part_of
from .visible import (
    count_visible_tiles,
    draw_visible_row,
    tile_column,
    visible_part,
    visible_tile,
    visible_tile_count,
)


class AnnealingPath(NamedTuple):
    """The distributions from the base to the model, float64."""

    hidden_scale: np.ndarray  # (temperatures,) t_k
    bias_scale: np.ndarray  # (temperatures,) s_k
    precision_scale: np.ndarray  # (temperatures,) q_k; 0 marks the omitted factor at t = 0
    base_bias: np.ndarray  # (visible,)


class AnnealingChains(NamedTuple):
    """The states of all chains and their working arrays."""

    visible: np.ndarray  # (chains, visible)
    visible_net: np.ndarray  # (chains, visible)
    hidden: np.ndarray  # (chains, hidden)
    hidden_net: np.ndarray  # (chains, hidden)
    hidden_part: np.ndarray  # (chains, hidden tiles) float64
    visible_part: np.ndarray  # (chains, visible tiles) float64
    log_weight: np.ndarray  # (chains,) float64

    @classmethod
    def new(cls, layers: Layers, chains: int) -> AnnealingChains:
        """Make the arrays of so many chains."""
        dtype = layers.weights.dtype
        visible, hidden = ((chains, units) for units in layers.weights.shape)
        return cls(
            visible=np.zeros(visible, dtype),
            visible_net=np.zeros(visible, dtype),
            hidden=np.zeros(hidden, dtype),
            hidden_net=np.zeros(hidden, dtype),
            hidden_part=np.zeros((chains, count_tiles(1, hidden[1], HIDDEN))),
            visible_part=np.zeros((chains, count_visible_tiles(1, layers.visible_kinds))),
            log_weight=np.zeros(chains),
        )


class AnnealingRun(NamedTuple):
    """What all steps of a run share."""

    seed: int
    first_chain: int  # row r is chain first_chain + r
    block: int  # rows of one matrix product; BLAS rounds by shape, so this is part of the result
    on_hidden: bool  # weigh h, else x


@linked
def scale_precision(units, factor):
    """Return the units with their precision multiplied."""
    precision = empty(units.precision.shape, units.precision.dtype)
    for j in range(precision.size):
        precision[j] = like(precision[j], factor) * units.precision[j]
    return HiddenUnits(units.kind, precision, units.lower, units.upper, units.n_nonpositive)


@linked
def bias_change(layers, path, unit, unit_stop):
    """Return b - base of part of the visible units."""
    change = empty(unit_stop - unit, layers.weights.dtype)
    for i in range(change.size):
        change[i] = layers.visible_bias[0, unit + i] - path.base_bias[unit + i]
    return change


@linked
def visible_step(layers, path, k, unit, unit_stop):
    """Return part of the visible units at p_k."""
    t, s = path.hidden_scale[k], path.bias_scale[k]
    t_old, s_old = path.hidden_scale[max(k - 1, 0)], path.bias_scale[max(k - 1, 0)]
    bias, base = layers.visible_bias, path.base_bias
    mixed = empty(unit_stop - unit, layers.weights.dtype)
    step = empty(mixed.shape, mixed.dtype)
    for i in range(mixed.size):
        mixed[i] = (1.0 - s) * base[unit + i] + s * bias[0, unit + i]
        step[i] = (s - s_old) * (bias[0, unit + i] - base[unit + i])
    scale, scale_step = like(mixed[0], t), like(mixed[0], t - t_old)
    units = visible_part(layers.visible_kinds, unit, unit_stop)
    return VisibleStep(mixed, step, scale, scale_step, units)


@linked
def _hidden_rows(chains, units, tempered, bias, pace, run, here, uniform, scratch):
    hidden, net, shares = chains.hidden, chains.hidden_net, chains.hidden_part
    unit, unit_stop, column = here.unit, here.unit_stop, here.unit // HIDDEN
    k, t, q, t_old, q_old = pace
    weigh = not run.on_hidden and (t != t_old or q != q_old)
    for r in range(here.row, here.row_stop):
        source, state = net[r, unit:unit_stop], hidden[r, unit:unit_stop]
        if weigh:
            shares[r, column] = hidden_gain(
                source, units, tempered, (t_old, q_old), (t, q), scratch
            )
        uniform_row(run.seed, ANNEAL_HIDDEN, k, run.first_chain + r, unit, uniform)
        for j in range(source.size):
            source[j] *= like(source[j], t)
        draw_row(source, tempered, uniform, state, scratch.space)
        if run.on_hidden:
            shares[r, column] = inner(state, bias[0, unit:unit_stop], scratch.strands)
        elif not weigh:
            shares[r, column] = 0.0


@linked
def _hidden_tile(index, layers, chains, path, k, run):
    net, before = chains.hidden_net, max(k - 1, 0)
    t, q = path.hidden_scale, path.precision_scale
    pace = (k, t[k], q[k], t[before], q[before])
    rows, units = net.shape
    here = tile(index, rows, units, HIDDEN, run.block)
    hidden_net(layers, chains.visible, net, here)
    part, size = part_of(layers, here.unit, here.unit_stop), here.unit_stop - here.unit
    tempered, scratch = scale_precision(part, q[k]), new_scratch(size, net)
    uniform = empty(padded(size), net.dtype)
    bias = layers.hidden_bias
    _hidden_rows(chains, part, tempered, bias, pace, run, here, uniform, scratch)


@linked
def hidden_half_step(layers, chains, path, k, run):
    """Draw the hidden units at p_k; before, write each tile's share of the weight if x has it."""
    rows, units = chains.hidden.shape
    tiles = tile_count(rows, units, HIDDEN, run.block)
    each(_hidden_tile, tiles, (layers, chains, path, k, run))


@linked
def _visible_rows(chains, own, change, k, run, here, column, uniform, scratch):
    visible, net, shares = chains.visible, chains.visible_net, chains.visible_part
    unit, unit_stop, units = here.unit, here.unit_stop, own.units
    numbers = uniform[units.skipped :]
    for r in range(here.row, here.row_stop):
        target, state = net[r, unit:unit_stop], visible[r, unit:unit_stop]
        if run.on_hidden:
            shares[r, column] = visible_gain(target, own, scratch)
        for i in range(target.size):
            target[i] = own.bias[i] + own.scale * target[i]
        uniform_row(run.seed, ANNEAL_VISIBLE, k, run.first_chain + r, units.address, uniform)
        draw_visible_row(target, units, numbers, state)
        if not run.on_hidden:
            shares[r, column] = inner(state, change, scratch.strands)


@linked
def _visible_tile(index, layers, chains, path, k, run):
    net, hidden, weights = chains.visible_net, chains.hidden, layers.weights
    kinds = layers.visible_kinds
    here = visible_tile(index, net.shape[0], kinds, run.block)
    row, row_stop, unit, unit_stop = here
    part = net[row:row_stop, unit:unit_stop]
    gemm(False, True, 1.0, hidden[row:row_stop], weights[unit:unit_stop], 0.0, part)
    own = visible_step(layers, path, k, unit, unit_stop)
    change = bias_change(layers, path, unit, unit_stop)
    uniform, scratch = empty(own.units.uniforms, net.dtype), new_scratch(change.size, net)
    column = tile_column(index, kinds)
    _visible_rows(chains, own, change, k, run, here, column, uniform, scratch)


@linked
def visible_half_step(layers, chains, path, k, run):
    """Draw the visible units at p_k; before, write each tile's share of the weight if h has it."""
    tiles = visible_tile_count(chains.visible.shape[0], layers.visible_kinds, run.block)
    each(_visible_tile, tiles, (layers, chains, path, k, run))


@kernel
def begin(layers, chains, path, run, given):
    """Draw the first states of all chains; on the reversed path the visibles are ``given``."""
    if run.on_hidden:
        hidden_half_step(layers, chains, path, 0, run)
    elif not given:
        chains.hidden[:, :] = 0.0
        visible_half_step(layers, chains, path, 0, run)


@kernel
def anneal(layers, chains, path, start, stop, run):
    """Run steps start..stop-1 (1 <= start) of all chains, adding to ``log_weight``.

    The weighed layer's state is all that one call needs of another.
    """
    linear_parts(layers, chains, path, run)
    for k in range(start, stop):
        if run.on_hidden:
            visible_half_step(layers, chains, path, k, run)
            step = path.hidden_scale[k] - path.hidden_scale[k - 1]
            add_gains(chains.log_weight, chains.visible_part, chains.hidden_part, step)
            hidden_half_step(layers, chains, path, k, run)
        else:
            hidden_half_step(layers, chains, path, k, run)
            step = path.bias_scale[k] - path.bias_scale[k - 1]
            add_gains(chains.log_weight, chains.hidden_part, chains.visible_part, step)
            visible_half_step(layers, chains, path, k, run)


@linked
def add_gains(log_weight, gains, linear, step):
    """Add to each chain its gains and ``step`` times its linear terms."""
    for r in range(log_weight.size):
        gain = 0.0
        for part in range(gains.shape[1]):
            gain += gains[r, part]
        for part in range(linear.shape[1]):
            gain += step * linear[r, part]
        log_weight[r] += gain


@linked
def linear_parts(layers, chains, path, run):
    """Write x.(b - base), or c.h, of the present states, by the tiles of the half steps."""
    rows = chains.log_weight.size
    strands = empty(STRANDS, layers.weights.dtype)
    if run.on_hidden:
        units = chains.hidden.shape[1]
        for unit in range(0, units, HIDDEN):
            stop = min(unit + HIDDEN, units)
            for r in range(rows):
                bias = layers.hidden_bias[0, unit:stop]
                gain = inner(chains.hidden[r, unit:stop], bias, strands)
                chains.hidden_part[r, unit // HIDDEN] = gain
    else:
        cuts = layers.visible_kinds.cuts
        for column in range(cuts.size - 1):
            unit, stop = cuts[column], cuts[column + 1]
            change = bias_change(layers, path, unit, stop)
            for r in range(rows):
                gain = inner(chains.visible[r, unit:stop], change, strands)
                chains.visible_part[r, column] = gain
