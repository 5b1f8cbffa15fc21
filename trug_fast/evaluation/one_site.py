"""The probability of one visible unit's state given all others, through all of its states.

Tested in tests/evaluation/test_likelihood_kinds.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.models.hidden_units import log_norms
from trug_fast.models.rbm import RBM
from trug_fast.models.visible_kinds import CATEGORICAL, SPIN, states_each

Floats = NDArray[np.float64]
TOGETHER = 2**21  # net inputs of hidden units at a time


def site_log_probability(model: RBM, X: Floats, site: NDArray[np.int64]) -> Floats:
    """Return the log-probability of one site of each row given all others of the row.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
        Without Gaussian or truncated visible units.
    X : ndarray, shape (rows, n_visible)
        States, checked.
    site : ndarray, shape (rows,)
    """
    step = max(1, TOGETHER // (int(_number(model).max()) * model.n_hidden))
    parts = [slice(start, start + step) for start in range(0, len(X), step)]
    return np.concatenate([_log_probability(model, X[part], site[part]) for part in parts])


def _number(model: RBM) -> NDArray[np.int64]:
    """Return how many states each site has."""
    return np.maximum(states_each(model.runs), 2)


def _log_probability(model: RBM, X: Floats, site: NDArray[np.int64]) -> Floats:
    """Return it for some rows.

    The hidden units' net inputs change by the weights of one site alone, so that a state costs no
    product with all of the weights.
    """
    layers, rows = model.layers(np.float64), model.visible_units.columns(X).astype(np.float64)
    kinds = np.repeat([run.kind for run in model.runs], [run.sites for run in model.runs])[site]
    each, number = states_each(model.runs), _number(model)
    first = (np.cumsum(each) - each)[site]
    several = kinds == CATEGORICAL
    state = np.arange(number[site].max())[:, None]  # each of every row, in columns
    there = state < number[site]
    at = first + np.where(several & there, state, 0)
    value = np.where(several, 1.0, np.where(kinds == SPIN, 2.0 * state - 1, state))
    own = X[np.arange(len(X)), site]
    own_at = first + np.where(several, own, 0).astype(np.int64)
    own_value = np.where(several, 1.0, own)
    with computing(work(len(rows) * len(state), model.n_columns, model.n_hidden)):
        net = layers.hidden_bias + rows @ layers.weights
        net -= own_value[:, None] * layers.weights[own_at]
        nets = net + value[..., None] * layers.weights[at]
        norm = _log_norms(layers, nets.reshape(-1, model.n_hidden)).reshape(at.shape)
    log_p = np.where(there, value * layers.visible_bias[0][at] + norm, -np.inf)
    index = np.where(several, own, np.where(kinds == SPIN, (own + 1) / 2, own)).astype(np.int64)
    chosen = log_p[index, np.arange(len(X))]
    return np.asarray(chosen - np.logaddexp.reduce(log_p, axis=0))


def _log_norms(layers: gibbs.Layers, net: Floats) -> Floats:
    """Return the sum of L over hidden units at these net inputs, of each row."""
    units = net.shape[1]
    same = layers._replace(weights=read_only(np.eye(units)), hidden_bias=np.zeros((1, units)))
    return log_norms(same, net)
