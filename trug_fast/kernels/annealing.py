"""Annealed importance sampling on the visible layer (math.md 3).

Path: log p_k*(x) = x.((1-s_k) base + s_k b) + sum_j L(t_k a_j(x), q_k d_j), where q_k = 1 on the
paths that keep the quadratic term and q_k = t_k on the paper's.  A chain's weight gains
log p_k* - log p_(k-1)* before the transition that leaves p_k invariant.
"""

from typing import NamedTuple

import numpy as np
from numba import prange

from .blas import gemm
from .compiling import parallel, serial
from .gibbs import HIDDEN, VISIBLE, draw_visible_row, hidden_net, tile, tile_count
from .hidden import HiddenUnits, draw_row, log_norm_row, part_of
from .intrinsics import like
from .philox import ANNEAL_HIDDEN, ANNEAL_VISIBLE, INITIAL, padded, uniform_row


class Path(NamedTuple):
    """The schedule of a run, float64."""

    hidden_scale: np.ndarray  # (temperatures,) t_k
    bias_scale: np.ndarray  # (temperatures,) s_k
    precision_scale: np.ndarray  # (temperatures,) q_k; 0 marks the omitted factor at t = 0
    base_bias: np.ndarray  # (visible,)


class Walkers(NamedTuple):
    """The state of all chains and their working arrays."""

    visible: np.ndarray  # (chains, visible)
    visible_net: np.ndarray  # (chains, visible)
    hidden: np.ndarray  # (chains, hidden)
    net: np.ndarray  # (chains, hidden)
    hidden_part: np.ndarray  # (chains, hidden tiles) float64
    visible_part: np.ndarray  # (chains, visible tiles) float64
    log_weight: np.ndarray  # (chains,) float64


@serial
def scaled_log_norm(net, units, scale, precision_scale, values):
    """Return the row's sum of L, or 0 where the path omits the factor."""
    if scale == 0.0 and precision_scale == 0.0:
        return 0.0
    return log_norm_row(net, units, scale, precision_scale, values)


@parallel
def weigh_and_draw_hidden(layers, walkers, path, k, seed, first_chain):
    """Write each tile's share of the weight of step k, then draw the hidden units at p_k."""
    visible, hidden, net, hidden_part = (
        walkers.visible,
        walkers.hidden,
        walkers.net,
        walkers.hidden_part,
    )
    t_old, t_new = path.hidden_scale[k - 1], path.hidden_scale[k]
    q_old, q_new = path.precision_scale[k - 1], path.precision_scale[k]
    rows, units = net.shape
    across = -(-units // HIDDEN)
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        hidden_net(layers, visible, net, row, row_stop, unit, unit_stop)
        part = part_of(layers, unit, unit_stop)
        tempered = scale_precision(part, q_new)
        uniform = np.empty(padded(unit_stop - unit), net.dtype)
        values = np.empty(unit_stop - unit)
        for r in range(row, row_stop):
            source = net[r, unit:unit_stop]
            gain = scaled_log_norm(source, part, t_new, q_new, values)
            gain -= scaled_log_norm(source, part, t_old, q_old, values)
            hidden_part[r, index % across] = gain
            uniform_row(seed, ANNEAL_HIDDEN, k, first_chain + r, unit, uniform)
            for j in range(source.size):
                source[j] *= like(source[j], t_new)
            draw_row(source, tempered, uniform, hidden[r, unit:unit_stop])


@serial
def scale_precision(units, factor):
    """Return the units with their precision multiplied."""
    precision = np.empty_like(units.precision)
    for j in range(precision.size):
        precision[j] = like(precision[j], factor) * units.precision[j]
    return HiddenUnits(units.kind, precision, units.lower, units.upper, units.n_flat)


@parallel
def draw_visible(layers, walkers, path, k, seed, first_chain):
    """Draw the visible units at p_k and write each tile's share of x.(b - base)."""
    visible, net, hidden = walkers.visible, walkers.visible_net, walkers.hidden
    weights, bias, base = layers.weights, layers.visible_bias, path.base_bias
    visible_part = walkers.visible_part
    t, s = path.hidden_scale[k], path.bias_scale[k]
    rows, units = visible.shape
    across = -(-units // VISIBLE)
    purpose = ANNEAL_VISIBLE if k > 0 else INITIAL
    for index in prange(tile_count(rows, units, VISIBLE)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, VISIBLE)
        part = net[row:row_stop, unit:unit_stop]
        gemm(False, True, t, hidden[row:row_stop], weights[unit:unit_stop], 0.0, part)
        mixed = np.empty((1, unit_stop - unit), net.dtype)
        for i in range(unit, unit_stop):
            mixed[0, i - unit] = (1.0 - s) * base[i] + s * bias[0, i]
        uniform = np.empty(padded(unit_stop - unit), net.dtype)
        for r in range(row, row_stop):
            target = net[r, unit:unit_stop]
            for i in range(target.size):
                target[i] += mixed[0, i]
            uniform_row(seed, purpose, k, first_chain + r, unit, uniform)
            draw_visible_row(target, uniform, visible[r, unit:unit_stop])
            visible_part[r, index % across] = bias_gain(visible, bias, base, r, unit, unit_stop)


@serial
def bias_gain(visible, bias, base, r, unit, unit_stop):
    """Return x.(b - base) over part of one row."""
    total = 0.0
    for i in range(unit, unit_stop):
        total += visible[r, i] * (bias[0, i] - base[i])
    return total


@serial
def start_from_base(layers, walkers, path, seed, first_chain):
    """Draw every chain's visibles from the base distribution, the path's first."""
    walkers.hidden[:, :] = 0.0
    draw_visible(layers, walkers, path, 0, seed, first_chain)


@serial
def anneal(layers, walkers, path, start, stop, seed, first_chain):
    """Run steps start..stop-1 (1 <= start) of all chains, adding to ``log_weight``."""
    for k in range(start, stop):
        weigh_and_draw_hidden(layers, walkers, path, k, seed, first_chain)
        step = path.bias_scale[k] - path.bias_scale[k - 1]
        for r in range(walkers.log_weight.size):
            gain = 0.0
            for part in range(walkers.hidden_part.shape[1]):
                gain += walkers.hidden_part[r, part]
            for part in range(walkers.visible_part.shape[1]):
                gain += step * walkers.visible_part[r, part]
            walkers.log_weight[r] += gain
        draw_visible(layers, walkers, path, k, seed, first_chain)


@parallel
def log_norm_rows(layers, visible, net, parts):
    """Write each tile's share of sum_j L(a_j(x)); net (rows, hidden) is overwritten.

    parts : (rows, hidden tiles) float64; their sum over tiles is the row's value
    """
    rows, units = net.shape
    across = -(-units // HIDDEN)
    for index in prange(tile_count(rows, units, HIDDEN)):
        row, row_stop, unit, unit_stop = tile(index, rows, units, HIDDEN)
        hidden_net(layers, visible, net, row, row_stop, unit, unit_stop)
        part = part_of(layers, unit, unit_stop)
        values = np.empty(unit_stop - unit)
        for r in range(row, row_stop):
            total = log_norm_row(net[r, unit:unit_stop], part, 1.0, 1.0, values)
            parts[r, index % across] = total
