"""Figures of images: many side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from .canvas import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def strongest(n: int, *dictionaries: NDArray[Any]) -> NDArray[np.intp]:
    """Return the numbers of the n units with the largest weights, of all dictionaries together.

    Parameters
    ----------
    n : int
        How many at most.
    *dictionaries : arrays, shape (n_units, n_pixels)
    """
    size = sum((weights.astype(np.float64) ** 2).sum(axis=1) for weights in dictionaries)
    return np.argsort(-np.asarray(size), kind="stable")[:n]
