"""Balls in videos, found again in pictures: how many, how heavy, how fast, and whether balls.

`reproduction/notes/temporal.md` has how well they are found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from . import discs

Floats = NDArray[np.float64]
BOX = 10.0  # its width, in the units of datasets.bouncing_balls
MOST = 20  # balls in a frame at most, by its mass
LIT = 0.3  # pixels that are brighter belong to balls
ROUNDS = 20  # of Lloyd's, which split what touches
NOT_BALLS = -1  # stands for the count of a frame whose light is not that of balls
# What discs may leave of a frame, as a share of a ball.  The data's frames leave 0.01 at most where
# they are grey, and drawn pixels 0.4 / radius^2 (in pixels) in 99.3 % of frames (temporal.md).
LEFT, LEFT_DRAWN = 0.012, 0.4
BLUR, BLUR_DRAWN = 0.25, 0.5  # of what is left, in radii: single pixels drawn are averaged out
INSIDE = 0.5  # how far balls come into each other at most: what they go in a frame


class BallMotion(NamedTuple):
    """What videos of balls show; of n videos of T frames."""

    counts: NDArray[np.int64]  # (n, T) balls in each frame; -1 where its light is not that of balls
    mass: Floats  # (n, T) of each frame, in balls
    speed: Floats  # (n, T - 1) of all balls together; NaN where their number changes, is 0 or -1
    parts: NDArray[np.int64]  # (n, T) of each frame's light, that do not touch
    residual: Floats  # (n, T) what balls do not explain, where it is most, as a share of a ball

    def frames_with(self, n_balls: int) -> Floats:
        """Return the share of each video's frames that show so many balls, and nothing else."""
        n_balls = checks.count("n_balls", n_balls, least=0)
        return np.asarray((self.counts == n_balls).mean(axis=1))

    def videos_with(self, n_balls: int, share: float = 0.95) -> float:
        """Return the share of videos that show so many balls in such a share of their frames."""
        share = checks.number("share", share, least=0.0, most=1.0)
        return float((self.frames_with(n_balls) >= share).mean())


def track_balls(videos: ArrayLike, *, size: int | None = None, radius: float = 1.2) -> BallMotion:
    """Find the balls in videos, as :func:`trug_fast.datasets.bouncing_balls` makes them.

    Lit pixels that touch are one ball or several, by their mass; several are split by Lloyd's
    algorithm.  Discs are drawn there, moved by least squares where they fit badly, and a frame's
    balls count where these explain it: a smear of the mass of three balls is no three balls.  Balls
    are followed from frame to frame where their number stays, so that the sum of squared distances
    is least.

    Parameters
    ----------
    videos : array_like, shape (n, T, size * size)
        Frames row by row, from 0 to 1, of two frames or more.
    size : int, optional
        Width of a frame in pixels, if it is not the square root of its pixels.
    radius : float
        Of the balls, in tenths of the width.

    Returns
    -------
    BallMotion
        ``counts``, -1 where a frame shows something else than balls; ``mass``, in balls;
        ``speed``, the root of the sum of the balls' squared speeds, in tenths of the width a frame
        (balls of the data set have 0.5 at all times but where they bounce within a frame);
        ``parts``, of light that do not touch; ``residual``, the squared light that discs do not
        explain, in the window as wide as a ball where it is most, as a share of a ball's.  Balls
        have 0.012 at most where frames are grey, 0.012 + 0.4 / radius^2 (in pixels) where all
        pixels are 0 or 1, and are no nearer than two radii less 0.5 (notes/temporal.md).

    Raises
    ------
    TypeError, ValueError
        If they are no such videos, or a ball's radius is less than a pixel.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> from reproduction.balls import track_balls
    >>> found = track_balls(tf.datasets.bouncing_balls(2, 50, rng=0))
    >>> found.videos_with(3), round(float(np.nanmedian(found.speed)), 2)
    (1.0, 0.5)
    """
    frames = checks.numbers("videos", videos)
    if frames.ndim != 3 or frames.size == 0 or frames.shape[1] < 2:
        raise ValueError(f"videos must have shape (n, T, pixels), T >= 2, got {frames.shape}")
    if not ((frames >= 0) & (frames <= 1)).all():
        raise ValueError("videos must hold values from 0 to 1")
    pixels = frames.shape[2]
    width = round(pixels**0.5) if size is None else checks.count("size", size)
    if width == 0 or pixels % width or (size is None and width**2 != pixels):
        raise ValueError(f"size must divide the {pixels} pixels of a frame, got {width}")
    scaled = checks.number("radius", radius, least=0.01, below=BOX / 2) * width / BOX
    if scaled < 1.0:
        raise ValueError(f"radius must be a pixel or more, got {scaled:g} pixels")
    found = [
        [_read(frame.reshape(-1, width), scaled, BOX / width) for frame in video.astype(np.float64)]
        for video in frames
    ]
    speeds = [[_speed(a, b) for a, b in zip(each, each[1:], strict=False)] for each in found]
    return BallMotion(
        counts=np.array([[each.balls for each in video] for video in found]),
        mass=frames.sum(axis=2, dtype=np.float64) / discs.mass(scaled),
        speed=np.array(speeds) * BOX / width,
        parts=np.array([[each.parts for each in video] for video in found]),
        residual=np.array([[each.residual for each in video] for video in found]),
    )


class _Frame(NamedTuple):
    """What a frame shows."""

    balls: int
    centres: Floats  # (balls, 2), in pixels
    parts: int
    residual: float


def _read(frame: Floats, radius: float, pixel: float) -> _Frame:
    """Return what a frame shows; ``radius`` in pixels, ``pixel`` its width in those of the box."""
    drawn = bool(((frame == 0.0) | (frame == 1.0)).all())
    blur = radius * (BLUR_DRAWN if drawn else BLUR)
    most = LEFT + (LEFT_DRAWN / radius**2 if drawn else 0.0)
    least = 2.0 * radius - INSIDE / pixel
    centres, parts = _centres(frame, discs.mass(radius))
    residual = discs.misfit(frame, centres, radius, blur)
    if len(centres) and (residual > most or _nearest(centres) < least):
        centres = discs.refine(frame, centres, radius)
        residual = discs.misfit(frame, centres, radius, blur)
    balls = residual <= most and _nearest(centres) >= least
    return _Frame(len(centres) if balls else NOT_BALLS, centres, parts, residual)


def _nearest(centres: Floats) -> float:
    """Return the least distance of two centres."""
    from scipy.spatial.distance import pdist

    return float(pdist(centres).min()) if len(centres) > 1 else np.inf


def _centres(frame: Floats, own: float) -> tuple[Floats, int]:
    """Return the centres of the balls in a frame, by ``own``, a ball's mass; how many parts."""
    from scipy.ndimage import label

    parts, n = label(frame > LIT)
    centres = []
    for part in range(1, n + 1):
        places = np.argwhere(parts == part).astype(np.float64)
        weights = frame[parts == part]
        # What is lit of a ball is less than all of it, by a share that hardly depends on it.
        n_balls = min(MOST, round(float(weights.sum()) / own + 0.05))
        centres += list(_split(places, weights, n_balls))
    return np.array(centres).reshape(-1, 2), n


def _split(places: Floats, weights: Floats, n: int) -> Floats:
    """Return the centres of n balls that touch."""
    if n < 2:
        return np.average(places, axis=0, weights=weights)[None][:n]
    centres = [places[np.argmax(np.square(places - places.mean(axis=0)).sum(axis=1))]]
    for _ in range(1, n):
        apart = np.min([np.square(places - c).sum(axis=1) for c in centres], axis=0)
        centres.append(places[np.argmax(apart)])
    found = np.array(centres)
    for _ in range(ROUNDS):
        nearest = np.square(places[:, None] - found).sum(axis=2).argmin(axis=1)
        for k in range(n):
            if (nearest == k).any():
                mine = nearest == k
                found[k] = np.average(places[mine], axis=0, weights=weights[mine])
    return found


def _speed(before: _Frame, after: _Frame) -> float:
    """Return the joint speed of balls that stay as many; NaN where they do not."""
    from scipy.optimize import linear_sum_assignment

    if before.balls != after.balls or before.balls < 1:
        return float("nan")
    squares = np.square(before.centres[:, None] - after.centres).sum(axis=2)
    return float(np.sqrt(squares[linear_sum_assignment(squares)].sum()))
