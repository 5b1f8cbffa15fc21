"""One update of an RBM: parameters, chains and optimiser, and how a batch moves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels import optimizer as kernels
from trug_fast.kernels.random.philox import INITIAL, ORDER
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.gibbs import Chains, Phase
from trug_fast.kernels.rbm.hidden import BERNOULLI, TRUG
from trug_fast.kernels.tiles import gather
from trug_fast.models.normalizable import keep_normalizable
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.truncation import Truncation
from trug_fast.models.visible_units import units_of
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import Columns, Ranges
from trug_fast.training.rbm.gradients import Gradient, start_chains
from trug_fast.training.rbm.tempering import Replicas

from .checkpoints import State, copy_into
from .optimizers import Optimiser, OptimiserName

MEMORY = 0.99  # of the running mean of the hidden units, per update
LOG_WIDTHS = 9.2  # learned intervals stay between 1e-4 and 1e4 wide: beyond, exp may overflow

CURVATURES = 1e3  # d (upper - lower)^2: beyond -1e3 units are binary, beyond 1e3 Gaussian
STRIDE = 10  # updates between two that enter the average: costs 2 % of an update instead of 20
STATE = (
    "weights",
    "visible_bias",
    "hidden_bias",
    "precision",
    "lower",
    "upper",
    "low_end",
    "log_width",
    "curvature",
    "visible_offset",
    "hidden_offset",
)


@dataclass(frozen=True)
class Settings:
    """How to train, checked by the caller."""

    truncation: Truncation
    bernoulli: bool
    visible_precision: float | None  # of Gaussian visible units
    precision: float
    learn_precision: bool
    persistent: bool
    betas: tuple[float, ...]  # of parallel tempering, else empty
    n_chains: int
    batch_size: int
    optimizer: OptimiserName
    momentum: float
    centred: bool
    weight_decay: float
    init_scale: float
    average: float
    dtype: np.dtype[Any]

    @property
    def learns_ends(self) -> bool:
        """Whether truncation points move."""
        return self.truncation.learn is not None and not self.bernoulli

    @property
    def bounded(self) -> bool:
        """Whether both truncation points are finite."""
        return bool(np.isfinite(self.truncation.upper - self.truncation.lower))


class Pace(NamedTuple):
    """How far one update goes."""

    learning_rate: float
    truncation_rate: float
    precision_rate: float
    k: int  # sweeps


class Learner:
    """The state of a training run; every update changes it in place.

    Truncation points live as ``lower`` and ``log_width``, so that they cannot cross (math.md 2.3);
    precisions as ``curvature``, d times the squared width at the start, or as log d where an end is
    infinite, which keeps them positive.
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
        if not settings.bernoulli:  # refuse units that cannot be normalized
            TruGRBM(self.weights, 0.0, 0.0, self.precision, self.lower, self.upper)
        real = settings.visible_precision is not None
        self.visible_precision = np.full(
            n_visible if real else 0, settings.visible_precision or 1.0, dtype
        )
        self._keep_normalizable()
        learned = 1 if ends.learn == "shared" else n_hidden
        self.low_end = np.full(learned, ends.lower, dtype)
        self.log_width = np.log(np.full(learned, ends.upper - ends.lower, dtype))
        self._width = ends.upper - ends.lower  # at the start
        curvature = (
            settings.precision * self._width**2 if settings.bounded else np.log(settings.precision)
        )
        self.curvature = np.full(n_hidden, curvature, dtype)
        self.hidden_bias = np.zeros(n_hidden, dtype)
        self.visible_bias = np.zeros(n_visible, dtype)
        self.visible_offset = data.mean(axis=0, dtype=np.float64).astype(dtype)
        self.hidden_offset = np.zeros(n_hidden, dtype)
        self._batch = Phase.new(np.zeros((settings.batch_size, n_visible), dtype), n_hidden)
        chains = settings.n_chains if settings.persistent else settings.batch_size
        self.chains = Chains.new(np.zeros((chains, n_visible), dtype), n_hidden)
        base = units_of(self.visible_precision).bias(self.visible_offset)
        self.replicas = Replicas(settings.betas, chains, base, n_hidden) if settings.betas else None
        self.gradient = Gradient(n_visible, n_hidden, dtype)
        self.optimiser = Optimiser(settings.optimizer, settings.momentum)
        self._remember()
        self._start(data, base)

    def _remember(self) -> None:
        """Give every parameter that is learned its memories, so that state() has all from now."""
        settings = self.settings
        learned = {name: getattr(self, name) for name in ("weights", "visible_bias", "hidden_bias")}
        shown = dict(learned)  # by the model
        if settings.learns_ends:
            learned["log_width"] = self.log_width
            shown |= {"lower": self.lower, "upper": self.upper}
            if settings.truncation.learn_lower and settings.truncation.learn_upper:
                learned["low_end"] = self.low_end
        if settings.learn_precision:
            learned["curvature"] = self.curvature
            shown["precision"] = self.precision
        self.learned = tuple(shown)
        for name, parameter in learned.items():
            self.optimiser.remember(name, parameter)
        # In float64, since steps towards a parameter become smaller than float32's grid.
        self.averages = {k: v.astype(np.float64) for k, v in shown.items() if settings.average}

    def _arrays(self) -> State:
        """Return all arrays that an update reads before it writes them, sharing memory."""
        arrays = {name: getattr(self, name) for name in STATE}
        if self.replicas is not None:
            arrays |= {"chains": self.replicas.scaled, "accepted": self.replicas.accepted}
        elif self.settings.persistent:
            arrays["chains"] = self.chains.hidden
        for name, (first, second) in self.optimiser.memory.items():
            arrays[f"first.{name}"], arrays[f"second.{name}"] = first, second
        return arrays | {f"average.{name}": average for name, average in self.averages.items()}

    def state(self) -> State:
        """Return everything that later updates depend on, sharing memory."""
        counters = np.array([self.updates, self.sweeps, self.optimiser.steps])
        return self._arrays() | {"counters": counters}

    def restore(self, state: State) -> None:
        """Go back to a state; raises ValueError if it is no state of such a learner."""
        counters = np.zeros(3, np.int64)
        copy_into(self._arrays() | {"counters": counters}, state)
        self.updates, self.sweeps, self.optimiser.steps = (int(n) for n in counters)

    def _start(self, data: NDArray[Any], base: FloatArray) -> None:
        """Set biases such that visible means are those of data; start offsets and chains there."""
        rows = np.arange(self.chains.hidden.shape[0]) % data.shape[0]
        visible = np.zeros((rows.size, data.shape[1]), self.weights.dtype)
        phase = Phase.new(visible, self.weights.shape[1])
        with computing(self._work(rows.size)):
            gather(data, rows, phase.visible)
            gibbs.hidden_statistics(self.layers(), phase)
            self.hidden_offset[:] = phase.means()[0]
            self.visible_bias[:] = base - self.weights @ self.hidden_offset
            if self.replicas is None:
                start_chains(self.layers(), phase, self.chains, self.seed, 0)
            else:
                self.replicas.start(self.layers(), phase.net, self.seed, 0)
        if not self.settings.centred:
            self.visible_offset[:] = 0.0
            self.hidden_offset[:] = 0.0

    def layers(self) -> gibbs.Layers:
        """Return the current parameters as the kernels take them, sharing memory."""
        return gibbs.Layers(
            read_only(self.weights),
            self.visible_bias[None],
            self.hidden_bias[None],
            BERNOULLI if self.settings.bernoulli else TRUG,
            self.precision,
            self.lower,
            self.upper,
            int(np.count_nonzero(self.precision <= 0)),
            self.visible_precision,
        )

    def model(self) -> TruGRBM | BernoulliRBM:
        """Return the current model, of averaged parameters if so set."""
        kind = BernoulliRBM if self.settings.bernoulli else TruGRBM
        parameters = {name: getattr(self, name) for name in kind.names}
        if self.updates >= STRIDE:
            dtype = self.settings.dtype
            parameters |= {name: value.astype(dtype) for name, value in self.averages.items()}
        if self.visible_precision.size:
            parameters["visible_precision"] = self.visible_precision
        return kind(**parameters)

    def _average(self) -> None:
        """Let the average follow the parameters: it looks back over a fraction of the run so far.

        Its weights grow like a power of the number of the update (Shamir and Zhang, 2013), so it
        needs to know neither the length of the run nor when to begin.
        """
        share = 1.0 / max(1.0, self.settings.average * self.updates / STRIDE)
        for name, average in self.averages.items():
            average += share * (getattr(self, name) - average)

    def fault(self, columns: Columns) -> str | None:
        """Say which parameter is nonsense, if one is; ``columns`` are those of the data."""
        learned = {name: getattr(self, name) for name in self.learned}
        return diagnosis.fault(learned, lambda: self._pulls(columns))

    def _pulls(self, columns: Columns) -> State:
        """Return what weights and biases do to units, as diagnosis.LIMIT counts it."""
        hidden, scale = self._ranges(), columns.scale(self.visible_precision)
        visible = self.visible_bias + self.weights @ hidden.mean
        if self.visible_precision.size:
            visible -= self.visible_precision * columns.mean
        return {
            "weights": diagnosis.pull(scale, self.weights, hidden.width),
            "visible_bias": visible * scale,
        }

    def _ranges(self) -> Ranges:
        """Return how far hidden units go and where they are, as diagnosis.LIMIT counts it."""
        mean, zeros = self.hidden_offset, np.zeros_like(self.hidden_bias)
        if self.settings.bernoulli:
            return Ranges(zeros + 1, mean)
        width = np.minimum(self.upper - self.lower, 1 / np.sqrt(np.maximum(self.precision, 1e-30)))
        return Ranges(width, mean if self.settings.centred else zeros.clip(self.lower, self.upper))

    def batches(self, rows: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Yield the rows of each batch of an epoch, in an order that the seed and epoch fix."""
        generator = np.random.Generator(
            np.random.Philox(key=[self.seed, ORDER], counter=epoch << 128)
        )
        order = generator.permutation(rows)
        size = self.settings.batch_size
        for start in range(0, rows, size):
            yield order[start : start + size]

    def update(self, data: NDArray[Any], rows: NDArray[np.int64], pace: Pace) -> None:
        """Take one step from a batch of rows of ``data``."""
        with computing(self._work(rows.size)):
            batch = self._batch.first(rows.size)
            gather(data, rows, batch.visible)
            self._estimate_and_step(batch, pace)
        self.updates += 1
        if self.updates % STRIDE == 0:
            self._average()

    def _work(self, rows: int) -> float:
        """Return what a half step of a batch of so many rows, or of the chains, costs."""
        chains = self.chains.hidden if self.replicas is None else self.replicas.scaled
        return work(max(rows, len(chains)), *self.weights.shape)

    def _estimate_and_step(self, batch: Phase, pace: Pace) -> None:
        layers = self.layers()
        gibbs.hidden_statistics(layers, batch)
        model = self._model_phase(layers, batch, pace.k)
        self.sweeps += pace.k
        slope = self.gradient.estimate(batch, model, self.visible_offset, self.hidden_offset)
        self._step(slope, pace)
        if self.settings.centred:
            fresh = batch.means()[0].astype(self.hidden_offset.dtype)
            self.hidden_offset += (1 - MEMORY) * (fresh - self.hidden_offset)

    def _model_phase(self, layers: gibbs.Layers, batch: Phase, k: int) -> Phase:
        """Run k sweeps of the chains and return what the last one found."""
        first_step = 1 + self.sweeps  # step 0 started the chains
        if self.replicas is not None:
            return self.replicas.sweep(layers, k, self.seed, first_step)
        chains, persistent = self.chains, self.settings.persistent
        if not persistent:
            chains = self.chains.first(batch.visible.shape[0])
            # Its own half of the step numbers keeps these draws apart from the sweeps'.
            start_chains(layers, batch, chains, self.seed, (1 << 40) + self.updates)
        gibbs.model_phase(layers, chains, k, persistent, self.seed, first_step)
        return chains.phase

    def _step(self, slope: dict[str, Any], pace: Pace) -> None:
        optimiser, rate = self.optimiser, pace.learning_rate
        optimiser.steps += 1
        first, second = optimiser.remember("weights", self.weights)
        rule = optimiser.rule(rate, self.settings.weight_decay)
        kernels.update_weights(rule, self.weights, slope["weights"], first, second)
        optimiser.step("visible_bias", self.visible_bias, slope["visible_bias"], rate)
        optimiser.step("hidden_bias", self.hidden_bias, slope["hidden_bias"], rate)
        if self.settings.learn_precision:
            self._move_precision(slope["precision"], slope["hidden_mean"], pace.precision_rate)
        if self.settings.learns_ends:
            self._move_ends(slope["lower"], slope["upper"], pace.truncation_rate)
        self._keep_normalizable()

    def _keep_normalizable(self) -> None:
        """Scale W down where Gaussian visibles and infinite ends would leave no density."""
        settings = self.settings
        if self.visible_precision.size and not settings.bounded and not settings.bernoulli:
            keep_normalizable(self.weights, self.precision, self.visible_precision)

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

    def _move_precision(self, by_precision: Any, by_mean: Any, rate: float) -> None:
        """Move the precisions along their gradient, and the hidden biases with them.

        The energy d (h - m)^2 / 2, with m amid the interval (or at the mean, where there is no
        middle), is d h^2 / 2 with another hidden bias; held at that, a step of d bends the unit
        without pushing it to one side.
        """
        middle = (self.lower + self.upper) / 2 if self.settings.bounded else self.hidden_offset
        slope = by_precision + middle * by_mean
        bounded, former = self.settings.bounded, self.precision.copy()
        slope = slope / self._width**2 if bounded else slope * former
        self.optimiser.step("curvature", self.curvature, slope, rate)
        limit = CURVATURES if bounded else LOG_WIDTHS
        np.clip(self.curvature, -limit, limit, out=self.curvature)
        self.precision[:] = self.curvature / self._width**2 if bounded else np.exp(self.curvature)
        self.hidden_bias += middle * (self.precision - former)

    def brief(self, pace: Pace) -> dict[str, float]:
        """Return what an update did last and the learned shapes of the units in brief."""
        result = {"learning_rate": pace.learning_rate, "truncation_rate": pace.truncation_rate}
        result["k"] = float(pace.k)
        if self.replicas is not None:
            rates = self.replicas.rates(self.sweeps)
            result |= {"swap_mean": float(rates.mean()), "swap_min": float(rates.min())}
        ends, settings = self.settings.truncation, self.settings
        learned = {
            "lower": settings.learns_ends and ends.learn_lower,
            "upper": settings.learns_ends and ends.learn_upper,
            "precision": settings.learn_precision,
        }
        for name in (name for name, moves in learned.items() if moves):
            value = getattr(self, name)
            for word in ("mean", "min", "max"):
                result[f"{name}_{word}"] = float(getattr(value, word)())
        return result
