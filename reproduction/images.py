"""The images that a cell is trained and tested on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast import datasets
from trug_fast._common import checks
from trug_fast.training.units import BernoulliUnits

from .datasets import load_binarized_mnist, load_caltech101_silhouettes, warp
from .datasets.binarized import SplitImages

# Warped copies of each grey image, which stand in for it with some probability, for some epochs.
WARPS = ("warp_copies", "warp_share", "warp_epochs")
SETS = ("digits", "mnist", "caltech")
OPTIONS = ("set", "binarize", "hold_out", "mirror", "shift", *WARPS)
BYTE = 255
NO_WARPS = (0, None, None)
HELD_OUT = {"digits": 287, "mnist": 10_000}  # latest training images, kept for validation
FIXED = 0  # seed of the digits' fixed binarization


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A ``transform`` of train_rbm: grey images as binary ones, anew for each update.

    Attributes
    ----------
    copies : ndarray of uint8, shape (copies, images, pixels)
        Warped ones, if there are some.
    places : dict
        Which image has a row of so many bytes, by their hash.
    share : float
        The probability that an image is one of its copies.
    epochs : int
        For so many epochs; then images are as they are.
    until : float
        The same as a share of the run.
    """

    copies: NDArray[np.uint8] = field(repr=False)
    places: dict[int, int] = field(repr=False)
    share: float = 0.0
    epochs: int = 0
    until: float = 0.0

    def __call__(
        self, batch: NDArray[Any], generator: np.random.Generator, share: float
    ) -> NDArray[Any]:
        """Return the images of an update."""
        if share < self.until:
            rows = np.flatnonzero(generator.random(len(batch)) < self.share)
            places = [self.places[_hash(batch[row])] for row in rows]
            version = generator.integers(len(self.copies), size=rows.size)
            batch[rows] = self.copies[version, places] / batch.dtype.type(BYTE)
        return generator.random(batch.shape, batch.dtype) < batch


def _hash(image: NDArray[Any]) -> int:
    return hash(image.astype(np.float32).tobytes())


@dataclass(frozen=True, eq=False)
class Images:
    """The images of one data set, as a protocol wants them.

    Attributes
    ----------
    train : ndarray
        What to train on.
    fixed : ndarray
        The training images, binary: those, or the first that are drawn.
    test : ndarray
    valid : ndarray or None
        Images that are held out.
    shape : (int, int)
        Height and width.
    redrawn : Redrawn or None
        Makes binary images of grey ones.
    """

    train: NDArray[Any]
    fixed: NDArray[Any]
    test: NDArray[Any]
    valid: NDArray[Any] | None
    shape: tuple[int, int]
    redrawn: Redrawn | None = None

    def options(self, epochs: int) -> dict[str, Any]:
        """Return what a training of so many epochs takes beside the images."""
        if self.redrawn is None:
            return {}
        redrawn = replace(self.redrawn, until=self.redrawn.epochs / epochs)
        return {"transform": redrawn, "visible": BernoulliUnits(soft=True)}


def load(
    set: str = "digits",  # noqa: A002  (the word of the configuration file)
    binarize: str = "fixed",
    hold_out: bool = False,
    mirror: bool = False,
    shift: bool = False,
    warp_copies: int = 0,
    warp_share: float | None = None,
    warp_epochs: int | None = None,
    *,
    directory: str | None,
    seed: int,
    alone: bool = False,
) -> Images:
    """Return the images that the section ``images`` of a configuration describes.

    Parameters
    ----------
    set : {"digits", "mnist", "caltech"}
    binarize : {"fixed", "epoch"}
        Training images that are always the same binary ones, or drawn from the grey ones anew in
        each epoch.  Test images are always the same.
    hold_out : bool
        Keep validation images apart; by default they are part of the training images.
    mirror : bool
        Train on each image and on its mirror image.
    shift : bool
        Train on each image and on those by one pixel to each side; border pixels are repeated.
    warp_copies : int
        How many warped copies of each grey image to make.
    warp_share : float, optional
        With which probability an image of an epoch is one of its copies.
    warp_epochs : int, optional
        For how many epochs; then images are shown as they are.
    directory : str or None
        Where the files lie.
    seed : int
        Of the draws of each epoch, and of the warps.
    alone : bool
        Make no warped copies: nobody is going to train on them.
    """
    checks.choice("images.set", set, SETS)
    checks.choice("images.binarize", binarize, ("fixed", "epoch"))
    more = {"mirror": mirror, "shift": shift}
    for name, value in {"hold_out": hold_out, **more}.items():
        if not isinstance(value, bool):
            raise TypeError(f"images.{name} must be true or false, got {value!r}")
    for name, wanted in more.items():
        if wanted and binarize == "epoch":
            raise ValueError(f"images.{name} has no effect beside binarize = 'epoch'")
    warps = (warp_copies, warp_share, warp_epochs)
    if binarize == "fixed" and warps != NO_WARPS:
        raise ValueError("images.warp_copies, _share and _epochs need binarize = 'epoch'")
    if set == "caltech" and binarize == "epoch":
        raise ValueError("images.binarize = 'epoch' needs grey images; the silhouettes are binary")
    data: datasets.ImageData
    if set == "digits":
        data = datasets.load_digits(binarize="sample", rng=FIXED)
    elif set == "mnist":
        data = load_binarized_mnist(directory)
    else:
        data = load_caltech101_silhouettes(directory)
    if binarize == "epoch":
        grey = _grey(set, directory)
        kept = len(grey.train) - (HELD_OUT[set] if hold_out else 0)
        train = np.asarray(grey.train[:kept], np.float32)
        redrawn = _warped(train, grey.image_shape, *warps, seed, alone)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
        fixed = datasets.binarize(train, "sample", rng=rng)
        valid = datasets.binarize(grey.train[kept:], "sample", rng=FIXED) if hold_out else None
        return Images(train, fixed, data.test, valid, data.image_shape, redrawn)
    if isinstance(data, SplitImages) and not hold_out:
        data = data.merge_valid()
    rows, valid = data.train, getattr(data, "valid", None)
    if hold_out and valid is None:
        rows, valid = np.split(rows, [len(rows) - HELD_OUT[set]])
    return Images(
        _more_of(rows, data.image_shape, **more), rows, data.test, valid, data.image_shape
    )


def _warped(
    images: NDArray[Any],
    shape: tuple[int, int],
    copies: int,
    share: float | None,
    epochs: int | None,
    seed: int,
    alone: bool,
) -> Redrawn:
    """Return what draws the images, and when warped copies stand in for them, if that is wanted.

    50,000 images and nine copies take most of a minute: not to rehearse a cell, or to draw its
    figures.
    """
    if checks.count("images.warp_copies", copies, least=0) == 0:
        if share is not None or epochs is not None:
            raise ValueError("images.warp_share and warp_epochs have no effect without warp_copies")
    elif share is None or epochs is None:
        raise ValueError("images.warp_copies needs warp_share and warp_epochs")
    else:
        checks.number("images.warp_share", share, least=0.0, most=1.0)
        checks.count("images.warp_epochs", epochs)
    if alone or share is None or epochs is None:
        return Redrawn(np.empty((0, *images.shape), np.uint8), {})
    whole = np.rint(images * BYTE).astype(np.uint8)  # a quarter of the memory
    made = warp(whole.reshape(-1, *shape), copies, rng=seed)
    places = {_hash(image): place for place, image in enumerate(images)}
    return Redrawn(made.reshape(copies, *images.shape), places, share, epochs)


def _more_of(
    rows: NDArray[Any], shape: tuple[int, int], *, mirror: bool, shift: bool
) -> NDArray[Any]:
    """Return the images and, where they are wanted, their mirror images, and all of these moved."""
    found = [rows.reshape(-1, *shape)]
    if mirror:
        found.append(found[0][:, :, ::-1])
    if shift:
        framed = [np.pad(each, ((0, 0), (1, 1), (1, 1)), mode="edge") for each in found]
        height, width = shape
        found += [
            each[:, i : i + height, j : j + width]
            for each in framed
            for i, j in ((0, 1), (1, 0), (1, 2), (2, 1))
        ]
    return rows if len(found) == 1 else np.concatenate(found).reshape(-1, rows.shape[1])


def _grey(name: str, directory: str | None) -> datasets.ImageData:
    if name == "digits":
        return datasets.load_digits()
    try:
        return datasets.load_mnist(directory)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{error}; images.binarize = 'fixed' needs none of them") from None
