"""Figures of regressions: predictions beside what was observed, and all there is to see of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.evaluation.regression import Z_90
from trug_fast.models.tggm import TruGTGGM

from .canvas import BLUE, GREY, axes_for, new_figure, set_title, tidy
from .curves import scores
from .units import nonlinearities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 300  # rows that are drawn


def predictions(
    y: ArrayLike, mean: ArrayLike, std: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw predictions over what was observed, with 90 % intervals.

    Parameters
    ----------
    y, mean : array_like, shape (rows,)
        What was observed, and what was predicted.  Of more than 300 rows, evenly spaced ones are
        drawn.
    std : array_like, shape (rows,), optional
        Standard deviations of the predictions; without them no intervals are drawn.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    TypeError, ValueError
        If these are not vectors of one length.
    """
    seen = _vector("y", y, None)
    found = _vector("mean", mean, seen.size)
    reach = None if std is None else Z_90 * _vector("std", std, seen.size)
    ax = axes_for(ax, 4.2, 3.2)
    rows = np.unique(np.linspace(0, seen.size - 1, MOST).round().astype(int))
    ends = [min(seen.min(), found.min()), max(seen.max(), found.max())]
    ax.plot(ends, ends, color=GREY, lw=1.2, ls="--")
    if reach is not None:
        spread: dict[str, Any] = {"fmt": "none", "ecolor": BLUE, "alpha": 0.35, "lw": 1.0}
        ax.errorbar(seen[rows], found[rows], yerr=reach[rows], **spread)
    ax.plot(seen[rows], found[rows], "o", color=BLUE, ms=3)
    ax.set(xlabel="observed", ylabel="predicted")
    inside = None if reach is None else np.mean(np.abs(seen - found) <= reach)
    words = "" if inside is None else f", {100 * inside:.0f} % in their 90 % interval"
    set_title(ax, f"{seen.size} rows{words}")
    tidy(ax)
    return ax


def regression(
    model: TruGTGGM, history: Mapping[str, NDArray[Any]], X: ArrayLike, y: ArrayLike
) -> Figure:
    """Draw all there is to see of a regression with one output.

    Parameters
    ----------
    model : TruGTGGM
    history : mapping of arrays
        As training returns it.
    X : array_like, shape (rows, n_inputs)
    y : array_like, shape (rows,)
        Rows that the model has not been trained on.

    Returns
    -------
    matplotlib Figure
        Predictions with intervals, the nonlinearities of the hidden units, and the scores.
    """
    checks.kind("model", model, TruGTGGM)
    checks.kind("history", history, Mapping)
    mean, std = model.predict(X, return_std=True)
    scored = any(name in history for name in ("score", "validation_score"))
    figure = new_figure(12.6 if scored else 8.4, 3.4)
    axes = figure.subplots(1, 3 if scored else 2)
    predictions(y, mean, std, axes[0])
    nonlinearities(model, axes[1])
    if scored:
        scores(history, axes[2], score_name="score of held out rows")
    return figure


def _vector(name: str, value: ArrayLike, length: int | None) -> NDArray[np.float64]:
    array = checks.numbers(name, value).astype(np.float64)
    if array.ndim != 1 or array.size == 0 or length not in (None, array.size):
        wanted = "a vector" if length is None else f"a vector of {length} entries, as y is"
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    return array
