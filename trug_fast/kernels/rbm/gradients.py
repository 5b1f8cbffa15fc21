"""The contrastive estimate of the gradient by the weights, of binary and of other visibles."""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import linked
from trug_fast.kernels.loops import each
from trug_fast.kernels.tiles import STRIPS, copy_rows

from .binary import WORD, add_panel, column_bits, lanes_of, pack, words_for


class Centring(NamedTuple):
    """Offsets and phase differences for the centred gradient (mathematics 2.5)."""

    visible_offset: np.ndarray  # (visible,)
    hidden_offset: np.ndarray  # (hidden,)
    visible_difference: np.ndarray  # (visible,), data mean minus model mean
    hidden_difference: np.ndarray  # (hidden,)
    model_share: float = 1.0  # what the model's rows count for: the mean of the batch's weights


@linked
def centre_row(gradient, offset, hidden_difference, difference, hidden_offset, shift):
    """Subtract the centred gradient's two outer products from one row; add its share to shift.

    Return the row's product with the hidden offset.
    """
    for j in range(gradient.size):
        gradient[j] -= offset * hidden_difference[j] + difference * hidden_offset[j]
        shift[j] += offset * gradient[j]
    return np.dot(gradient, hidden_offset)


@linked
def _pack_panel(index, data_mean, model_mean, model_share, panels):
    ours = words_for(data_mean.shape[0])
    blocks, lanes = panels.shape[1], panels.shape[3]
    word, block = index // blocks, index % blocks
    start = block * lanes
    stop = min(start + lanes, data_mean.shape[1])
    panel = panels[word, block]
    if word < ours:
        pack(data_mean, word, start, stop, 1.0 / data_mean.shape[0], panel)
    else:
        pack(model_mean, word - ours, start, stop, -model_share / model_mean.shape[0], panel)


@linked
def _add_selected_rows(bits, panels, fresh, gradient):
    """Add to each row of the gradient, or to zero if ``fresh``, the panels' rows of its bits."""
    lanes = panels.shape[3]
    total = empty((gradient.shape[0], lanes), gradient.dtype)
    for block in range(panels.shape[1]):
        first, last = block * lanes, min((block + 1) * lanes, gradient.shape[1])
        total[:, :] = 0.0
        for r in range(0 if fresh else gradient.shape[0]):
            row, sums = gradient[r, first:last], total[r]
            for j in range(row.size):
                sums[j] = row[j]
        for word in range(panels.shape[0]):
            add_panel(bits[word], panels[word, block], total)
        copy_rows(total, gradient[:, first:last])


@linked
def _plain_gradient(data, model, model_share, panels, start, stop, gradient):
    """Write rows start..stop of the gradient, given alone, without its centring.

    Of a phase whose visibles are zeros and ones alone, rows of the panels are added: also of the
    model's, which was drawn, beside data of other values.
    """
    data_visible, data_mean = data.visible, data.mean
    model_visible, model_mean = model.visible, model.mean
    ours, bits = words_for(data_visible.shape[0]), empty((panels.shape[0], stop - start), np.uint64)
    binary_data = column_bits(data_visible, start, stop, bits[:ours])
    binary_model = column_bits(model_visible, start, stop, bits[ours:])
    if not binary_data:
        share = 1.0 / data_visible.shape[0]
        gemm(True, False, share, data_visible[:, start:stop], data_mean, 0.0, gradient)
    if not binary_model:
        share, kept = -model_share / model_visible.shape[0], 0.0 if binary_data else 1.0
        gemm(True, False, share, model_visible[:, start:stop], model_mean, kept, gradient)
    first, last = 0 if binary_data else ours, panels.shape[0] if binary_model else ours
    if first < last:
        fresh = binary_data and binary_model
        _add_selected_rows(bits[first:last], panels[first:last], fresh, gradient)


@linked
def _gradient_strip(index, data, model, centring, panels, gradient, hidden_shift, visible_shift):
    n_visible = gradient.shape[0]
    start, stop = index * n_visible // STRIPS, (index + 1) * n_visible // STRIPS
    if start == stop:
        return
    _plain_gradient(data, model, centring.model_share, panels, start, stop, gradient[start:stop])
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


@linked
def weight_gradient(data, model, centring, gradient, hidden_shift, visible_shift):
    """Write the centred weight gradient and what it takes from the biases' gradients.

    data, model : gibbs.Phase; all arrays share one float type; means of weighted rows are weighted
    gradient : (visible, hidden), overwritten
    hidden_shift : (STRIPS, hidden), overwritten; its sum over strips is gradient^T visible_offset
    visible_shift : (visible,), overwritten with gradient hidden_offset
    """
    lanes = lanes_of(gradient)
    words = words_for(data.visible.shape[0]) + words_for(model.visible.shape[0])
    # Both phases' hidden means, each over its number of rows, the model's negative: words of the
    # data, then of the model; blocks of columns; rows of a panel; columns of a panel.
    panels = empty((words, -(-gradient.shape[1] // lanes), WORD, lanes), gradient.dtype)
    means = (data.mean, model.mean, centring.model_share, panels)
    each(_pack_panel, panels.shape[0] * panels.shape[1], means)
    out = (gradient, hidden_shift, visible_shift)
    each(_gradient_strip, STRIPS, (data, model, centring, panels, *out))
