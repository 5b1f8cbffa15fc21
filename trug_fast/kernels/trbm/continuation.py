"""How sequences go on: frames drawn one after another, many chains at once.

Each thread takes a few chains from their first new frame to their last: sweeps, the filter, the
biases of the next frame.  Were all threads to share each half step, as in an RBM (tiles.py), they
would meet a hundred times a frame, and a layer of 100 units is one tile, which one of them draws
while the others wait.

Tested in tests/models/test_continuations.py.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty, zeros
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import HIDDEN as HIDDEN_STREAM
from trug_fast.kernels.random.philox import VISIBLE as VISIBLE_STREAM
from trug_fast.kernels.rbm.gibbs import (
    Address,
    Layers,
    add_bias,
    draw_hidden_tile,
    hidden_net,
    mean_rows,
)
from trug_fast.kernels.rbm.hidden import part_of
from trug_fast.kernels.rbm.visible import visible_part, visible_rows
from trug_fast.kernels.tiles import Tile, add_rows, block_height, copy_rows

BLOCK = 64  # chains that go through time together, at most


class Links(NamedTuple):
    """What leads from frames to the biases of the next, and from its hidden units to it."""

    visible_to_visible: np.ndarray  # (lags * visible, visible), W3 of each lag transposed
    visible_to_hidden: np.ndarray  # (lags * visible, hidden), W2 transposed
    hidden_to_hidden: np.ndarray  # (lags * hidden, hidden), W4 transposed
    hidden_to_visible: np.ndarray  # (hidden, visible), W1 transposed: BLAS is faster with it
    visible_bias: np.ndarray  # (1, visible)
    hidden_bias: np.ndarray  # (1, hidden)


class Present(NamedTuple):
    """The frame that each chain is at, and the biases of the one that comes next."""

    visible: np.ndarray  # (rows, visible), where the chains start
    past_visible: np.ndarray  # (rows, lags * visible), the last frames, the latest first
    past_hidden: np.ndarray  # (rows, lags * hidden)
    begun: np.ndarray  # (rows,) of bool: whether there is a past; else what it holds is ignored
    visible_bias: np.ndarray  # (rows, visible)
    hidden_bias: np.ndarray  # (rows, hidden)


class FrameSweeps(NamedTuple):
    """Sweeps of each frame, and where their random numbers come from."""

    n_gibbs: int
    n_averaged: int  # of the last sweeps, whose mean is the frame; 0: the frame is the last draw
    seed: int
    first_step: int


@linked
def _remember(state, begun, past):
    """Put a frame before the last ones, of which one is forgotten; the first one stands for all."""
    size = state.shape[1]
    for r in range(state.shape[0]):
        source, target = state[r], past[r]
        for k in range(target.size - 1, size - 1, -1):
            target[k] = target[k - size] if begun[r] else source[k % size]
        for i in range(size):
            target[i] = source[i]


@linked
def _next_biases(visible, hidden, links, visible_bias, hidden_bias):
    for r in range(visible.shape[0]):
        target, source = visible_bias[r], links.visible_bias[0]
        for i in range(target.size):
            target[i] = source[i]
        target, source = hidden_bias[r], links.hidden_bias[0]
        for j in range(target.size):
            target[j] = source[j]
    gemm(False, False, 1.0, visible, links.visible_to_visible, 1.0, visible_bias)
    gemm(False, False, 1.0, visible, links.visible_to_hidden, 1.0, hidden_bias)
    gemm(False, False, 1.0, hidden, links.hidden_to_hidden, 1.0, hidden_bias)


@linked
def _sweep(layers, links, visible, scratch, seed, step, row):
    """Draw the hidden layer of some chains, the first of them number ``row``, and the visible."""
    net, hidden, mean, uniform, units = scratch
    rows, n_visible = visible.shape
    part = Tile(0, rows, 0, n_visible)
    hidden_net(layers, visible, net, Tile(0, rows, 0, net.shape[1]))
    address = Address(seed, HIDDEN_STREAM, step, row)
    draw_hidden_tile(net, layers, address, hidden, Tile(0, rows, 0, net.shape[1]))
    gemm(False, False, 1.0, hidden, links.hidden_to_visible, 0.0, mean)
    add_bias(mean, layers.visible_bias, part)
    address = Address(seed, VISIBLE_STREAM, step, row)
    visible_rows(mean, units, address, uniform, visible, part)


@linked
def _continue_block(index, height, layers, links, present, sweeps, result):
    row = index * height
    stop = min(row + height, present.visible.shape[0])
    visible, visible_bias = present.visible[row:stop], present.visible_bias[row:stop]
    hidden_bias, begun = present.hidden_bias[row:stop], present.begun[row:stop]
    past_visible, past_hidden = present.past_visible[row:stop], present.past_hidden[row:stop]
    here = Layers(
        layers.weights,
        visible_bias,
        hidden_bias,
        layers.kind,
        layers.precision,
        layers.lower,
        layers.upper,
        layers.n_nonpositive,
        layers.visible_kinds,
    )
    rows, n_visible, n_hidden = stop - row, visible.shape[1], hidden_bias.shape[1]
    net, hidden = empty((rows, n_hidden), visible.dtype), empty((rows, n_hidden), visible.dtype)
    mean, total = empty((rows, n_visible), visible.dtype), zeros((rows, n_visible), visible.dtype)
    visible_units = visible_part(layers.visible_kinds, 0, n_visible)
    scratch = (net, hidden, mean, empty(visible_units.uniforms, visible.dtype), visible_units)
    units, part = part_of(layers, 0, n_hidden), Tile(0, rows, 0, n_hidden)
    n_gibbs, skip = sweeps.n_gibbs, sweeps.n_gibbs - sweeps.n_averaged
    for t in range(result.shape[1]):
        for k in range(n_gibbs):
            step = sweeps.first_step + t * n_gibbs + k
            _sweep(here, links, visible, scratch, sweeps.seed, step, row)
            if k >= skip:
                add_rows(mean, total)
        if sweeps.n_averaged > 0:
            share = like(total[0, 0], 1.0 / sweeps.n_averaged)
            for r in range(rows):
                for i in range(n_visible):
                    visible[r, i] = total[r, i] * share
                    total[r, i] = like(share, 0.0)
        copy_rows(visible, result[row:stop, t])
        hidden_net(here, visible, net, part)
        mean_rows(net, units, hidden, part)
        _remember(visible, begun, past_visible)
        _remember(hidden, begun, past_hidden)
        begun[:] = True
        _next_biases(past_visible, past_hidden, links, visible_bias, hidden_bias)


@kernel
def continue_frames(layers, links, present, sweeps, result):
    """Draw the next frames of each chain, and leave ``present`` at the last of them.

    result : (rows, frames, visible), overwritten
    """
    rows = present.visible.shape[0]
    height = block_height(rows, BLOCK)
    each(_continue_block, -(-rows // height), (height, layers, links, present, sweeps, result))
