"""Images bent a little: what other hands would have written, to train on beside the images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, checked_rng

Floats = NDArray[np.float64]
INK = 0.25  # share of the brightest pixel from which on a pixel belongs to what is drawn
SMOOTH = 4.0  # pixels over which displacements are alike
BRIGHTEST = 1e300  # of which sums over an image are finite
MOST = {"turn": 100.0, "stretch": 3.0, "slant": 100.0, "bend": 1e6}  # nothing is left long before
CHUNK = 1000  # images whose displacements are drawn at a time


def warp(
    images: ArrayLike,
    n_copies: int = 1,
    *,
    turn: float = 0.12,
    stretch: float = 0.06,
    slant: float = 0.12,
    bend: float = 0.7,
    rng: RngLike = None,
) -> NDArray[Any]:
    """Return grey images that are turned, stretched, slanted and bent by chance.

    The centre of mass and the longer side of what is drawn stay as they are but for the bending,
    which is how MNIST's images were made, so that warped images look like more of the same.

    Parameters
    ----------
    images : array_like, shape (rows, height, width)
        Bright on a ground of 0; of dark images on a bright ground warp ``1 - images``.
    n_copies : int
        How many of each image.
    turn, slant : float
        Standard deviations of the angle, in radians, and of the shear.
    stretch : float
        Standard deviation of the logarithm of the scale, along each side.
    bend : float
        Standard deviation, in pixels, of displacements that are smooth over 4 pixels.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    ndarray, shape (n_copies, rows, height, width)
        Of the images' type, within their range; whole numbers are rounded.

    Raises
    ------
    TypeError, ValueError
        If `images` are no such images, or another argument is out of range.

    Notes
    -----
    Cubic splines (``scipy.ndimage.map_coordinates``), 0.1 ms an image of 28 x 28.

    Examples
    --------
    >>> import trug_fast as tf
    >>> from reproduction.datasets import warp
    >>> digits = tf.datasets.load_digits()
    >>> images = digits.train[:10].reshape(10, 8, 8)
    >>> more = warp(images, 3, bend=0.2, rng=0)
    >>> more.shape
    (3, 10, 8, 8)
    >>> unchanged = warp(images, turn=0, stretch=0, slant=0, bend=0)
    >>> bool(abs(unchanged - images).max() < 1e-6)
    True
    """
    array = checks.numbers("images", images)
    if array.ndim != 3 or array.size == 0:
        raise ValueError(f"images must have shape (rows, height, width), got {array.shape}")
    low, high = float(array.min()), float(array.max())
    if not (low >= 0 and high <= BRIGHTEST):  # so written, NaN fails too
        raise ValueError(
            f"images must be numbers from 0 to {BRIGHTEST:g}, got values from {low} to {high}"
        )
    copies = checks.count("n_copies", n_copies)
    spreads = {"turn": turn, "stretch": stretch, "slant": slant, "bend": bend}
    amounts = {
        name: checks.number(name, value, least=0.0, most=MOST[name])
        for name, value in spreads.items()
    }
    generator = np.random.default_rng(checked_rng(rng))
    result = np.empty((copies, *array.shape), array.dtype)
    for copy in result:
        for start in range(0, len(array), CHUNK):
            part = slice(start, start + CHUNK)
            copy[part] = _warped(array[part], amounts, generator)
    return result


def _warped(
    images: NDArray[Any], amounts: dict[str, float], rng: np.random.Generator
) -> NDArray[Any]:
    matrices = _matrices(len(images), amounts, rng)
    moves = _displacements(images.shape, amounts["bend"], rng)
    grid = np.indices(images.shape[1:]).astype(np.float64)
    result = np.empty_like(images)
    for image, matrix, move, out in zip(images, matrices, moves, result, strict=True):
        if not image.any():
            out[...] = image
            continue
        at = _sources(image.astype(np.float64), matrix, grid + move)
        found = ndimage.map_coordinates(image.astype(np.float64), at, order=3, mode="constant")
        found = np.clip(found, 0.0, image.max())
        out[...] = np.rint(found) if image.dtype.kind in "iub" else found
    return result


def _sources(image: Floats, matrix: Floats, places: Floats) -> Floats:
    """Return where pixels come from, so that centre of mass and longer side stay."""
    rows, columns = np.indices(image.shape)
    total = image.sum()
    centre = np.array([(rows * image).sum(), (columns * image).sum()]) / total
    ink = np.argwhere(image > INK * image.max()) - centre
    before, after = np.ptp(ink, axis=0).max(), np.ptp(ink @ matrix.T, axis=0).max()
    scale = before / after if before > 0 and after > 0 else 1.0
    back = np.linalg.inv(scale * matrix)
    moved = np.tensordot(back, places - centre[:, None, None], axes=1)
    return np.asarray(moved + centre[:, None, None])


def _matrices(count: int, amounts: dict[str, float], rng: np.random.Generator) -> Floats:
    """Draw what turns, stretches and slants; axes are (down, right)."""
    angle = amounts["turn"] * rng.standard_normal(count)
    scale = np.exp(amounts["stretch"] * rng.standard_normal((2, count)))
    shear = amounts["slant"] * rng.standard_normal(count)
    zero = np.zeros(count)
    turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    bent = np.array([[scale[0], zero], [shear, scale[1]]])
    both: Floats = np.einsum("ijn,jkn->nik", turned, bent)
    return both


def _displacements(shape: tuple[int, ...], bend: float, rng: np.random.Generator) -> Floats:
    """Draw smooth displacements, (rows, 2, height, width)."""
    rows, height, width = shape
    moves = rng.standard_normal((rows, 2, height, width))
    for axis in (2, 3):
        moves = ndimage.gaussian_filter1d(moves, SMOOTH, axis=axis, mode="wrap")
        moves *= 1 / _spread_of_smooth(moves.shape[axis])
    drawn: Floats = moves * bend
    return drawn


def _spread_of_smooth(size: int) -> float:
    """Return the standard deviation of so many standard normal numbers, once they are smooth."""
    one = np.zeros(size)
    one[0] = 1.0
    return float(np.linalg.norm(ndimage.gaussian_filter1d(one, SMOOTH, mode="wrap")))
