"""Contrastive estimates of the likelihood's gradient for both machines (math.md 2.2 and 2.5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs, learning


class Phase:
    """Rows of visibles with everything computed from them; made once, overwritten every update."""

    def __init__(self, rows: int, n_visible: int, n_hidden: int, dtype: Any) -> None:
        self.visible = np.zeros((rows, n_visible), dtype)
        self.net = np.zeros((rows, n_hidden), dtype)
        self.mean = np.zeros((rows, n_hidden), dtype)
        self.sums = np.zeros((gibbs.tile_count(rows, 1, 1), 4, n_hidden))

    def first(self, rows: int) -> Phase:
        """Return the first rows alone, sharing memory."""
        if rows == self.visible.shape[0]:
            return self
        part = object.__new__(Phase)
        part.visible, part.net, part.mean = self.visible[:rows], self.net[:rows], self.mean[:rows]
        part.sums = self.sums[: gibbs.tile_count(rows, 1, 1)]
        return part

    def means(self) -> NDArray[np.float64]:
        """Return the mean over rows of E[h], E[h^2], p(h = lower), p(h = upper); (4, hidden)."""
        total: NDArray[np.float64] = self.sums.sum(axis=0) / self.visible.shape[0]
        return total


class Chains(Phase):
    """The model's side: chains that carry hidden states from update to update."""

    def __init__(self, rows: int, n_visible: int, n_hidden: int, dtype: Any) -> None:
        super().__init__(rows, n_visible, n_hidden, dtype)
        self.hidden = np.zeros((rows, n_hidden), dtype)
        self.visible_mean = np.zeros((rows, n_visible), dtype)

    def first(self, rows: int) -> Chains:
        """Return the first chains alone, sharing memory."""
        if rows == self.visible.shape[0]:
            return self
        part = object.__new__(Chains)
        base = super().first(rows)
        part.__dict__.update(base.__dict__)
        part.hidden, part.visible_mean = self.hidden[:rows], self.visible_mean[:rows]
        return part


def data_phase(layers: gibbs.Layers, phase: Phase) -> None:
    """Fill a phase from its visibles: analytic moments, no draws."""
    gibbs.hidden_statistics(layers, phase.visible, phase.net, phase.mean, phase.sums)


def start_chains(layers: gibbs.Layers, data: Phase, chains: Chains, seed: int, step: int) -> None:
    """Draw the chains' hidden states given data: contrastive divergence starts here."""
    gibbs.draw_hidden(layers, data.net, gibbs.Address(seed, HIDDEN, step, 0), chains.hidden)


def model_phase(
    layers: gibbs.Layers, chains: Chains, k: int, seed: int, first_step: int, *, persistent: bool
) -> None:
    """Run k sweeps from the hidden states, then fill the phase from the last visibles.

    Persistent chains end with new hidden states, ready for the next update.
    """
    gibbs.model_phase(
        layers,
        k,
        persistent,
        seed,
        first_step,
        chains.hidden,
        chains.visible,
        chains.visible_mean,
        chains.net,
        chains.mean,
        chains.sums,
    )


class Gradient:
    """The estimated gradient of the mean log-likelihood, and its working arrays."""

    def __init__(self, n_visible: int, n_hidden: int, dtype: Any) -> None:
        self.weights = np.zeros((n_visible, n_hidden), dtype)
        self._hidden_shift = np.zeros((learning.TILES, n_hidden), dtype)
        self._visible_shift = np.zeros(n_visible, dtype)

    def estimate(
        self,
        data: Phase,
        chains: Phase,
        visible_offset: FloatArray,
        hidden_offset: FloatArray,
    ) -> dict[str, FloatArray]:
        """Return the gradients by all parameters; offsets of zero give the plain gradient.

        ``weights`` in the result is this object's own array, overwritten by the next call.
        """
        dtype = self.weights.dtype
        ours, theirs = data.means(), chains.means()
        difference = ours - theirs
        visible = data.visible.mean(axis=0) - chains.visible.mean(axis=0)
        hidden = difference[0].astype(dtype)
        centring = learning.Centring(
            np.ascontiguousarray(visible_offset, dtype),
            np.ascontiguousarray(hidden_offset, dtype),
            visible,
            hidden,
        )
        learning.weight_gradient(
            learning.Phase(data.visible, data.mean),
            learning.Phase(chains.visible, chains.mean),
            centring,
            self.weights,
            self._hidden_shift,
            self._visible_shift,
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
