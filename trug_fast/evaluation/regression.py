"""How good predictions of regressions are: their error, density and intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.predictive import Predictive
from trug_fast.models.tggm import TruGTGGM


class RegressionScores(NamedTuple):
    """How good a regression predicts rows; of each mean its standard error (NaN of one row)."""

    rmse: float  # root mean square error
    rmse_error: float
    log_likelihood: float  # mean log-density of a row, in nats: the higher, the better
    log_likelihood_error: float
    crps: float  # mean continuous ranked probability score, in units of y: the lower, the better
    crps_error: float
    coverage: dict[float, float]  # by level: the share of targets inside the interval
    n_rows: int


def regression_scores(
    model: TruGTGGM | TGGMEnsemble,
    X: ArrayLike,
    y: ArrayLike,
    *,
    levels: float | Iterable[float] = (0.5, 0.9),
) -> RegressionScores:
    """Score the predictive distribution of a regression, or of an ensemble, on rows of data.

    Of a single model that is a normal of the exact mean and variance of p(y | x), of an ensemble
    the mixture of these (mathematics 5.7).

    Parameters
    ----------
    model : TruGTGGM or TGGMEnsemble
    X : array_like, shape (rows, n_inputs)
    y : array_like, shape (rows,) or (rows, n_outputs)
    levels : float or sequence of float
        Of intervals that are as likely left below as above, each above 0 and below 1.

    Returns
    -------
    RegressionScores
        Means over rows: ``rmse``, ``crps`` and ``coverage`` over outputs too, ``log_likelihood`` of
        all outputs together; ``rmse_error``, ``log_likelihood_error``, ``crps_error``, their
        standard errors.  That of the coverage c of n independent targets is sqrt(c (1 - c)/n).

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    Examples
    --------
    >>> import trug_fast as tf
    >>> model = tf.TruGTGGM([[1.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
    >>> X = [[0.1], [0.4], [0.8], [0.9]]
    >>> found = tf.regression_scores(model, X, model.sample(X, rng=0), levels=0.9)
    >>> found.coverage
    {0.9: 1.0}
    """
    checks.kind("model", model, TruGTGGM, TGGMEnsemble)
    one = isinstance(levels, str) or getattr(levels, "ndim", 1) == 0
    given: Any = levels if isinstance(levels, Iterable) and not one else [levels]
    wanted = [checks.above_zero("levels", level, below=1.0) for level in given]
    logs = model.log_density(X, y)
    mixture = model.mixture(X)
    aims = np.asarray(checks.targets("y", y, len(logs), model.n_outputs), np.float64)
    squares = ((aims - mixture.moments()[0]) ** 2).mean(axis=1)
    distances = mixture.crps(aims).mean(axis=1)
    rmse = float(np.sqrt(squares.mean()))
    return RegressionScores(
        rmse,
        _error(squares) / (2 * rmse) if rmse else 0.0,
        float(logs.mean()),
        _error(logs),
        float(distances.mean()),
        _error(distances),
        {level: _coverage(model, X, aims, level) for level in wanted},
        len(logs),
    )


def _error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def _coverage(model: Predictive, X: ArrayLike, aims: NDArray[np.float64], level: float) -> float:
    """Return the share of targets (rows, outputs) inside their intervals."""
    lower, upper = (end.reshape(aims.shape) for end in model.predict_interval(X, level))
    return float(np.mean((lower <= aims) & (aims <= upper)))
