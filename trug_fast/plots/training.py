"""Pictures of a training: its scores, and how truncation points moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .basic import BLUE, history, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def truncation_points(
    record: Mapping[str, NDArray[Any]],
    ax: Axes | None = None,
    *,
    label: str = "",
    color: str = BLUE,
) -> Axes:
    """Draw the learned truncation points over the epochs: their mean, least and greatest.

    Parameters
    ----------
    record : mapping of arrays
        As the training of a machine whose ends are learned returns it.
    ax : matplotlib Axes, optional
    label, color : str
        As in :func:`trug_fast.plots.history`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If the history is of a training that left the ends where they were.
    """
    ends = [end for end in ("lower", "upper") if f"{end}_mean" in record]
    if not ends:
        raise ValueError("history must hold learned truncation points; these ends were fixed")
    ax = ax if ax is not None else new_figure(4.2, 3.2).subplots()
    for end in ends:
        style = "--" if end == "lower" and len(ends) > 1 else "-"
        mean, least, most = (record[f"{end}_{which}"] for which in ("mean", "min", "max"))
        words = f"{label}, {end}" if label and len(ends) > 1 else label or end
        ax.plot(record["epoch"], mean, style, color=color, lw=1.6, label=words)
        if np.any(most > least):
            ax.fill_between(record["epoch"], least, most, color=color, alpha=0.2, lw=0)
    what = "truncation points" if len(ends) > 1 else f"{ends[0]} truncation points"
    ax.set(xlabel="epoch", ylabel=what)
    ax.set_title(what, fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def training(record: Mapping[str, NDArray[Any]], *, score_name: str = "score") -> Figure:
    """Draw how a training went: its scores and, where they were learned, truncation points.

    Parameters
    ----------
    record : mapping of arrays
        As `train_rbm` or `train_trbm` returns it.
    score_name : str
        What the history's score is.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the history holds neither scores nor learned truncation points.
    """
    learned = any(f"{end}_mean" in record for end in ("lower", "upper"))
    if not learned and "score" not in record:
        raise ValueError(
            f"history must hold scores or learned truncation points, got {', '.join(record)}"
        )
    figure = new_figure(8.4 if learned else 4.2, 3.2)
    axes = figure.subplots(1, 2 if learned else 1, squeeze=False)[0]
    history(record, axes[0], ylabel=score_name)
    if learned:
        truncation_points(record, axes[1])
    return figure
