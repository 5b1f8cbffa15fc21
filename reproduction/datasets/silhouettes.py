"""The silhouettes of Table 1."""

from __future__ import annotations

import numpy as np

from trug_fast.datasets.downloads import Directory, Folder

from .binarized import SplitImages, binary_rows
from .stored import read_mat


def load_caltech101_silhouettes(
    directory: Directory = None, *, invert: bool = False
) -> SplitImages:
    """CalTech 101 Silhouettes of 28x28 pixels, by B. Marlin, with the authors' split.

    Parameters
    ----------
    directory : path, optional
        The folder that holds ``caltech101_silhouettes_28_split1.mat`` or has a folder
        ``caltech101_silhouettes`` with it. By default the environment variable
        ``TRUG_FAST_DATA`` names it.
    invert : bool
        By default pixels are as in the file: 1 is the background and 0 the object. True gives
        the opposite. Rows are turned upright either way; the file has them column by column.

    Returns
    -------
    SplitImages
        4,100 training, 2,264 validation and 2,307 test images with labels 1 to 101.

    Raises
    ------
    FileNotFoundError
        If the file is not there; the message says where it can be got.
    TypeError, ValueError
        If `directory` is not a path or the file is damaged.

    Examples
    --------
    >>> silhouettes = load_caltech101_silhouettes("data", invert=True)  # doctest: +SKIP
    """
    home = (
        "Benjamin Marlin's page of the CalTech 101 Silhouettes "
        "(python -m reproduction fetch caltech)"
    )
    folder = Folder(directory, ["caltech101_silhouettes"], home)
    path = folder.need("caltech101_silhouettes_28_split1.mat")
    parts = "train", "val", "test"
    names = [f"{part}_{kind}" for part in parts for kind in ("data", "labels")]
    stored = read_mat(path, names, numbers=8671 * 785)
    images, labels = [], []
    for columns, label in zip(stored[::2], stored[1::2], strict=True):
        pixels = binary_rows(columns, path)
        if label.size != len(pixels):
            raise ValueError(
                f"{path} must hold a label for each of its {len(pixels)} images, got {label.size}"
            )
        upright = pixels.reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784)
        images.append(1 - upright if invert else upright)
        labels.append(label.ravel().astype(np.int64))
    return SplitImages(
        "CalTech 101 Silhouettes",
        (28, 28),
        train=images[0],
        valid=images[1],
        test=images[2],
        train_labels=labels[0],
        valid_labels=labels[1],
        test_labels=labels[2],
    )
