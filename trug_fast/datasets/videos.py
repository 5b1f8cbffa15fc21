"""Videos of bouncing balls, made on the spot."""

from typing import Any

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import computing, work
from trug_fast.kernels import datasets

BOX, SPEED = 10.0, 0.5


def bouncing_balls(
    n: int,
    n_frames: int = 100,
    *,
    size: int = 30,
    n_balls: int = 3,
    radius: float = 1.2,
    rng: RngLike = None,
) -> npt.NDArray[np.float32]:
    """Videos of balls of equal mass that bounce off each other and the walls of a box.

    The generator of Sutskever and Hinton (2007), with which published results were obtained: the
    box is 10 wide, the joint norm of the speeds 0.5 a unit of time, and two half units pass
    between frames.  Pixels are real numbers, nearly 0 or 1.

    Parameters
    ----------
    n, n_frames : int
        Videos, and frames of each.
    size : int
        Height and width of a frame in pixels.
    n_balls : int
    radius : float
    rng : None, int or numpy.random.Generator
        An int gives the same videos, however many are made: video k depends on it and k only.

    Returns
    -------
    ndarray, shape (n, n_frames, size * size), float32
        Frames row by row, from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of bounds, or the balls do not fit the box.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.datasets.bouncing_balls(2, 5, rng=0).shape
    (2, 5, 900)
    """
    n, n_frames = checks.count("n", n), checks.count("n_frames", n_frames)
    size, n_balls = checks.count("size", size), checks.count("n_balls", n_balls)
    radius = checks.number("radius", radius, least=0.01, below=BOX / 2)
    out: npt.NDArray[Any] = np.empty((n, n_frames, size * size), np.float32)
    fits = np.zeros(n, np.bool_)
    seed = seed_from(rng, "bouncing_balls")
    with computing(work(n * n_frames, 0, size * size)):
        datasets.videos(seed, 0, n_balls, BOX, radius, SPEED, size, out, fits)
    if not fits.all():
        raise ValueError(f"{n_balls} balls of radius {radius} do not fit a box {BOX:g} wide")
    return out
