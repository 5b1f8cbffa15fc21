"""Sets of images with a part for validation: MNIST as it was binarized once and for all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trug_fast.datasets import ImageData
from trug_fast.datasets.downloads import Directory, Folder

from .stored import read_npz

BINARIZED_MNIST_ROWS = {"train": 50_000, "valid": 10_000, "test": 10_000}


@dataclass(frozen=True, eq=False)
class SplitImages(ImageData):
    """A data set of images of which its authors chose some for validation.

    Attributes
    ----------
    valid : array of shape (n, height * width), or None
    valid_labels : array of int64, shape (n,), or None
    """

    valid: npt.NDArray[Any] | None = None
    valid_labels: npt.NDArray[np.int64] | None = None

    def merge_valid(self) -> SplitImages:
        """Give the same data with the validation images put after the training images.

        Many published results are of models trained on both.
        """
        if self.valid is None:
            return self
        labels = self.train_labels
        if labels is not None and self.valid_labels is not None:
            labels = np.concatenate([labels, self.valid_labels])
        return replace(
            self,
            train=np.concatenate([self.train, self.valid]),
            train_labels=labels,
            valid=None,
            valid_labels=None,
        )


def load_binarized_mnist(directory: Directory = None) -> SplitImages:
    """MNIST as H. Larochelle binarized it, once and for all, for comparing densities.

    Each pixel was drawn once with the probability given by its grey level; there are no labels.

    Parameters
    ----------
    directory : path, optional
        The folder that holds ``binarized_mnist_fixed.npz`` with the arrays train, valid and test,
        or the original texts ``binarized_mnist_train.amat``, ``..._valid.amat`` and
        ``..._test.amat``, or has a folder ``mnist_binarized`` or ``binarized_mnist`` with them.
        By default the environment variable ``TRUG_FAST_DATA`` names it.

    Returns
    -------
    SplitImages
        50,000 training, 10,000 validation and 10,000 test images.

    Examples
    --------
    >>> mnist = load_binarized_mnist("data").merge_valid()  # doctest: +SKIP
    """
    home = (
        "Hugo Larochelle's binarized MNIST page at the University of Toronto "
        "(python -m reproduction fetch binarized-mnist)"
    )
    folder = Folder(directory, ["mnist_binarized", "binarized_mnist"], home)
    texts = [f"binarized_mnist_{part}.amat" for part in BINARIZED_MNIST_ROWS]
    paths = [folder.need("binarized_mnist_fixed.npz", *texts)]
    if paths[0].suffix == ".npz":
        numbers = sum(BINARIZED_MNIST_ROWS.values()) * 784
        found, paths = read_npz(paths[0], [*BINARIZED_MNIST_ROWS], numbers), paths * 3
    else:  # digits 0 and 1, separated by blanks, one image a line
        paths = [folder.need(text) for text in texts]
        digits = [path.read_bytes().translate(None, b" \t\r\n") for path in paths]
        found = [np.frombuffer(each, np.uint8) - ord("0") for each in digits]
    arrays: dict[str, Any] = {}
    for path, array, (part, rows) in zip(paths, found, BINARIZED_MNIST_ROWS.items(), strict=True):
        if array.shape not in ((rows, 784), (rows * 784,)):
            raise ValueError(f"{path} must hold {rows} {part} images, got shape {array.shape}")
        arrays[part] = binary_rows(array.reshape(rows, 784), path)
    return SplitImages("binarized MNIST", (28, 28), **arrays)


def binary_rows(array: npt.NDArray[Any], path: Path) -> npt.NDArray[np.uint8]:
    """Return rows of 784 pixels, 0 or 1, that a file holds; refuse others."""
    if array.ndim != 2 or array.shape[1] != 784:
        raise ValueError(f"{path} must hold rows of 784 pixels, got shape {array.shape}")
    if not ((array == 0) | (array == 1)).all():
        raise ValueError(f"{path} must hold pixels 0 and 1 only")
    return array.astype(np.uint8, order="C")
