"""The contrastive estimate of the gradient by the weights, of binary and of other visibles."""

from typing import NamedTuple

import numpy as np
from numba import prange

from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import parallel, serial
from trug_fast.kernels.tiles import STRIPS

from .binary import WORD, add_panel, column_bits, lanes_of, pack, words_for


class Centring(NamedTuple):
    """Offsets and phase differences for the centred gradient (mathematics 2.5)."""

    visible_offset: np.ndarray  # (visible,)
    hidden_offset: np.ndarray  # (hidden,)
    visible_difference: np.ndarray  # (visible,), data mean minus model mean
    hidden_difference: np.ndarray  # (hidden,)


@serial
def centre_row(gradient, offset, hidden_difference, difference, hidden_offset, shift):
    """Subtract the centred gradient's two outer products from one row; add its share to shift.

    Return the row's product with the hidden offset.
    """
    for j in range(gradient.size):
        gradient[j] -= offset * hidden_difference[j] + difference * hidden_offset[j]
        shift[j] += offset * gradient[j]
    return np.dot(gradient, hidden_offset)


@parallel
def pack_means(data_mean, model_mean, panels):
    """Pack both phases' hidden means, each over its number of rows, the model's negative.

    panels : (words of the data, then of the model; blocks of columns; 64; lanes)
    """
    ours = words_for(data_mean.shape[0])
    words, blocks, lanes = panels.shape[0], panels.shape[1], panels.shape[3]
    for index in prange(words * blocks):
        word, block = index // blocks, index % blocks
        start = block * lanes
        stop = min(start + lanes, data_mean.shape[1])
        panel = panels[word, block]
        if word < ours:
            pack(data_mean, word, start, stop, 1.0 / data_mean.shape[0], panel)
        else:
            pack(model_mean, word - ours, start, stop, -1.0 / model_mean.shape[0], panel)


@serial
def binary_gradient(data_visible, model_visible, panels, start, stop, gradient):
    """Write rows start..stop of the plain gradient; False if some visible is not 0 or 1."""
    ours, lanes = words_for(data_visible.shape[0]), panels.shape[3]
    bits = np.empty((panels.shape[0], stop - start), np.uint64)
    if not (
        column_bits(data_visible, start, stop, bits[:ours])
        and column_bits(model_visible, start, stop, bits[ours:])
    ):
        return False
    total = np.empty((stop - start, lanes), gradient.dtype)
    for block in range(panels.shape[1]):
        total[:, :] = 0.0
        for word in range(panels.shape[0]):
            add_panel(bits[word], panels[word, block], total)
        first, last = block * lanes, min((block + 1) * lanes, gradient.shape[1])
        for i in range(start, stop):
            target, sums = gradient[i, first:last], total[i - start]
            for j in range(target.size):
                target[j] = sums[j]
    return True


@parallel
def weight_gradient(data, model, centring, gradient, hidden_shift, visible_shift):
    """Write the centred weight gradient and what it takes from the biases' gradients.

    data, model : gibbs.Phase; all arrays share one float type
    gradient : (visible, hidden), overwritten
    hidden_shift : (STRIPS, hidden), overwritten; its sum over strips is gradient^T visible_offset
    visible_shift : (visible,), overwritten with gradient hidden_offset
    """
    n_visible, n_hidden = gradient.shape
    data_visible, data_mean = data.visible, data.mean
    model_visible, model_mean = model.visible, model.mean
    lanes = lanes_of(gradient)
    words = words_for(data_visible.shape[0]) + words_for(model_visible.shape[0])
    panels = np.empty((words, -(-n_hidden // lanes), WORD, lanes), gradient.dtype)
    pack_means(data_mean, model_mean, panels)
    for index in prange(STRIPS):
        start, stop = index * n_visible // STRIPS, (index + 1) * n_visible // STRIPS
        if start == stop:
            continue
        if not binary_gradient(data_visible, model_visible, panels, start, stop, gradient):
            part = gradient[start:stop]
            share = 1.0 / data_visible.shape[0]
            gemm(True, False, share, data_visible[:, start:stop], data_mean, 0.0, part)
            share = -1.0 / model_visible.shape[0]
            gemm(True, False, share, model_visible[:, start:stop], model_mean, 1.0, part)
        shift = hidden_shift[index]
        shift[:] = 0.0
        for i in range(start, stop):
            visible_shift[i] = centre_row(
                gradient[i],
                centring.visible_offset[i],
                centring.hidden_difference,
                centring.visible_difference[i],
                centring.hidden_offset,
                shift,
            )
