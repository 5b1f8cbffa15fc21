"""Balls in videos, found again in pictures: how many, how heavy, how fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

Floats = NDArray[np.float64]
BOX = 10.0  # its width, in the units of datasets.bouncing_balls
MOST = 20  # balls in a frame at most, by its mass
LIT = 0.3  # pixels that are brighter belong to balls
ROUNDS = 20  # of Lloyd's, which split what touches


class BallMotion(NamedTuple):
    """What videos of balls show; of n videos of T frames."""

    counts: NDArray[np.int64]  # (n, T) balls in each frame
    mass: Floats  # (n, T) of each frame, in balls
    speed: Floats  # (n, T - 1) of all balls together; NaN where their number changes, or is 0

    def frames_with(self, n_balls: int) -> Floats:
        """Return the share of each video's frames that show so many balls."""
        n_balls = checks.count("n_balls", n_balls, least=0)
        return np.asarray((self.counts == n_balls).mean(axis=1))

    def videos_with(self, n_balls: int, share: float = 0.95) -> float:
        """Return the share of videos that show so many balls in such a share of their frames."""
        share = checks.number("share", share, least=0.0, most=1.0)
        return float((self.frames_with(n_balls) >= share).mean())


def track_balls(videos: ArrayLike, *, size: int | None = None, radius: float = 1.2) -> BallMotion:
    """Find the balls in videos, as :func:`trug_fast.datasets.bouncing_balls` makes them.

    Lit pixels that touch are one ball or several, by their mass; several are split by Lloyd's
    algorithm.  Balls are followed from frame to frame where their number stays, so that the sum of
    squared distances is least.

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
        ``counts``, ``mass`` and ``speed``: the root of the sum of the balls' squared speeds, in
        tenths of the width a frame.  Balls of the data set have 0.5 at all times but where they
        bounce within a frame.

    Raises
    ------
    TypeError, ValueError
        If they are no such videos, or a ball is less than a pixel wide.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> found = tf.track_balls(tf.datasets.bouncing_balls(2, 50, rng=0))
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
    if scaled < 0.5:
        raise ValueError(f"radius must be half a pixel or more, got {scaled:g} pixels")
    own = np.pi**1.5 / 2 * scaled**2  # the integral of exp(-(distance / radius)^4)
    counts, speed = np.zeros(frames.shape[:2], np.int64), np.full((len(frames), 0), np.nan)
    speeds = []
    for k, video in enumerate(frames.astype(np.float64)):
        found = [_centres(frame.reshape(-1, width), own) for frame in video]
        counts[k] = [len(each) for each in found]
        speeds.append([_speed(a, b) for a, b in zip(found, found[1:], strict=False)])
    speed = np.array(speeds) * BOX / width
    return BallMotion(counts, frames.sum(axis=2, dtype=np.float64) / own, speed)


def _centres(frame: Floats, own: float) -> Floats:
    """Return the centres of the balls in a frame, (balls, 2) in pixels; ``own``: a ball's mass."""
    from scipy.ndimage import label

    parts, n = label(frame > LIT)
    centres = []
    for part in range(1, n + 1):
        places = np.argwhere(parts == part).astype(np.float64)
        weights = frame[parts == part]
        # What is lit of a ball is less than all of it, by a share that hardly depends on it.
        n_balls = min(MOST, round(float(weights.sum()) / own + 0.05))
        centres += list(_split(places, weights, n_balls))
    return np.array(centres).reshape(-1, 2)


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


def _speed(before: Floats, after: Floats) -> float:
    """Return the joint speed of balls that stay as many; NaN where they do not."""
    from scipy.optimize import linear_sum_assignment

    if len(before) != len(after) or not len(before):
        return float("nan")
    squares = np.square(before[:, None] - after).sum(axis=2)
    return float(np.sqrt(squares[linear_sum_assignment(squares)].sum()))
