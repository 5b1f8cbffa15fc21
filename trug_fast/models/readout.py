"""How uncertain the readout of a regression is: the Laplace approximation of its last layer.

Tested in tests/models/test_readout.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray

Floats = NDArray[np.float64]


def posterior_covariance(
    features: Floats,
    precision: Floats,
    weights: Floats,
    prior_precision: float | None,
) -> Floats:
    """Return the covariance of weights and bias, the last, of one output (mathematics 5.9).

    features : means of the hidden units, (rows, hidden)
    precision : of each row's y given the readout, times what the row counts for
    weights : of the readout, by which the prior's precision is chosen if none is given
    """
    total = precision.sum()
    centre = precision @ features / total
    apart = features - centre
    sizes, axes = np.linalg.eigh((precision[:, None] * apart).T @ apart)
    sizes = np.maximum(sizes, 0.0)  # rounding
    square = float(weights @ weights)
    if prior_precision is None:
        prior_precision = most_evident(sizes, square) if square > 0 else np.inf
    spread = (axes / (sizes + prior_precision)) @ axes.T
    size = len(weights)
    found = np.empty((size + 1, size + 1))
    found[:size, :size] = 0.5 * (spread + spread.T)
    found[size, :size] = found[:size, size] = -found[:size, :size] @ centre
    found[size, size] = 1 / total - found[size, :size] @ centre
    return found


def variance_of(mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return the variance of the readout at means (rows, hidden), (rows, outputs)."""
    features = np.concatenate([mean, np.ones((len(mean), 1), mean.dtype)], axis=1)
    found = [((features @ own) * features).sum(axis=1) for own in covariance]
    return np.asarray(np.maximum(np.stack(found, axis=1), 0.0))  # rounding


def most_evident(sizes: Floats, square: float) -> float:
    """Return the precision a of a normal prior of the highest evidence (MacKay 1992).

    It is where ``a |w|^2 = sum_i s_i/(s_i + a)``, whose sides rise and fall: one root, found by
    halving.  Where no data determine a weight it is the precision that the weights themselves show.
    The s_i are the eigenvalues, 0 or more, of the likelihood's precision.
    """
    most = sizes.size / square
    if not (sizes > 0).any():
        return most
    low, high = np.log(most) - 80.0, np.log(most)
    for _ in range(60):
        middle = 0.5 * (low + high)
        a = np.exp(middle)
        if a * square < (sizes / (sizes + a)).sum():
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)))


def require_covariance(covariance: FloatArray) -> None:
    """Refuse matrices, the last two axes, that are no covariances."""
    wrong = 100 * np.finfo(covariance.dtype).eps * covariance.shape[-1] * abs(covariance).max()
    if abs(covariance - covariance.swapaxes(-1, -2)).max() > wrong:
        raise ValueError("readout_covariance must be symmetric in its last two axes")
    least = float(np.linalg.eigvalsh(covariance).min())
    if least < -wrong:
        raise ValueError(f"readout_covariance must have no eigenvalue below 0, got {least:g}")
