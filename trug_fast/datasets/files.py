"""One's own data: arrays (.npy, .npz, .h5), tables (.csv), alignments (.fasta), and folders."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trug_fast._common import archives, checks, hdf5

from .contents import contents, without
from .fasta import is_fasta, load_fasta
from .tables import column_of

COLOURS = (3, 4)  # numbers of a pixel
SAMPLES = "samples"  # what the data in a file of HDF5 are often called

Array = npt.NDArray[Any]
Columns = str | int | Sequence[str | int]
SizeLike = int | tuple[int, int]


@dataclass(frozen=True, eq=False)
class FileData:
    """What a file or folder of one's own holds; made by `read`.

    Attributes
    ----------
    path : Path
    names : tuple of str
        Of its arrays; one, called "", if they have no names.
    columns : tuple of str, or None
        Names of the columns, if they have any.
    letters : str, or None
        Of aligned sequences the letters of the states 0, 1, ...
    left_out : str
        Which of their letters became no states, in words.
    """

    path: Path
    names: tuple[str, ...]
    columns: tuple[str, ...] | None
    _arrays: Mapping[str, Callable[[], Array]] = field(repr=False)
    _key: str | None = field(repr=False)
    _size: tuple[int, int] | None = field(repr=False)
    _skip_missing: bool = field(repr=False)
    letters: str | None = None
    left_out: str = ""

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width of a row, or frame, that is known to be an image; else None."""
        if self._size is not None or len(self._chosen()) != 1:
            return self._size
        shape = self._array(self._chosen()[0]).shape
        return (shape[-2], shape[-1]) if len(shape) > 2 else None

    def rows(self) -> Array:
        """Return rows for an RBM, shape (rows, columns); images pixel row by pixel row.

        Raises
        ------
        TypeError, ValueError
            If it holds several arrays, no rows, or others than finite real numbers.
        """
        array = self._flat(self._only())
        if array.ndim != 2:
            raise ValueError(
                f"{self.path} must hold rows and columns, or images, got shape {array.shape}"
            )
        self._require_size(array)
        return self._complete(array)

    def regression(self, target: str | int) -> tuple[Array, Array]:
        """Return inputs and targets for a regression, shapes (rows, inputs) and (rows,).

        Parameters
        ----------
        target : str or int
            The column to be predicted, by name or by index, from 0 or from the end (-1); of a .npz
            file also the name of the array that holds it.

        Raises
        ------
        TypeError, ValueError
            If there is no such column, or the data are not finite real numbers.
        """
        named = target in self.names and target != "" and target != self._key
        inputs = self._flat(self._only(*([str(target)] if named else [])))
        if inputs.ndim != 2:
            raise ValueError(f"{self.path} must hold rows and columns, got shape {inputs.shape}")
        if named:
            aims = checks.numbers(f"{target} in {self.path}", self._arrays[str(target)]())
            if aims.size != len(inputs):
                raise ValueError(
                    f"{self.path} must hold a target for each of its {len(inputs)} rows, "
                    f"{target} has shape {aims.shape}"
                )
            both = self._complete(np.column_stack([inputs, aims.reshape(-1)]))
            column = inputs.shape[1]
        else:
            both = self._complete(inputs)
            column = column_of(self.path, both.shape[1], self.columns, "target", target)
        if both.shape[1] == 1:
            raise ValueError(f"{self.path} must hold columns beside the target, it has one in all")
        return np.delete(both, column, axis=1), both[:, column].copy()

    def sequences(self, length: int | None = None) -> list[Array]:
        """Return sequences for a temporal model, each of shape (frames, columns).

        They are the arrays of a .npz file or the files of a folder; of one array with three axes
        (four of videos) the first axis, and one with two axes is a single sequence.  A vector
        stands for one column; the images of a folder are the frames of one video.

        Parameters
        ----------
        length : int, optional
            Cut them into sequences of so many frames; a rest of two frames or more is one too.

        Raises
        ------
        TypeError, ValueError
            If the numbers of columns differ, or the data are not finite real numbers.
        """
        if self._skip_missing:
            raise ValueError(
                "skip_missing=True has no effect on sequences: without a frame in between, two "
                "would seem to follow each other; fill its values in"
            )
        found = self._parts()
        for name, part in found.items():
            if part.shape[1] != next(iter(found.values())).shape[1]:
                widths = f"{next(iter(found.values())).shape[1]} and {part.shape[1]}"
                raise ValueError(
                    f"{self.path} must hold sequences with as many columns each, got {widths} "
                    f"(in {name}){self._advice()}"
                )
            self._require_size(part)
            self._finite(part, f"sequence {name}, frame" if name else "frame")
        if length is None:
            return list(found.values())
        frames = checks.count("length", length, least=2)
        cut = [p[k : k + frames] for p in found.values() for k in range(0, len(p), frames)]
        return [each for each in cut if len(each) > 1]

    def _parts(self) -> dict[str, Array]:
        """Return sequences by their names."""
        if len(self._chosen()) > 1:
            parts = {name: self._array(name) for name in self._chosen()}
        else:
            array = self._array(self._chosen()[0])
            if self.path.is_dir() and array.ndim == 3:  # images: the frames of a video
                array = array[None]
            if array.ndim == 4:
                array = array.reshape(*array.shape[:2], -1)
            parts = {"": array} if array.ndim < 3 else {str(k): x for k, x in enumerate(array)}
        parts = {name: x[:, None] if x.ndim == 1 else x for name, x in parts.items()}
        for name, part in parts.items():
            if part.ndim != 2 or part.size == 0:
                raise ValueError(
                    f"{self.path} must hold sequences of frames, got shape {part.shape}"
                    + (f" in {name}{self._advice()}" if name else "")
                )
        return parts

    def _advice(self) -> str:
        return "; read another array with key='...'" if _has_keys(self.path) else ""

    def _chosen(self) -> tuple[str, ...]:
        return self.names if self._key is None else (self._key,)

    def _only(self, *apart: str) -> Array:
        """Return the array that is asked for, if there is no choice left."""
        names = [name for name in self._chosen() if name not in apart]
        if len(names) != 1:
            if self.path.is_dir():
                raise ValueError(f"{self.path} is a folder of sequences; name one of its files")
            raise ValueError(
                f"{self.path} holds the arrays {', '.join(names)}; choose one with "
                f"key={names[0]!r} or another"
            )
        return self._array(names[0])

    def _array(self, name: str) -> Array:
        array = self._arrays[name]()
        words = f"{name} in {self.path}" if name else str(self.path)
        if array.dtype.names:
            raise TypeError(
                f"{words} has named fields; store plain numbers, as structured_to_unstructured "
                "of numpy.lib.recfunctions makes of it"
            )
        return checks.numbers(words, array)

    def _flat(self, array: Array) -> Array:
        """Return images as rows."""
        if array.ndim == 4 and array.shape[-1] in COLOURS:
            raise ValueError(
                f"{self.path} holds images with {array.shape[-1]} colours, shape {array.shape}; "
                "store grey ones, e.g. X.mean(axis=-1)"
            )
        return array.reshape(len(array), -1) if array.ndim == 3 else array

    def _complete(self, rows: Array) -> Array:
        """Leave out rows that lack values, if that is asked for; refuse them else."""
        if self._skip_missing:
            rows = rows[~np.isnan(rows).any(axis=1)]
        if rows.size == 0:
            raise ValueError(f"{self.path} holds no rows with all values")
        self._finite(rows, "row")
        return rows

    def _require_size(self, array: Array) -> None:
        """Refuse a size of images that rows do not have."""
        if self._size is not None and array.shape[1] != math.prod(self._size):
            words = "x".join(map(str, self._size))
            raise ValueError(
                f"{self.path} has {array.shape[1]} columns, size={words} needs "
                f"{math.prod(self._size)}; only images of a folder are scaled"
            )

    def _finite(self, array: Array, what: str) -> None:
        if array.dtype.kind != "f" or np.isfinite(array).all():
            return
        row, column = (int(k) for k in np.argwhere(~np.isfinite(array))[0])
        name = self.columns[column] if self.columns and column < len(self.columns) else column
        if not np.isnan(array[row, column]):
            raise ValueError(
                f"{self.path}: {what} {row} (from 0) has an infinite value in column {name!r}; "
                "correct it or leave it out"
            )
        hint = " or leave such rows out with skip_missing=True" if what == "row" else ""
        raise ValueError(
            f"{self.path}: {what} {row} (from 0) has no value in column {name!r}; fill it in{hint}"
        )


def read(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    size: SizeLike | None = None,
    drop: Columns = (),
    skip_missing: bool = False,
    alphabet: str | None = None,
) -> FileData:
    """Read data of your own: an array, a table, an alignment, a folder of images or sequences.

    Parameters
    ----------
    path : path
        A ``.npy``, ``.npz`` or ``.h5`` file (HDF5); a ``.csv``, ``.tsv`` or ``.txt`` table, whose
        first line may name its columns; aligned sequences of letters (``.fasta``, ``.fa``,
        ``.a3m`` and others, also ``.gz``), as :func:`load_fasta` reads them; a folder (with its
        subfolders) of images, or of sequences, each a ``.npy`` file or a table.  Files are taken in
        the order of their names.
    key : str, optional
        The array to take of a ``.npz`` or ``.h5`` file, if it has several; of the latter
        "samples" by default, if it is there.
    size : int or (height, width), optional
        What images of a folder are scaled to, by averages over pixels.  Of arrays it says that each
        row is an image of this size.
    drop : str, int or sequence of them
        Columns to leave out, by name or by index.
    skip_missing : bool
        Leave out rows that lack a value.
    alphabet : "protein", "rna", "dna" or str, optional
        Of aligned sequences, as of :func:`load_fasta`; by default "protein".

    Returns
    -------
    FileData
        Its methods ``rows()``, ``regression(target)`` and ``sequences()`` return arrays for the
        three models.  Images of folders are grey, from 0 to 1; all else is as in the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If it cannot be read; the message says what to do.
    ImportError
        If images are to be read and Pillow is not installed, or HDF5 and h5py is not.

    Examples
    --------
    >>> import trug_fast as tf
    >>> data = tf.datasets.read("houses.csv", drop="town")  # doctest: +SKIP
    >>> X, y = data.regression("price")  # doctest: +SKIP
    >>> images = tf.datasets.read("faces", size=28)  # doctest: +SKIP
    >>> X = tf.datasets.binarize(images.rows())  # doctest: +SKIP
    """
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise TypeError(f"path must name a file or folder, got {path!r}")
    place, shape = Path(path), None if size is None else _checked_size(size)
    words = [drop] if isinstance(drop, str | int) else list(drop)
    missing = checks.flag("skip_missing", skip_missing)
    if not place.exists():
        raise FileNotFoundError(f"no such file or folder: {place}")
    if archives.is_stream(place):
        raise ValueError(
            f"{place} is a pipe or a device: write what it gives to a file, and name that"
        )
    letters = columns = None
    left_out = ""
    arrays: dict[str, Callable[[], Array]]
    if is_fasta(place) and place.is_file():
        family = load_fasta(place, alphabet)
        letters, left_out = family.letters, family.left_out
        arrays = {"": cache(partial(without, place, lambda: family.X, words))}
    elif alphabet is not None:
        raise ValueError(
            f"alphabet={alphabet!r} has no effect on {place}, which holds no letters (.fasta)"
        )
    else:
        columns, arrays = contents(place, shape, words)
    if key is not None and (not _has_keys(place) or key not in arrays):
        known = f"it holds {', '.join(arrays)}" if _has_keys(place) else "it is no .npz or .h5 file"
        raise ValueError(f"{place} has no array key={key!r}: {known}")
    if key is None and place.suffix.lower() in hdf5.SUFFIXES and SAMPLES in arrays:
        key = SAMPLES
    return FileData(place, tuple(arrays), columns, arrays, key, shape, missing, letters, left_out)


def _has_keys(place: Path) -> bool:
    """Tell whether the arrays of a file have names."""
    return place.suffix == ".npz" or place.suffix.lower() in hdf5.SUFFIXES


def _checked_size(size: SizeLike) -> tuple[int, int]:
    pair = (size, size) if isinstance(size, int | np.integer) else size
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"size must be a number of pixels or (height, width), got {size!r}")
    return checks.count("size", pair[0]), checks.count("size", pair[1])
