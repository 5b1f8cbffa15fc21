"""Where the training of a temporal RBM starts: at a model, or at a linear forecast of frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast import kernels
from trug_fast._common.checkpoints import Arrays as State
from trug_fast.evaluation.forecasts import linear_fit
from trug_fast.kernels.random.philox import INITIAL
from trug_fast.models.filter import LAGGED, stacked
from trug_fast.models.sequences import Sequences
from trug_fast.models.trbm import BIASES, WEIGHTS
from trug_fast.training.options import LinearStart
from trug_fast.training.unit_parameters import LOG_PRECISION, UnitParameters
from trug_fast.training.units import GaussianUnits
from trug_fast.training.weighing import mean_of

from .settings import SequenceSettings, StartModel, TemporalModel

SCALES, SCALED = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0), 2000  # tried at the start, on so many frames
RIDGE, STEP_RIDGE = 1.0, 10.0  # with one lag, and with several, whose penalty is another
REACH = 0.45  # net inputs of the built units in standard deviations of their own: nearly linear
HELD = 0.2  # the same of units that hold a frame: their errors grow when frames are subtracted
KEPT = 0.99  # of the variance of what the second frame adds
SHARE = 0.75  # of the hidden units at most is built
LEAST = 1e-3  # which no squared residual is taken to be below

OFF = 30.0  # net input that silences a unit

Array = NDArray[Any]


def mean_frame(data: Sequences) -> NDArray[np.float64]:
    """Return the mean frame, by the sequences' weights if they have some."""
    weights = data.frame_weights()
    if weights is not None:
        return mean_of(data.frames.astype(np.float64), weights)
    return np.asarray(data.frames.mean(axis=0, dtype=np.float64))


def initial_parameters(
    settings: SequenceSettings, data: Sequences, units: UnitParameters, seed: int
) -> State:
    """Return weights, biases and visible precisions (none of Bernoulli units) at the start.

    Matrices but W1 lead from past to present, lag below lag.
    """
    start = settings.start
    if not isinstance(start, LinearStart):
        return _of_model(start, settings)
    own = _random(settings, units, seed)
    if data.lengths.max() > 1:
        order = start.order or settings.n_lags
        fitted = min(order, settings.n_lags)
        several = settings.n_lags > 1
        usual = STEP_RIDGE if several else RIDGE
        ridge = usual if start.ridge is None else start.ridge
        coefficients, residual = linear_fit(data, fitted, ridge, whole=several)
        if isinstance(settings.visible, GaussianUnits):
            _set_precision(own["visible_precision"], settings.visible, residual)
            scale: Any = own["visible_precision"]
        else:  # the forecast is a share: log-odds that cross 0 at one half
            coefficients[0] -= 0.5
            scale = _best_scale(data, coefficients)
        own["visible_bias"][:] = coefficients[0] * scale
        own["visible_to_visible"][:] = 0.0
        own["visible_to_visible"][: len(coefficients) - 1] = coefficients[1:] * scale
        if order > fitted:
            _build_second(own, units, data, ridge)
        # Random weights from units that are amid their intervals would shift every forecast.
        unit = response(units, float(own["hidden_bias"][-1]))[0]
        own["visible_bias"] -= unit * own["weights"].sum(axis=1)
    own["initial_visible_bias"] = own["visible_bias"].copy()
    return own


def _of_model(model: StartModel, settings: SequenceSettings) -> State:
    """Return the parameters of a model, as copies; of one without time, nothing from the past."""
    dtype = settings.dtype
    names: tuple[str, ...] = (*WEIGHTS, *BIASES)
    if isinstance(model, TemporalModel):
        own = {name: np.array(getattr(model, name), dtype) for name in names}
        own |= {name: stacked(own[name]) for name in LAGGED}
    else:
        own = {name: np.array(getattr(model, name.removeprefix("initial_")), dtype)
               for name in names if name not in LAGGED}  # fmt: skip
        own |= {name: np.zeros(shape, dtype) for name, shape in _shapes(settings)[1:]}
    precision = model.visible_precision
    return own | {"visible_precision": np.array([] if precision is None else precision, dtype)}


def _shapes(settings: SequenceSettings) -> list[tuple[str, tuple[int, int]]]:
    n, m, lags = settings.n_visible, settings.n_hidden, settings.n_lags
    return list(zip(WEIGHTS, ((n, m), (lags * n, m), (lags * n, n), (lags * m, m)), strict=True))


def _random(settings: SequenceSettings, units: UnitParameters, seed: int) -> State:
    """Return random weights, and biases that put hidden units amid their intervals."""
    n, dtype = settings.n_visible, settings.dtype
    scale = getattr(settings.start, "scale", 0.0)
    generator = np.random.Generator(np.random.Philox(key=[seed, INITIAL]))
    own = {
        name: generator.normal(0.0, scale, shape).astype(dtype) for name, shape in _shapes(settings)
    }
    bias = (units.precision * units.middle(np.zeros_like(units.lower))).astype(dtype)
    own |= {"hidden_bias": bias, "initial_hidden_bias": bias.copy()}
    precision = getattr(settings.visible, "precision", None)
    given = np.full(n if settings.real else 0, precision or 1.0, dtype)
    return own | {"visible_bias": np.zeros(n, dtype), "visible_precision": given}


def _set_precision(precision: Array, visible: GaussianUnits, residual: Array) -> None:
    """Make the visible units as exact as the linear forecast, where nothing else is said."""
    if visible.learn_precision:  # as training keeps it, or its first update would move forecasts
        ends = np.exp([-LOG_PRECISION, LOG_PRECISION])
        precision[:] = np.clip(1 / np.maximum(residual, LEAST), *ends)
    elif visible.precision is None:
        precision[:] = 1 / max(float(residual.mean()), LEAST)


def _best_scale(data: Sequences, coefficients: NDArray[np.float64]) -> float:
    """Return the factor of log-odds under which some frames are likeliest."""
    later = np.delete(np.arange(data.frames.shape[0]), data.offsets[:-1])
    rows = later[:: max(1, later.size // SCALED)]
    firsts = np.repeat(data.offsets[:-1], data.lengths)[rows, None]
    order = (len(coefficients) - 1) // data.shape[1]
    past = data.frames[np.maximum(rows[:, None] - 1 - np.arange(order), firsts)]
    odds = coefficients[0] + past.reshape(len(rows), -1) @ coefficients[1:]
    weights = data.frame_weights()
    weights = None if weights is None else weights[rows]
    costs = [
        (np.logaddexp(0.0, scale * odds) - data.frames[rows] * (scale * odds)).mean(axis=1)
        for scale in SCALES
    ]
    return SCALES[int(np.argmin([mean_of(each, weights) for each in costs]))]


class Directions(NamedTuple):
    """What the frame before the last adds to a forecast: from p of that frame to q of the next.

    Frames are scaled to precision 1.
    """

    root: Array  # (n_visible,) of the precisions
    p: Array  # (n_visible, n_visible), a direction in each column
    size: Array  # (n_visible,)
    q: Array  # (n_visible, n_visible), a direction in each row
    spread: Array  # (n_visible,) standard deviations of frames along p
    moves: Array  # (n_visible,) the same of their differences
    mean: Array  # (n_visible,) frame
    constant: Array  # (n_visible,) of the forecast
    whole: Array  # (n_visible, n_visible) what both frames give together


def _directions(data: Sequences, precision: Array, ridge: float) -> Directions:
    root, n = np.sqrt(precision.astype(np.float64)), precision.size
    fit, _ = linear_fit(data, 2, ridge)
    first, second = (part * root / root[:, None] for part in (fit[1 : n + 1], fit[n + 1 :]))
    steps = np.concatenate([np.diff(x, axis=0) for x in data.split(data.frames)]) * root
    p, size, q = np.linalg.svd(second)
    moves, spread = (steps @ p).std(axis=0), (data.frames * root @ p).std(axis=0)
    mean = mean_frame(data) * root
    return Directions(root, p, size, q, spread, moves, mean, fit[0] * root, first + second)


def _build_second(own: State, units: UnitParameters, data: Sequences, ridge: float) -> None:
    """Build units that make the forecast one from two frames, x_t = k + x' A1 + x'' A2.

    Written as x' (A1 + A2) + (x'' - x') A2, its first part goes to the visibles' own connections.
    For each direction p -> q of A2 one unit holds p x'' (through W2), and some units drive q by
    (x'' - x') p (through W4, W2 and W1): as many with one sign as with the other, so that a
    constant does not matter.  One more unit silences those after the first frame, which has none
    before it.  All of it works where units respond linearly.  The way back from x to these units,
    lambda, is allowed for, and they see of x only what the forecast from one frame leaves.
    """
    ways = _directions(data, own["visible_precision"], ridge)
    most = max(0, int(SHARE * own["weights"].shape[1]) - 1)
    chosen, pairs = _allot((ways.size * ways.moves) ** 2, most)
    if chosen.size == 0:
        return
    unit, first = working_point(units), 1 + chosen.size
    for name in ("weights", "visible_to_hidden", "hidden_to_hidden"):
        own[name][:, : first + 2 * pairs.sum()] = 0.0
    own["hidden_bias"][0] = unit.net - OFF
    own["initial_hidden_bias"][0] = unit.net + OFF
    for number, (j, copies) in enumerate(zip(chosen, 2 * pairs, strict=True)):
        _build_direction(own, unit, ways, j, 1 + number, range(first, first + copies))
        first += copies
    own["visible_to_visible"][:] = ways.root[:, None] * ways.whole * ways.root
    own["visible_bias"][:] = ways.root * ways.constant


def _build_direction(
    own: State, unit: WorkingPoint, ways: Directions, j: int, holds: int, places: range
) -> None:
    """Build the unit that holds direction j, and those that drive by it."""
    root, p, q = ways.root, ways.p[:, j], ways.q[j]
    held = HELD / np.sqrt(unit.slope) / ways.spread[j]
    own["visible_to_hidden"][:, holds] = held * p * root
    own["hidden_bias"][holds] = unit.net - held * (ways.mean @ p)
    own["initial_hidden_bias"][holds] = unit.net
    pull = REACH / np.sqrt(unit.slope) / ways.moves[j]
    # copies * slope * w * pull = (1 - lambda) size with lambda = copies * slope * w^2
    u, total = ways.size[j] / (len(places) * unit.slope * pull), len(places) * unit.slope
    w = (np.sqrt(1 + 4 * total * u * u) - 1) / (2 * total * u)
    signs = np.repeat([1.0, -1.0], len(places) // 2)
    for place, sign in zip(places, signs, strict=True):
        own["weights"][:, place] = sign * w * q * root
        own["visible_to_hidden"][:, place] = -sign * (pull * p + w * (ways.whole @ q)) * root
        own["hidden_to_hidden"][holds, place] = sign * pull / (unit.slope * held)
        own["hidden_to_hidden"][0, place] = -OFF / (unit.lit - unit.dark)
        rest = sign * (pull / (unit.slope * held) * unit.mean - pull * (ways.mean @ p))
        own["initial_hidden_bias"][place] = unit.net - sign * w * (ways.mean @ q)
        silent = OFF * unit.dark / (unit.lit - unit.dark)
        constant = sign * w * (ways.constant @ q)
        own["hidden_bias"][place] = unit.net - constant - rest + silent


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


class WorkingPoint(NamedTuple):
    """A hidden unit at work: where its response is nearly linear."""

    net: float
    mean: float
    slope: float  # of the mean by the net input: the variance
    lit: float  # mean far above
    dark: float  # mean far below


def working_point(units: UnitParameters) -> WorkingPoint:
    """Return where to work: the middle of an interval; well inside, where it is infinite."""
    d, low, high = (float(v[0]) for v in (units.precision, units.lower, units.upper))
    if units.bernoulli:
        net = 0.0
    elif units.bounded:
        net = float(units.precision[0] * (units.lower[0] + units.upper[0]) / 2)
    else:
        net = 3 * np.sqrt(d) + d * low if np.isfinite(low) else -3 * np.sqrt(d) + d * high
        net = net if np.isfinite(net) else 0.0
    lit, dark = (response(units, net + sign * OFF)[0] for sign in (1, -1))
    return WorkingPoint(net, *response(units, net), lit, dark)


def response(units: UnitParameters, net: float) -> tuple[float, float]:
    """Return the mean of the first hidden unit and its derivative by the net input."""
    if units.bernoulli:
        mean = 1 / (1 + float(np.exp(-net)))
        return mean, mean * (1 - mean)
    d, low, high = (float(v[0]) for v in (units.precision, units.lower, units.upper))
    found = kernels.mean_variance(net, d, low, high)
    return float(found[0]), float(found[1])
