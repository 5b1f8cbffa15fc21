"""Exact results for small RBMs with Gaussian visible units, x integrated out (mathematics 4.1).

    log Z = sum_i [log(2 pi / a_i) + b_i^2 / a_i] / 2 + log integral of exp(r'h - h'Ph / 2),
    P = D - W'A^-1 W,  r = c + W'A^-1 b

The integral is a sum over all states of Bernoulli hidden units (whose D is 0), and one over a box
(box.py) for up to three TruG units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast.models.rbm import RBM

from .box import Box, BoxMoments, end_log_density, moments
from .states import MAX_UNITS, binary_states

MAX_TRUG = 3

Array = NDArray[Any]


def log_partition(model: RBM) -> float:
    """Log of the integral of p*(x) over all real x."""
    of_visible = float(model.visible_units.log_norm(np.float64(1) * model.visible_bias))
    return of_visible + hidden_moments(model).log_total


def expectations(model: RBM) -> dict[str, Array]:
    """Return the expected derivative of log p*(x) by each parameter."""
    total, h, hh = hidden_moments(model)
    a, w, b = _visible(model)
    mean = (w @ h + b) / a
    # E[(Wh + b)^2] of each visible unit, from the moments of h.
    square = ((w @ hh) * w).sum(axis=1) + 2 * b * (w @ h) + b**2
    result = {
        "weights": (w @ hh + np.outer(b, h)) / a[:, None],
        "visible_bias": mean,
        "hidden_bias": h,
        "visible_precision": -0.5 * (1 / a + square / a**2),
    }
    if model.hidden_units.some("real"):
        at_ends = _end_densities(hidden_box(model), total)
        result |= {"precision": -0.5 * hh.diagonal(), "lower": -at_ends[0], "upper": at_ends[1]}
    return result


def hidden_box(model: RBM) -> Box:
    """Return the exponent of p*(h), and where h may be."""
    a, w, b = _visible(model)
    form, linear = -(w.T / a) @ w, model.hidden_bias + (w.T / a) @ b
    hidden = model.hidden_units
    precision, (lower, upper) = hidden.precision.astype(np.float64), hidden.ends.astype(np.float64)
    return Box(np.diag(precision) + form, linear, lower, upper)


def hidden_moments(model: RBM) -> BoxMoments:
    """Return the log of the sum or integral of p*(h), and the moments of h."""
    box, real = hidden_box(model), model.hidden_units.some("real")
    most, kind = (MAX_TRUG, "TruG") if real else (MAX_UNITS, "Bernoulli")
    if model.n_hidden > most:
        raise ValueError(
            f"exact results with Gaussian visible units need at most {most} {kind} hidden units, "
            f"got {model.n_hidden}; use log_partition"
        )
    if real:
        return moments(box)
    states = binary_states(model.n_hidden)
    log_p = states @ box.linear - 0.5 * ((states @ box.form) * states).sum(axis=1)
    total = log_sum_exp(log_p)
    share = np.exp(log_p - total)
    return BoxMoments(total, share @ states, states.T @ (states * share[:, None]))


def _visible(model: RBM) -> tuple[Array, Array, Array]:
    """Return a, W and b in float64."""
    assert model.visible_precision is not None
    one = np.float64(1)
    return one * model.visible_precision, one * model.weights, one * model.visible_bias


def _end_densities(box: Box, log_total: float) -> Array:
    """Return the densities of the hidden units at lower and at upper ends, (2, hidden)."""
    result = np.zeros((2, len(box.linear)))
    for side, ends in enumerate((box.lower, box.upper)):
        for unit in np.flatnonzero(np.isfinite(ends)):
            density = end_log_density(box, int(unit), float(ends[unit]), log_total)
            result[side, unit] = np.exp(density)
    return result
