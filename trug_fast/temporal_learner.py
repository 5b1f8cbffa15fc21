"""One update of a temporal RBM, and the contrastive estimate of its gradient (math.md 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .checkpoints import State
from .checks import FloatArray
from .forecasts import linear_fit
from .kernels import gibbs, learning
from .kernels import temporal as kernels
from .kernels.hidden import BERNOULLI, TRUG
from .kernels.philox import HIDDEN, INITIAL
from .learner import LOG_WIDTHS, MEMORY, STRIDE, Learner, Pace, Settings
from .optimisers import Optimiser
from .sequences import Batch, Sequences
from .temporal import BIASES, WEIGHTS, BernoulliTRBM, Parameters, TruGTRBM
from .threads import one_blas_thread

# Their own ranges of step numbers keep these draws apart from those of the sweeps.
STARTS, FILTERS = 1 << 40, 1 << 41
SCALES, SCALED = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0), 2000  # tried at the start, on so many frames

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
)


@dataclass(frozen=True)
class TemporalSettings(Settings):
    """How to train, checked by the caller."""

    real: bool
    visible_precision: float
    learn_visible_precision: bool
    full: bool  # back through the filter
    draw: bool  # a filter of draws instead of means


class How(NamedTuple):
    """What kind of estimate, and where its random numbers come from."""

    k: int
    full: bool
    draw: bool
    seed: int
    number: int  # of the update
    first_step: int  # of its sweeps


class Centre(NamedTuple):
    """Offsets of the centred gradient; zeros give the plain one."""

    visible: FloatArray
    hidden: FloatArray


def estimate(
    own: Parameters,
    sequences: Sequences,
    batch: Batch,
    centre: Centre,
    how: How,
    start: FloatArray | None = None,
) -> dict[str, Any]:
    """Return the estimated gradient of the log-likelihood per frame, by all parameters.

    Matrices lead from past to present, as in Parameters.  The initial biases' gradients are per
    sequence instead: few frames have them, and they would hardly move.

    Parameters
    ----------
    start : ndarray, shape (rows, hidden), optional
        Hidden states from which the chains start; by default draws given data: contrastive
        divergence.
    """
    layers = own.layers
    seen = own.filter(sequences, batch, draw=how.draw, seed=how.seed, step=FILTERS + how.number)
    mean, variance = seen.state, np.empty((0, 0), seen.net.dtype)
    if how.full or how.draw:
        mean, variance = np.empty_like(seen.net), np.empty_like(seen.net)
        kernels.net_moments(layers, seen.net, mean, variance)
    hidden = np.empty_like(seen.net) if start is None else start
    if start is None:
        address = gibbs.Address(how.seed, HIDDEN, STARTS + how.number, 0)
        gibbs.draw_hidden(layers, seen.net, address, hidden)
    visible, visible_mean = np.empty_like(seen.visible), np.empty_like(seen.visible)
    net, model_mean = np.empty_like(seen.net), np.empty_like(seen.net)
    sums = np.zeros((gibbs.tile_count(net.shape[0], 1, 1), 4, net.shape[1]))
    kernels.model_phase(
        seen.layers, own.visible_precision, how.k, how.seed, how.first_step,
        hidden, visible, visible_mean, net, model_mean, sums,
    )  # fmt: skip
    by_hidden, delta = mean - model_mean, np.zeros_like(seen.net)
    if how.full:
        error = np.empty_like(delta)
        kernels.run_backward(own.hidden_to_hidden, batch.starts, by_hidden, variance, delta, error)
        by_hidden += error
        mean = mean + error
    data, model = learning.Phase(seen.visible, mean), learning.Phase(visible, model_mean)
    result = _weights(data, model, centre)
    # Means in place of the last draws: the same on average, with less noise.
    by_visible = seen.visible - visible_mean
    past = seen.past_visible, seen.past_hidden
    _biases(result, past, by_visible, by_hidden, batch.first, centre)
    result["hidden_offset"] = seen.state.mean(axis=0)
    if layers.kind == TRUG:
        slopes = np.zeros((sums.shape[0], 6, net.shape[1]))
        kernels.slope_sums(layers, seen.net, delta, slopes)
        ours, theirs = slopes.sum(axis=0) / len(net), sums.sum(axis=0) / len(net)
        result["precision"] = 0.5 * (theirs[1] - ours[0]) + ours[3]
        result["lower"] = theirs[2] - ours[1] + ours[4]
        result["upper"] = ours[2] - theirs[3] + ours[5]
    if own.visible_precision.size:
        squares = (visible_mean**2 - seen.visible**2).mean(axis=0)
        result["visible_precision"] = 0.5 * (squares + 1 / own.visible_precision)
    return result


def _weights(data: learning.Phase, model: learning.Phase, centre: Centre) -> dict[str, Any]:
    """Return the centred gradient of W1, and what it takes from the biases' gradients."""
    gradient = np.empty((data.visible.shape[1], data.hidden_mean.shape[1]), data.visible.dtype)
    hidden_shift = np.zeros((learning.TILES, gradient.shape[1]), gradient.dtype)
    visible_shift = np.zeros(gradient.shape[0], gradient.dtype)
    centring = learning.Centring(
        centre.visible,
        centre.hidden,
        data.visible.mean(axis=0) - model.visible.mean(axis=0),
        data.hidden_mean.mean(axis=0) - model.hidden_mean.mean(axis=0),
    )
    learning.weight_gradient(data, model, centring, gradient, hidden_shift, visible_shift)
    return {
        "weights": gradient,
        "hidden_shift": hidden_shift.sum(axis=0),
        "visible_shift": visible_shift,
    }


def _biases(
    result: dict[str, Any],
    past: tuple[FloatArray, FloatArray],
    by_visible: FloatArray,
    by_hidden: FloatArray,
    first: int,
    centre: Centre,
) -> None:
    """Add the gradients of biases and of what stands for biases given the past."""
    rows = by_visible.shape[0]
    visible_shift, hidden_shift = result.pop("visible_shift"), result.pop("hidden_shift")
    totals = by_visible[first:].sum(axis=0) / rows, by_hidden[first:].sum(axis=0) / rows
    for name, source, offset, by, total in (
        ("visible_to_visible", past[0], centre.visible, by_visible, totals[0]),
        ("visible_to_hidden", past[0], centre.visible, by_hidden, totals[1]),
        ("hidden_to_hidden", past[1], centre.hidden, by_hidden, totals[1]),
    ):
        gradient = np.zeros((source.shape[1], by.shape[1]), by.dtype)
        if len(source):
            kernels.product(True, False, source, by[first:], 1.0 / rows, 0.0, gradient)
        gradient -= np.outer(offset, total)
        result[name] = gradient
    result["hidden_mean"] = by_hidden.mean(axis=0)  # the uncentred gradient by all hidden biases
    from_visible = centre.visible @ result["visible_to_hidden"]
    from_hidden = centre.hidden @ result["hidden_to_hidden"]
    result["visible_bias"] = (
        totals[0] - visible_shift - centre.visible @ result["visible_to_visible"]
    )
    result["hidden_bias"] = totals[1] - hidden_shift - from_visible - from_hidden
    result["initial_visible_bias"] = by_visible[:first].mean(axis=0) - visible_shift
    result["initial_hidden_bias"] = by_hidden[:first].mean(axis=0) - hidden_shift


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
            n_visible if settings.real else 0, settings.visible_precision, dtype
        )
        middle = (self.lower + self.upper) / 2 if settings.bounded else 0 * self.lower
        self.hidden_bias = (self.precision * middle).astype(dtype)
        self.visible_bias = np.zeros(n_visible, dtype)
        self._start_linear(data)
        self.log_visible_precision = np.log(self.visible_precision)
        self.initial_visible_bias = self.visible_bias.copy()
        self.initial_hidden_bias = self.hidden_bias.copy()
        self.visible_offset, self.hidden_offset = (np.zeros(n, dtype) for n in shapes[0])
        if settings.centred:
            self.visible_offset[:] = data.frames.mean(axis=0, dtype=np.float64)
            self.hidden_offset[:] = 0.5 if settings.bernoulli else middle
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

    def _start_linear(self, data: Sequences) -> None:
        """Start the visibles' own connections at a linear forecast from the frame before.

        Grown from nothing, they alone would take thousands of steps.
        """
        if data.lengths.max() == 1:
            return
        coefficients, residual = linear_fit(data, 1, 1.0)
        if self.settings.real:
            if self.settings.learn_visible_precision:
                self.visible_precision[:] = 1 / np.maximum(residual, 1e-3)
            scale: Any = self.visible_precision
        else:  # of binary ones the forecast is a share: log-odds that cross 0 at one half
            coefficients[0] -= 0.5
            scale = _best_scale(data, coefficients)
        self.visible_bias[:] = coefficients[0] * scale
        self.visible_to_visible += (coefficients[1:] * scale).astype(self.settings.dtype)

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
        for name, parameter in learned.items():
            self.optimiser.remember(name, parameter)
        self.averages = {k: v.astype(np.float64) for k, v in shown.items() if settings.average}

    def _arrays(self) -> State:
        arrays = {name: getattr(self, name) for name in (*WEIGHTS, *BIASES, *STATE)}
        for name, (first, second) in self.optimiser.memory.items():
            arrays[f"first.{name}"], arrays[f"second.{name}"] = first, second
        return arrays | {f"average.{name}": average for name, average in self.averages.items()}

    def parameters(self) -> Parameters:
        """Return the current parameters as the kernels take them, sharing memory."""
        return Parameters(
            gibbs.Layers(
                self.weights,
                self.visible_bias[None],
                self.hidden_bias[None],
                BERNOULLI if self.settings.bernoulli else TRUG,
                self.precision,
                self.lower,
                self.upper,
                int(np.count_nonzero(self.precision <= 0)),
                self.visible_precision[:0],
            ),
            self.initial_visible_bias,
            self.initial_hidden_bias,
            self.visible_to_hidden,
            self.visible_to_visible,
            self.hidden_to_hidden,
            self.visible_precision,
        )

    def model(self) -> Any:
        """Return the current model, of averaged parameters if so set."""
        kind = BernoulliTRBM if self.settings.bernoulli else TruGTRBM
        found = {name: getattr(self, name) for name in kind.names}
        if self.updates >= STRIDE:
            found |= {k: v.astype(self.settings.dtype) for k, v in self.averages.items()}
        found |= {name: found[name].T for name in WEIGHTS[1:]}
        found["visible_precision"] = found["visible_precision"] if self.settings.real else None
        return kind(**found)

    def update(self, data: Any, rows: NDArray[np.int64], pace: Pace) -> None:
        """Take one step from a batch of sequences."""
        settings = self.settings
        how = How(pace.k, settings.full, settings.draw, self.seed, self.updates, 1 + self.sweeps)
        centre = Centre(self.visible_offset, self.hidden_offset)
        with one_blas_thread():
            batch = data.batch(rows)
            slope = estimate(self.parameters(), data, batch, centre, how)
            self._step(slope, pace)
        if settings.centred:
            self.hidden_offset += (1 - MEMORY) * (slope["hidden_offset"] - self.hidden_offset)
        self.sweeps += pace.k
        self.updates += 1
        if self.updates % STRIDE == 0:
            self._average()

    def _step(self, slope: dict[str, Any], pace: Pace) -> None:
        optimiser, rate, settings = self.optimiser, pace.learning_rate, self.settings
        optimiser.steps += 1
        by_log = self._by_log_visible_precision(slope) if settings.learn_visible_precision else None
        for name in WEIGHTS:
            matrix = getattr(self, name)
            first, second = optimiser.remember(name, matrix)
            rule = optimiser.rule(rate, settings.weight_decay)
            learning.update_weights(rule, matrix, slope[name], first, second)
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
        self._keep_normalisable()

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


def _best_scale(data: Sequences, coefficients: NDArray[np.float64]) -> float:
    """Return the factor of log-odds under which some frames are likeliest."""
    later = np.delete(np.arange(data.frames.shape[0]), data.offsets[:-1])
    rows = later[:: max(1, later.size // SCALED)]
    odds = coefficients[0] + data.frames[rows - 1] @ coefficients[1:]
    costs = [
        (np.logaddexp(0.0, scale * odds) - data.frames[rows] * (scale * odds)).mean()
        for scale in SCALES
    ]
    return SCALES[int(np.argmin(costs))]
