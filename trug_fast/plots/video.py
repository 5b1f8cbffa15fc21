"""Pictures of videos: strips of frames, and animations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike
from trug_fast.models.trbm import TRBM

from .canvas import new_figure, set_title
from .image_grid import images, strongest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def strips(videos: Mapping[str, ArrayLike], image_shape: tuple[int, int]) -> Figure:
    """Draw videos below each other, each as a row of frames.

    Parameters
    ----------
    videos : mapping from a name to array_like, shape (T, height * width)
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
    for ax, (name, x) in zip(
        np.atleast_1d(figure.subplots(len(rows), 1)), rows.items(), strict=True
    ):
        canvas = np.ones((height, longest * (width + 1) - 1))
        for t, frame in enumerate(x):
            start = t * (width + 1)
            canvas[:, start : start + width] = frame.reshape(height, width)
        ax.imshow(canvas, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        ax.set_title(name, fontsize="small", loc="left")
        ax.set_axis_off()
    return figure


def continuation(
    model: TRBM,
    video: ArrayLike,
    image_shape: tuple[int, int],
    *,
    n_seen: int = 10,
    n_gibbs: int = 50,
    rng: RngLike = None,
) -> Figure:
    """Draw a video, its one-step forecasts, and how a model goes on from its first frames.

    Parameters
    ----------
    model : TruGTRBM or BernoulliTRBM
    video : array_like, shape (T, n_visible)
    image_shape : (int, int)
    n_seen : int
        Frames that the model goes on from; those after them are drawn.
    n_gibbs : int
        Sweeps for each frame.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    matplotlib Figure
    """
    frames = checks.matrix("video", model.by_name("video", video), model.n_visible)
    seen = checks.count("n_seen", n_seen)
    if seen >= len(frames):
        raise ValueError(f"n_seen must be below the number of frames, {len(frames)}, got {seen}")
    more = model.generate(
        len(frames) - seen, prefix=frames[:seen], n_gibbs=n_gibbs, return_mean=True, rng=rng
    )
    rows = {
        "data": frames[seen:],
        "predicted from the frames before": model.predict(frames, rng=rng)[seen:],
        f"continued from {seen} frames": more,
    }
    return strips(rows, image_shape)


def dictionaries(model: TRBM, image_shape: tuple[int, int], *, n: int = 64) -> Figure:
    """Draw the weights of the strongest units: W1, from a frame, and W2, from the one before.

    Parameters
    ----------
    model : TruGTRBM or BernoulliTRBM
    image_shape : (int, int)
        Height and width of a frame.
    n : int
        Units drawn, those with the largest weights of both kinds together.

    Returns
    -------
    matplotlib Figure
    """
    before = model.visible_to_hidden if model.n_lags == 1 else model.visible_to_hidden[0]
    here = model.weights.T
    units = strongest(checks.count("n", n), here, before)
    figure = new_figure(8.0, 4.2)
    for ax, name, weights in zip(
        figure.subplots(1, 2),
        ("weights from the frame (W1)", "weights from the frame before (W2)"),
        (here, before),
        strict=True,
    ):
        images(weights[units], image_shape, ax=ax)
        set_title(ax, name)
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
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("animations need Pillow: pip install trug-fast[plot]") from error
    height, width = checks.image_shape(image_shape)
    pixels = checks.visible("video", video, height * width, soft=True).reshape(-1, height, width)
    grey = np.round(255 * pixels).astype(np.uint8)
    zoom = checks.count("zoom", zoom)
    grey = grey.repeat(zoom, axis=1).repeat(zoom, axis=2)
    frames: list[Any] = [Image.fromarray(frame) for frame in grey]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=83, loop=0)
