"""What figures stand on: an empty canvas, colours, and how axes and files are finished."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trug_fast._common.lazy import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart with any colour vision.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
PURPLE = "#CC79A7"
NORMAL = 1.96  # standard errors to either side of a 95 % interval


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, on the canvas that writes files."""
    canvas = need("matplotlib.backends.backend_agg", "figures need Matplotlib", "plot")
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06)
    figure = Figure(figsize=(width, height), dpi=150, layout=layout)
    canvas.FigureCanvasAgg(figure)

    def picture() -> bytes:
        content = BytesIO()
        figure.savefig(content, format="png")
        return content.getvalue()

    # Notebooks show what has this; a figure has it from pyplot only.
    figure._repr_png_ = picture  # type: ignore[attr-defined]
    return figure


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure of this size in inches."""
    if ax is None:
        return new_figure(width, height).subplots()
    if not callable(getattr(ax, "plot", None)) or "top" not in getattr(ax, "spines", ()):
        raise TypeError(f"ax must be a Matplotlib Axes with x and y, got {type(ax).__name__}")
    return ax


def require(name: str, value: Any, *attributes: str) -> None:
    """Check that a value has what is drawn of it."""
    for attribute in attributes:
        if not hasattr(value, attribute):
            raise TypeError(f"{name} must have {attribute}, which {type(value).__name__} has not")


def save(ax: Axes, path: str | Path) -> None:
    """Write the figure that holds these axes to a file."""
    figure: Any = ax.figure
    figure.figure.savefig(path)  # get_figure(root=True) is no older than Matplotlib 3.10


def set_title(ax: Axes, text: str) -> None:
    """Write a title in the size of all figures here."""
    ax.set_title(text, fontsize="medium")


def finish(ax: Axes, title: str, xlabel: str, ylabel: str, legend: Any = None) -> Axes:
    """Write what is drawn, with a legend where one has a place; take half of the frame away."""
    if title:
        set_title(ax, title)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    if legend is not None:
        ax.legend(frameon=False, fontsize="small", loc=legend)
    return ax


def interval_name(lower: float, upper: float) -> str:
    """Return an interval as it is printed."""
    left = "(−∞" if math.isinf(lower) else f"[{lower:.3g}"
    right = "∞)" if math.isinf(upper) else f"{upper:.3g}]"
    return f"{left}, {right}".replace("-", "−")
