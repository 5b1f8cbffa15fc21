"""Chains that are turned over into another phase of the data, as a step of Metropolis's.

Gibbs sampling hardly ever leaves a phase: the chains' shares of phases no longer answer to the
model, which runs after them and turns over.  Where a map leaves the data as they are, as turning
all spins over does those of a magnet, it takes chains from phase to phase.  A row x goes to x' with
probability min(1, p(x')/p(x)), so it changes nothing of the model's distribution, whatever the map
is worth.

Tested in tests/training/rbm/test_turning.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty, zeros
from trug_fast.kernels.compiling import linked, rare
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.loops import each
from trug_fast.kernels.optimizer import add, approach, divide
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import SWAP, block, double_from_words
from trug_fast.kernels.tiles import STRIPS

from .gibbs import Address, draw_hidden, net_inputs
from .hidden import part_of
from .trajectory import quick_log_norm
from .visible import GAUSSIAN, TRUNCATED

TURNED = "turned chains"  # subject of rare kernels
# Each chain is offered a turn once in so many updates, with every fourth other one: few calls for
# many rows.  At 12 log-odds of the phases are off by 0.2 of a magnet of 16x16 spins, of the model
# and so of its draws, at 8 by 0.1 at most; at 40 trainings diverge.  The middle between the sides
# is looked at more rarely, since each look costs as much as an offer.
EVERY, GROUPS, LOOKS = 8, 4, 20
SMALL = 1 << 12  # net inputs of a group up to which one thread takes it


class Turns(NamedTuple):
    """The map of rows: x'_i = shift_i + sign_i x_k, with k = source_i."""

    source: np.ndarray  # (2, visible) int64: there, and back
    sign: np.ndarray  # (visible,); none: nothing is turned
    shift: np.ndarray  # (visible,)
    along: np.ndarray  # (visible,) the direction from one side to the other
    middle: np.ndarray  # (visible,) between the mean rows of the two sides
    whole: bool = False  # all columns are reflected


@linked
def slope_of(layers, turns, way, slope):
    """Write s, return c: a turn adds x.s + c to the visible units' own log p*."""
    kinds, bias, constant = layers.visible_kinds, layers.visible_bias[0], 0.0
    add(slope, bias, -1.0, 0)
    for s in range(kinds.spans.shape[0]):
        real = kinds.spans[s, 0] == GAUSSIAN or kinds.spans[s, 0] == TRUNCATED
        for i in range(kinds.spans[s, 1], kinds.spans[s, 2]):
            own, shift = bias[i], turns.shift[i]
            if turns.sign[i] < 0 and real:
                own -= like(own, 0.5) * kinds.precision[i] * shift
                slope[i] = -own
            slope[turns.source[way, i]] += turns.sign[i] * own
            constant += np.float64(shift) * own
    return constant


@linked
def _turn_rows(index, strips, layers, phase, first, net, gain, seed, step):
    """Turn every ``strips``-th of the rows that were offered it, if it is accepted."""
    units, values = part_of(layers, 0, net.shape[1]), empty(net.shape[1], net.dtype)
    for k in range(index, net.shape[0], strips):
        r = first + k * GROUPS
        w0, w1, _, _ = block(seed, SWAP, step, r, 0)
        rise = gain[k] + quick_log_norm(net[k], units, values)
        rise -= quick_log_norm(phase.net[r], units, values)
        if math.log(double_from_words(w0, w1)) < rise:
            add(phase.net[r], net[k], 1.0, 0)


@linked
def _reflect(layers, phase, turns, first, net, gain):
    """Write the net inputs of rows whose columns are all reflected, and their gains.

    Net inputs are those of the shift less the former ones: products took half of all the time.
    """
    base, slope = empty(net.shape[1], net.dtype), empty(turns.shift.size, net.dtype)
    constant = slope_of(layers, turns, 0, slope)
    add(base, layers.hidden_bias[0], 2.0, 0)
    for i in range(turns.shift.size):
        if turns.shift[i] != 0:
            add(base, layers.weights[i], turns.shift[i], 1)
    for k in range(net.shape[0]):
        r = first + k * GROUPS
        gain[k] = constant + np.dot(phase.visible[r], slope)
        add(net[k], base, 1.0, 0)
        add(net[k], phase.net[r], -1.0, 1)


@linked
def _map(layers, phase, turns, first, net, gain, seed, step):
    """Write the net inputs of turned rows by any map, and their gains."""
    slopes = empty((2, turns.shift.size), net.dtype)
    there, back = slope_of(layers, turns, 0, slopes[0]), slope_of(layers, turns, 1, slopes[1])
    visible = empty((net.shape[0], turns.shift.size), net.dtype)
    for k in range(net.shape[0]):
        r = first + k * GROUPS
        _, _, w2, _ = block(seed, SWAP, step, r, 0)
        way = np.int64(w2 & np.uint32(1))
        for i in range(turns.shift.size):
            own = phase.visible[r, turns.source[way, i]]
            visible[k, i] = turns.shift[i] + turns.sign[i] * own
        gain[k] = (there, back)[way] + np.dot(phase.visible[r], slopes[way])
    net_inputs(layers, visible, net)


@linked
def _turn(layers, phase, turns, first, seed, step):
    """Offer a turn to each GROUPS-th chain."""
    count = (phase.net.shape[0] - first + GROUPS - 1) // GROUPS
    if count <= 0:
        return
    net, gain = empty((count, phase.net.shape[1]), phase.net.dtype), zeros((count, 1), np.float64)
    if turns.whole:
        _reflect(layers, phase, turns, first, net, gain[:, 0])
    else:
        _map(layers, phase, turns, first, net, gain[:, 0], seed, step)
    strips = 1 if net.size <= SMALL else STRIPS
    each(_turn_rows, strips, (strips, layers, phase, first, net, gain[:, 0], seed, step))


@rare(TURNED)
def turn_and_draw(layers, chains, turns, seed, step, update):
    """Offer a turn to a group of chains, if it is time, then draw the hidden units of all.

    The phase keeps the rows as they were: only the hidden states go on from those turned.
    """
    if update % (EVERY // GROUPS) == 0:
        _turn(layers, chains.phase, turns, update // (EVERY // GROUPS) % GROUPS, seed, step)
    address = Address(seed, HIDDEN_STREAM, step, 0)
    draw_hidden(layers, chains.phase.net, address, chains.hidden)


@rare(TURNED)
def approach_middle(data, weights, turns, update, share, offset):
    """Move the offset to between the mean hidden units of the data's two sides, if it has both.

    One of LOOKS batches is looked at, for as much as all: that of each update took 2 % of it.
    """
    if update % LOOKS != 0:
        return
    total, count = zeros((2, offset.size), offset.dtype), zeros((2, 1), np.float64)
    level = np.dot(turns.along, turns.middle)
    for r in range(data.visible.shape[0]):
        side = int(np.dot(turns.along, data.visible[r]) > level)
        count[side, 0] += weights[r] if weights.size > 0 else 1.0
        add(total[side], data.mean[r], 1.0, 1)
    if count[0, 0] > 0.0 and count[1, 0] > 0.0:
        divide(total[0], 2.0 * count[0, 0])
        add(total[0], total[1], 0.5 / count[1, 0], 1)
        approach(offset, total[0], 1.0 - (1.0 - share) ** LOOKS)
