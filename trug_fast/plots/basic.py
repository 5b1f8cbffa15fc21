"""Figures of models, images and training, drawn with Matplotlib (``pip install trug-fast[plot]``).

Every function draws on the axes it is given, or on those of a new figure, and returns them; save
with ``axes.figure.savefig("name.png")``.  Nothing touches pyplot or its current figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.trbm import TRBM, TruGTRBM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart with any colour vision.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
FAMILY_VARIANCE = 0.2  # of the units of `family`, as in Figure 1 of the paper


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, on the canvas that writes files.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise ImportError("figures need Matplotlib: pip install trug-fast[plot]") from error
    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06)
    figure = Figure(figsize=(width, height), dpi=150, layout=layout)
    FigureCanvasAgg(figure)
    return figure


def nonlinearities(
    model: TruGRBM | BernoulliRBM | TRBM, ax: Axes | None = None, *, n: int = 5
) -> Axes:
    """Draw what units make of their net input: E[h | a], with a = W'x + c.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM, or a temporal one
    ax : matplotlib Axes, optional
    n : int
        Curves drawn, of the units at evenly spaced quantiles of the interval's width.  Beside
        them, dashed, what [0, 1] and [0, inf) would give at the median precision.

    Returns
    -------
    matplotlib Axes
    """
    count = checks.count("n", n)
    checks.kind("model", model, TruGRBM, BernoulliRBM, TRBM)
    ax = ax if ax is not None else new_figure(4.2, 3.2).subplots()
    ax.set(xlabel="net input", ylabel="mean of the hidden unit")
    _tidy(ax)
    if not isinstance(model, TruGRBM | TruGTRBM):
        net = np.linspace(-6.0, 6.0, 241)
        ax.plot(net, 1 / (1 + np.exp(-net)), color=BLUE, lw=2)
        _title(ax, "nonlinearity: sigmoid")
        return ax
    order = np.argsort(model.upper - model.lower, kind="stable")
    units = order[np.unique(np.linspace(0, len(order) - 1, count).round().astype(int))]
    # Identical curves are drawn once.
    kept = {(model.precision[j], model.lower[j], model.upper[j]): j for j in units}
    chosen = np.array(list(kept.values()))
    precision, lower, upper = (a[chosen] for a in (model.precision, model.lower, model.upper))
    ends = np.concatenate([precision * lower, precision * upper])
    ends = ends[np.isfinite(ends)]
    spread = 2 * float(np.sqrt(np.abs(precision)).max()) + 1
    low, high = min(-3.0, ends.min(initial=0.0) - spread), max(3.0, ends.max(initial=0.0) + spread)
    net = np.linspace(low, high, 401)
    middle = float(np.median(model.precision))
    if middle > 0:
        for end, style, name in ((1.0, ":", "[0, 1]"), (math.inf, "--", "[0, ∞)")):
            curve = unit_mean(net, middle, 0.0, end)[:, 0]
            ax.plot(net, curve, color=GREY, lw=1.3, ls=style, label=name)
    for curve, shade, a, b in zip(
        unit_mean(net, precision, lower, upper).T, _shades(len(chosen)), lower, upper, strict=True
    ):
        ax.plot(net, curve, color=shade, lw=2, label=_interval(a, b))
    tops = upper[np.isfinite(upper)]
    if tops.size:  # the unbounded curve must not squeeze the others
        ax.set_ylim(top=max(1.0, float(tops.max())) * 1.08)
    _title(ax, "nonlinearities of units, narrow to wide")
    ax.legend(loc="upper left", fontsize="small", frameon=False)
    return ax


def truncation_histogram(model: TruGRBM, ax: Axes | None = None) -> Axes:
    """Draw how many units have which truncation points; infinite ones are counted in the title."""
    checks.kind("model", model, TruGRBM)
    ax = ax if ax is not None else new_figure(4.2, 3.2).subplots()
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
    _title(ax, what + (f" ({infinite} infinite)" if infinite else ""))
    ax.set(xlabel="truncation point", ylabel="units")
    ax.yaxis.get_major_locator().set_params(integer=True)  # type: ignore[call-arg]
    if both:
        ax.legend(frameon=False, fontsize="small")
    _tidy(ax)
    return ax


def images(
    array: ArrayLike,
    image_shape: tuple[int, int],
    *,
    columns: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows of an array as a grid of images.

    Parameters
    ----------
    array : array_like, shape (n, height * width)
        From 0, white, to 1, black.  If any number is negative the images are taken for filters:
        blue below 0, white at 0, red above, each image scaled by its own largest value.
    image_shape : (int, int)
        Height and width of each image.
    columns : int, optional
        Images side by side; by default about as many as there are rows of them.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    height, width = checks.image_shape(image_shape)
    rows = checks.matrix("array", array, height * width).astype(np.float64)
    n = len(rows)
    across = math.ceil(math.sqrt(n)) if columns is None else checks.count("columns", columns)
    down = -(-n // across)
    signed = bool((rows < 0).any())
    if signed:
        rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    mosaic = np.full((down * (height + 1) - 1, across * (width + 1) - 1), np.nan)
    for k, row in enumerate(rows):
        top, left = (k // across) * (height + 1), (k % across) * (width + 1)
        mosaic[top : top + height, left : left + width] = row.reshape(height, width)
    ax = ax if ax is not None else new_figure(0.4 * across + 0.2, 0.4 * down + 0.2).subplots()
    low, colours = (-1.0, "RdBu_r") if signed else (0.0, "gray_r")
    ax.imshow(mosaic, cmap=colours, vmin=low, vmax=1.0, interpolation="nearest")
    ax.set_facecolor("#C8C8C8")  # shows between the images, where the mosaic is NaN
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def history(
    history: Mapping[str, NDArray[Any]],
    ax: Axes | None = None,
    *,
    label: str = "",
    color: str = BLUE,
    ylabel: str = "score (nats per image)",
) -> Axes:
    """Draw the score over epochs: of the training data as a line, of validation data dashed.

    Call it again with the same ``ax``, another label and another color to compare runs.
    """
    checks.kind("history", history, Mapping)
    ax = ax if ax is not None else new_figure(4.2, 3.2).subplots()
    for name, part, style in (("score", "training", "-"), ("validation_score", "held out", "--")):
        if name in history:
            seen = np.isfinite(history[name])
            words = f"{label}, {part}" if label else part
            ax.plot(
                history["epoch"][seen], history[name][seen], style, color=color, lw=1.6, label=words
            )
    ax.set(xlabel="epoch", ylabel=ylabel)
    _title(ax, "score during training")
    if ax.lines:
        ax.legend(frameon=False, fontsize="small", loc="lower right")
    _tidy(ax)
    return ax


def summary(
    model: TruGRBM | BernoulliRBM,
    history: Mapping[str, NDArray[Any]],
    samples: ArrayLike,
    data: ArrayLike,
    image_shape: tuple[int, int],
    *,
    baseline: Mapping[str, NDArray[Any]] | None = None,
    title: str = "",
    score_name: str = "score (nats per image)",
) -> Figure:
    """Draw all there is to see of a trained machine in one figure.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    history : mapping of arrays
        As training returns it.
    samples, data : array_like, shape (n, n_visible)
        Images from the model, and as many to compare them with.
    image_shape : (int, int)
    baseline : mapping of arrays, optional
        History of another machine, drawn beside the first.
    title : str, optional
    score_name : str
        What the history's score is.

    Returns
    -------
    matplotlib Figure
    """
    checks.kind("model", model, TruGRBM, BernoulliRBM)
    figure = new_figure(11.0, 7.0)
    trug = isinstance(model, TruGRBM)
    below = ("units", "units", "ends", "ends", "score", "score")
    if not trug:
        below = ("units",) * 3 + ("score",) * 3
    axes = figure.subplot_mosaic(
        [["data", "data", "samples", "samples", "filters", "filters"], list(below)],
        height_ratios=[1.1, 1],
    )
    _title(images(data, image_shape, ax=axes["data"]), "data")
    _title(images(samples, image_shape, ax=axes["samples"]), "samples of the model")
    strongest = np.argsort(-np.linalg.norm(model.weights, axis=0), kind="stable")[:64]
    filters = images(model.weights.T[strongest], image_shape, ax=axes["filters"])
    _title(filters, f"weights of the {len(strongest)} strongest units")
    nonlinearities(model, axes["units"])
    if isinstance(model, TruGRBM):
        truncation_histogram(model, axes["ends"])
    _draw_scores(axes["score"], history, baseline, "TruG" if trug else "RBM", score_name)
    if title:
        figure.suptitle(title, fontsize="large")
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
        ax.set(xlabel="z", xlim=(-5, 5), xticks=(-4, -2, 0, 2, 4))
        _title(ax, _interval(lower, upper))
        ax.legend(frameon=False, fontsize="small", loc="upper left", handlelength=1.6)
        ax.set_ylim(top=ax.get_ylim()[1] + 0.25 * np.ptp(ax.get_ylim()))  # room for the legend
        _tidy(ax)
    figure.axes[0].set_ylabel("E[h | z]")
    return figure


def save(ax: Axes, path: str | Path) -> None:
    """Write the figure that holds these axes to a file."""
    figure: Any = ax.figure
    figure.figure.savefig(path)  # get_figure(root=True) is no older than Matplotlib 3.10


def unit_mean(
    net: NDArray[np.float64], precision: ArrayLike, lower: ArrayLike, upper: ArrayLike
) -> NDArray[np.float64]:
    """Mean of units, one a column, at each net input; to float32, enough for a figure."""
    n = max(np.size(value) for value in (precision, lower, upper))
    # A machine with one visible unit, 0 to 1, runs the kernel that training has compiled already.
    first, span = float(net.min()), float(np.ptp(net)) or 1.0
    units = TruGRBM(np.full((1, n), span, np.float32), 0.0, first, precision, lower, upper)
    place = np.clip((net - first) / span, 0.0, 1.0)
    return units.hidden_moments(place[:, None]).mean.astype(np.float64)


def _draw_scores(
    ax: Axes,
    ours: Mapping[str, Any],
    baseline: Mapping[str, Any] | None,
    name: str,
    ylabel: str,
) -> None:
    # In the summary the name `history` is a parameter.
    history(ours, ax, label=name if baseline is not None else "", ylabel=ylabel)
    if baseline is not None:
        history(baseline, ax, label="ordinary RBM", color=ORANGE, ylabel=ylabel)


def _shades(n: int) -> list[Any]:
    """Return n colours from light to dark, in order also without colour vision."""
    from matplotlib import colormaps

    return [colormaps["viridis"](0.85 * (1 - k / max(n - 1, 1))) for k in range(n)]


def _interval(lower: float, upper: float) -> str:
    left = "(−∞" if math.isinf(lower) else f"[{lower:.3g}"
    right = "∞)" if math.isinf(upper) else f"{upper:.3g}]"
    return f"{left}, {right}".replace("-", "−")


def _title(ax: Axes, text: str) -> None:
    ax.set_title(text, fontsize="medium")


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
