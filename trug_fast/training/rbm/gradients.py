"""The contrastive estimate of the likelihood's gradient (mathematics 2.2 and 2.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm import gradients as kernels
from trug_fast.kernels.rbm.gibbs import Chains, Phase
from trug_fast.kernels.tiles import STRIPS


def start_chains(layers: gibbs.Layers, data: Phase, chains: Chains, seed: int, step: int) -> None:
    """Draw the chains' hidden states given data: contrastive divergence starts here."""
    gibbs.draw_hidden(layers, data.net, gibbs.Address(seed, HIDDEN, step, 0), chains.hidden)


class Gradient:
    """The estimated gradient of the mean log-likelihood, and its working arrays."""

    def __init__(self, n_visible: int, n_hidden: int, dtype: Any) -> None:
        self.weights = np.zeros((n_visible, n_hidden), dtype)
        self._hidden_shift = np.zeros((STRIPS, n_hidden), dtype)
        self._visible_shift = np.zeros(n_visible, dtype)

    def estimate(
        self,
        data: Phase,
        model: Phase,
        visible_offset: FloatArray,
        hidden_offset: FloatArray,
    ) -> dict[str, FloatArray]:
        """Return the gradients by all parameters; offsets of zero give the plain gradient.

        ``weights`` in the result is this object's own array, overwritten by the next call.
        """
        dtype = self.weights.dtype
        ours, theirs = data.means(), model.means()
        difference = ours - theirs
        visible = data.visible.mean(axis=0) - model.visible.mean(axis=0)
        hidden = difference[0].astype(dtype)
        centring = kernels.Centring(
            np.ascontiguousarray(visible_offset, dtype),
            np.ascontiguousarray(hidden_offset, dtype),
            visible,
            hidden,
        )
        kernels.weight_gradient(
            data, model, centring, self.weights, self._hidden_shift, self._visible_shift
        )
        return {
            "weights": self.weights,
            "visible_bias": visible - self._visible_shift,
            "hidden_mean": hidden,  # the uncentred gradient by the hidden biases
            "hidden_bias": hidden - self._hidden_shift.sum(axis=0),
            "precision": -0.5 * difference[1],
            "lower": -difference[2],
            "upper": difference[3],
        }
