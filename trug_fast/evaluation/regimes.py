"""What the hidden units of a trained model have become: Gaussian, rectifying, sigmoid, binary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from trug_fast._common import checks
from trug_fast.models.rbm import TruGRBM

Floats = NDArray[np.float64]
REGIMES = ("gaussian", "rectifying", "sigmoid", "binary", "silent")
CUTS = 0.05  # probability beyond an end from which on the end counts
HEARD = 0.1  # change of a visible unit's net input from which on a unit counts
CHUNK = 500  # rows at a time


class UnitRegimes(NamedTuple):
    """How each hidden unit works on given rows, from `unit_regimes`.

    ``regime`` is a word for each unit; ``beyond_lower`` and ``beyond_upper`` the mean probability
    over the rows that its normal distribution without truncation lies beyond that end, NaN where
    the precision is not positive and there is no such distribution; ``reach`` by how much its mean
    changes over the rows.
    """

    regime: NDArray[np.str_]
    beyond_lower: Floats
    beyond_upper: Floats
    reach: Floats

    @property
    def counts(self) -> dict[str, int]:
        """How many units are in each regime."""
        return {name: int((self.regime == name).sum()) for name in REGIMES}


def unit_regimes(model: TruGRBM, X: ArrayLike) -> UnitRegimes:
    """Tell what truncation does to each hidden unit on given rows.

    A unit is

    - "gaussian" if neither end cuts off 0.05 of its normal distribution, on average over the rows;
    - "rectifying" if one end does;
    - "sigmoid" if both do;
    - "binary" if its precision is negative: then both ends are likelier than what is between;
    - "silent" if its mean moves no visible unit's net input by 0.1 over all rows.

    Parameters
    ----------
    model : TruGRBM
    X : array_like, shape (rows, n_visible)
        Data, or samples.

    Returns
    -------
    UnitRegimes

    Raises
    ------
    TypeError, ValueError
        If `model` is no TruGRBM, X does not hold what its visible units are, or has one row; if a
        unit's net input or mean is beyond the range of floats.

    Notes
    -----
    Without truncation a unit of net input z and precision d is normal, of mean z / d and variance
    1 / d (mathematics 1).

    Examples
    --------
    A unit whose ends are far away, one like ReLU, one between near ends, one of negative precision:

    >>> import numpy as np, trug_fast as tf
    >>> inf = np.inf
    >>> model = tf.TruGRBM(
    ...     np.full((1, 4), 2.0), 0.0, -1.0, [1, 1, 1, -8], [-9, 0, 0, 0], [9, inf, 1, 1]
    ... )
    >>> [str(word) for word in tf.evaluation.unit_regimes(model, [[0], [1]]).regime]
    ['gaussian', 'rectifying', 'sigmoid', 'binary']
    """
    checks.kind("model", model, TruGRBM)
    units = model.visible_units
    rows = model.checked_rows("X", X)
    if len(rows) < 2:
        raise ValueError("X must have at least 2 rows, over which units change, got 1")
    columns = units.columns(rows)
    weights = np.asarray(model.column_weights, np.float64)
    ends = np.stack([model.lower, model.upper]).astype(np.float64)
    precision = np.asarray(model.precision, np.float64)
    beyond = np.zeros((2, model.n_hidden))
    root = np.sqrt(np.where(precision > 0, precision, np.nan))  # 1 / standard deviation
    known = np.ones(model.n_hidden, bool)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
        for start in range(0, len(columns), CHUNK):
            net = columns[start : start + CHUNK].astype(np.float64) @ weights + model.hidden_bias
            known &= np.isfinite(net).all(axis=0)
            beyond[0] += ndtr(ends[0] * root - net / root).sum(axis=0)
            beyond[1] += ndtr(net / root - ends[1] * root).sum(axis=0)
        beyond /= len(columns)
        mean = model.column_moments(columns).mean.astype(np.float64)
        known &= np.isfinite(mean).all(axis=0)
        reach = np.ptp(mean, axis=0)
        heard = reach * np.abs(weights).max(axis=0) >= HEARD
    if not known.all():
        raise ValueError(
            f"the net input or the mean of hidden unit {int(np.argmin(known))} on rows of X is "
            f"beyond the range of {model.dtype}: the model's weights or biases, or X, are too large"
        )
    both = np.where(precision > 0, (beyond > CUTS).sum(axis=0), 2)
    regime = np.array(REGIMES)[both]
    regime[precision < 0] = "binary"
    regime[~heard] = "silent"
    return UnitRegimes(regime, beyond[0], beyond[1], reach)
