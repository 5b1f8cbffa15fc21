"""Exact likelihoods and gradients of small temporal machines (math.md 4.1 and 4.2).

Binary visibles are summed over all states; with real ones the integral over the hidden units is a
sum over a grid (Gauss-Legendre), for up to three hidden units.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks, exact, kernels
from .rbm import BernoulliRBM, TruGRBM
from .sequences import SequencesLike, as_sequences
from .temporal import TRBM, TruGTRBM

Rule = Literal["paper", "full"]
MAX_HIDDEN = 3
PANELS, NODES = 8, 16  # of each dimension's grid
BEYOND = 40.0  # standard deviations after which an infinite interval may end: exp(-800)

Array = NDArray[Any]


class Frame(NamedTuple):
    """One frame given its past: log p(x | past), its derivatives, and the hidden units' means."""

    log_p: float
    slope: dict[str, Array]  # by weights, biases and units of the frame's own RBM
    mean: Array  # E[h | x, past]


def log_likelihood(model: TRBM, sequences: SequencesLike) -> Array:
    """Exact log-likelihood of each sequence under the mean filter: the sum over its frames."""
    checked = as_sequences("sequences", sequences, model.n_visible, real=model.real)
    parts = checked.split(checked.frames)
    return np.array([sum(f.log_p for f in _frames(model, x)) for x in parts])


def gradient(model: TRBM, sequences: SequencesLike, rule: Rule) -> dict[str, Array]:
    """Gradient of the mean over sequences of :func:`log_likelihood`.

    "paper" holds the filter's means fixed; "full" goes back through the filter.
    """
    checks.choice("rule", rule, ("paper", "full"))
    checked = as_sequences("sequences", sequences, model.n_visible, real=model.real)
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
    if model.real:
        return _real_frame(model, np.asarray(b), np.asarray(c), x)
    weights = np.float64(1) * model.weights
    rbm: TruGRBM | BernoulliRBM = BernoulliRBM(weights, b, c)
    if isinstance(model, TruGTRBM):
        rbm = TruGRBM(weights, b, c, model.precision, model.lower, model.upper)
    rows = x.reshape(1, -1).copy()
    return Frame(
        float(exact.log_likelihood(rbm, rows)[0]),
        exact.gradient(rbm, rows),
        np.asarray(rbm.hidden_moments(rows).mean[0], np.float64),
    )


def _frames(model: TRBM, x: Array) -> list[Frame]:
    b: Array = model.initial_visible_bias
    c: Array = model.initial_hidden_bias
    found = []
    for row in np.asarray(x, np.float64):
        found.append(frame(model, b, c, row))
        b, c = biases(model, row, found[-1].mean)
    return found


def _gradient(model: TRBM, x: Array, rule: Rule) -> dict[str, Array]:
    frames = _frames(model, x)
    result = {
        name: np.zeros(getattr(model, name).shape) for name in model.names if _there(model, name)
    }
    back: Array = np.zeros(model.n_hidden)  # derivative by this frame's means through later frames
    for t in range(len(x) - 1, -1, -1):
        slope = dict(frames[t].slope)
        by_hidden = slope.pop("hidden_bias")
        by_visible = slope.pop("visible_bias")
        for name, value in slope.items():
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
        result["hidden_to_hidden"] += np.outer(by_hidden, frames[t - 1].mean)
        back = np.asarray(by_hidden @ model.hidden_to_hidden, np.float64)
    return result


def _there(model: TRBM, name: str) -> bool:
    return getattr(model, name) is not None


def _net(model: TRBM, frames: list[Frame], x: Array, t: int) -> Array:
    c: Array = model.initial_hidden_bias
    if t > 0:
        c = biases(model, x[t - 1], frames[t - 1].mean)[1]
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


class _Grid(NamedTuple):
    """Points and weights of an integral over some hidden units."""

    points: Array  # (points, hidden)
    weights: Array  # (points,)


def _axis(low: float, high: float) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(low, high, PANELS + 1)
    half = (edges[1] - edges[0]) / 2
    points = (edges[:-1, None] + half * (nodes + 1)).ravel()
    return points, np.tile(weights * half, PANELS)


def _grid(axes: list[tuple[Array, Array]]) -> _Grid:
    points = np.stack([p.ravel() for p in np.meshgrid(*(a for a, _ in axes), indexing="ij")], 1)
    return _Grid(points, reduce(np.multiply.outer, (w for _, w in axes)).ravel())


def _real_frame(model: TRBM, b: Array, c: Array, x: Array) -> Frame:
    """Return one frame of a machine with real visibles; math.md 4.1."""
    if not isinstance(model, TruGTRBM):
        raise TypeError("exact results with real visible units are for TruG hidden units")
    if model.n_hidden > MAX_HIDDEN:
        raise ValueError(
            f"exact results with real visible units need at most {MAX_HIDDEN} hidden units, "
            f"got {model.n_hidden}"
        )
    assert model.visible_precision is not None
    a, w, d = (np.float64(1) * v for v in (model.visible_precision, model.weights, model.precision))
    form, linear = np.diag(d) - (w.T / a) @ w, c + (w.T / a) @ b
    ends = list(zip(model.lower.astype(float), model.upper.astype(float), strict=True))
    bounds = _bounds(form, linear, ends)
    grid = _grid([_axis(*pair) for pair in bounds])

    def exponent(h: Array) -> Array:
        value: Array = h @ linear - 0.5 * np.einsum("pj,jk,pk->p", h, form, h)
        return value

    level = exponent(grid.points)
    peak = float(level.max())
    weight = grid.weights * np.exp(level - peak)
    log_integral = peak + float(np.log(weight.sum()))
    weight /= weight.sum()
    log_z = float((0.5 * np.log(2 * np.pi / a) + b**2 / (2 * a)).sum()) + log_integral
    h = weight @ grid.points
    hh = grid.points.T @ (grid.points * weight[:, None])
    mean_x = (w @ h + b) / a
    centre = (grid.points @ w.T + b) / a
    net = c + x @ w
    units = [(float(net[j]), float(d[j]), *ends[j]) for j in range(len(ends))]
    mean, variance = np.array([kernels.mean_variance(*unit) for unit in units]).T
    at_ends = np.exp([kernels.log_end_densities(*unit) for unit in units])
    faces = np.zeros_like(at_ends)
    for j, pair in enumerate(ends):
        for side in (0, 1):
            if np.isfinite(pair[side]):
                axes = [_axis(*other) for other in bounds]
                axes[j] = (np.array([pair[side]]), np.ones(1))
                face = _grid(axes)
                faces[j, side] = face.weights @ np.exp(exponent(face.points) - log_integral)
    log_p = -0.5 * float(a @ x**2) + float(b @ x) - log_z
    log_p += sum(kernels.log_normalizer(*unit) for unit in units)
    slope: dict[str, Any] = {
        "weights": np.outer(x, mean) - (w @ hh + np.outer(b, h)) / a[:, None],
        "visible_bias": x - mean_x,
        "hidden_bias": mean - h,
        "precision": 0.5 * (np.diag(hh) - variance - mean**2),
        "lower": faces[:, 0] - at_ends[:, 0],
        "upper": at_ends[:, 1] - faces[:, 1],
        "visible_precision": 0.5 * (1 / a + weight @ centre**2 - x**2),
    }
    return Frame(log_p, slope, mean)


def _bounds(
    form: Array, linear: Array, ends: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return finite intervals that hold all but exp(-800) of the mass."""
    if np.isfinite(ends).all():
        return ends
    smallest = float(np.linalg.eigvalsh(form)[0])
    if smallest <= 0:
        raise ValueError("exact results with infinite ends need a positive definite form")
    # |h - P^-1 r| < BEYOND / sqrt(smallest), where the unconstrained mode may lie far outside.
    mode = np.linalg.solve(form, linear)
    low = np.array([pair[0] if np.isfinite(pair[0]) else -np.inf for pair in ends])
    high = np.array([pair[1] if np.isfinite(pair[1]) else np.inf for pair in ends])
    nearest = np.clip(mode, low, high)
    reach = float(np.linalg.norm(nearest - mode)) + BEYOND / np.sqrt(smallest)
    return [
        (a if np.isfinite(a) else m - reach, z if np.isfinite(z) else m + reach)
        for (a, z), m in zip(ends, mode, strict=True)
    ]
