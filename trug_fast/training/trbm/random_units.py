"""A start at a forecast to which hidden units add what is not linear (mathematics 4.5).

Tested in tests/training/trbm/test_random_units.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import read_only
from trug_fast._common.randomness import seed_from
from trug_fast.evaluation.forecasts import Features, past_and_present
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.visible import one_kind
from trug_fast.models.sequences import Sequences
from trug_fast.training.checkpoints import State
from trug_fast.training.unit_parameters import UnitParameters

from .working_point import working_point

SWEEPS, SEEN = 10, 2000  # of mean field, on about so many frames, to see what the start forecasts
WIDTH = 2.0  # net inputs in standard deviations, in those that take a unit half across its range
ROUNDING = 1e-10  # in squares of frames, float32
SMALL, TINY = 1e-9, 1e-30  # channels may stand still, or repeat others
ENDLESS = 4.0  # half the range of a unit with an infinite end, in its standard deviations

Array = NDArray[np.float64]


class Looks(NamedTuple):
    """What hidden units see of the past: its part in a random direction, in place of all of it."""

    weights: Array  # (order * n_visible, n_hidden)
    bias: Array  # (n_hidden,)
    middle: float  # net input amid the range of a unit
    half: float  # of the range


def drawn(data: Sequences, order: int, whole: bool, units: UnitParameters, seed: int) -> Looks:
    """Draw directions as the past is spread, so that all that moves is seen by as much."""
    n, m = order * data.shape[1], len(units.lower)
    mean, spread = _moments_of_past(data, order, whole)
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


def _moments_of_past(data: Sequences, order: int, whole: bool) -> tuple[Array, Array]:
    """Return mean and covariance of the frames before each, about that mean: it may be far off."""
    n, count = order * data.shape[1], 0.0
    mean, spread = np.zeros(n), np.zeros((n, n))
    for past, _, weight in past_and_present(data, order, whole=whole):
        count += weight * len(past)
        mean += weight * past[:, 1:].sum(axis=0)
    mean /= count
    for past, _, weight in past_and_present(data, order, whole=whole):
        off = past[:, 1:] - mean
        spread += weight * (off.T @ off)
    return mean, spread / count


def features(looks: Looks, own: State, units: UnitParameters, ridge: float) -> Features:
    """Return the means of the hidden units as columns of a regression, in halves of their range."""

    def of(past: Array) -> Array:
        return _moments(looks, own, units, past)[0] / looks.half

    return Features(of, looks.bias.size, ridge)


def build(
    own: State, looks: Looks, coefficients: Array, units: UnitParameters, pasts: Any, mean: Array
) -> None:
    """Make a model forecast as a regression does whose last columns were those features.

    Hidden units answer to the present frame too, which they move.  Of it they shall see what the
    linear part of the forecast leaves, e = A^-1 W1 (h - mean h), which moves h by v W1'e, v the
    mean variance.  So singular values s of what the regression adds to A^1/2 x, and w of A^-1/2 W1,
    have w (1 + v w s) = s.

    pasts : what :func:`past_and_present` yields
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
    for name in ("visible_to_hidden", "visible_to_visible", "hidden_to_hidden"):
        own[name][:] = 0.0
    own["weights"][:] = weights
    own["visible_to_visible"][:rows] = linear * precision
    own["visible_to_hidden"][:rows] = looks.weights - linear @ weights
    own["hidden_bias"][:] = looks.bias - centre @ weights
    own["visible_bias"][:] = precision * centre - weights @ hidden
    amid = _means(own, units, np.full((1, looks.bias.size), looks.middle))[0][0]
    own["initial_hidden_bias"][:] = looks.middle - mean @ weights
    own["initial_visible_bias"] = (precision * mean - weights @ amid).astype(own["weights"].dtype)


def squared_errors(
    own: State, units: UnitParameters, linear: Array, pasts: Any, frames: int
) -> tuple[float, float]:
    """Return those of some frames' forecasts: by the model, and by a regression without units.

    To the latter is added what may be rounding.

    linear : its coefficients
    pasts : what :func:`past_and_present` yields, of so many frames
    """
    ours, theirs, count = 0.0, 0.0, 0.0
    step, rows = max(1, frames // SEEN), len(linear) - 1
    to_hidden, to_visible, weights = (
        own[name].astype(np.float64)
        for name in ("visible_to_hidden", "visible_to_visible", "weights")
    )
    with np.errstate(over="ignore", invalid="ignore"):
        for past, present, weight in pasts:
            past, present = past[::step], present[::step]
            found = plain = past @ linear
            net = past[:, 1:] @ to_hidden[:rows] + own["hidden_bias"]
            drive = past[:, 1:] @ to_visible[:rows] + own["visible_bias"]
            for _ in range(SWEEPS):
                hidden = _means(own, units, net + found @ weights)[0]
                found = (drive + hidden @ weights.T) / own["visible_precision"]
            ours += weight * float(((found - present) ** 2).sum())
            theirs += weight * float(((plain - present) ** 2 + ROUNDING * present**2).sum())
            count += weight * len(present)
    return ours / count, theirs / count


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
