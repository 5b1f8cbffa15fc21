"""The figure of what became of balls in videos.

Tested in tests/reproduction/test_balls.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trug_fast._common import checks
from trug_fast.plots.canvas import BLUE, GREY, ORANGE, new_figure, set_title

from .balls import BallMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ball_motion(found: Mapping[str, BallMotion], n_balls: int = 3) -> Figure:
    """Draw what became of the balls in videos: how many, how heavy, how fast, frame by frame.

    Parameters
    ----------
    found : mapping from a name to BallMotion
        Of :func:`reproduction.balls.track_balls`: of generated videos, and of others beside them.
    n_balls : int
        How many there should be.

    Returns
    -------
    matplotlib Figure
        The share of videos with so many balls and nothing else at each frame (smears of their mass
        are none), the mean mass of all light, and the median speed of balls that are followed.

    Raises
    ------
    TypeError, ValueError
        If there is nothing to draw.
    """
    checks.kind("found", found, Mapping)
    if not found:
        raise ValueError("found must hold some videos' balls, got none")
    for name, each in found.items():
        checks.kind(f"found: {name!r}", each, BallMotion)
    count = checks.count("n_balls", n_balls)
    figure = new_figure(8.4, 2.5)
    shares, masses, speeds = figure.subplots(1, 3)
    for number, (name, own) in enumerate(found.items()):
        style = {"color": (BLUE, ORANGE, GREY)[number % 3], "lw": 1.2, "label": name}
        shares.plot((own.counts == count).mean(axis=0), **style)
        masses.plot(own.mass.mean(axis=0), **style)
        known = np.isfinite(own.speed).any(axis=0)
        middle = np.full(known.size, np.nan)
        middle[known] = np.nanmedian(own.speed[:, known], axis=0)
        speeds.plot(np.arange(1, known.size + 1), middle, **style)
    titles = (f"videos with {count} balls", "mass, in balls", "speed of all")
    for ax, title in zip((shares, masses, speeds), titles, strict=True):
        set_title(ax, title)
        ax.set_xlabel("frame")
        ax.set_ylim(bottom=0.0)
    shares.legend(fontsize="small")
    return figure
