"""Paths from the base distribution to the model, and the temperatures along them.

Formulas: mathematics 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.annealing import AnnealingPath
from trug_fast.models.rbm import RBM
from trug_fast.units.kinds import log_norms

Floats = NDArray[np.float64]


class PathScales(NamedTuple):
    """What a path multiplies at temperatures t; weights and hidden biases always go with t."""

    bias: Callable[[Floats], Floats]  # the visible biases' distance from the base's
    precision: Callable[[Floats], Floats]  # the hidden units' precision


PATHS = {
    "quad": PathScales(bias=lambda t: t, precision=np.ones_like),
    "quad2": PathScales(bias=np.square, precision=np.ones_like),
    "paper": PathScales(bias=lambda t: t, precision=lambda t: t),
}
PathName = Literal["auto", "quad", "quad2", "paper"]
WIDE = 3.0  # whitened width from which quad2 is the better path (mathematics 3.3)
EVEN = 0.2  # share of adaptive temperatures that stay equally spaced, against a pilot's noise


def automatic(model: RBM, path: str = "auto") -> str:
    """Return a path, checked: "auto" is "quad" for units of up to 3 deviations, else "quad2"."""
    if checks.choice("path", path, ("auto", *PATHS)) != "auto":
        return path
    hidden = model.hidden_units
    lower, upper = hidden.ends
    width = np.sqrt(np.maximum(hidden.precision, 0)) * (upper - lower)
    return "quad" if np.median(width) <= WIDE else "quad2"


def base_bias(model: RBM, data: NDArray[np.generic] | None) -> Floats:
    """Return visible biases without hidden units: those of the means of data (mathematics 3.2).

    Without data those of uniform states, or the model's own where there is no end of states.
    """
    if data is not None:
        mean = data.mean(axis=0, dtype=np.float64)
        return np.asarray(model.visible_units.bias(mean), dtype=np.float64)
    return model.visible_units.base(model.column_bias)


def uniform(temperatures: int) -> Floats:
    """Return equally spaced temperatures from 0 to 1."""
    return np.linspace(0.0, 1.0, temperatures + 1)


def adapted(edges: Floats, spread: Floats, temperatures: int) -> Floats:
    """Return temperatures from 0 to 1, dense where the weights spread (mathematics 3.3).

    edges : temperatures of a pilot run
    spread : (bins,) standard deviation over its chains of what each bin added to the log-weight
    """
    share = spread / spread.sum() if spread.sum() > 0 else np.diff(edges)
    share = (1 - EVEN) * share + EVEN * np.diff(edges)
    position = np.concatenate([[0.0], np.cumsum(share)])
    # Ends exact whatever rounding does in between.
    wanted = np.linspace(0.0, position[-1], temperatures + 1)
    return np.asarray(np.interp(wanted, position, edges))


def along(name: str, temperatures: Floats, bias: Floats) -> AnnealingPath:
    """Return the path of this name at these temperatures."""
    scales = PATHS[name]
    return AnnealingPath(
        temperatures, scales.bias(temperatures), scales.precision(temperatures), bias
    )


def turned_round(path: AnnealingPath) -> AnnealingPath:
    """Return the way back, from the model to the base."""
    t, s, q = (np.ascontiguousarray(scale[::-1]) for scale in path[:3])
    return AnnealingPath(t, s, q, path.base_bias)


def at_model(sweeps: int, bias: Floats) -> AnnealingPath:
    """Return the path that stays at the model: plain Gibbs sampling, weights unmoved."""
    ones = np.ones(sweeps + 1)
    return AnnealingPath(ones, ones, ones, bias)


def base_log_partition(model: RBM, path: AnnealingPath) -> float:
    """Log Z of the path's first distribution, without the end factors that the paper drops."""
    of_visible = float(model.visible_units.log_norm(path.base_bias))
    if path.precision_scale[0] == 0.0:
        return of_visible
    layers = model.layers(np.float64)
    return of_visible + hidden_log_z(layers._replace(hidden_bias=0.0 * layers.hidden_bias))


def hidden_log_z(layers: gibbs.Layers) -> float:
    """Log Z of the hidden units of a model whose weights are 0."""
    units = layers.hidden_bias.shape[1]
    with computing(work(1, 1, units)):
        alone = layers._replace(weights=read_only(np.zeros((1, units))))
        return float(log_norms(alone, np.zeros((1, 1)))[0])
