"""Figures of a training: its scores, how truncation points moved, and what the units became."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks

from .canvas import BLUE, NORMAL, axes_for, new_figure, set_title, tidy
from .units import nonlinearities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

History = Mapping[str, NDArray[Any]]
PARTS = (("score", "training", "-"), ("validation_score", "held out", "--"))


def scores(
    history: History,
    ax: Axes | None = None,
    *,
    label: str = "",
    color: str = BLUE,
    score_name: str = "score (nats per image)",
) -> Axes:
    """Draw the score over the epochs: of the training data as a line, of validation data dashed.

    Where its standard error is known, a band holds it with a probability of 95 %.
    Call it again with the same ``ax``, another label and another color to compare runs.

    Parameters
    ----------
    history : mapping of arrays
        As training returns it.
    ax : matplotlib Axes, optional
    label, color : str
        Of the lines.
    score_name : str
        What the history's score is.

    Returns
    -------
    matplotlib Axes
    """
    checks.kind("history", history, Mapping)
    ax = axes_for(ax, 4.2, 3.2)
    for name, part, style in PARTS:
        if name in history:
            seen = np.isfinite(history[name])
            words = f"{label}, {part}" if label else part
            epoch, score = history["epoch"][seen], history[name][seen]
            ax.plot(epoch, score, style, color=color, lw=1.6, label=words)
            if "score_error" in history:
                error = NORMAL * history["score_error"][seen]
                ax.fill_between(epoch, score - error, score + error, color=color, alpha=0.2, lw=0)
    ax.set(xlabel="epoch", ylabel=score_name)
    set_title(ax, "score during training")
    if ax.lines:
        ax.legend(frameon=False, fontsize="small", loc="lower right")
    tidy(ax)
    return ax


def truncation_points(
    history: History, ax: Axes | None = None, *, label: str = "", color: str = BLUE
) -> Axes:
    """Draw the learned truncation points over the epochs: their mean, least and greatest.

    Parameters
    ----------
    history, ax, label, color
        As of :func:`scores`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the history is of a training that left the ends where they were.
    """
    ends = [end for end in ("lower", "upper") if f"{end}_mean" in history]
    if not ends:
        raise ValueError("history must hold learned truncation points; these ends were fixed")
    ax = axes_for(ax, 4.2, 3.2)
    for end in ends:
        style = "--" if end == "lower" and len(ends) > 1 else "-"
        mean, least, most = (history[f"{end}_{which}"] for which in ("mean", "min", "max"))
        words = f"{label}, {end}" if label and len(ends) > 1 else label or end
        ax.plot(history["epoch"], mean, style, color=color, lw=1.6, label=words)
        if np.any(most > least):
            ax.fill_between(history["epoch"], least, most, color=color, alpha=0.2, lw=0)
    what = "truncation points" if len(ends) > 1 else f"{ends[0]} truncation points"
    ax.set(xlabel="epoch", ylabel=what)
    set_title(ax, what)
    ax.legend(frameon=False, fontsize="small")
    tidy(ax)
    return ax


def training(history: History, *, score_name: str = "score") -> Figure:
    """Draw how a training went: its scores and, where they were learned, truncation points.

    Parameters
    ----------
    history, score_name
        As of :func:`scores`.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the history holds neither scores nor learned truncation points.
    """
    if not any(_parts(history)):
        raise ValueError(
            f"history must hold scores or learned truncation points, got {', '.join(history)}"
        )
    return _panels(history, score_name)


def fit(model: Any, history: History, *, score_name: str = "score") -> Figure:
    """Draw what a training came to: the units, and what is known of its course.

    Parameters
    ----------
    model : TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM or TruGTGGM
    history, score_name
        As of :func:`scores`.

    Returns
    -------
    matplotlib Figure
        The nonlinearities of the hidden units; the scores, if there are some; the truncation
        points, if they were learned.
    """
    return _panels(history, score_name, model)


def _parts(history: History) -> tuple[bool, bool]:
    """Tell whether a history holds scores, and truncation points that were learned."""
    checks.kind("history", history, Mapping)
    scored = any(name in history for name, _, _ in PARTS)
    return scored, any(f"{end}_mean" in history for end in ("lower", "upper"))


def _panels(history: History, score_name: str, *models: Any) -> Figure:
    """Draw the units of a model, if there is one, and each thing that moved beside them."""
    scored, learned = _parts(history)
    count = len(models) + scored + learned
    figure = new_figure(4.2 * count, 3.2)
    panels = iter(figure.subplots(1, count, squeeze=False)[0])
    for model in models:
        nonlinearities(model, next(panels))
    if scored:
        scores(history, next(panels), score_name=score_name)
    if learned:
        truncation_points(history, next(panels))
    return figure
