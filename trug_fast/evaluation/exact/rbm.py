"""Exact results of small RBMs: by going through all visible states, or hidden ones.

Where visible units are Gaussian, by integrals over the hidden ones (gaussian.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast.models.rbm import RBM, BernoulliRBM

from . import gaussian, kinds
from .expected import expectations_of
from .states import MAX_UNITS, binary_states, require_few

Floats = NDArray[np.float64]


def log_partition(model: RBM) -> float:
    """Return the log of the sum, or integral, of p*(x) over all visible states."""
    if model.visible == "gaussian":
        return gaussian.log_partition(model)
    if model.visible != "bernoulli":
        return kinds.log_partition(model)
    if isinstance(model, BernoulliRBM) and model.n_hidden <= MAX_UNITS < model.n_visible:
        # The two layers of an ordinary RBM are alike.
        weights = np.float64(1) * model.weights.T
        model = BernoulliRBM(weights, model.hidden_bias, model.visible_bias)
    return log_sum_exp(-model.free_energy(_visible_states(model)))


def log_likelihood(model: RBM, X: ArrayLike) -> Floats:
    """Return log p(x) of each row."""
    array = model.checked_rows("X", X)
    return -model.free_energy(array) - log_partition(model)


def gradient(model: RBM, X: ArrayLike) -> dict[str, Floats]:
    """Return the gradient of the mean log-likelihood of the rows."""
    array = model.checked_columns("X", X)
    of_data = expectations_of(model, array, np.full(array.shape[0], 1 / array.shape[0]))
    if model.visible == "gaussian":
        of_model = gaussian.expectations(model)
    elif model.visible != "bernoulli":
        of_model = kinds.expectations(model)
    else:
        states = _visible_states(model)
        weight = np.exp(-model.free_energy(states) - log_partition(model))
        of_model = expectations_of(model, states, weight)
    found = {name: of_data[name] - of_model[name] for name in model.names}
    return {name: value.reshape(getattr(model, name).shape) for name, value in found.items()}


def _visible_states(model: RBM) -> Floats:
    require_few(model.n_visible, MAX_UNITS, "visible")
    return binary_states(model.n_visible)
