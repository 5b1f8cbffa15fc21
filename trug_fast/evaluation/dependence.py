"""What a regression makes of one input: its mean prediction while all others stay as they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.tggm import TruGTGGM

MOST = 1000  # rows that are averaged over
INNER = (0.05, 0.95)  # quantiles of the data between which values are taken
Floats = NDArray[np.float64]


class PartialDependence(NamedTuple):
    """The mean prediction over rows, by values of one input."""

    values: Floats  # (n,)
    mean: Floats  # (n,) with one output, else (n, n_outputs)
    by_model: Floats  # (models, n) or (models, n, n_outputs): how sure the mean is


def partial_dependence(
    model: TruGTGGM | TGGMEnsemble,
    X: ArrayLike,
    column: int | str,
    *,
    values: int | ArrayLike = 50,
) -> PartialDependence:
    """Mean prediction over rows of data if one of their inputs is set to a value (Friedman 2001).

    Of up to 1,000 rows, evenly spaced.  Where inputs go together, some of these rows are like none
    that the model has seen.

    Parameters
    ----------
    model : TruGTGGM or TGGMEnsemble
    X : array_like, shape (rows, n_inputs)
    column : int or str
        Which input: its number, or its name if the model remembers names.
    values : int or array_like, shape (n,)
        What it is set to; or at how many values between the 5 % and 95 % quantiles of the data, at
        even distances, or at all values of the data if they are no more than that.

    Returns
    -------
    PartialDependence
        ``values``, ``mean`` and ``by_model``, whose mean that is.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    Examples
    --------
    >>> import trug_fast as tf
    >>> model = tf.TruGTGGM([[2.0, 0.0]], 0.0, [[1.0]], 0.0, 0.2, 0.0, 1.0)
    >>> X = [[0.1, 3.0], [0.4, 1.0], [0.8, 2.0]]
    >>> tf.partial_dependence(model, X, 0, values=[0.0, 1.0]).mean.round(3)
    array([0.336, 0.845])
    >>> float(tf.partial_dependence(model, X, 1).mean.std())  # it has no weight
    0.0
    """
    checks.kind("model", model, TruGTGGM, TGGMEnsemble)
    data = np.array(checks.matrix("X", model.by_name("X", X), model.n_inputs), np.float64)
    which = _number(model, column)
    if isinstance(values, int | np.integer):
        grid = _grid(data[:, which], checks.count("values", values, least=2))
    else:
        given = checks.numbers("values", values)
        if given.ndim != 1 or not given.size:
            raise ValueError(f"values must be a number or a vector, got shape {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"values must be finite, got {given[~np.isfinite(given)][0]}")
        grid = given.astype(np.float64)
    rows = data[np.unique(np.linspace(0, len(data) - 1, MOST).round().astype(int))]
    models = tuple(model) if isinstance(model, TGGMEnsemble) else (model,)
    curves = np.empty((len(models), grid.size, model.n_outputs))
    for k, value in enumerate(grid):
        rows[:, which] = value
        for found, one in zip(curves, models, strict=True):
            found[k] = one.mixture(rows).mean[0].mean(axis=0)
    by_model = curves[..., 0] if model.n_outputs == 1 else curves
    return PartialDependence(grid, by_model.mean(axis=0), by_model)


def _grid(seen: Floats, n: int) -> Floats:
    """Return values of an input, all that there are or so many."""
    own = np.unique(seen)
    low, high = (float(np.quantile(seen, q)) for q in INNER)
    return own if own.size <= n else np.linspace(low, high, n)


def _number(model: TruGTGGM | TGGMEnsemble, column: int | str) -> int:
    """Return the number of an input."""
    if isinstance(column, str):
        if model.columns is None:
            raise ValueError(f"column must be a number of a model without names, got {column!r}")
        return model.columns.index(checks.choice("column", column, model.columns))
    number = checks.count("column", column, least=0)
    if number >= model.n_inputs:
        raise ValueError(f"column must be below the {model.n_inputs} inputs, got {number}")
    return number
