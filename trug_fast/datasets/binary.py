"""Grey images to binary ones: once, or anew for each epoch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
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
    intensities = checked_intensities(images, max_value)
    if method == "threshold":
        share = checks.number("threshold", threshold, least=0.0, most=1.0)
        return (intensities > share).astype(np.uint8)
    if method == "sample":
        return _sample(intensities, np.random.default_rng(checked_rng(rng)))
    raise ValueError(f"method must be 'threshold' or 'sample', got {method!r}")


@dataclass(frozen=True, eq=False)
class Variants:
    """Other versions of grey images, such as warped ones, that stand in for them.

    Attributes
    ----------
    images : array, shape (versions, ...), as the images
        Intensities from 0 to `max_value`; not copied.
    share : float
        The probability, from 0 to 1, that an image of an epoch is one of its other versions.
    epochs : int
        For so many epochs; later ones are of the images alone.
    max_value : float
        The intensity of a full pixel of these versions, e.g. 255 for bytes.
    """

    images: npt.NDArray[Any]
    share: float
    epochs: int
    max_value: float = 1.0

    def stand_in(self, intensities: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
        """Return the intensities, of some images those of another version."""
        count = len(intensities)
        version = rng.integers(len(self.images), size=count)
        rows = np.flatnonzero(rng.random(count) < self.share)
        result = intensities.copy()
        result[rows] = self.images[version[rows], rows] / intensities.dtype.type(self.max_value)
        return result

    def checked(self, images: npt.NDArray[Any]) -> Variants:
        """Return these, if they can be versions of these images."""
        versions = checks.numbers("variants.images", self.images)
        if versions.shape[1:] != images.shape or len(versions) == 0:
            raise ValueError(
                f"variants.images must have shape (versions, {', '.join(map(str, images.shape))}), "
                f"got {versions.shape}"
            )
        full = checks.number("variants.max_value", self.max_value)
        if full <= 0:
            raise ValueError(f"variants.max_value must be above 0, got {self.max_value!r}")
        if not (versions.min() >= 0 and versions.max() <= full):  # so written, NaN fails too
            raise ValueError(
                f"variants.images must lie in [0, {full}] (variants.max_value), got values from "
                f"{versions.min()} to {versions.max()}"
            )
        share = checks.number("variants.share", self.share, least=0.0, most=1.0)
        epochs = checks.count("variants.epochs", self.epochs)
        return Variants(versions, share, epochs, full)


@dataclass(frozen=True, eq=False)
class Resampler:
    """Grey images that are drawn as binary ones anew for each epoch; made by `resampler`.

    Attributes
    ----------
    intensities : array of float32 or float64
        The probability that a pixel is 1.
    seed : int
        With the number of the epoch, all that the draws depend on.
    variants : Variants or None
        Other versions of the images, which stand in for them.
    """

    intensities: npt.NDArray[Any]
    seed: int
    variants: Variants | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the images and of every epoch."""
        return self.intensities.shape

    def epoch(self, index: int) -> npt.NDArray[np.uint8]:
        """Draw all images for one epoch.

        Parameters
        ----------
        index : int
            Number of the epoch, from 0. The same number gives the same images again, whichever
            epochs were drawn before, so a resumed training sees what it would have seen.

        Returns
        -------
        binary : array of uint8, the shape of the images

        Raises
        ------
        ValueError
            If `index` is not a whole number from 0.
        """
        if not isinstance(index, Integral) or index < 0:
            raise ValueError(f"index must be a whole number from 0, got {index!r}")
        sequence = np.random.SeedSequence(self.seed, spawn_key=(int(index),))
        rng = np.random.default_rng(sequence)
        chosen = self.intensities
        if self.variants is not None and index < self.variants.epochs:
            chosen = self.variants.stand_in(chosen, rng)
        return _sample(chosen, rng)

    def rows(self, kept: npt.NDArray[Any]) -> Resampler:
        """Return the same of some images: a mask, or their numbers."""
        variants = self.variants
        if variants is not None:
            variants = replace(variants, images=variants.images[:, kept])
        return replace(self, intensities=self.intensities[kept], variants=variants)


def resampler(
    images: npt.ArrayLike,
    rng: RngLike = None,
    *,
    max_value: float = 1.0,
    variants: Variants | None = None,
) -> Resampler:
    """Prepare grey images to be binarized by a new draw in each epoch.

    Parameters
    ----------
    images : array of real numbers, any shape
        Intensities from 0 to `max_value`. The array is copied.
    rng : None, int or numpy.random.Generator
        An int is the seed itself; a Generator is asked for one; None takes one from the system.
    max_value : float
        The intensity of a full pixel, e.g. 255 for bytes.
    variants : Variants, optional
        Other versions of the images, which some epochs show in their place.

    Returns
    -------
    Resampler
        Its method ``epoch(index)`` gives the binary images.

    Raises
    ------
    TypeError, ValueError
        As `binarize`; or if `variants` are not of these images.

    Examples
    --------
    >>> images = resampler([[0.0, 0.5, 1.0]], rng=3)
    >>> images.epoch(7)
    array([[0, 1, 1]], dtype=uint8)
    >>> bool((images.epoch(7) == resampler([[0.0, 0.5, 1.0]], rng=3).epoch(7)).all())
    True
    """
    intensities = checked_intensities(images, max_value)
    rng = checked_rng(rng)
    if rng is None:
        rng = np.random.default_rng()
    seed = int(rng.integers(2**63)) if isinstance(rng, np.random.Generator) else rng
    if variants is not None:
        checks.kind("variants", variants, Variants)
        variants = variants.checked(intensities)
    return Resampler(intensities, seed, variants)


def checked_intensities(images: npt.ArrayLike, max_value: float) -> npt.NDArray[Any]:
    """Give a new array of probabilities: float64 if that is needed to hold them, else float32."""
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
    intensities: npt.NDArray[Any] = np.divide(
        array, full, dtype=np.float32 if single else np.float64
    )
    intensities.setflags(write=False)
    return intensities


def _sample(intensities: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    # Draws lie in [0, 1): an intensity of 0 never gives 1, an intensity of 1 always does.
    draws = rng.random(intensities.shape, dtype=intensities.dtype)
    return (draws < intensities).astype(np.uint8)
