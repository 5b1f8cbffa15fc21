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
from trug_fast.kernels.loops import each
from trug_fast.kernels.optimizer import add
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import SWAP, block, double_from_words

from .gibbs import Address, draw_hidden, net_inputs
from .hidden import part_of
from .trajectory import quick_log_norm
from .visible import GAUSSIAN, TRUNCATED

TURNED = "turned chains"  # subject of rare kernels
EVERY = 10  # updates in which each chain is offered one turn


class Turns(NamedTuple):
    """The map of rows: x'_i = shift_i + sign_i x_k, with k = source_i."""

    source: np.ndarray  # (2, visible) int64: there, and back
    sign: np.ndarray  # (visible,); none: nothing is turned
    shift: np.ndarray  # (visible,)
    along: np.ndarray  # (visible,) the direction from one side to the other
    middle: np.ndarray  # (visible,) between the mean rows of the two sides


@linked
def _energy(visible, layers):
    """Return the visible units' own log p* of a row, as exactly as an offer needs it."""
    kinds, total = layers.visible_kinds, np.float64(np.dot(visible, layers.visible_bias[0]))
    for s in range(kinds.spans.shape[0]):
        if kinds.spans[s, 0] == GAUSSIAN or kinds.spans[s, 0] == TRUNCATED:
            for i in range(kinds.spans[s, 1], kinds.spans[s, 2]):
                total -= 0.5 * np.float64(kinds.precision[i]) * visible[i] * visible[i]
    return total


@linked
def _turn_row(index, layers, phase, first, visible, net, seed, step):
    r = first + index * EVERY
    units, values = part_of(layers, 0, net.shape[1]), empty(net.shape[1], net.dtype)
    gain = quick_log_norm(net[index], units, values) + _energy(visible[index], layers)
    gain -= quick_log_norm(phase.net[r], units, values) + _energy(phase.visible[r], layers)
    w0, w1, _, _ = block(seed, SWAP, step, r, 0)
    if math.log(double_from_words(w0, w1)) < gain:
        for j in range(net.shape[1]):
            phase.net[r, j] = net[index, j]


@rare(TURNED)
def turn_and_draw(layers, chains, turns, seed, step, update):
    """Offer a turn to some of the chains, then draw the hidden units of all.

    The phase keeps the rows as they were: only the hidden states go on from those turned.
    """
    phase = chains.phase
    rows, columns = phase.visible.shape
    first = update % EVERY
    count = (max(rows - first, 0) + EVERY - 1) // EVERY
    visible = empty((count, columns), phase.visible.dtype)
    net = empty((count, phase.net.shape[1]), phase.net.dtype)
    for k in range(count):
        _, _, w2, _ = block(seed, SWAP, step, first + k * EVERY, 0)
        source = turns.source[np.int64(w2 & np.uint32(1))]
        for i in range(columns):
            own = phase.visible[first + k * EVERY, source[i]]
            visible[k, i] = turns.shift[i] + turns.sign[i] * own
    net_inputs(layers, visible, net)
    each(_turn_row, count, (layers, phase, first, visible, net, seed, step))
    draw_hidden(layers, phase.net, Address(seed, HIDDEN_STREAM, step, 0), chains.hidden)


@rare(TURNED)
def middle_of_sides(data, weights, turns, middle):
    """Write what lies between the mean hidden units of the data's two sides, if it has both."""
    total, count = zeros((2, middle.size), middle.dtype), zeros((2, 1), np.float64)
    level = np.dot(turns.along, turns.middle)
    for r in range(data.visible.shape[0]):
        side = int(np.dot(turns.along, data.visible[r]) > level)
        count[side, 0] += weights[r] if weights.size > 0 else 1.0
        add(total[side], data.mean[r], 1.0, 1)
    if count[0, 0] > 0.0 and count[1, 0] > 0.0:
        add(middle, total[0], 0.5 / count[0, 0], 0)
        add(middle, total[1], 0.5 / count[1, 0], 1)
