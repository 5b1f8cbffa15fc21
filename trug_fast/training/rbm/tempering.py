"""The model's side of training by parallel tempering: replicas, and the phase they give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs, tempering

from .gradients import Phase, data_phase


class Replicas:
    """Chains, each with a replica at every inverse temperature; see kernels/tempering.py."""

    def __init__(
        self, betas: tuple[float, ...], chains: int, base: FloatArray, n_hidden: int
    ) -> None:
        dtype, rows = base.dtype, len(betas) * chains
        self.chains, self.base = chains, base
        self.t = np.repeat(np.array(betas), chains).astype(dtype)
        self.scaled = np.zeros((rows, n_hidden), dtype)  # t h: all that an update leaves behind
        self.accepted = np.zeros((len(betas) - 1, chains), np.int64)
        self._visible, self._mean, self._bias = (
            np.zeros((rows, base.size), dtype) for _ in range(3)
        )
        self._net = np.zeros((rows, n_hidden), dtype)
        self._phase = Phase(chains, base.size, n_hidden, dtype)

    def start(self, layers: gibbs.Layers, net: FloatArray, seed: int, step: int) -> None:
        """Draw the hidden states of all replicas given the net inputs of data."""
        self._net[:] = np.resize(net, self._net.shape)
        address = gibbs.Address(seed, HIDDEN, step, 0)
        tempering.draw_scaled(layers, self.t, self._net, address, self.scaled)

    def sweep(self, layers: gibbs.Layers, k: int, seed: int, first_step: int) -> Phase:
        """Run k sweeps with an exchange in each; return the phase of the replicas at t = 1."""
        t, bias = self.t[:, None], layers.visible_bias
        np.multiply(t, bias - self.base, out=self._bias)
        self._bias += self.base
        tempering.sweeps(
            layers._replace(visible_bias=self._bias),
            bias[0] - self.base,
            self.t,
            self.chains,
            k,
            seed,
            first_step,
            self.scaled,
            self._visible,
            self._mean,
            self._net,
            self.accepted,
        )
        self._phase.visible = self._visible[-self.chains :]
        data_phase(layers, self._phase)
        return self._phase

    def rates(self, sweeps: int) -> NDArray[np.float64]:
        """Return the share of exchanges accepted by each pair of neighbours in so many sweeps."""
        offered: NDArray[Any] = np.maximum(1, (sweeps + np.arange(len(self.accepted)) % 2) // 2)
        rates: NDArray[np.float64] = self.accepted.mean(axis=1) / offered
        return rates
