"""One update of an RBM: parameters, chains and optimiser, and how a batch moves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checkpoints import State, copy_into
from .gradients import Chains, Gradient, Phase, data_phase, model_phase, start_chains
from .kernels import gibbs, learning
from .kernels.hidden import BERNOULLI, TRUG
from .kernels.philox import INITIAL, ORDER
from .optimisers import Optimiser, OptimiserName
from .rbm import BernoulliRBM, TruGRBM
from .threads import one_blas_thread
from .truncation import Truncation

SMOOTHING = 0.01  # added to pixel means before their log-odds
MEMORY = 0.99  # of the running mean of the hidden units, per update
LOG_WIDTHS = 9.2  # learned intervals stay between 1e-4 and 1e4 wide: beyond, exp may overflow

STATE = (
    "weights",
    "visible_bias",
    "hidden_bias",
    "precision",
    "lower",
    "upper",
    "low_end",
    "log_width",
    "visible_offset",
    "hidden_offset",
)


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller."""

    truncation: Truncation
    bernoulli: bool
    precision: float
    persistent: bool
    k: int
    n_chains: int
    batch_size: int
    optimizer: OptimiserName
    momentum: float
    centred: bool
    weight_decay: float
    init_scale: float
    dtype: np.dtype[Any]


class Learner:
    """The state of a training run; every update changes it in place.

    Truncation points live as ``lower`` and ``log_width``, so that they cannot cross (math.md 2.3).
    """

    def __init__(self, data: NDArray[Any], n_hidden: int, settings: Settings, seed: int) -> None:
        n_visible, dtype = data.shape[1], settings.dtype
        self.settings, self.seed = settings, seed
        self.updates = self.sweeps = 0  # so far
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        self.weights = generator.normal(0.0, settings.init_scale, (n_visible, n_hidden)).astype(
            dtype
        )
        ends = settings.truncation
        self.precision = np.full(n_hidden, settings.precision, dtype)
        self.lower, self.upper = (
            np.full(n_hidden, ends.lower, dtype),
            np.full(n_hidden, ends.upper, dtype),
        )
        if not settings.bernoulli:  # refuse units that cannot be normalised
            TruGRBM(self.weights, 0.0, 0.0, self.precision, self.lower, self.upper)
        learned = 1 if ends.learn == "shared" else n_hidden
        self.low_end = np.full(learned, ends.lower, dtype)
        self.log_width = np.log(np.full(learned, ends.upper - ends.lower, dtype))
        self.hidden_bias = np.zeros(n_hidden, dtype)
        self.visible_bias = np.zeros(n_visible, dtype)
        self.visible_offset = data.mean(axis=0, dtype=np.float64).astype(dtype)
        self.hidden_offset = np.zeros(n_hidden, dtype)
        self._batch = Phase(settings.batch_size, n_visible, n_hidden, dtype)
        chains = settings.n_chains if settings.persistent else settings.batch_size
        self.chains = Chains(chains, n_visible, n_hidden, dtype)
        self.gradient = Gradient(n_visible, n_hidden, dtype)
        self.optimiser = Optimiser(settings.optimizer, settings.momentum)
        self._remember()
        self._start(data)

    def _remember(self) -> None:
        """Give every parameter that is learned its memories, so that state() has all from now."""
        ends = self.settings.truncation
        learned = {name: getattr(self, name) for name in ("weights", "visible_bias", "hidden_bias")}
        if ends.learn is not None and not self.settings.bernoulli:
            learned["log_width"] = self.log_width
            if ends.learn_lower and ends.learn_upper:
                learned["low_end"] = self.low_end
        for name, parameter in learned.items():
            self.optimiser.remember(name, parameter)

    def _arrays(self) -> State:
        """Return all arrays that an update reads before it writes them, sharing memory."""
        arrays = {name: getattr(self, name) for name in STATE}
        if self.settings.persistent:
            arrays["chains"] = self.chains.hidden
        for name, (first, second) in self.optimiser.memory.items():
            arrays[f"first.{name}"], arrays[f"second.{name}"] = first, second
        return arrays

    def state(self) -> State:
        """Return everything that later updates depend on, sharing memory."""
        counters = np.array([self.updates, self.sweeps, self.optimiser.steps])
        return self._arrays() | {"counters": counters}

    def restore(self, state: State) -> None:
        """Go back to a state; raises ValueError if it is no state of such a learner."""
        counters = np.zeros(3, np.int64)
        copy_into(self._arrays() | {"counters": counters}, state)
        self.updates, self.sweeps, self.optimiser.steps = (int(n) for n in counters)

    def _start(self, data: NDArray[Any]) -> None:
        """Set log-odds biases, and start offsets and chains from data."""
        rows = np.arange(self.chains.hidden.shape[0]) % data.shape[0]
        phase = Phase(rows.size, data.shape[1], self.weights.shape[1], self.weights.dtype)
        with one_blas_thread():
            learning.gather(data, rows, phase.visible)
            data_phase(self.layers(), phase)
            self.hidden_offset[:] = phase.means()[0]
            mean = self.visible_offset
            odds = np.log((mean + SMOOTHING) / (1 - mean + SMOOTHING))
            self.visible_bias[:] = odds - self.weights @ self.hidden_offset
            start_chains(self.layers(), phase, self.chains, self.seed, 0)
        if not self.settings.centred:
            self.visible_offset[:] = 0.0
            self.hidden_offset[:] = 0.0

    def layers(self) -> gibbs.Layers:
        """Return the current parameters as the kernels take them, sharing memory."""
        return gibbs.Layers(
            self.weights,
            self.visible_bias[None],
            self.hidden_bias[None],
            BERNOULLI if self.settings.bernoulli else TRUG,
            self.precision,
            self.lower,
            self.upper,
            0 if self.settings.precision > 0 else self.precision.size,
        )

    def model(self) -> TruGRBM | BernoulliRBM:
        """Return the current model."""
        common = (self.weights, self.visible_bias, self.hidden_bias)
        if self.settings.bernoulli:
            return BernoulliRBM(*common)
        return TruGRBM(*common, self.precision, self.lower, self.upper)

    def require_finite(self, epoch: int) -> None:
        """Stop a run that has diverged, instead of training on nonsense."""
        if not np.isfinite(self.weights).all():
            raise FloatingPointError(
                f"training diverged in epoch {epoch}: weights are no longer finite; "
                "use a lower learning_rate, or a lower truncation_rate where ends are learned"
            )

    def batches(self, rows: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each batch of an epoch, in an order that the seed and epoch fix."""
        generator = np.random.Generator(
            np.random.Philox(key=[self.seed, ORDER], counter=epoch << 128)
        )
        order = generator.permutation(rows)
        size = self.settings.batch_size
        for start in range(0, rows, size):
            yield order[start : start + size]

    def update(
        self, data: NDArray[Any], rows: NDArray[np.int64], rate: float, truncation_rate: float
    ) -> None:
        """Take one step from a batch of rows of ``data``."""
        with one_blas_thread():
            batch = self._batch.first(rows.size)
            learning.gather(data, rows, batch.visible)
            self._estimate_and_step(batch, rate, truncation_rate)
        self.updates += 1

    def _estimate_and_step(self, batch: Phase, rate: float, truncation_rate: float) -> None:
        settings, layers = self.settings, self.layers()
        data_phase(layers, batch)
        chains = self.chains
        if not settings.persistent:
            chains = self.chains.first(batch.visible.shape[0])
            # Its own half of the step numbers keeps these draws apart from the sweeps'.
            start_chains(layers, batch, chains, self.seed, (1 << 40) + self.updates)
        first_step = 1 + self.sweeps  # step 0 started the chains
        model_phase(
            layers, chains, settings.k, self.seed, first_step, persistent=settings.persistent
        )
        self.sweeps += settings.k
        slope = self.gradient.estimate(batch, chains, self.visible_offset, self.hidden_offset)
        self._step(slope, rate, truncation_rate)
        if settings.centred:
            fresh = batch.means()[0].astype(self.hidden_offset.dtype)
            self.hidden_offset += (1 - MEMORY) * (fresh - self.hidden_offset)

    def _step(self, slope: dict[str, Any], rate: float, truncation_rate: float) -> None:
        optimiser = self.optimiser
        optimiser.steps += 1
        first, second = optimiser.remember("weights", self.weights)
        rule = optimiser.rule(rate, self.settings.weight_decay)
        learning.update_weights(rule, self.weights, slope["weights"], first, second)
        optimiser.step("visible_bias", self.visible_bias, slope["visible_bias"], rate)
        optimiser.step("hidden_bias", self.hidden_bias, slope["hidden_bias"], rate)
        if self.settings.truncation.learn is not None and not self.settings.bernoulli:
            self._move_ends(slope["lower"], slope["upper"], truncation_rate)

    def _move_ends(self, by_lower: Any, by_upper: Any, rate: float) -> None:
        """Move the truncation points along their gradients.

        With both ends learned the coordinates are the lower end, at constant width, and the log
        width, at constant lower end; with one learned, the log width at the other end.
        """
        ends = self.settings.truncation
        width = np.exp(self.log_width)
        by_width = by_upper if ends.learn_upper else -by_lower
        moves = by_lower + by_upper
        if ends.learn == "shared":  # the mean, so that rates do not depend on the number of units
            by_width, moves = by_width.mean(keepdims=True), moves.mean(keepdims=True)
        self.optimiser.step("log_width", self.log_width, width * by_width, rate)
        np.clip(self.log_width, -LOG_WIDTHS, LOG_WIDTHS, out=self.log_width)
        if ends.learn_lower and ends.learn_upper:
            self.optimiser.step("low_end", self.low_end, moves, rate)
        if ends.learn_upper:
            self.lower[:] = self.low_end
            self.upper[:] = self.low_end + np.exp(self.log_width)
        else:
            self.lower[:] = self.upper - np.exp(self.log_width)

    def brief(self) -> dict[str, float]:
        """Return the learned truncation points in brief."""
        ends = self.settings.truncation
        if self.settings.bernoulli or ends.learn is None:
            return {}
        result = {}
        for name, learned in (("lower", ends.learn_lower), ("upper", ends.learn_upper)):
            if learned:
                value = getattr(self, name)
                result[f"{name}_mean"] = float(value.mean())
                result[f"{name}_min"], result[f"{name}_max"] = (
                    float(value.min()),
                    float(value.max()),
                )
        return result
