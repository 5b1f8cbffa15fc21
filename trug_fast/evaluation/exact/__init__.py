"""Exact log-partition functions, likelihoods and gradients, for small models.

The states of an RBM (rbm.py), integrals where visible units are Gaussian (gaussian.py), and
frame by frame where there is a past (trbm.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast.models.rbm import RBM, require_rbm
from trug_fast.models.trbm import TRBM

from . import rbm, trbm
from .states import binary_states
from .trbm import Rule

__all__ = ["binary_states", "gradient", "log_likelihood", "log_partition"]

ALL = "TruGRBM, BernoulliRBM, TruGTRBM or BernoulliTRBM"


def log_partition(model: RBM) -> float:
    """Log of the sum, or integral, of p*(x) over all visible states, exact to rounding.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
        With up to 22 visible units, or any number of them and up to 22 Bernoulli hidden units;
        where visible units are Gaussian, any number of them and up to 22 Bernoulli or 3 TruG hidden
        units (mathematics 4.1).  Spins and categorical units may have 4 million states together, or
        4096 beside Gaussian ones and TruG hidden units.  Truncated ones go with Bernoulli hidden
        units alone: :func:`trug_fast.log_partition` estimates others.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If it is no RBM, or too large a one.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> float(round(tf.exact.log_partition(tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)), 6))
    3.465736
    """
    require_rbm("exact.log_partition(model)", model)
    return rbm.log_partition(model)


def log_likelihood(model: RBM | TRBM, X: Any) -> NDArray[np.float64]:
    """Exact log-likelihood of data.

    Parameters
    ----------
    model : TruGRBM, BernoulliRBM, TruGTRBM or BernoulliTRBM
        As small as :func:`log_partition` takes it.
    X : array_like, shape (rows, n_visible)
        Of a temporal model sequences: (n, T, n_visible), or a list of (T_i, n_visible).

    Returns
    -------
    ndarray, shape (rows,), or (n,), float64
        log p(x) of each row.  Of a temporal model, for each sequence the sum over its frames of
        log p(x_t | x_{t-1}, filtered h_{t-1}) (mathematics 4.2).

    Raises
    ------
    TypeError, ValueError
        If the model is of another kind or too large, or X does not hold what its visible units are.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    >>> tf.exact.log_likelihood(model, [[0, 1, 1]]).round(4)
    array([-2.0794])
    """
    if isinstance(model, TRBM):
        return trbm.log_likelihood(model, X)
    require_rbm("exact.log_likelihood(model, X)", model, ALL)
    return rbm.log_likelihood(model, X)


def gradient(model: RBM | TRBM, X: Any, rule: Rule | None = None) -> dict[str, NDArray[np.float64]]:
    """Gradient of the mean exact log-likelihood of data (mathematics 2.2).

    Parameters
    ----------
    model : TruGRBM, BernoulliRBM, TruGTRBM or BernoulliTRBM
        As small as :func:`log_partition` takes it.
    X : array_like, shape (rows, n_visible)
        Of a temporal model sequences: (n, T, n_visible), or a list of (T_i, n_visible).
    rule : {"full", "paper"}, optional
        Of temporal models (mathematics 4.2): "full", the default, goes back through the mean
        filter; "paper" holds its means fixed as the paper does, which is only a part of the
        gradient.

    Returns
    -------
    dict
        One array for each of the model's fields, of that field's shape.  The derivative by an
        infinite truncation point is 0: its density there vanishes.

    Raises
    ------
    TypeError, ValueError
        As of :func:`log_likelihood`; also if ``rule`` is given for a model without a past.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> model = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    >>> tf.exact.gradient(model, [[0, 1, 1]])["visible_bias"]
    array([-0.5,  0.5,  0.5])
    """
    if isinstance(model, TRBM):
        return trbm.gradient(model, X, "full" if rule is None else rule)
    require_rbm("exact.gradient(model, X)", model, ALL)
    if rule is not None:
        raise ValueError(f"rule is for temporal models, got {rule!r} for a {type(model).__name__}")
    return rbm.gradient(model, X)
