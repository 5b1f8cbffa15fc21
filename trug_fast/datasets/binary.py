"""Grey images to binary ones."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, checked_rng

Method = Literal["threshold", "sample"]


def binarize(
    images: npt.ArrayLike,
    method: Method = "threshold",
    *,
    threshold: float = 0.5,
    max_value: float = 1.0,
    rng: RngLike = None,
) -> npt.NDArray[np.uint8]:
    """Turn intensities into pixels that are 0 or 1.

    Parameters
    ----------
    images : array of real numbers, any shape
        Intensities from 0 to `max_value`. The array is not changed.
    method : {"threshold", "sample"}
        "threshold" gives 1 where the intensity is above ``threshold * max_value``; "sample" draws
        each pixel anew, 1 with probability ``intensity / max_value``.
    threshold : float
        A fraction of `max_value`, from 0 to 1; used by "threshold" only.
    max_value : float
        The intensity of a full pixel, e.g. 255 for bytes.
    rng : None, int or numpy.random.Generator
        The source of the draws; used by "sample" only. An int gives the same draws each time.

    Returns
    -------
    binary : array of uint8, same shape

    Raises
    ------
    TypeError
        If `images` does not hold real numbers, or another argument is of another type.
    ValueError
        If `images` is empty or has values that are not in [0, max_value], or if `method`,
        `threshold`, `max_value` or `rng` is not one of those above.

    Examples
    --------
    >>> binarize([[0, 100, 200]], max_value=255)
    array([[0, 0, 1]], dtype=uint8)
    >>> binarize([[0.0, 0.5, 1.0]], "sample", rng=1)
    array([[0, 0, 1]], dtype=uint8)
    """
    intensities = _shares(images, max_value)
    if method == "threshold":
        share = checks.number("threshold", threshold, least=0.0, most=1.0)
        return (intensities > share).astype(np.uint8)
    if method == "sample":
        # Draws lie in [0, 1): an intensity of 0 never gives 1, an intensity of 1 always does.
        generator = np.random.default_rng(checked_rng(rng))
        draws = generator.random(intensities.shape, dtype=intensities.dtype)
        return (draws < intensities).astype(np.uint8)
    raise ValueError(f"method must be 'threshold' or 'sample', got {method!r}")


def _shares(images: npt.ArrayLike, max_value: float) -> npt.NDArray[Any]:
    """Return new probabilities: float64 if that is needed to hold them, else float32."""
    full = checks.number("max_value", max_value)
    if full <= 0:
        raise ValueError(f"max_value must be above 0, got {max_value!r}")
    array = checks.numbers("images", images)
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"images must be an array that is not empty, got shape {array.shape}")
    low, high = array.min(), array.max()
    if not (low >= 0 and high <= full):  # so written, NaN fails too
        raise ValueError(
            f"images must lie in [0, {max_value}] (max_value), got values from {low} to {high}"
        )
    single = np.result_type(array.dtype, np.float32) == np.float32
    # Division keeps a full pixel exactly 1, which a product with 1 / max_value would not.
    shares: npt.NDArray[Any] = np.divide(array, full, dtype=np.float32 if single else np.float64)
    return shares
