"""Discs drawn as balls are in videos, moved to where they explain a frame best; what they leave.

Tested in tests/reproduction/test_balls.py.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FAR = 3.0  # squared radii, beyond which a disc has no light: exp(-81)
STEPS = 8  # of least squares at most
WAY = 0.3  # radii that a disc moves in a step at most
RIDGE = 1e-3  # of the greatest curvature, at first; ten times as much after a step that fails


def mass(radius: float) -> float:
    """Return the integral of a disc, exp(-(distance / radius)^8) (notes/temporal.md)."""
    return float(np.pi * 0.9064024770554771 * radius**2)  # Gamma(5/4)


def draw(centres: Floats, shape: tuple[int, ...], radius: float) -> Floats:
    """Return a frame of discs as the simulator draws them: their sum, and 1 at most."""
    squares = np.minimum(_apart(centres, shape, radius)[0], FAR)
    return np.asarray(np.minimum(np.exp(-(np.square(squares) ** 2)).sum(axis=0), 1.0))


def _apart(centres: Floats, shape: tuple[int, ...], radius: float) -> tuple[Floats, Floats, Floats]:
    """Return squared distances of pixels, in radii, and those along rows and columns in pixels."""
    rows = (np.arange(shape[0]) - centres[:, :1])[:, :, None]
    columns = (np.arange(shape[1]) - centres[:, 1:])[:, None, :]
    return (np.square(rows) + np.square(columns)) / radius**2, rows, columns


def _each(centres: Floats, shape: tuple[int, ...], radius: float) -> tuple[Floats, Floats]:
    """Return each disc, (discs, height, width), and its slopes, (2 discs, height * width)."""
    squares, rows, columns = _apart(centres, shape, radius)
    squares = np.minimum(squares, FAR)
    discs = np.exp(-(np.square(squares) ** 2))
    slopes = 8.0 / radius**2 * squares**3 * discs
    both = np.stack([slopes * rows, slopes * columns], axis=1)
    return discs, both.reshape(2 * len(centres), -1)


def refine(frame: Floats, centres: Floats, radius: float) -> Floats:
    """Return centres nearer to those of least squared light unexplained, by Levenberg's steps."""
    best, least, ridge = centres, _unexplained(frame, centres, radius), RIDGE
    for _ in range(STEPS):
        discs, slopes = _each(best, frame.shape, radius)
        light = discs.sum(axis=0)
        matrix = np.where(light.ravel() < 1.0, slopes, 0.0)
        curvature = matrix @ matrix.T
        curvature += np.eye(len(curvature)) * max(ridge * curvature.max(), 1e-12)
        downhill = matrix @ (frame - np.minimum(light, 1.0)).ravel()
        step = np.linalg.solve(curvature, downhill).reshape(-1, 2)
        moved = best + step * min(1.0, WAY * radius / max(float(np.abs(step).max()), 1e-12))
        before, now = least, _unexplained(frame, moved, radius)
        if now < least:
            best, least, ridge = moved, now, ridge / 10
            if now > 0.999 * before:
                break
        else:
            ridge *= 10
    return best


def _unexplained(frame: Floats, centres: Floats, radius: float) -> float:
    return float(np.square(frame - draw(centres, frame.shape, radius)).sum())


def misfit(frame: Floats, centres: Floats, radius: float, blur: float) -> float:
    """Return the light that discs do not explain, where it is most, as a share of a ball's.

    Squares of the difference, blurred by so many pixels and summed over a window as wide as a
    ball, over those of a ball alone (notes/temporal.md).
    """
    left = frame - draw(centres, frame.shape, radius)
    return float(_windows(left, radius, blur).max()) / _whole(radius, blur)


@lru_cache(maxsize=8)
def _whole(radius: float, blur: float) -> float:
    """Return the blurred light squared of one ball."""
    wide = 2 * int(np.ceil(3 * radius)) + 1
    middle = np.full((1, 2), (wide - 1) / 2)
    return float(_windows(draw(middle, (wide, wide), radius), radius, blur).max())


def _windows(light: Floats, radius: float, blur: float) -> Floats:
    """Return the blurred light squared in the window around each pixel."""
    from scipy.ndimage import gaussian_filter, uniform_filter

    wide = 2 * int(np.ceil(radius)) + 1
    blurred = gaussian_filter(light, blur, mode="constant")
    return np.asarray(uniform_filter(np.square(blurred), wide, mode="constant") * wide**2)
