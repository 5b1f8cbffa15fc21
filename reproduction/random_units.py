"""A model to start at: a forecast to which hidden units add what is not linear (mathematics 4.5).

Tested in tests/reproduction/test_random_units.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.numerics import read_only
from trug_fast._common.randomness import seed_from
from trug_fast.evaluation.forecasts import past_and_present
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.visible import one_kind
from trug_fast.models.filter import LAGGED, of_lags
from trug_fast.models.scaling import Scaling
from trug_fast.models.sequences import Sequences, as_sequences
from trug_fast.models.trbm import BernoulliTRBM, TruGTRBM
from trug_fast.training.options import LinearStart, as_optimizer
from trug_fast.training.steps import Steps
from trug_fast.training.trbm.settings import BEST_TRUNCATION
from trug_fast.training.trbm.start import STEP_RIDGE, mean_frame, working_point
from trug_fast.training.trbm.train import train_trbm
from trug_fast.training.unit_parameters import LOG_PRECISION, Shape, UnitParameters
from trug_fast.training.units import TruGUnits
from trug_fast.units.truncation import as_truncation

from .choices import arguments_of
from .trainings import EVERY

WIDTH = 2.0  # net inputs in standard deviations, in those that take a unit half across its range
SMALL, TINY = 1e-9, 1e-30  # channels may stand still, or repeat others
ENDLESS = 4.0  # half the range of a unit with an infinite end, in its standard deviations
LEAST = 1e-3  # of the columns' variance: no residual is taken to be below

Array = NDArray[np.float64]
State = dict[str, NDArray[Any]]


class Looks(NamedTuple):
    """What hidden units see of the past: its part in a random direction, in place of all of it."""

    weights: Array  # (order * n_visible, n_hidden)
    bias: Array  # (n_hidden,)
    middle: float  # net input amid the range of a unit
    half: float  # of the range


def start(
    sequences: Any,
    n_hidden: int,
    *,
    n_lags: int,
    order: int | None = None,
    ridge: float | None = None,
    hidden_ridge: float,
    truncation: Any = None,
    bernoulli: bool = False,
    dtype: Any = "float32",
    seed: int,
) -> TruGTRBM | BernoulliTRBM:
    """Return a model of real sequences that forecasts as a regression on frames and units does.

    It is found for columns less their means and over their deviations, and put into their own units
    in the end, so that neither the directions nor what penalties do depend on those.  Without the
    means, one column of 0.1 and rounding spoils the regression for all.

    Parameters
    ----------
    n_lags, order : int
        Frames that the model looks back, and of which the regression is, by default as many.
    ridge, hidden_ridge : float
        Penalties on coefficients of steps (as of LinearStart) and of the units' means, in halves of
        their range.
    truncation : Truncation, word or pair, optional
        Of TruG units; by default as of train_trbm.
    bernoulli : bool
        Take Bernoulli units.
    seed : int
        Of the training.
    """
    order, ridge = order or n_lags, STEP_RIDGE if ridge is None else ridge
    data = as_sequences("sequences", sequences, visible="gaussian").astype(dtype)
    ends = as_truncation(BEST_TRUNCATION["gaussian"] if truncation is None else truncation)
    hidden, kind = (None if bernoulli else TruGUnits()), np.dtype(dtype)
    shape = Shape.of(n_hidden, ends, hidden, kind)
    units = UnitParameters(shape, Steps(as_optimizer("adam")), kind)
    scaling = Scaling.of_rows(data.frames, None)
    # Columns that stand still have no size; precisions of tiny ones would be beyond floats.
    least = float(np.finfo(kind).tiny) ** 0.4
    size = np.where(scaling.deviation > least, scaling.deviation, 1.0)
    data = Sequences(((data.frames - scaling.mean) / size).astype(kind), data.lengths)
    own = _empty(data.shape[1], n_hidden, n_lags, kind)
    looks = drawn(data, order, units, seed)
    fit, residual = fitted(data, order, ridge, hidden_ridge, looks, own, units)
    limits = np.exp([-LOG_PRECISION, LOG_PRECISION])  # as training keeps it
    precision = 1 / np.maximum(residual * size**2, LEAST * size**2)
    own["visible_precision"][:] = np.clip(precision, *limits)
    own["visible_precision"] *= size**2
    build(own, looks, fit, units, past_and_present(data, order, whole=True), mean_frame(data))
    _restore_units(own, scaling.mean, size)
    own |= units.parameters() | {name: of_lags(own[name], n_lags) for name in LAGGED}
    return BernoulliTRBM(**own) if bernoulli else TruGTRBM(**own)


def start_of(train: Mapping[str, Any], name: str, sequences: Any, seed: int) -> Any:
    """Return the model that options of training, as a file has them, start at.

    name : of the option that is the penalty on the units' coefficients
    """
    hidden_ridge = checks.number(f"train.{name}", train[name], least=0.0)
    flat = {key: value for key, value in train.items() if key not in (name, EVERY)}
    options = arguments_of(train_trbm, flat)
    visible, linear = options["visible"], options.get("start", LinearStart())
    if not getattr(visible, "learn_precision", False):
        raise ValueError(f"train.{name} needs real sequences and learn_visible_precision = true")
    return start(
        sequences,
        options["n_hidden"],
        n_lags=options.get("n_lags", 1),
        order=linear.order,
        ridge=linear.ridge,
        hidden_ridge=hidden_ridge,
        truncation=options.get("truncation"),
        bernoulli=options.get("hidden") == "bernoulli",
        dtype=options.get("dtype", "float32"),
        seed=seed_from(seed, "train_trbm"),
    )


def _empty(n: int, m: int, lags: int, dtype: Any) -> State:
    """Return parameters of 0, and precisions of 1; matrices lead from past to present."""
    sizes: dict[str, tuple[int, ...]] = {"weights": (n, m), "visible_to_hidden": (lags * n, m)}
    sizes |= {"visible_to_visible": (lags * n, n), "hidden_to_hidden": (lags * m, m)}
    sizes |= {f"{time}{layer}_bias": ((n if layer == "visible" else m),)
              for time in ("", "initial_") for layer in ("visible", "hidden")}  # fmt: skip
    own = {name: np.zeros(shape, dtype) for name, shape in sizes.items()}
    return own | {"visible_precision": np.ones(n, dtype)}


def drawn(data: Sequences, order: int, units: UnitParameters, seed: int) -> Looks:
    """Draw directions as the past is spread, so that all that moves is seen by as much."""
    n, m = order * data.shape[1], len(units.lower)
    mean, spread = _moments_of_past(data, order)
    generator = np.random.default_rng(seed_from(seed, "directions of hidden units"))
    some, size = np.zeros((n, m)), np.ones(m)
    if np.trace(spread) > (SMALL * np.linalg.norm(mean)) ** 2 + TINY:  # else nothing moves
        root = np.linalg.cholesky(spread + SMALL * np.trace(spread) / n * np.eye(n))
        some = root @ generator.normal(size=(n, m))
        size = np.linalg.norm(root.T @ some, axis=0)  # standard deviations of what they see
    point, d = working_point(units), float(units.precision[0])
    half = (point.lit - point.dark) / 2
    if not (units.bounded or units.bernoulli):
        half = ENDLESS / np.sqrt(d)
    reach = WIDTH * half / point.slope
    weights = some * (reach / size)
    bias = point.net + reach * generator.uniform(-1, 1, m) - mean @ weights
    return Looks(weights, bias, point.net, half)


def _moments_of_past(data: Sequences, order: int) -> tuple[Array, Array]:
    """Return mean and covariance of the frames before each, about that mean: it may be far off."""
    n, count = order * data.shape[1], 0.0
    mean, spread = np.zeros(n), np.zeros((n, n))
    for past, _, _ in past_and_present(data, order, whole=True):
        count += len(past)
        mean += past[:, 1:].sum(axis=0)
    mean /= count
    for past, _, _ in past_and_present(data, order, whole=True):
        off = past[:, 1:] - mean
        spread += off.T @ off
    return mean, spread / count


def fitted(
    data: Sequences,
    order: int,
    ridge: float,
    hidden_ridge: float,
    looks: Looks,
    own: State,
    units: UnitParameters,
) -> tuple[Array, Array]:
    """Return coefficients and mean squared residuals of a regression on frames and units' means."""
    n, more = data.shape[1], looks.bias.size
    linear = 1 + order * n
    size = linear + more
    square, product = np.zeros((size, size)), np.zeros((size, n))
    total, count = np.zeros(n), 0
    for past, present, _ in past_and_present(data, order, whole=True):
        rows = np.concatenate([past, _moments(looks, own, units, past)[0] / looks.half], axis=1)
        square += rows.T @ rows
        product += rows.T @ present
        total += (present**2).sum(axis=0)
        count += len(present)
    penalty = np.zeros((size, size))
    signs = np.array([[(-1.0) ** j * comb(k, j) for j in range(order)] for k in range(order)])
    steps = np.linalg.inv(signs)  # of what makes steps of frames
    penalty[1:linear, 1:linear] = ridge * np.kron(steps @ steps.T, np.eye(n))
    penalty[linear:, linear:] = hidden_ridge * np.eye(more)
    regular = square + penalty + 1e-12 * np.trace(square) / size * np.eye(size)
    last = np.zeros((size, n))  # the forecast that nothing changes
    last[1 : 1 + n] = np.eye(n)
    fit = np.linalg.solve(regular, product + penalty @ last)
    left = total - 2 * (fit * product).sum(axis=0) + (fit * (square @ fit)).sum(axis=0)
    return fit, np.maximum(left, 0.0) / count


def build(
    own: State, looks: Looks, coefficients: Array, units: UnitParameters, pasts: Any, mean: Array
) -> None:
    """Make a model forecast as a regression does whose last columns were those means.

    Hidden units answer to the present frame too, which they move.  Of it they shall see what the
    linear part of the forecast leaves, e = A^-1 W1 (h - mean h), which moves h by v W1'e, v the
    mean variance.  So singular values s of what the regression adds to A^1/2 x, and w of A^-1/2 W1,
    have w (1 + v w s) = s.

    pasts : what past_and_present yields
    mean : the mean frame, that of first frames
    """
    rows = len(looks.weights)
    count, hidden, slope = 0.0, np.zeros(looks.bias.size), 0.0
    for past, _, weight in pasts:
        means, variances = _moments(looks, own, units, past)
        count += weight * len(past)
        hidden += weight * means.sum(axis=0)
        slope += weight * variances.mean(axis=1).sum()
    hidden, slope = hidden / count, slope / count
    constant, linear = coefficients[0], coefficients[1 : 1 + rows]
    by_unit = coefficients[1 + rows :] / looks.half
    precision = own["visible_precision"].astype(np.float64)
    root = np.sqrt(precision)
    left, size, right = np.linalg.svd(by_unit * root, full_matrices=False)
    answered = 2 * size / (1 + np.sqrt(1 + 4 * slope * size**2))
    weights = root[:, None] * ((left * answered) @ right).T
    centre = constant + hidden @ by_unit
    own["weights"][:] = weights
    own["visible_to_visible"][:rows] = linear * precision
    own["visible_to_hidden"][:rows] = looks.weights - linear @ weights
    own["hidden_bias"][:] = looks.bias - centre @ weights
    own["visible_bias"][:] = precision * centre - weights @ hidden
    amid = _means(own, units, np.full((1, looks.bias.size), looks.middle))[0][0]
    own["initial_hidden_bias"][:] = looks.middle - mean @ weights
    own["initial_visible_bias"] = (precision * mean - weights @ amid).astype(own["weights"].dtype)


def _restore_units(own: State, mean: Array, size: Array) -> None:
    """Make parameters for columns less these means, over these sizes, those for the columns."""
    n_lags = len(own["visible_to_visible"]) // size.size
    past, before = np.tile(size, n_lags)[:, None], np.tile(mean, n_lags)
    own["weights"] /= size[:, None]
    own["visible_to_hidden"] /= past
    own["visible_to_visible"] /= past * size
    for name in ("visible_bias", "initial_visible_bias"):
        own[name] /= size
    own["visible_precision"] /= size**2
    own["hidden_bias"] -= mean @ own["weights"] + before @ own["visible_to_hidden"]
    own["initial_hidden_bias"] -= mean @ own["weights"]
    at_mean = own["visible_precision"] * mean
    own["visible_bias"] += at_mean - before @ own["visible_to_visible"]
    own["initial_visible_bias"] += at_mean


def _moments(looks: Looks, own: State, units: UnitParameters, past: Array) -> tuple[Array, Array]:
    """Return means and variances of the hidden units given the past alone."""
    return _means(own, units, past[:, 1:] @ looks.weights + looks.bias)


def _means(own: State, units: UnitParameters, given: Array) -> tuple[Array, Array]:
    """Return means and variances of the hidden units given their net inputs."""
    dtype, n = own["weights"].dtype, own["weights"].shape[0]
    net = np.ascontiguousarray(given, dtype)
    layers = gibbs.Layers(
        read_only(own["weights"]),
        own["visible_bias"][None],
        own["hidden_bias"][None],
        *units.layer(),
        one_kind(n, own["visible_precision"]),
    )
    mean, variance, none = np.empty_like(net), np.empty_like(net), np.empty((0, 0), dtype)
    gibbs.moments_from_net(layers, gibbs.Moments(net, mean, variance, none, none))
    return mean.astype(np.float64), variance.astype(np.float64)
