"""Figures of a training: its scores, how truncation points moved, and what the units became.

Tested in tests/plots/test_training.py and tests/plots/test_units.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import computing
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.hidden import trug_units
from trug_fast.kernels.rbm.visible import one_kind

from .canvas import (
    BLUE,
    GREY,
    NORMAL,
    ORANGE,
    axes_for,
    finish,
    interval_name,
    new_figure,
    require,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

History = Mapping[str, NDArray[Any]]
FAMILY_VARIANCE = 0.2  # of the units of `family`, as in Figure 1 of the paper
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
    legend = "lower right" if ax.lines else None
    return finish(ax, "score during training", "epoch", score_name, legend)


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
    return finish(ax, what, "epoch", what, "best")


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


def _panels(history: History, score_name: str, *models: Any) -> Figure:
    """Draw the units of a model, if there is one, and each thing that moved beside them."""
    checks.kind("history", history, Mapping)
    scored = any(name in history for name, _, _ in PARTS)
    learned = any(f"{end}_mean" in history for end in ("lower", "upper"))
    count = len(models) + scored + learned
    if count == 0:
        raise ValueError(
            f"history must hold scores or learned truncation points, got {', '.join(history)}"
        )
    figure = new_figure(4.2 * count, 3.2)
    panels = iter(figure.subplots(1, count, squeeze=False)[0])
    for model in models:
        nonlinearities(model, next(panels))
    if scored:
        scores(history, next(panels), score_name=score_name)
    if learned:
        truncation_points(history, next(panels))
    return figure


def family() -> Figure:
    """Draw the means of units with four intervals beside the nonlinearities they come close to.

    Figure 1 of Su, Liao and Carin (NIPS 2017): units of variance 0.2 before truncation.
    """
    figure = new_figure(10.0, 2.9)
    z = np.linspace(-5.0, 5.0, 401)
    relu = np.maximum(z, 0.0)
    panels: tuple[tuple[float, float, str, NDArray[np.float64] | None], ...] = (
        (0.0, 1.0, "sigmoid", 1 / (1 + np.exp(-z))),
        (-1.0, 1.0, "tanh", np.tanh(z)),
        (0.0, math.inf, "ReLU", relu),
        (0.0, 4.0, "ReLU", relu),
    )
    for ax, (lower, upper, name, reference) in zip(figure.subplots(1, 4), panels, strict=True):
        mean = unit_mean(z / FAMILY_VARIANCE, 1 / FAMILY_VARIANCE, lower, upper)[:, 0]
        ax.plot(z, mean, color=BLUE, lw=2.2, label="TruG unit")
        ax.plot(z, reference, color=ORANGE, lw=1.6, ls="--", label=name)
        ax.set(xlim=(-5, 5), xticks=(-4, -2, 0, 2, 4))
        ax.set_ylim(top=ax.get_ylim()[1] + 0.25 * np.ptp(ax.get_ylim()))  # room for the legend
        finish(ax, interval_name(lower, upper), "z", "", "upper left")
    figure.axes[0].set_ylabel("E[h | z]")
    return figure


def nonlinearities(model: Any, ax: Axes | None = None, *, n: int = 5) -> Axes:
    """Draw what units make of their net input: E[h | a], with a = W'x + c.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM, a temporal one, or TruGTGGM
        The net input of a regression's unit is its mean before truncation over its variance.
    ax : matplotlib Axes, optional
    n : int
        Curves drawn, of the units at evenly spaced quantiles of the interval's width.  Beside
        them, dashed, what [0, 1] and [0, inf) would give at the median precision.

    Returns
    -------
    matplotlib Axes
    """
    count = checks.count("n", n)
    require("model", model, "n_hidden")
    ax, labels = axes_for(ax, 4.2, 3.2), ("net input", "mean of the hidden unit")
    if not hasattr(model, "upper"):
        net = np.linspace(-6.0, 6.0, 241)
        ax.plot(net, 1 / (1 + np.exp(-net)), color=BLUE, lw=2)
        return finish(ax, "nonlinearity: sigmoid", *labels)
    precisions = (
        model.precision
        if hasattr(model, "precision")
        else np.full(model.n_hidden, 1 / model.hidden_variance)
    )
    order = np.argsort(model.upper - model.lower, kind="stable")
    units = order[np.unique(np.linspace(0, len(order) - 1, count).round().astype(int))]
    # Identical curves are drawn once.
    kept = {(precisions[j], model.lower[j], model.upper[j]): j for j in units}
    chosen = np.array(list(kept.values()))
    precision, lower, upper = (a[chosen] for a in (precisions, model.lower, model.upper))
    ends = np.concatenate([precision * lower, precision * upper])
    ends = ends[np.isfinite(ends)]
    spread = 2 * float(np.sqrt(np.abs(precision)).max()) + 1
    low, high = min(-3.0, ends.min(initial=0.0) - spread), max(3.0, ends.max(initial=0.0) + spread)
    net = np.linspace(low, high, 401)
    middle = float(np.median(precisions))
    if middle > 0:
        for end, style, name in ((1.0, ":", "[0, 1]"), (math.inf, "--", "[0, ∞)")):
            curve = unit_mean(net, middle, 0.0, end)[:, 0]
            ax.plot(net, curve, color=GREY, lw=1.3, ls=style, label=name)
    from matplotlib import colormaps

    # From light to dark, in order also without colour vision.
    shades = colormaps["viridis"](0.85 * np.linspace(1.0, 0.0, max(len(chosen), 2)))
    curves = unit_mean(net, precision, lower, upper).T
    for curve, shade, a, b in zip(curves, shades, lower, upper, strict=False):
        ax.plot(net, curve, color=shade, lw=2, label=interval_name(a, b))
    tops = upper[np.isfinite(upper)]
    if tops.size:  # the unbounded curve must not squeeze the others
        ax.set_ylim(top=max(1.0, float(tops.max())) * 1.08)
    return finish(ax, "nonlinearities of units, narrow to wide", *labels, "upper left")


def truncation_histogram(model: Any, ax: Axes | None = None) -> Axes:
    """Draw how many units have which truncation points; infinite ones are counted in the title."""
    require("model", model, "lower", "upper")
    ax = axes_for(ax, 4.2, 3.2)
    both = np.ptp(model.lower[np.isfinite(model.lower)]) > 0 if model.n_hidden > 1 else False
    ends = {"upper": (model.upper, BLUE)} | ({"lower": (model.lower, ORANGE)} if both else {})
    values = np.concatenate([end[np.isfinite(end)] for end, _ in ends.values()])
    if values.size:
        middle, reach = (values.max() + values.min()) / 2, max(np.ptp(values) / 2, 0.5)
        bins = [float(edge) for edge in np.linspace(middle - reach, middle + reach, 31)]
        for name, (end, colour) in ends.items():
            ax.hist(end[np.isfinite(end)], bins, color=colour, alpha=0.85, label=name)
    infinite = sum(int(np.isinf(end).sum()) for end, _ in ends.values())
    what = "truncation points" if both else "upper truncation points"
    what += f" ({infinite} infinite)" if infinite else ""
    ax.yaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    return finish(ax, what, "truncation point", "units", "best" if both else None)


def unit_mean(
    net: NDArray[np.float64], precision: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> NDArray[np.float64]:
    """Mean of units, one a column, at each net input; to float32, enough for a figure."""
    n = max(np.size(value) for value in (precision, lower, upper))
    units = trug_units(*(np.full(n, each, np.float32) for each in (precision, lower, upper)))
    # With one visible unit, 0 to 1, the kernel is one that models call too.
    first, span = float(net.min()), float(np.ptp(net)) or 1.0
    place = np.clip((net - first) / span, 0.0, 1.0).astype(np.float32)[:, None]
    biases = np.zeros((1, 1), np.float32), np.full((1, n), first, np.float32)
    weights, kinds = np.full((1, n), span, np.float32), one_kind(1, np.empty(0, np.float32))
    with computing(0.0):
        layers = gibbs.Layers._make([read_only(weights), *biases, *units, kinds])
        return np.asarray(gibbs.hidden_moments(layers, place).mean, np.float64)
