"""Exact likelihoods and gradients of small temporal models (mathematics 4.1 and 4.2).

Each frame is an RBM whose biases its past has set (rbm.py).

Tests: tests/models/test_trbm.py.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast import kernels
from trug_fast._common import checks
from trug_fast.models.sequences import SequencesLike, as_sequences
from trug_fast.models.trbm import TRBM, TruGTRBM

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
    checked = as_sequences("sequences", sequences, model.n_visible, visible=model.visible)
    parts = checked.split(checked.frames)
    return np.array([sum(f.log_likelihood for f in _frames(model, x)) for x in parts])


def gradient(model: TRBM, sequences: SequencesLike, rule: Rule) -> dict[str, Array]:
    """Gradient of the mean over sequences of :func:`log_likelihood`.

    "paper" holds the filter's means fixed; "full" goes back through the filter.
    """
    checks.choice("rule", rule, ("paper", "full"))
    checked = as_sequences("sequences", sequences, model.n_visible, visible=model.visible)
    parts = checked.split(checked.frames.astype(np.float64))
    each = [_gradient(model, x, rule) for x in parts]
    names = (name for name in model.names if name in each[0])
    return {name: np.mean([g[name] for g in each], axis=0) for name in names}


def biases(model: TRBM, x_past: Array, h_past: Array) -> tuple[Array, Array]:
    """Return b_t and c_t after a frame."""
    return (
        model.visible_bias + model.visible_to_visible @ x_past,
        model.hidden_bias + model.visible_to_hidden @ x_past + model.hidden_to_hidden @ h_past,
    )


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
    b: Array = model.initial_visible_bias
    c: Array = model.initial_hidden_bias
    found = []
    for row in np.asarray(x, np.float64):
        found.append(frame(model, b, c, row))
        b, c = biases(model, row, found[-1].hidden_mean)
    return found


def _gradient(model: TRBM, x: Array, rule: Rule) -> dict[str, Array]:
    frames = _frames(model, x)
    result = {
        name: np.zeros(getattr(model, name).shape) for name in model.names if _there(model, name)
    }
    back: Array = np.zeros(model.n_hidden)  # derivative by this frame's means through later frames
    for t in range(len(x) - 1, -1, -1):
        own = dict(frames[t].gradient)
        by_hidden = own.pop("hidden_bias")
        by_visible = own.pop("visible_bias")
        for name, value in own.items():
            result[name] += value
        if rule == "full":
            error = _through_mean(model, _net(model, frames, x, t), back, result)
            result["weights"] += np.outer(x[t], error)
            by_hidden = by_hidden + error
        if t == 0:
            result["initial_visible_bias"] += by_visible
            result["initial_hidden_bias"] += by_hidden
            break
        result["visible_bias"] += by_visible
        result["hidden_bias"] += by_hidden
        result["visible_to_visible"] += np.outer(by_visible, x[t - 1])
        result["visible_to_hidden"] += np.outer(by_hidden, x[t - 1])
        result["hidden_to_hidden"] += np.outer(by_hidden, frames[t - 1].hidden_mean)
        back = np.asarray(by_hidden @ model.hidden_to_hidden, np.float64)
    return result


def _there(model: TRBM, name: str) -> bool:
    return getattr(model, name) is not None


def _net(model: TRBM, frames: list[Frame], x: Array, t: int) -> Array:
    c: Array = model.initial_hidden_bias
    if t > 0:
        c = biases(model, x[t - 1], frames[t - 1].hidden_mean)[1]
    return np.asarray(c + x[t] @ model.weights)


def _through_mean(model: TRBM, net: Array, back: Array, result: dict[str, Array]) -> Array:
    """Add what the units' parameters get through the means; return the derivative by net inputs."""
    if not isinstance(model, TruGTRBM):
        return np.asarray(back / ((1 + np.exp(-net)) * (1 + np.exp(net))))
    error = np.empty_like(back)
    for j, (a, d, low, high) in enumerate(
        zip(net, model.precision, model.lower, model.upper, strict=True)
    ):
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
