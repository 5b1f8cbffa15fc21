"""Trajectory tempering: chains that exchange their states with an earlier model of the same run.

With F the free energy of the present model and F' that of the last rung, a chain x takes a draw y
of the last rung where

    log u < (F(x) - F'(x)) - (F(y) - F'(y)),

which leaves the present model's distribution as it is, like parallel tempering (mathematics 3.8).
Visible precisions are the same for both, so the visible units' own energy cancels.  An update makes
half of the chains such an offer, the others in the next one: it costs as many products with the
weights as a half step of all, and chains forget no slower than they can go from mode to mode.

Tested in tests/training/rbm/test_trajectory.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, pattern, row_loop
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import SWAP, block, double_from_words
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM
from trug_fast.kernels.special.elementary import softplus
from trug_fast.kernels.tiles import HIDDEN, copy, tile, tile_count
from trug_fast.kernels.unit.normalizer import evaluate, evaluate_wide

from .gibbs import (
    Address,
    draw_hidden,
    net_inputs,
    step_hidden,
    step_visible,
    tile_statistics,
)
from .hidden import BERNOULLI, all_wide, log_norm_row, ordered_sum, part_of


class Offers(NamedTuple):
    """Draws of the last rung for some of the chains, one after the other, and working arrays."""

    visible: np.ndarray  # (offers, visible)
    log_norm: np.ndarray  # (offers,) float64, sum_j L(a_j) of each under the last rung
    net: np.ndarray  # (offers, hidden) under the present model
    last_net: np.ndarray  # (offers, hidden) of the chains under the last rung
    gain: np.ndarray  # (offers,) float64, F' - F of the chains before the exchange
    own_gain: np.ndarray  # (offers,) float64, F' - F of the draws


@linked
def _change(visible, layers, last):
    """Return x.(b - b') of a row, b the present model's biases."""
    bias, before = layers.visible_bias[0], last.visible_bias[0]
    total = 0.0
    for i in range(visible.size):
        total += np.float64(visible[i]) * (np.float64(bias[i]) - np.float64(before[i]))
    return total


@pattern
def _write_log_norms(evaluated, net, units, values):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        values[j] = evaluated(net[j], precision[j], lower[j], upper[j])[0]


@row_loop
def quick_log_norm(net, units, values):
    """Return a row's sum of L in the layers' own float type where that is quicker.

    Of float32 half the time, and right to 1e-4 or so: more than an exchange needs.
    """
    if units.n_nonpositive > 0:
        return log_norm_row(net, units, 1.0, 1.0, empty(net.size, np.float64))
    if units.kind == BERNOULLI:
        for j in range(net.size):
            values[j] = softplus(net[j])
    elif all_wide(units):
        _write_log_norms(evaluate_wide, net, units, values)
    else:
        _write_log_norms(evaluate, net, units, values)
    return ordered_sum(values, net.size)


@linked
def _exchange_row(r, layers, last, phase, offers, first, seed, step):
    visible, net = phase.visible[first + r], phase.net[first + r]
    values = empty(net.size, net.dtype)
    units, before = part_of(layers, 0, net.size), part_of(last, 0, net.size)
    gain = quick_log_norm(net, units, values) - quick_log_norm(offers.last_net[r], before, values)
    gain += _change(visible, layers, last)
    own = quick_log_norm(offers.net[r], units, values) - offers.log_norm[r]
    own += _change(offers.visible[r], layers, last)
    offers.gain[r], offers.own_gain[r] = gain, own
    w0, w1, _, _ = block(seed, SWAP, step, first + r, 0)
    if math.log(double_from_words(w0, w1)) < own - gain:
        copy(offers.visible[r], visible)
        copy(offers.net[r], net)


@linked
def _tile_of(index, layers, phase):
    rows, units = phase.net.shape
    tile_statistics(layers, phase, tile(index, rows, units, HIDDEN))


@kernel
def sweeps_and_exchange(layers, last, chains, offers, first, n_gibbs, seed, first_step):
    """Run sweeps visible <- hidden <- visible, exchange, fill the phase and draw the hidden units.

    first : chain that gets the first of the offers
    """
    hidden, phase = chains.hidden, chains.phase
    for i in range(n_gibbs):
        address = Address(seed, VISIBLE_STREAM, first_step + i, 0)
        step_visible(layers, hidden, address, chains.visible_mean, phase.visible)
        if i + 1 < n_gibbs:
            address = Address(seed, HIDDEN_STREAM, first_step + i, 0)
            step_hidden(layers, phase.visible, address, phase.net, hidden)
    step = first_step + n_gibbs - 1
    net_inputs(layers, phase.visible, phase.net)
    count = offers.gain.size
    net_inputs(last, phase.visible[first : first + count], offers.last_net)
    net_inputs(layers, offers.visible, offers.net)
    each(_exchange_row, count, (layers, last, phase, offers, first, seed, step))
    rows, units = phase.net.shape
    each(_tile_of, tile_count(rows, units, HIDDEN), (layers, phase))
    draw_hidden(layers, phase.net, Address(seed, HIDDEN_STREAM, step, 0), hidden)


@linked
def _quick_row(r, layers, net, out):
    units = part_of(layers, 0, net.shape[1])
    out[r] = quick_log_norm(net[r], units, empty(net.shape[1], net.dtype))


@kernel
def quick_log_norms(layers, visible, net, out):
    """Write sum_j L(a_j(x)) of each row, as quickly as an exchange needs it, and net inputs."""
    net_inputs(layers, visible, net)
    each(_quick_row, out.size, (layers, net, out))
