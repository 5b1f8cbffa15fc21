"""Exact likelihoods and gradients of small temporal models (mathematics 4.1 and 4.2).

Each frame is an RBM whose biases its past has set (rbm.py).

Tests: tests/models/test_trbm.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast import kernels
from trug_fast._common import checks
from trug_fast.models.sequences import SequencesLike
from trug_fast.models.trbm import TRBM

from . import rbm as exact_rbm

Rule = Literal["paper", "full"]

Array = NDArray[Any]


class Frame(NamedTuple):
    """One frame given its past."""

    log_likelihood: float  # log p(x | past)
    gradient: dict[str, Array]  # of that, by the parameters of the frame's own RBM
    hidden_mean: Array  # E[h | x, past]


def log_likelihood(model: TRBM, sequences: SequencesLike) -> Array:
    """Exact log-likelihood of each sequence under the mean filter: the sum over its frames."""
    checked = model.checked_sequences(sequences)
    parts = checked.split(checked.frames)
    return np.array([sum(f.log_likelihood for f in _frames(model, x)) for x in parts])


def gradient(model: TRBM, sequences: SequencesLike, rule: Rule) -> dict[str, Array]:
    """Gradient of the mean over sequences of :func:`log_likelihood`.

    "paper" holds the filter's means fixed; "full" goes back through the filter.
    """
    checks.choice("rule", rule, ("paper", "full"))
    checked = model.checked_sequences(sequences)
    parts = checked.split(checked.frames.astype(np.float64))
    each = [_gradient(model, x, rule) for x in parts]
    names = (name for name in model.names if name in each[0])
    return {name: np.mean([g[name] for g in each], axis=0) for name in names}


def biases(model: TRBM, x_past: Array, h_past: Array) -> tuple[Array, Array]:
    """Return b_t and c_t after a frame; of several lags, after frames in rows, the latest first."""
    b, c = model.visible_bias, model.hidden_bias
    for weights, row in _pairs(model, "visible_to_visible", x_past):
        b = b + weights @ row
    for name, past in (("visible_to_hidden", x_past), ("hidden_to_hidden", h_past)):
        for weights, row in _pairs(model, name, past):
            c = c + weights @ row
    return b, c


def _pairs(model: TRBM, name: str, past: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the weights of each lag with the row that they are for."""
    own = getattr(model, name)
    return zip(own if model.n_lags > 1 else [own], np.atleast_2d(past), strict=True)


def _before(t: int, n_lags: int) -> list[int]:
    """Return the frames before one, the latest first; the first stands for those before it."""
    return [max(t - 1 - lag, 0) for lag in range(n_lags)]


def _biases_at(model: TRBM, frames: list[Frame], x: Array, t: int) -> tuple[Array, Array]:
    """Return b_t and c_t of a frame from those before it."""
    if t == 0:
        return model.initial_visible_bias, model.initial_hidden_bias
    places = _before(t, model.n_lags)
    return biases(model, x[places], np.array([frames[s].hidden_mean for s in places]))


def frame(model: TRBM, b: ArrayLike, c: ArrayLike, x: Array) -> Frame:
    """Return what one frame gives, under biases b and c."""
    rbm = model.frame_model(b, c, np.float64)
    rows = x.reshape(1, -1).copy()
    return Frame(
        float(exact_rbm.log_likelihood(rbm, rows)[0]),
        exact_rbm.gradient(rbm, rows),
        np.asarray(rbm.hidden_moments(rows).mean[0], np.float64),
    )


def _frames(model: TRBM, x: Array) -> list[Frame]:
    x = np.asarray(x, np.float64)
    found: list[Frame] = []
    for t, row in enumerate(x):
        found.append(frame(model, *_biases_at(model, found, x, t), row))
    return found


def _gradient(model: TRBM, x: Array, rule: Rule) -> dict[str, Array]:
    frames = _frames(model, x)
    result = {name: np.zeros(getattr(model, name).shape) for name in model.names}
    back = np.zeros((len(x), model.n_hidden))  # derivatives by the means through later frames
    for t in range(len(x) - 1, -1, -1):
        own = dict(frames[t].gradient)
        by_hidden = own.pop("hidden_bias")
        by_visible = own.pop("visible_bias")
        for name, value in own.items():
            result[name] += value
        if rule == "full":
            net = _biases_at(model, frames, x, t)[1] + x[t] @ model.weights
            error = _through_mean(model, net, back[t], result)
            result["weights"] += np.outer(x[t], error)
            by_hidden = by_hidden + error
        if t == 0:
            result["initial_visible_bias"] += by_visible
            result["initial_hidden_bias"] += by_hidden
            break
        result["visible_bias"] += by_visible
        result["hidden_bias"] += by_hidden
        for lag, s in enumerate(_before(t, model.n_lags)):
            h = frames[s].hidden_mean
            for name, by, past in (
                ("visible_to_visible", by_visible, x[s]),
                ("visible_to_hidden", by_hidden, x[s]),
                ("hidden_to_hidden", by_hidden, h),
            ):
                total = result[name] if model.n_lags == 1 else result[name][lag]
                total += np.outer(by, past)
            own_weights = model.hidden_to_hidden
            back[s] += by_hidden @ (own_weights if model.n_lags == 1 else own_weights[lag])
    return result


def _through_mean(model: TRBM, net: Array, back: Array, result: dict[str, Array]) -> Array:
    """Add what the units' parameters get through the means; return the derivative by net inputs."""
    if not model.hidden_units.some("real"):
        return np.asarray(back / ((1 + np.exp(-net)) * (1 + np.exp(net))))
    error = np.empty_like(back)
    hidden = model.hidden_units
    for j, (a, d, low, high) in enumerate(zip(net, hidden.precision, *hidden.ends, strict=True)):
        unit = float(a), float(d), float(low), float(high)
        m, v, third = kernels.moments(*unit)
        at_low, at_high = np.exp(kernels.log_end_densities(*unit))
        error[j] = v * back[j]
        result["precision"][j] -= back[j] * (third / 2 + m * v)
        if np.isfinite(low):
            result["lower"][j] += back[j] * at_low * (m - low)
        if np.isfinite(high):
            result["upper"][j] += back[j] * at_high * (high - m)
    return error
