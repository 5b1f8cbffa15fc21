"""The model's side of an RBM's gradient: where its chains come from, a class for each sampler.

Tested in tests/kernels/rbm/test_tempering.py and tests/training/rbm/test_train.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray
from trug_fast._common.threads import computing
from trug_fast.evaluation.ladder import Ladder
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs, tempering
from trug_fast.kernels.rbm.updates import FROM_DATA, GIVEN, PERSISTENT
from trug_fast.training.learner import Part, Update
from trug_fast.training.rates import Schedule, Time


class FromData(Part):
    """Chains that begin at the batch for every update: contrastive divergence.

    Others differ from it in what they override.
    """

    alone = False
    mode = FROM_DATA  # of the kernel
    exchanged = False  # whether states are exchanged after they were drawn: means are not theirs
    turned = False  # chains may be turned over into another phase of the data
    slower = 1.0  # the share of the usual learning rate that is taken
    brake = 1.0  # by which rates are multiplied, as training goes

    def __init__(self, chains: gibbs.Chains, sweeps: Schedule) -> None:
        self.chains, self._sweeps = chains, sweeps

    @classmethod
    def of(cls, learner: Any, base: FloatArray, data: Any) -> FromData:
        """Return the chains of a learner whose visible units alone have the biases ``base``."""
        settings = learner.settings
        visible = np.zeros((settings.n_chains, settings.n_visible), settings.dtype)
        return cls(gibbs.Chains.new(visible, settings.n_hidden), settings.rates["n_gibbs"])

    def n_gibbs(self, time: Time) -> int:
        """Return the Gibbs sweeps of an update."""
        return round(self._sweeps.at(*time))

    def start(self, learner: Any, net: FloatArray) -> None:
        """Begin where the kernel has begun at data, whose net inputs these are."""

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        """Return the chains for the kernel, which it runs unless that is done here."""
        return self.chains.first(u.size)

    def ladder_of(self, update: int | None) -> Ladder | None:
        """Return the ladder of the run's models up to an update, or of all, if it leaves one."""
        return None

    def grown(self) -> State:
        """Return what later updates depend on beside ``arrays``: of shapes that grow."""
        return {}

    def restore(self, state: State) -> None:
        """Go back to such arrays; raises ValueError if they are those of no such run."""


class Persistent(FromData):
    """Chains that go on from update to update."""

    mode = PERSISTENT
    turned = True

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        """Return the chains, which the kernel runs."""
        return self.chains

    def arrays(self) -> State:
        return {"chains": self.chains.hidden}


class Tempered(FromData):
    """Persistent chains that exchange their states with replicas at higher temperatures."""

    alone = exchanged = True
    mode = GIVEN

    def __init__(self, replicas: Replicas, sweeps: Schedule) -> None:
        super().__init__(replicas.chains, sweeps)
        self.replicas = replicas

    @classmethod
    def of(cls, learner: Any, base: FloatArray, data: Any) -> Tempered:
        own = learner.settings
        replicas = Replicas(own.sampler.ladder, own.n_chains, base, own.n_hidden)
        return cls(replicas, own.rates["n_gibbs"])

    def start(self, learner: Any, net: FloatArray) -> None:
        with computing(learner.work(len(net))):
            self.replicas.start(learner.core.layers(), net, learner.seed, 0)

    def sweep(self, learner: Any, u: Update) -> gibbs.Chains:
        """Run sweeps, each with an exchange."""
        sweeps, layers = self.n_gibbs(u.times[0]), learner.core.layers()
        self.replicas.sweep(layers, sweeps, learner.seed, 1 + learner.sweeps)
        return self.chains

    def arrays(self) -> State:
        return {"chains": self.replicas.scaled, "accepted": self.replicas.accepted}

    def brief(self, learner: Any, time: Time) -> dict[str, float]:
        swaps = self.replicas.rates(learner.sweeps)
        return {"swap_mean": float(swaps.mean()), "swap_min": float(swaps.min())}


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
