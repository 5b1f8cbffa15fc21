"""Where the training of a temporal RBM starts: at a linear forecast of each frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast import kernels
from trug_fast.evaluation.forecasts import linear_fit
from trug_fast.models.sequences import Sequences

if TYPE_CHECKING:
    from .learner import TemporalLearner

SCALES, SCALED = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0), 2000  # tried at the start, on so many frames
RIDGE = 1.0
REACH = 0.45  # net inputs of the built units in standard deviations of their own: nearly linear
HELD = 0.2  # the same of units that hold a frame: their errors grow when frames are subtracted
KEPT = 0.99  # of the variance of what the second frame adds
OFF = 30.0  # net input that silences a unit
SHARE = 0.75  # of the hidden units at most is built

Array = NDArray[Any]


class Centre(NamedTuple):
    """A hidden unit at work: where its response is nearly linear."""

    net: float
    mean: float
    slope: float  # of the mean by the net input: the variance


def start_linear(learner: TemporalLearner, data: Sequences, order: int) -> None:
    """Start the visibles' own connections at a linear forecast from the frame before.

    Grown from nothing, they alone would take thousands of steps.  Of real visibles the forecast can
    be from two frames.
    """
    if data.lengths.max() == 1:
        return
    coefficients, residual = linear_fit(data, 1, RIDGE)
    if learner.settings.real:
        if learner.settings.learn_visible_precision:
            learner.visible_precision[:] = 1 / np.maximum(residual, 1e-3)
        elif learner.settings.visible_precision is None:
            learner.visible_precision[:] = 1 / max(float(residual.mean()), 1e-3)
        scale: Any = learner.visible_precision
    else:  # of binary ones the forecast is a share: log-odds that cross 0 at one half
        coefficients[0] -= 0.5
        scale = _best_scale(data, coefficients)
    learner.visible_bias[:] = coefficients[0] * scale
    learner.visible_to_visible[:] = coefficients[1:] * scale
    if order == 2:
        _start_second(learner, data)
    # Random weights from units that are amid their intervals would shift every forecast.
    unit = _response(learner, float(learner.hidden_bias[-1]))[0]
    learner.visible_bias -= unit * learner.weights.sum(axis=1)


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


def _start_second(learner: TemporalLearner, data: Sequences) -> None:
    """Build units that make the forecast one from two frames, x_t = k + x' A1 + x'' A2.

    Written as x' (A1 + A2) + (x'' - x') A2, its first part goes to the visibles' own connections.
    For each direction p -> q of A2 one unit holds p x'' (through W2), and some units drive q by
    (x'' - x') p (through W4, W2 and W1): as many with one sign as with the other, so that a
    constant does not matter.  One more unit silences those after the first frame, which has none
    before it.  All of it works where units respond linearly.  Frames are scaled to precision 1; the
    way back from x to these units, lambda, is allowed for, and they see of x only what the
    forecast from one frame leaves.
    """
    root = np.sqrt(learner.visible_precision.astype(np.float64))
    n, m = learner.weights.shape
    fit, _ = linear_fit(data, 2, RIDGE)
    first, second = (part * root / root[:, None] for part in (fit[1 : n + 1], fit[n + 1 :]))
    constant, whole = fit[0] * root, first + second
    mean = data.frames.mean(axis=0, dtype=np.float64) * root
    steps = np.concatenate([np.diff(x, axis=0) for x in data.split(data.frames)]) * root
    left, size, right = np.linalg.svd(second)
    moves, spread = (steps @ left).std(axis=0), (data.frames * root @ left).std(axis=0)
    chosen, pairs = _allot((size * moves) ** 2, max(0, int(SHARE * m) - 1))
    if chosen.size == 0:
        return
    unit = _centre(learner)
    lit, dark = (_response(learner, unit.net + sign * OFF)[0] for sign in (1, -1))
    for array in (learner.weights, learner.visible_to_hidden, learner.hidden_to_hidden):
        array[:, : 1 + chosen.size + 2 * pairs.sum()] = 0.0
    learner.hidden_bias[0], learner.initial_hidden_bias[0] = unit.net - OFF, unit.net + OFF
    place = 1 + chosen.size
    for number, (j, copies) in enumerate(zip(chosen, 2 * pairs, strict=True)):
        holds, p, q = 1 + number, left[:, j], right[j]
        held = HELD / np.sqrt(unit.slope) / spread[j]
        learner.visible_to_hidden[:, holds] = held * p * root
        learner.hidden_bias[holds] = unit.net - held * (mean @ p)
        learner.initial_hidden_bias[holds] = unit.net
        pull = REACH / np.sqrt(unit.slope) / moves[j]
        # copies * slope * w * pull = (1 - lambda) size with lambda = copies * slope * w^2
        u, total = size[j] / (copies * unit.slope * pull), copies * unit.slope
        w = (np.sqrt(1 + 4 * total * u * u) - 1) / (2 * total * u)
        for sign in np.repeat([1.0, -1.0], copies // 2):
            learner.weights[:, place] = sign * w * q * root
            learner.visible_to_hidden[:, place] = -sign * (pull * p + w * (whole @ q)) * root
            learner.hidden_to_hidden[holds, place] = sign * pull / (unit.slope * held)
            learner.hidden_to_hidden[0, place] = -OFF / (lit - dark)
            rest = sign * (pull / (unit.slope * held) * unit.mean - pull * (mean @ p))
            learner.initial_hidden_bias[place] = unit.net - sign * w * (mean @ q)
            learner.hidden_bias[place] = (
                unit.net - sign * w * (constant @ q) - rest + OFF * dark / (lit - dark)
            )
            place += 1
    learner.visible_to_visible[:] = root[:, None] * whole * root
    learner.visible_bias[:] = root * constant


def _allot(power: Array, units: int) -> tuple[Array, Array]:
    """Return which directions to build, and how many pairs of units each gets, by its power."""
    order = np.argsort(-power, kind="stable")
    needed = 1 + int(np.searchsorted(np.cumsum(power[order]), KEPT * power.sum()))
    chosen = order[: min(needed, power.size, units // 3)]
    if chosen.size == 0:
        return chosen, np.zeros(0, int)
    spare = (units - chosen.size) // 2 - chosen.size
    share = power[chosen] / max(power[chosen].sum(), 1e-300)
    return chosen, 1 + np.floor(spare * share).astype(int)


def _centre(learner: TemporalLearner) -> Centre:
    """Return where to work: the middle of an interval; well inside, where it is infinite."""
    settings = learner.settings
    if settings.bernoulli:
        net = 0.0
    elif settings.bounded:
        net = float(learner.precision[0] * (learner.lower[0] + learner.upper[0]) / 2)
    else:
        low, high, d = (float(v[0]) for v in (learner.lower, learner.upper, learner.precision))
        net = 3 * np.sqrt(d) + d * low if np.isfinite(low) else -3 * np.sqrt(d) + d * high
        net = net if np.isfinite(net) else 0.0
    return Centre(net, *_response(learner, net))


def _response(learner: TemporalLearner, net: float) -> tuple[float, float]:
    """Return the mean of a hidden unit and its derivative by the net input."""
    if learner.settings.bernoulli:
        mean = 1 / (1 + float(np.exp(-net)))
        return mean, mean * (1 - mean)
    d, low, high = (float(v[0]) for v in (learner.precision, learner.lower, learner.upper))
    found = kernels.mean_variance(net, d, low, high)
    return float(found[0]), float(found[1])
