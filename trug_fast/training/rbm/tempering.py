"""The model's side of training by parallel tempering: replicas, and the phase they give.

Tested in tests/kernels/rbm/test_tempering.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs, tempering


class Replicas:
    """Chains, each with a replica at every inverse temperature; see kernels/rbm/tempering.py."""

    def __init__(
        self, betas: tuple[float, ...], chains: int, base: FloatArray, n_hidden: int
    ) -> None:
        dtype, rows = base.dtype, len(betas) * chains
        self.base = base
        self.states = tempering.ReplicaStates(
            t=np.repeat(np.array(betas), chains).astype(dtype),
            tilt=np.zeros_like(base),
            scaled=np.zeros((rows, n_hidden), dtype),
            visible=np.zeros((rows, base.size), dtype),
            visible_mean=np.zeros((rows, base.size), dtype),
            net=np.zeros((rows, n_hidden), dtype),
            accepted=np.zeros((len(betas) - 1, chains), np.int64),
        )
        self._bias = np.zeros((rows, base.size), dtype)
        phase = gibbs.Phase.new(self.states.visible[-chains:], n_hidden)
        self.chains = gibbs.Chains(self.states.scaled, self.states.visible_mean, phase)

    @property
    def scaled(self) -> FloatArray:
        """The hidden states times t: with ``accepted``, all that an update leaves behind."""
        return self.states.scaled

    @property
    def accepted(self) -> NDArray[np.int64]:
        """How often each pair of neighbours was exchanged, (temperatures - 1, chains)."""
        return self.states.accepted

    def start(self, layers: gibbs.Layers, net: FloatArray, seed: int, step: int) -> None:
        """Draw the hidden states of all replicas given the net inputs of data."""
        self.states.net[:] = np.resize(net, self.states.net.shape)
        tempering.draw_scaled(layers, self.states, gibbs.Address(seed, HIDDEN, step, 0))

    def sweep(self, layers: gibbs.Layers, n_gibbs: int, seed: int, first_step: int) -> gibbs.Phase:
        """Run sweeps with an exchange in each; return the phase of the replicas at t = 1.

        It is that of ``chains``, too, as updates take it.
        """
        bias = layers.visible_bias
        self.states.tilt[:] = bias[0] - self.base
        np.multiply(self.states.t[:, None], self.states.tilt, out=self._bias)
        self._bias += self.base
        tempered = layers._replace(visible_bias=self._bias)
        tempering.sweeps(tempered, self.states, n_gibbs, seed, first_step)
        gibbs.hidden_statistics(layers, self.chains.phase)
        return self.chains.phase

    def rates(self, sweeps: int) -> NDArray[np.float64]:
        """Return the share of exchanges accepted by each pair of neighbours in so many sweeps."""
        offered: NDArray[Any] = np.maximum(1, (sweeps + np.arange(len(self.accepted)) % 2) // 2)
        rates: NDArray[np.float64] = self.accepted.mean(axis=1) / offered
        return rates
