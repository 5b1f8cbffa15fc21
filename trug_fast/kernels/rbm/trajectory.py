"""Trajectory tempering: chains that exchange their states with draws of an earlier model of the run.

With F the free energy of the present model and F' that of the last rung, a chain x takes a draw y
of the last rung where

    log u < (F(x) - F'(x)) - (F(y) - F'(y)),

which leaves the present model's distribution as it is, as parallel tempering does (mathematics 3.8).
Visible precisions are the same for both, so the visible units' own energy cancels.
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

from .gibbs import (
    Address,
    draw_hidden,
    net_inputs,
    step_hidden,
    step_visible,
    tile_statistics,
)
from .hidden import log_norm_row, part_of


class Offers(NamedTuple):
    """A draw of the last rung for each chain, and working arrays."""

    visible: np.ndarray  # (chains, visible)
    log_norm: np.ndarray  # (chains,) float64, sum_j L(a_j) of each under the last rung
    net: np.ndarray  # (chains, hidden) under the present model
    last_net: np.ndarray  # (chains, hidden) of the chains under the last rung
    gain: np.ndarray  # (chains,) float64, F - F' of the chains before the exchange
    own_gain: np.ndarray  # (chains,) float64, F - F' of the draws


@linked
def _change(visible, layers, last):
    """Return x.(b - b') of a row."""
    bias, before = layers.visible_bias[0], last.visible_bias[0]
    total = 0.0
    for i in range(visible.size):
        total += np.float64(visible[i]) * (np.float64(bias[i]) - np.float64(before[i]))
    return total


@linked
def _take(source, target):
    for i in range(target.size):
        target[i] = source[i]


@linked
def _exchange_row(r, layers, last, phase, offers, seed, step):
    visible, net = phase.visible, phase.net
    values = empty(net.shape[1], np.float64)
    units, before = part_of(layers, 0, net.shape[1]), part_of(last, 0, net.shape[1])
    gain = log_norm_row(offers.last_net[r], before, 1.0, 1.0, values)
    gain -= log_norm_row(net[r], units, 1.0, 1.0, values)
    gain -= _change(visible[r], layers, last)
    own = offers.log_norm[r] - log_norm_row(offers.net[r], units, 1.0, 1.0, values)
    own -= _change(offers.visible[r], layers, last)
    offers.gain[r], offers.own_gain[r] = gain, own
    w0, w1, _, _ = block(seed, SWAP, step, r, 0)
    if math.log(double_from_words(w0, w1)) < gain - own:
        _take(offers.visible[r], visible[r])
        _take(offers.net[r], net[r])


@linked
def _tile_of(index, layers, phase):
    rows, units = phase.net.shape
    tile_statistics(layers, phase, tile(index, rows, units, HIDDEN))


@kernel
def sweeps_and_exchange(layers, last, chains, offers, n_gibbs, seed, first_step):
    """Run sweeps visible <- hidden <- visible, exchange, fill the phase and draw the hidden units.

    Two products with the weights more than the sweeps alone.
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
    net_inputs(last, phase.visible, offers.last_net)
    net_inputs(layers, offers.visible, offers.net)
    rows, units = phase.net.shape
    each(_exchange_row, rows, (layers, last, phase, offers, seed, step))
    each(_tile_of, tile_count(rows, units, HIDDEN), (layers, phase))
    draw_hidden(layers, phase.net, Address(seed, HIDDEN_STREAM, step, 0), hidden)
