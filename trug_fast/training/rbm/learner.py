"""One update of an RBM: parameters, chains and optimizer, and how a batch moves them.

Tested in tests/training/rbm/test_train.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.gibbs import Chains, Phase
from trug_fast.kernels.tiles import gather
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.visible_units import units_of
from trug_fast.training import diagnosis
from trug_fast.training.averages import Averages
from trug_fast.training.checkpoints import State, counted, restore_counted
from trug_fast.training.diagnosis import Columns
from trug_fast.training.loop import shuffled
from trug_fast.training.optimizers import Steps
from trug_fast.training.settings import Pace
from trug_fast.training.unit_parameters import UnitParameters

from .gradients import Gradient, start_chains
from .settings import RBMSettings
from .tempering import Replicas

MEMORY = 0.99  # of the running mean of the hidden units, per update


class RBMLearner:
    """The state of a training run; every update changes it in place."""

    def __init__(self, data: NDArray[Any], settings: RBMSettings, seed: int) -> None:
        n_visible, n_hidden, dtype = settings.n_visible, settings.n_hidden, settings.dtype
        self.settings, self.seed = settings, seed
        self.updates = self.sweeps = 0  # so far
        self.steps = Steps(settings.optimizer)
        self.weights = settings.weights(seed)
        self.visible_precision = settings.visible_precision()
        self.units = UnitParameters(settings.shape(), self.steps, dtype)
        self.units.keep_normalizable(self.weights, self.visible_precision)
        self.visible_bias, self.hidden_bias = np.zeros(n_visible, dtype), np.zeros(n_hidden, dtype)
        self.visible_offset = data.mean(axis=0, dtype=np.float64).astype(dtype)
        self.hidden_offset = np.zeros(n_hidden, dtype)
        self._batch = Phase.new(np.zeros((settings.batch_size, n_visible), dtype), n_hidden)
        chains = settings.n_chains
        self.chains = Chains.new(np.zeros((chains, n_visible), dtype), n_hidden)
        base = units_of(self.visible_precision).bias(self.visible_offset)
        self.replicas = Replicas(settings.betas, chains, base, n_hidden) if settings.betas else None
        self.gradient = Gradient(n_visible, n_hidden, dtype)
        own = {name: getattr(self, name) for name in ("weights", "visible_bias", "hidden_bias")}
        for name, parameter in own.items():
            self.steps.remember(name, parameter)
        self._start(data, base)
        self.learned = own | self.units.learned()
        self.averages = Averages(self.learned, settings.average)

    def _start(self, data: NDArray[Any], base: FloatArray) -> None:
        """Start offsets and chains at data; set biases such that visible means are those of it."""
        rows = np.arange(self.chains.hidden.shape[0]) % data.shape[0]
        visible = np.zeros((rows.size, data.shape[1]), self.weights.dtype)
        phase = Phase.new(visible, self.weights.shape[1])
        biases = self.settings.biases()
        with computing(self._work(rows.size)):
            gather(data, rows, phase.visible)
            for name, values in biases.items():
                getattr(self, name)[:] = values
            gibbs.hidden_statistics(self.layers(), phase)
            self.hidden_offset[:] = phase.means()[0]
            if not biases:
                self.visible_bias[:] = base - self.weights @ self.hidden_offset
            if self.replicas is None:
                start_chains(self.layers(), phase, self.chains, self.seed, 0)
            else:
                self.replicas.start(self.layers(), phase.net, self.seed, 0)
        if not self.settings.sampler.centred:
            self.visible_offset[:] = 0.0
            self.hidden_offset[:] = 0.0

    def _arrays(self) -> State:
        """Return all arrays that an update reads before it writes them, sharing memory."""
        names = ("weights", "visible_bias", "hidden_bias", "visible_offset", "hidden_offset")
        arrays = {name: getattr(self, name) for name in names} | self.units.arrays()
        if self.replicas is not None:
            arrays |= {"chains": self.replicas.scaled, "accepted": self.replicas.accepted}
        elif self.settings.persistent:
            arrays["chains"] = self.chains.hidden
        return arrays | self.steps.arrays() | self.averages.arrays()

    def state(self) -> State:
        """Return everything that later updates depend on, sharing memory."""
        return counted(self, self._arrays())

    def restore(self, state: State) -> None:
        """Go back to a state; raises ValueError if it is no state of such a learner."""
        restore_counted(self, self._arrays(), state)

    def layers(self) -> gibbs.Layers:
        """Return the current parameters as the kernels take them, sharing memory."""
        return gibbs.Layers(
            read_only(self.weights),
            self.visible_bias[None],
            self.hidden_bias[None],
            *self.units.layer(),
            self.visible_precision,
        )

    def parameters(self) -> State:
        """Return the current parameters, averaged if so set; they may share memory."""
        names = ("weights", "visible_bias", "hidden_bias")
        found = {name: getattr(self, name) for name in names} | self.units.parameters()
        if self.visible_precision.size:
            found["visible_precision"] = self.visible_precision
        return found | self.averages.parameters(self.updates)

    def model(self, parameters: State | None = None) -> TruGRBM | BernoulliRBM:
        """Return the model of these parameters, by default the current ones."""
        kind = BernoulliRBM if self.units.bernoulli else TruGRBM
        return kind(**(parameters or self.parameters()))

    def fault(self, columns: Columns) -> str | None:
        """Say which parameter is nonsense, if one is; ``columns`` are those of the data."""
        return diagnosis.fault(self.learned, lambda: self._pulls(columns))

    def _pulls(self, columns: Columns) -> State:
        """Return what weights and biases do to units, as diagnosis.LIMIT counts it."""
        mean = self.hidden_offset if self.settings.sampler.centred else None
        hidden, scale = self.units.ranges(mean), columns.scale(self.visible_precision)
        visible = self.visible_bias + self.weights @ hidden.mean
        if self.visible_precision.size:
            visible -= self.visible_precision * columns.mean
        return {
            "weights": diagnosis.pull(scale, self.weights, hidden.width),
            "visible_bias": visible * scale,
        }

    def n_batches(self, rows: int) -> int:
        """Return the number of batches of an epoch."""
        return -(-rows // self.settings.batch_size)

    def batches(self, rows: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each batch of an epoch, in an order that the seed and epoch fix."""
        return shuffled(self.seed, rows, self.settings.batch_size, epoch)

    def update(self, data: NDArray[Any], rows: NDArray[np.int64], pace: Pace) -> None:
        """Take one step from a batch of rows of ``data``."""
        with computing(self._work(rows.size)):
            batch = self._batch.first(rows.size)
            gather(data, rows, batch.visible)
            self._estimate_and_step(batch, pace)
        self.updates += 1
        self.averages.follow(self.updates)

    def _work(self, rows: int) -> float:
        """Return what a half step of a batch of so many rows, or of the chains, costs."""
        chains = self.chains.hidden if self.replicas is None else self.replicas.scaled
        return work(max(rows, len(chains)), *self.weights.shape)

    def _estimate_and_step(self, batch: Phase, pace: Pace) -> None:
        layers = self.layers()
        gibbs.hidden_statistics(layers, batch)
        model = self._model_phase(layers, batch, pace.n_gibbs)
        self.sweeps += pace.n_gibbs
        slope = self.gradient.estimate(batch, model, self.visible_offset, self.hidden_offset)
        self._step(slope, pace)
        if self.settings.sampler.centred:
            fresh = batch.means()[0].astype(self.hidden_offset.dtype)
            self.hidden_offset += (1 - MEMORY) * (fresh - self.hidden_offset)

    def _model_phase(self, layers: gibbs.Layers, batch: Phase, n_gibbs: int) -> Phase:
        """Run so many sweeps of the chains and return what the last one found."""
        first_step = 1 + self.sweeps  # step 0 started the chains
        if self.replicas is not None:
            return self.replicas.sweep(layers, n_gibbs, self.seed, first_step)
        chains, persistent = self.chains, self.settings.persistent
        if not persistent:
            chains = self.chains.first(batch.visible.shape[0])
            # Its own half of the step numbers keeps these draws apart from the sweeps'.
            start_chains(layers, batch, chains, self.seed, (1 << 40) + self.updates)
        gibbs.model_phase(layers, chains, n_gibbs, persistent, self.seed, first_step)
        return chains.phase

    def _step(self, slope: dict[str, Any], pace: Pace) -> None:
        steps, rate = self.steps, pace.learning_rate
        steps.taken += 1
        steps.move_weights("weights", self.weights, slope["weights"], rate)
        steps.move("visible_bias", self.visible_bias, slope["visible_bias"], rate)
        steps.move("hidden_bias", self.hidden_bias, slope["hidden_bias"], rate)
        shift = self.units.move_precision(
            slope["precision"], slope["hidden_mean"], self.hidden_offset, pace.precision_rate
        )
        if shift is not None:
            self.hidden_bias += shift
        self.units.move_ends(slope["lower"], slope["upper"], pace.truncation_rate)
        self.units.keep_normalizable(self.weights, self.visible_precision)

    def brief(self, pace: Pace) -> dict[str, float]:
        """Return what an update did last and the learned shapes of the units in brief."""
        result = {"learning_rate": pace.learning_rate, "n_gibbs": float(pace.n_gibbs)}
        if self.replicas is not None:
            rates = self.replicas.rates(self.sweeps)
            result |= {"swap_mean": float(rates.mean()), "swap_min": float(rates.min())}
        return result | self.units.brief(pace.truncation_rate, pace.precision_rate)
