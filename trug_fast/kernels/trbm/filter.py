"""The filter of the temporal model and the way back through it (mathematics 4.2).

Rows are frames.  A batch of sequences lies time by time, longest sequence first: the rows of time t
are ``starts[t]`` to ``starts[t + 1]``, and the first of them belong to the same sequences, in the
same order, as the first rows of time t - 1.

Each thread takes a few sequences from their first frame to their last.  Were all threads to share
each frame's product of a few rows, they would wait for each other more than they compute: four
sequences of 100 frames with 400 units took 8.7 ms on one thread and 22 on two.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, row_loop
from trug_fast.kernels.loops import each
from trug_fast.kernels.rbm.gibbs import draw_hidden_tile, mean_rows
from trug_fast.kernels.rbm.hidden import part_of
from trug_fast.kernels.tiles import Tile, copy_rows

GROUP = 2  # sequences that go through time together: as many rows as _add_to_two takes


class Frames(NamedTuple):
    """The hidden layers of all frames, all (rows, hidden)."""

    drive: np.ndarray  # net inputs but for the share of the past hidden layer
    net: np.ndarray  # net inputs
    state: np.ndarray  # means or draws given them


@row_loop
def _add_to_one(a, b, out):
    size = b.shape[0]
    whole = size - size % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        for j in range(out.size):
            out[j] += a0 * b0[j] + a1 * b1[j] + (a2 * b2[j] + a3 * b3[j])
    for i in range(whole, size):
        factor, last = a[i], b[i]
        for j in range(out.size):
            out[j] += factor * last[j]


@row_loop
def _add_to_two(a, c, b, out, other):
    # What is read of b serves both rows: the way back takes 2.0 ms instead of 2.7 (sizes above).
    size = b.shape[0]
    whole = size - size % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        for j in range(out.size):
            out[j] += a0 * b0[j] + a1 * b1[j] + (a2 * b2[j] + a3 * b3[j])
            other[j] += c0 * b0[j] + c1 * b1[j] + (c2 * b2[j] + c3 * b3[j])
    for i in range(whole, size):
        factor, second, last = a[i], c[i], b[i]
        for j in range(out.size):
            out[j] += factor * last[j]
            other[j] += second * last[j]


@linked
def add_rows_product(a, b, out):
    """Add a @ b to ``out``, both of one row or of GROUP.

    BLAS packs all of b anew for each call, which costs several times as much as the product.
    """
    if a.shape[0] == GROUP:
        _add_to_two(a[0], a[1], b, out[0], out[1])
    else:
        _add_to_one(a[0], b, out[0])


@linked
def _filter_group(group, layers, starts, draw, address, frames):
    drive, net, state = frames.drive, frames.net, frames.state
    units = net.shape[1]
    n_lags = layers.weights.shape[0] // units
    part = part_of(layers, 0, units)
    for t in range(starts.size - 1):
        a = starts[t] + group * GROUP
        b = min(a + GROUP, starts[t + 1])
        if b <= a:
            break
        copy_rows(drive[a:b], net[a:b])
        for lag in range(n_lags if t > 0 else 0):
            before = starts[max(t - 1 - lag, 0)] + group * GROUP
            weights = layers.weights[lag * units : (lag + 1) * units]
            add_rows_product(state[before : before + b - a], weights, net[a:b])
        if draw:
            draw_hidden_tile(net, layers, address, state, Tile(a, b, 0, units))
        else:
            mean_rows(net, part, state, Tile(a, b, 0, units))


@kernel
def run_filter(layers, starts, draw, address, frames):
    """Write net inputs and states, draws or means, of the hidden layers of all frames.

    layers : with W4, from the past to the present, for weights; of several lags one below the
        other, the frame before first.  First frames stand for those before them.
    """
    groups = -(-(starts[1] - starts[0]) // GROUP)
    each(_filter_group, groups, (layers, starts, draw, address, frames))


@linked
def _backward_group(group, transition, starts, difference, variance, delta, error):
    units = delta.shape[1]
    n_lags = transition.shape[0] // units
    pull = empty((GROUP, units), delta.dtype)
    for t in range(starts.size - 2, -1, -1):
        a = starts[t] + group * GROUP
        b = min(a + GROUP, starts[t + 1])
        if b <= a:
            continue
        for r in range(a, b):
            for j in range(units):
                error[r, j] = variance[r, j] * delta[r, j]
                pull[r - a, j] = difference[r, j] + error[r, j]
        for lag in range(n_lags if t > 0 else 0):
            before = starts[max(t - 1 - lag, 0)] + group * GROUP
            weights = transition[lag * units : (lag + 1) * units]
            add_rows_product(pull[: b - a], weights, delta[before : before + b - a])


@kernel
def run_backward(transition, starts, difference, variance, delta, error):
    """Write the derivatives of the objective by the filter's means and by its net inputs.

    transition : (lags * hidden, hidden), W4 of each lag from the present to the past
    difference : (rows, hidden), the derivative by the hidden biases with the past held fixed
    variance : (rows, hidden)
    delta, error : (rows, hidden), overwritten: the derivative by the mean of each frame through
        later frames, and the same by its net input
    """
    delta[:, :] = 0.0
    groups = -(-(starts[1] - starts[0]) // GROUP)
    each(_backward_group, groups, (transition, starts, difference, variance, delta, error))
