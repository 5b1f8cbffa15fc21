"""Published sets of images and of a regression: shipped, or read from authors' files.

A missing file gives a FileNotFoundError, a damaged one a ValueError; both name it.

Tested in tests/datasets/test_images.py and test_binary.py, test_regression.py, test_damage.py.
"""

import gzip
import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, checked_rng

from .downloads import Directory, Folder

MOST_IMAGES = 240_000  # in a file: of the sets that come in the format of MNIST, EMNIST's digits

Method = Literal["threshold", "sample"]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ImageData:
    """A data set of images, one a row, pixels row by row.

    Attributes
    ----------
    name : str
        What the data set is called.
    image_shape : (int, int)
        Height and width: ``train[0].reshape(image_shape)`` is upright.
    train, test : arrays of shape (n, height * width)
        uint8 of 0 and 1 if binary, else float32 from 0 to 1.
    train_labels, test_labels : arrays of int64, shape (n,), or None
        The class of each image, where known.
    """

    name: str
    image_shape: tuple[int, int]
    train: npt.NDArray[Any]
    test: npt.NDArray[Any]
    train_labels: npt.NDArray[np.int64] | None = None
    test_labels: npt.NDArray[np.int64] | None = None


class RegressionSplit(NamedTuple):
    """Training and test part of one split."""

    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats


@dataclass(frozen=True, eq=False)
class RegressionData:
    """A data set for regression, with its splits.

    Attributes
    ----------
    name : str
        What the data set is called.
    X : array of float64, shape (n, inputs)
    y : array of float64, shape (n,)
    train_rows, test_rows : lists of int64 arrays
        The rows of each split's parts.
    """

    name: str
    X: Floats
    y: Floats
    train_rows: list[Rows]
    test_rows: list[Rows]

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.train_rows)

    def split(self, index: int) -> RegressionSplit:
        """Return copies of the training and test rows of one split.

        Raises
        ------
        IndexError
            If there is no such split.
        """
        if not 0 <= index < self.n_splits:
            raise IndexError(f"{self.name} has splits 0 to {self.n_splits - 1}, got {index}")
        train, test = self.train_rows[index], self.test_rows[index]
        return RegressionSplit(self.X[train], self.y[train], self.X[test], self.y[test])


def load_digits(*, binarize: Method | None = None, rng: RngLike = None) -> ImageData:
    """Handwritten digits of 8x8 pixels, shipped with the package.

    The 1,797 images of the test part of "Optical Recognition of Handwritten Digits" by
    E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0. The first 1,437 are the
    training images and the last 360 the test images, in the order of the source.

    Parameters
    ----------
    binarize : None, "threshold" or "sample"
        None gives intensities, the levels 0 to 16 divided by 16. The others are those of
        `trug_fast.datasets.binarize`; level 8, at the threshold, becomes 0.
    rng : None, int or numpy.random.Generator
        The source of the draws of "sample", for the training images first.

    Returns
    -------
    ImageData
        1,437 training and 360 test images with labels 0 to 9.

    Examples
    --------
    >>> digits = load_digits(binarize="threshold")
    >>> digits.train.shape, digits.train.dtype, digits.train_labels[:4].tolist()
    ((1437, 64), dtype('uint8'), [0, 1, 2, 3])
    """
    to_pixels = _grey_to_pixels(binarize, rng, max_value=16)
    with np.load(Path(__file__).with_name("digits.npz")) as file:
        images, labels = file["images"], file["labels"].astype(np.int64)
    grey = to_pixels(images[:1437]), to_pixels(images[1437:])
    return ImageData("digits", (8, 8), *grey, labels[:1437], labels[1437:])


def load_mnist(
    directory: Directory = None, *, binarize: Method | None = None, rng: RngLike = None
) -> ImageData:
    """MNIST digits of 28x28 pixels, from the four idx files of Y. LeCun, C. Cortes, C. Burges.

    Parameters
    ----------
    directory : path, optional
        The folder that holds ``train-images-idx3-ubyte.gz``, ``train-labels-idx1-ubyte.gz``,
        ``t10k-images-idx3-ubyte.gz`` and ``t10k-labels-idx1-ubyte.gz``, unpacked or not, or has a
        folder ``mnist`` or ``MNIST/raw`` with them. By default the environment variable
        ``TRUG_FAST_DATA`` names it.
    binarize : None, "threshold" or "sample"
        None gives intensities, the bytes divided by 255. The others are those of
        `trug_fast.datasets.binarize`.
    rng : None, int or numpy.random.Generator
        The source of the draws of "sample", for the training images first.

    Returns
    -------
    ImageData
        60,000 training and 10,000 test images with labels 0 to 9.

    Examples
    --------
    >>> mnist = load_mnist("data", binarize="sample", rng=0)  # doctest: +SKIP
    """
    to_pixels = _grey_to_pixels(binarize, rng, max_value=255)
    folder = Folder(directory, ["mnist", "MNIST/raw"], "Yann LeCun's MNIST page", "mnist")
    train, train_labels = _read_idx_pair(folder, "train")
    test, test_labels = _read_idx_pair(folder, "t10k")
    grey = to_pixels(train), to_pixels(test)
    return ImageData("MNIST", (28, 28), *grey, train_labels, test_labels)


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
    full = checks.above_zero("max_value", max_value)
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


def _read_idx_pair(
    folder: Folder, part: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    image_path, label_path = (
        # Some unpackers write a dot where the original names have a dash.
        folder.need(*(f"{part}-{kind}ubyte{end}" for kind in kinds for end in (".gz", "")))
        for kinds in (("images-idx3-", "images.idx3-"), ("labels-idx1-", "labels.idx1-"))
    )
    images = read_idx(image_path, (MOST_IMAGES, 28, 28))
    labels = read_idx(label_path, (MOST_IMAGES,))
    if len(images) != len(labels):
        raise ValueError(
            f"{label_path} must hold a label for each of the {len(images)} images of "
            f"{image_path}, got {len(labels)}"
        )
    return images.reshape(-1, 784), labels.astype(np.int64)


def _grey_to_pixels(
    method: Method | None, rng: RngLike, max_value: int
) -> Callable[[npt.NDArray[np.uint8]], npt.NDArray[Any]]:
    """Check how the images are wanted, before any file is read, and give the way there."""
    generator = np.random.default_rng(checked_rng(rng))
    if method is None:
        return lambda grey: np.divide(grey, max_value, dtype=np.float32)
    if method not in ("threshold", "sample"):
        raise ValueError(f"binarize must be None, 'threshold' or 'sample', got {method!r}")
    return partial(binarize, method=method, max_value=max_value, rng=generator)


def load_yacht() -> RegressionData:
    """Resistance of sailing yachts: 308 rows, 6 inputs, shipped with the package.

    Residuary resistance per weight of displacement, from position of the centre of buoyancy,
    prismatic coefficient, length-displacement, beam-draught and length-beam ratio, and Froude
    number. "Yacht Hydrodynamics" by J. Gerritsma, R. Onnink and A. Versluis, UCI Machine Learning
    Repository, CC BY 4.0. The 20 splits are those of J. M. Hernandez-Lobato and R. P. Adams (2015).

    Returns
    -------
    RegressionData

    Examples
    --------
    >>> yacht = load_yacht()
    >>> yacht.X.shape, yacht.split(0).y_test.shape
    ((308, 6), (31,))
    """
    table = np.loadtxt(Path(__file__).with_name("yacht.txt"))
    # NumPy's former generator, seeded with 1 once, as the script of the published tables does.
    generator = np.random.RandomState(1)
    orders = [generator.permutation(len(table)) for _ in range(20)]
    train = round(0.9 * len(table))
    rows = [order[:train] for order in orders], [order[train:] for order in orders]
    return RegressionData("yacht", table[:, :6].copy(), table[:, 6].copy(), *rows)


def read_idx(path: Path, shape: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Read an idx file of bytes, gzipped if its name ends in .gz.

    The format: two zero bytes, 8 for the type "unsigned byte", the number of dimensions; then
    each dimension as a big-endian 32-bit number; then the values, last dimension fastest.

    shape : the largest number of items, and the exact size of each.
    """
    # No more is unpacked than the file should hold: a small file can stand for any number of bytes.
    header, most = 4 + 4 * len(shape), 5 + 4 * len(shape) + math.prod(shape)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content = stream.read(most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
    sizes = tuple(int.from_bytes(content[k : k + 4], "big") for k in range(4, header, 4))
    if content[:4] != bytes((0, 0, 8, len(shape))) or len(content) != header + math.prod(sizes):
        raise ValueError(
            f"{path} is damaged, cut short, or no idx file of bytes in {len(shape)} dimensions: it "
            f"says {sizes}, of {len(content)} bytes"
        )
    if sizes[1:] != tuple(shape[1:]) or sizes[0] > shape[0]:
        raise ValueError(f"{path} must hold bytes of shape {tuple(shape)} at most, got {sizes}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(sizes)
