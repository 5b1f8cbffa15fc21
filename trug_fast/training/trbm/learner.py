"""One update of a temporal RBM: parameters and optimiser, and how a batch moves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels import optimizer as kernels
from trug_fast.kernels.random.philox import INITIAL, ORDER
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import BERNOULLI, TRUG
from trug_fast.models.filter import TemporalLayers
from trug_fast.models.sequences import Sequences
from trug_fast.models.trbm import BIASES, WEIGHTS, BernoulliTRBM, TruGTRBM
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import Columns
from trug_fast.training.former.checkpoints import State
from trug_fast.training.former.learner import LOG_WIDTHS, MEMORY, STRIDE, Learner, Pace, Settings
from trug_fast.training.former.optimizers import Optimiser

from .gradients import Draws, Offsets, estimate
from .options import SequenceCD
from .start import start_linear

NOISE = 1 << 50  # its stream's first counter: orders and starts of chains have lower ones
STARTED = 1000  # sequences at most on which a training with noise starts: they are copied
CLIP = 2.0  # times its usual norm is the most that a gradient may have

STATE = (  # beside weights and biases
    "precision",
    "lower",
    "upper",
    "low_end",
    "log_width",
    "curvature",
    "visible_precision",
    "log_visible_precision",
    "visible_offset",
    "hidden_offset",
    "usual_norm",
)


@dataclass(frozen=True)
class TemporalSettings(Settings):
    """How to train, checked by the caller."""

    real: bool
    visible_precision: float | None  # None: as exact as the linear forecast at which it starts
    learn_visible_precision: bool
    full: bool  # back through the filter
    draw: bool  # a filter of draws instead of means
    chains: Any
    start_order: int  # of the linear forecast at which training starts
    noise: float  # of what is seen


class TemporalLearner(Learner):
    """The state of a training run.  Matrices but W1 are transposed: from past to present."""

    settings: TemporalSettings

    def __init__(
        self, data: Sequences, n_hidden: int, settings: TemporalSettings, seed: int
    ) -> None:
        n_visible, dtype = data.shape[1], settings.dtype
        self.settings, self.seed, self.replicas = settings, seed, None
        self.updates = self.sweeps = 0
        generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
        shapes = ((n_visible, n_hidden),) * 2 + ((n_visible, n_visible), (n_hidden, n_hidden))
        for name, shape in zip(WEIGHTS, shapes, strict=True):
            setattr(self, name, generator.normal(0.0, settings.init_scale, shape).astype(dtype))
        self._start_units(n_hidden)
        self.visible_precision = np.full(
            n_visible if settings.real else 0, settings.visible_precision or 1.0, dtype
        )
        if settings.noise:  # what it starts at must bear what it will see
            data = self._disturbed(data.take(np.arange(min(data.shape[0], STARTED))), -1)
        middle = (self.lower + self.upper) / 2 if settings.bounded else 0 * self.lower
        self.hidden_bias = (self.precision * middle).astype(dtype)
        self.visible_bias = np.zeros(n_visible, dtype)
        self.initial_hidden_bias = self.hidden_bias.copy()
        start_linear(self, data, settings.start_order)
        self._keep_normalizable()
        self.log_visible_precision = np.log(self.visible_precision)
        self.initial_visible_bias = self.visible_bias.copy()
        self.visible_offset, self.hidden_offset = (np.zeros(n, dtype) for n in shapes[0])
        if settings.centred:
            self.visible_offset[:] = data.frames.mean(axis=0, dtype=np.float64)
            self.hidden_offset[:] = 0.5 if settings.bernoulli else middle
        self.usual_norm = np.zeros(1)  # of the gradient by the weights, a running mean
        self.optimiser = Optimiser(settings.optimizer, settings.momentum)
        self._remember()

    weights: FloatArray
    visible_to_hidden: FloatArray
    visible_to_visible: FloatArray
    hidden_to_hidden: FloatArray

    def _start_units(self, n_hidden: int) -> None:
        settings, ends, dtype = self.settings, self.settings.truncation, self.settings.dtype
        self.precision = np.full(n_hidden, settings.precision, dtype)
        self.lower, self.upper = (np.full(n_hidden, end, dtype) for end in (ends.lower, ends.upper))
        learned = 1 if ends.learn == "shared" else n_hidden
        self.low_end = np.full(learned, ends.lower, dtype)
        self.log_width = np.log(np.full(learned, ends.upper - ends.lower, dtype))
        self._width = ends.upper - ends.lower
        curvature = (
            settings.precision * self._width**2 if settings.bounded else np.log(settings.precision)
        )
        self.curvature = np.full(n_hidden, curvature, dtype)

    def _remember(self) -> None:
        settings = self.settings
        learned = {name: getattr(self, name) for name in (*WEIGHTS, *BIASES)}
        shown = dict(learned)
        if settings.learns_ends:
            learned["log_width"] = self.log_width
            shown |= {"lower": self.lower, "upper": self.upper}
            if settings.truncation.learn_lower and settings.truncation.learn_upper:
                learned["low_end"] = self.low_end
        if settings.learn_precision:
            learned["curvature"], shown["precision"] = self.curvature, self.precision
        if settings.learn_visible_precision:
            learned["log_visible_precision"] = self.log_visible_precision
            shown["visible_precision"] = self.visible_precision
        self.learned = tuple(shown)
        for name, parameter in learned.items():
            self.optimiser.remember(name, parameter)
        self.averages = {k: v.astype(np.float64) for k, v in shown.items() if settings.average}

    def _arrays(self) -> State:
        arrays = {name: getattr(self, name) for name in (*WEIGHTS, *BIASES, *STATE)}
        for name, (first, second) in self.optimiser.memory.items():
            arrays[f"first.{name}"], arrays[f"second.{name}"] = first, second
        return arrays | {f"average.{name}": average for name, average in self.averages.items()}

    def _pulls(self, columns: Columns) -> State:
        hidden, scale = self._ranges(), columns.scale(self.visible_precision)
        past, mean = columns.deviation, columns.mean
        visible = self.weights @ hidden.mean
        if self.settings.real:
            visible -= self.visible_precision * mean
        moved = visible + mean @ self.visible_to_visible
        return {
            "weights": diagnosis.pull(scale, self.weights, hidden.width),
            "visible_to_hidden": diagnosis.pull(past, self.visible_to_hidden, hidden.width),
            "visible_to_visible": diagnosis.pull(past, self.visible_to_visible, scale),
            "hidden_to_hidden": diagnosis.pull(hidden.width, self.hidden_to_hidden, hidden.width),
            "visible_bias": (self.visible_bias + moved) * scale,
            "initial_visible_bias": (self.initial_visible_bias + visible) * scale,
        }

    def parameters(self) -> TemporalLayers:
        """Return the current parameters as the kernels take them, sharing memory."""
        return TemporalLayers(
            gibbs.Layers(
                read_only(self.weights),
                self.visible_bias[None],
                self.hidden_bias[None],
                BERNOULLI if self.settings.bernoulli else TRUG,
                self.precision,
                self.lower,
                self.upper,
                int(np.count_nonzero(self.precision <= 0)),
                self.visible_precision,
            ),
            self.initial_visible_bias,
            self.initial_hidden_bias,
            self.visible_to_hidden,
            self.visible_to_visible,
            self.hidden_to_hidden,
        )

    def model(self) -> Any:
        """Return the current model, of averaged parameters if so set."""
        kind = BernoulliTRBM if self.settings.bernoulli else TruGTRBM
        found = {name: getattr(self, name) for name in (*kind.names, "visible_precision")}
        if self.updates >= STRIDE:
            found |= {k: v.astype(self.settings.dtype) for k, v in self.averages.items()}
        found |= {name: found[name].T for name in WEIGHTS[1:]}
        found["visible_precision"] = found["visible_precision"] if self.settings.real else None
        return kind(**found)

    def update(self, data: Any, rows: NDArray[np.int64], pace: Pace) -> None:
        """Take one step from a batch of sequences."""
        settings = self.settings
        draws = Draws(pace.k, self.seed, self.updates, 1 + self.sweeps)
        offsets = Offsets(self.visible_offset, self.hidden_offset)
        units = settings.learns_ends or settings.learn_precision
        rule: Any = "full" if settings.full else "paper-draws" if settings.draw else "paper"
        sampler = SequenceCD(begin=settings.chains, gradient=rule)
        if settings.noise:
            data = self._disturbed(data.take(rows), self.updates)
            rows = np.arange(rows.size)
        batch = data.batch(rows)
        with computing(work(batch.rows.size, *self.weights.shape)):
            slope = estimate(self.parameters(), data, batch, offsets, sampler, draws, units=units)
            fresh = slope.pop("hidden_offset")
            self._clip(slope)
            self._step(slope, pace)
        if settings.centred:
            self.hidden_offset += (1 - MEMORY) * (fresh - self.hidden_offset)
        self.sweeps += pace.k
        self.updates += 1
        if self.updates % STRIDE == 0:
            self._average()

    def _disturbed(self, data: Sequences, number: int) -> Sequences:
        """Disturb frames, in place: coins in place of some pixels, or added Gaussian noise."""
        stream = np.random.Philox(key=[self.seed, ORDER], counter=(NOISE + number) << 128)
        generator, frames, noise = np.random.Generator(stream), data.frames, self.settings.noise
        if self.settings.real:
            frames += noise * generator.standard_normal(frames.shape, frames.dtype)
        else:
            chance = generator.random(frames.shape, np.float32)
            frames[chance < noise] = 0.0
            frames[chance < noise / 2] = 1.0
        return data

    def _clip(self, slope: dict[str, Any]) -> None:
        """Scale a gradient down that is far above the usual one.

        On its way back through a hundred frames it sometimes explodes (to 50 from 5, on bouncing
        balls): one such step throws the parameters far away, and Adam, which remembers its square
        for a thousand updates, hardly moves them back.
        """
        norm = float(np.sqrt(sum(np.square(np.linalg.norm(slope[name])) for name in WEIGHTS)))
        limit = CLIP * float(self.usual_norm[0]) if self.updates else norm
        if norm > limit:
            for gradient in slope.values():
                gradient *= limit / norm
        share = 1 - MEMORY if self.updates else 1.0
        self.usual_norm += share * (min(norm, limit) - self.usual_norm)

    def _step(self, slope: dict[str, Any], pace: Pace) -> None:
        optimiser, rate, settings = self.optimiser, pace.learning_rate, self.settings
        optimiser.steps += 1
        by_log = self._by_log_visible_precision(slope) if settings.learn_visible_precision else None
        for name in WEIGHTS:
            matrix = getattr(self, name)
            first, second = optimiser.remember(name, matrix)
            rule = optimiser.rule(rate, settings.weight_decay)
            kernels.update_weights(rule, matrix, slope[name], first, second)
        for name in BIASES:
            optimiser.step(name, getattr(self, name), slope[name], rate)
        if by_log is not None:
            self._move_visible_precision(by_log, pace.precision_rate)
        if settings.learn_precision:
            before = self.hidden_bias.copy()
            self._move_precision(slope["precision"], slope["hidden_mean"], pace.precision_rate)
            self.initial_hidden_bias += self.hidden_bias - before
        if settings.learns_ends:
            self._move_ends(slope["lower"], slope["upper"], pace.truncation_rate)
        self._keep_normalizable()

    def _by_log_visible_precision(self, slope: dict[str, Any]) -> FloatArray:
        """Return the derivative by log a with the linear part of the visibles' mean held fixed.

        The mean is (W1 h + b + W3 x') / a: were b and W3 not to follow a, each step would have to
        learn the forecast anew.
        """
        result = self.visible_precision * slope["visible_precision"]
        result += self.visible_bias * slope["visible_bias"]
        result += (self.visible_to_visible * slope["visible_to_visible"]).sum(axis=0)
        return np.asarray(result)

    def _move_visible_precision(self, by_log: FloatArray, rate: float) -> None:
        before = self.visible_precision.copy()
        self.optimiser.step("log_visible_precision", self.log_visible_precision, by_log, rate)
        np.clip(self.log_visible_precision, -LOG_WIDTHS, LOG_WIDTHS, out=self.log_visible_precision)
        self.visible_precision[:] = np.exp(self.log_visible_precision)
        factor = self.visible_precision / before
        self.visible_bias *= factor
        self.visible_to_visible *= factor
