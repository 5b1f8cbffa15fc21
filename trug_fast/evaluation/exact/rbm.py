"""Exact log-partition functions, likelihoods and gradients, for small models.

By enumeration of the visible states, or of the hidden ones where visible units are Gaussian or too
many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.models.rbm import RBM, BernoulliRBM, TruGRBM, require_rbm

from . import gaussian as exact_gaussian

if TYPE_CHECKING:
    from trug_fast.models.trbm import TRBM

    from .trbm import Rule

MAX_VISIBLE = 22  # 4 million states, about a minute


def states(n_visible: int) -> NDArray[np.float64]:
    """Return all 2**n_visible visible states; row k has x_i = bit i of k."""
    if n_visible > MAX_VISIBLE:
        raise ValueError(
            f"enumeration needs at most {MAX_VISIBLE} visible units, got {n_visible}; "
            "use log_partition"
        )
    return exact_gaussian.binary_states(n_visible)


def log_partition(model: RBM) -> float:
    """Log of the sum, or integral, of p*(x) over all visible states, exact to rounding.

    Raises
    ------
    ValueError
        If the model is too large: it may have 22 visible units, or any number of them and 22
        Bernoulli hidden units; where visible units are Gaussian, any number of them and 22
        Bernoulli or 3 TruG hidden units (math.md 4.1).

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> float(round(tf.exact.log_partition(tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)), 6))
    3.465736
    """
    require_rbm("exact.log_partition(model)", model)
    if model.visible_precision is not None:
        return exact_gaussian.log_partition(model)
    if isinstance(model, BernoulliRBM) and model.n_hidden <= MAX_VISIBLE < model.n_visible:
        # The two layers of an ordinary machine are alike.
        weights = np.float64(1) * model.weights.T
        model = BernoulliRBM(weights, model.hidden_bias, model.visible_bias)
    return log_sum_exp(-model.free_energy(states(model.n_visible)))


def log_likelihood(model: RBM | TRBM, X: Any) -> NDArray[np.float64]:
    """Exact log p(x) of each row of X; shape (rows,).

    Of a temporal machine, X holds sequences, and the result has one number for each: the sum over
    its frames of log p(x_t | x_{t-1}, filtered h_{t-1}) (math.md 4.2).
    """
    if not isinstance(model, RBM):
        from trug_fast.models import trbm as temporal

        from . import trbm as temporal_exact

        if not isinstance(model, temporal.TRBM):
            require_rbm("exact.log_likelihood(model, X)", model)
        return temporal_exact.log_likelihood(model, X)
    array = model.visible_units.checked("X", X, model.n_visible)
    return -model.free_energy(array) - log_partition(model)


def gradient(model: RBM | TRBM, X: Any, rule: Rule = "full") -> dict[str, NDArray[np.float64]]:
    """Gradient of the mean exact log-likelihood of the rows of X (math.md 2.2), or of sequences.

    Parameters
    ----------
    model : RBM or temporal RBM
    X : array_like
        Rows, or sequences of a temporal machine.
    rule : {"full", "paper"}
        For temporal machines (math.md 4.2): go back through the mean filter, or hold its means
        fixed as the paper does, which is only a part of the gradient.

    Returns
    -------
    dict
        One array for each of the model's fields, of that field's shape.  The derivative by an
        infinite truncation point is 0: its density there vanishes.
    """
    if not isinstance(model, RBM):
        from trug_fast.models import trbm as temporal

        from . import trbm as temporal_exact

        if not isinstance(model, temporal.TRBM):
            require_rbm("exact.gradient(model, X)", model)
        return temporal_exact.gradient(model, X, rule)
    array = model.visible_units.checked("X", X, model.n_visible)
    data = _expectations(model, array, np.full(array.shape[0], 1 / array.shape[0]))
    if model.visible_precision is not None:
        ours = exact_gaussian.expectations(model)
    else:
        every = states(model.n_visible)
        weight = np.exp(-model.free_energy(every) - log_partition(model))
        ours = _expectations(model, every, weight)
    return {name: data[name] - ours[name] for name in model.names}


def _expectations(
    model: RBM, visible: NDArray[np.float64], weight: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Weighted mean of the derivative of log p*(x) by each parameter."""
    rows = np.ascontiguousarray(visible, dtype=np.float64)
    with computing(work(len(rows), model.n_visible, model.n_hidden)):
        found = gibbs.hidden_moments(model.layers(np.float64), rows)
    result = {
        "weights": (rows * weight[:, None]).T @ found.mean,
        "visible_bias": weight @ rows,
        "hidden_bias": weight @ found.mean,
        "visible_precision": -0.5 * (weight @ rows**2),
    }
    if isinstance(model, TruGRBM):
        result["precision"] = -0.5 * (weight @ (found.variance + found.mean**2))
        result["lower"] = -(weight @ np.exp(found.log_low))
        result["upper"] = weight @ np.exp(found.log_high)
    return result
