"""A temporal model as the kernels take it, and its filter (mathematics 4.1 and 4.2).

Tested in tests/kernels/trbm/test_filter.py and tests/models/test_sequences.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.tiles import gather
from trug_fast.kernels.trbm import continuation
from trug_fast.kernels.trbm.filter import Frames, run_filter
from trug_fast.kernels.trbm.frames import add_product

from .sequences import Batch, Sequences

LAGGED = ("visible_to_hidden", "visible_to_visible", "hidden_to_hidden")  # a lag or several
ROWS = 8192  # frames that go through the filter at a time, so that working arrays stay small


class Filtered(NamedTuple):
    """A batch of frames seen through the filter; all arrays have one row a frame."""

    visible: FloatArray
    past_visible: FloatArray  # but for first frames; of several lags side by side
    past_hidden: FloatArray  # but for first frames; of several lags side by side
    net: FloatArray  # net inputs of the hidden units given present and past
    state: FloatArray  # means or draws given present and past
    layers: gibbs.Layers  # the RBM of each frame given its past: biases have a row each

    def past_after(self, rows: NDArray[np.int64]) -> Past:
        """Return what the frames after some depend on, by what Batch.lagged gives of these."""
        n = len(rows)
        return Past(self.visible[rows].reshape(n, -1), self.state[rows].reshape(n, -1))


class Past(NamedTuple):
    """What next frames depend on, a row each: the last frames, the latest first, side by side."""

    visible: FloatArray  # (rows, lags * visible)
    hidden: FloatArray  # (rows, lags * hidden), what the filter says of the same frames

    def then(self, visible: FloatArray, hidden: FloatArray) -> Past:
        """Return the past of the frames after these."""
        pairs = ((visible, self.visible), (hidden, self.hidden))
        return Past(*(np.hstack([new, old])[:, : old.shape[1]] for new, old in pairs))

    @classmethod
    def of_first(cls, visible: FloatArray, hidden: FloatArray, n_lags: int) -> Past:
        """Return the past of second frames: the first one stands for those before it."""
        return cls(*(np.tile(part, (1, n_lags)) for part in (visible, hidden)))


class TemporalLayers(NamedTuple):
    """A temporal model as the kernels take it: matrices lead from past to present.

    Those of several lags stand one below the other, the frame before first.
    """

    layers: gibbs.Layers  # biases of frames with a past
    initial_visible_bias: FloatArray
    initial_hidden_bias: FloatArray
    visible_to_hidden: FloatArray  # (lags * visible, hidden), W2 transposed
    visible_to_visible: FloatArray  # W3 transposed
    hidden_to_hidden: FloatArray  # W4 transposed

    @property
    def n_lags(self) -> int:
        """Number of frames that the next one depends on."""
        weights = self.visible_to_visible
        return int(weights.shape[0] // weights.shape[1])

    def filter(
        self,
        sequences: Sequences,
        batch: Batch,
        *,
        draw: bool = False,
        seed: int = 0,
        step: int = 0,
    ) -> Filtered:
        """Run the filter over a batch, by means or by draws; BLAS must be held to one thread."""
        layers, first, rows = self.layers, batch.first, batch.rows.size
        dtype = layers.weights.dtype
        n_visible, n_hidden = layers.weights.shape
        visible = np.empty((rows, n_visible), dtype)
        lags = batch.lagged(self.n_lags)[batch.past]
        past_visible = np.empty((rows - first, lags.shape[1] * n_visible), dtype)
        gather(sequences.frames, batch.rows, visible)
        gather(visible, lags.ravel(), past_visible.reshape(-1, n_visible))
        visible_bias, hidden_bias = np.empty_like(visible), np.empty((rows, n_hidden), dtype)
        for bias, initial, constant, weights in (
            (visible_bias, self.initial_visible_bias, layers.visible_bias, self.visible_to_visible),
            (hidden_bias, self.initial_hidden_bias, layers.hidden_bias, self.visible_to_hidden),
        ):
            bias[:first], bias[first:] = initial, constant
            if rows > first:
                add_product(False, past_visible, read_only(weights), 1.0, bias[first:])
        drive = hidden_bias.copy()
        add_product(False, visible, layers.weights, 1.0, drive)
        net, state = np.empty_like(drive), np.empty_like(drive)
        chain = layers._replace(weights=read_only(self.hidden_to_hidden))
        address = gibbs.Address(seed, HIDDEN, step, 0)
        run_filter(chain, batch.starts, draw, address, Frames(drive, net, state))
        past_hidden = np.empty((rows - first, lags.shape[1] * n_hidden), dtype)
        gather(state, lags.ravel(), past_hidden.reshape(-1, n_hidden))
        hidden_bias += net - drive
        here = layers._replace(visible_bias=visible_bias, hidden_bias=hidden_bias)
        return Filtered(visible, past_visible, past_hidden, net, state, here)

    def links(self) -> continuation.Links:
        """Return what leads from frame to frame, as kernels take it."""
        weights, *biases = self.layers[:3]
        between = self.visible_to_visible, self.visible_to_hidden, self.hidden_to_hidden
        back = np.array(weights.T, order="C")
        return continuation.Links(*(read_only(part) for part in (*between, back, *biases)))

    def next_biases(self, visible: FloatArray, hidden: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both layers' biases after the frames of a Past, one row each."""
        layers = self.layers
        return (
            layers.visible_bias + visible @ self.visible_to_visible,
            layers.hidden_bias + visible @ self.visible_to_hidden + hidden @ self.hidden_to_hidden,
        )


def filtered(own: TemporalLayers, sequences: Sequences) -> Iterator[tuple[Batch, Filtered]]:
    """Yield all sequences, in order, some at a time, with what the filter makes of them.

    How many at a time depends on their lengths alone.
    """
    size = max(1, ROWS // int(sequences.lengths.max()))
    for start in range(0, sequences.lengths.size, size):
        batch = sequences.batch(np.arange(start, min(start + size, sequences.lengths.size)))
        with computing(work(batch.rows.size, *own.layers.weights.shape)):
            seen = own.filter(sequences, batch)
        yield batch, seen


def stacked(weights: FloatArray) -> FloatArray:
    """Return weights of one lag, or all, as they lead from past to present, lag below lag."""
    back = np.array(weights.swapaxes(-1, -2), order="C")
    return back.reshape(-1, back.shape[-1])


def of_lags(stack: FloatArray, n_lags: int) -> FloatArray:
    """Return the weights of which `stacked` makes these."""
    parts = stack.reshape(n_lags, -1, stack.shape[1]).swapaxes(1, 2)
    return parts if n_lags > 1 else parts[0]
