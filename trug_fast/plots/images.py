"""Figures of images: many side by side, the weights of units, and videos frame by frame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.lazy import need

from .canvas import axes_for, new_figure, require, set_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    ax = axes_for(ax, 0.4 * across + 0.2, 0.4 * down + 0.2)
    low, colours = (-1.0, "RdBu_r") if signed else (0.0, "gray_r")
    ax.imshow(mosaic, cmap=colours, vmin=low, vmax=1.0, interpolation="nearest")
    ax.set_facecolor("#C8C8C8")  # shows between the images, where the mosaic is NaN
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return ax


def weights(model: Any, image_shape: tuple[int, int], *, n: int = 64) -> Figure:
    """Draw the weights of the strongest units; of a temporal model those from the frame before too.

    Parameters
    ----------
    model : TruGRBM, BernoulliRBM, TruGTRBM or BernoulliTRBM
    image_shape : (int, int)
        Height and width of an image.
    n : int
        Units drawn, those with the largest weights, of both kinds together.

    Returns
    -------
    matplotlib Figure
    """
    require("model", model, "weights", "n_hidden")
    drawn = {"weights": model.weights.reshape(-1, model.n_hidden).T}
    before = getattr(model, "visible_to_hidden", None)
    if before is not None:
        latest = before if before.ndim == 2 else before[0]
        drawn = {"weights from the frame (W1)": drawn["weights"],
                 "weights from the frame before (W2)": latest}  # fmt: skip
    size = sum((each.astype(np.float64) ** 2).sum(axis=1) for each in drawn.values())
    units = np.argsort(-np.asarray(size), kind="stable")[: checks.count("n", n)]
    figure = new_figure(4.0 * len(drawn), 4.2)
    panels = figure.subplots(1, len(drawn), squeeze=False)[0]
    for ax, (name, each) in zip(panels, drawn.items(), strict=True):
        set_title(images(each[units], image_shape, ax=ax), name)
    return figure


def strips(videos: Mapping[str, ArrayLike], image_shape: tuple[int, int]) -> Figure:
    """Draw videos below each other, each as a row of frames.

    Parameters
    ----------
    videos : mapping from a name to array_like, shape (T, height * width)
        From 0, black, to 1, white.
    image_shape : (int, int)
        Height and width.

    Returns
    -------
    matplotlib Figure
    """
    height, width = checks.image_shape(image_shape)
    checks.kind("videos", videos, Mapping)
    if not videos:
        raise ValueError("videos must not be empty")
    rows = {name: checks.matrix(name, x, height * width) for name, x in videos.items()}
    longest = max(len(x) for x in rows.values())
    figure = new_figure(0.5 * longest, (0.5 * height / width + 0.3) * len(rows))
    panels = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
    for ax, (name, x) in zip(panels, rows.items(), strict=True):
        canvas = np.ones((height, longest * (width + 1) - 1))
        for t, frame in enumerate(x):
            start = t * (width + 1)
            canvas[:, start : start + width] = frame.reshape(height, width)
        ax.imshow(canvas, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        ax.set_title(name, fontsize="small", loc="left")
        ax.set_axis_off()
    return figure


def save_video(
    video: ArrayLike, image_shape: tuple[int, int], path: str | Path, *, zoom: int = 6
) -> None:
    """Write a video as an animation, 12 frames a second, each pixel ``zoom`` pixels wide.

    Parameters
    ----------
    video : array_like, shape (T, height * width)
        Values between 0 and 1.
    image_shape : (int, int)
    path : str or Path
    zoom : int

    Raises
    ------
    ImportError
        If Pillow, which comes with Matplotlib, is not installed.
    """
    library = need("PIL.Image", "animations need Pillow", "plot")
    height, width = checks.image_shape(image_shape)
    pixels = checks.matrix("video", video, height * width).reshape(-1, height, width)
    if pixels.min() < 0 or pixels.max() > 1:
        raise ValueError(
            f"video must lie in [0, 1], got {pixels.min()} to {pixels.max()} (grey levels need "
            "datasets.binarize)"
        )
    zoom = checks.count("zoom", zoom)
    grey = np.round(255 * pixels).astype(np.uint8).repeat(zoom, axis=1).repeat(zoom, axis=2)
    frames: list[Any] = [library.fromarray(frame) for frame in grey]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=83, loop=0)
