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
from trug_fast._common.frames import Names
from trug_fast._common.lazy import need

from .alignments import is_fasta, load_fasta
from .tables import TABLES, column_of, kept_columns, read_table

PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm"}
LARGEST = 256 * 256  # pixels of an image that are taken without a size being asked for
FULL = 65535  # of grey levels of 16 bits
COLOURS = (3, 4)  # numbers of a pixel
SAMPLES = "samples"  # what the data in a file of HDF5 are often called

Array = npt.NDArray[Any]
Arrays = dict[str, Callable[[], Array]]
Columns = str | int | Sequence[str | int]


@dataclass(frozen=True, eq=False)
class FileData:
    """What a file or folder of one's own holds; made by `read`.

    Attributes
    ----------
    path : Path
    columns : tuple of str, or None
        Names of the columns, if they have any.
    letters : str, or None
        Of aligned sequences the letters of the states 0, 1, ...
    left_out : str
        Which of their letters became no states, in words.
    """

    path: Path
    columns: Names
    letters: str | None
    left_out: str
    _arrays: Mapping[str, Callable[[], Array]] = field(repr=False)
    _key: str | None = field(repr=False)
    _size: tuple[int, int] | None = field(repr=False)
    _skip_missing: bool = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its arrays; one, called "", if they have none."""
        return tuple(self._arrays)

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width of a row, or frame, that is known to be an image; else None."""
        if self._size is not None or len(self._chosen) != 1:
            return self._size
        shape = self._array(self._chosen[0]).shape
        return (shape[-2], shape[-1]) if len(shape) > 2 else None

    def rows(self) -> Array:
        """Return rows for an RBM, shape (rows, columns); images pixel row by pixel row."""
        return self._complete(self._matrix())

    def regression(self, target: str | int) -> tuple[Array, Array]:
        """Return inputs and targets for a regression, shapes (rows, inputs) and (rows,).

        Parameters
        ----------
        target : str or int
            The column to be predicted, by name or by index, from 0 or from the end (-1); of a .npz
            file also the name of the array that holds it.
        """
        if target in self.names and target not in ("", self._key):
            both, aims = self._matrix(str(target)), self._array(str(target))
            if aims.size != len(both):
                raise ValueError(
                    f"{self.path} must hold a target for each of its {len(both)} rows, {target} "
                    f"has shape {aims.shape}"
                )
            both, column = np.column_stack([both, aims.reshape(-1)]), both.shape[1]
        else:
            both = self._matrix()
            column = column_of(self.path, both.shape[1], self.columns, "target", target)
        if both.shape[1] == 1:
            raise ValueError(f"{self.path} must hold columns beside the target, it has one in all")
        both = self._complete(both)
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
        """
        if self._skip_missing:
            raise ValueError(
                "skip_missing=True has no effect on sequences: without a frame in between, two "
                "would seem to follow each other; fill its values in"
            )
        found, width = self._parts(), None
        for name, part in found.items():
            width = width or part.shape[-1]
            if part.ndim != 2 or part.size == 0 or part.shape[1] != width:
                hint = f" in {name}; read another array with key='...'" if name else ""
                raise ValueError(
                    f"{self.path} must hold sequences with frames of as many columns each, "
                    f"{width} as the first one, got shape {part.shape}{hint}"
                )
            self._require_size(part)
            self._require_finite(part, f"sequence {name}, frame" if name else "frame")
        if length is None:
            return list(found.values())
        frames = checks.count("length", length, least=2)
        cut = [p[k : k + frames] for p in found.values() for k in range(0, len(p), frames)]
        return [each for each in cut if len(each) > 1]

    def _parts(self) -> dict[str, Array]:
        parts = {name: self._array(name) for name in self._chosen}
        if len(parts) == 1:
            (array,) = parts.values()
            if self.path.is_dir() and array.ndim == 3:  # images: the frames of a video
                array = array[None]
            if array.ndim == 4:
                array = array.reshape(*array.shape[:2], -1)
            parts = {"": array} if array.ndim < 3 else {str(k): x for k, x in enumerate(array)}
        return {name: x[:, None] if x.ndim == 1 else x for name, x in parts.items()}

    @property
    def _chosen(self) -> tuple[str, ...]:
        return self.names if self._key is None else (self._key,)

    def _array(self, name: str) -> Array:
        words = f"{name} in {self.path}" if name else str(self.path)
        return checks.numbers(words, self._arrays[name]())

    def _matrix(self, apart: str | None = None) -> Array:
        """Return the array that is asked for, if there is no choice left, images as rows."""
        names = [name for name in self._chosen if name != apart]
        if len(names) != 1:
            advice = f"holds the arrays {', '.join(names)}; choose one with key={names[0]!r}"
            if self.path.is_dir():
                advice = "is a folder of sequences; name one of its files"
            raise ValueError(f"{self.path} {advice}")
        array = self._array(names[0])
        if array.ndim == 4 and array.shape[-1] in COLOURS:
            raise ValueError(
                f"{self.path} holds images with {array.shape[-1]} colours, shape {array.shape}; "
                "store grey ones, e.g. X.mean(axis=-1)"
            )
        array = array.reshape(len(array), -1) if array.ndim == 3 else array
        if array.ndim != 2:
            raise ValueError(
                f"{self.path} must hold rows and columns, or images, got shape {array.shape}"
            )
        self._require_size(array)
        return array

    def _complete(self, rows: Array) -> Array:
        """Leave out rows that lack values, if that is asked for; refuse them else."""
        if self._skip_missing:
            rows = rows[~np.isnan(rows).any(axis=1)]
        if rows.size == 0:
            raise ValueError(f"{self.path} holds no rows with all values")
        self._require_finite(rows, "row")
        return rows

    def _require_size(self, array: Array) -> None:
        """Refuse a size of images that rows do not have."""
        if self._size is not None and array.shape[1] != math.prod(self._size):
            raise ValueError(
                f"{self.path} has {array.shape[1]} columns, size={'x'.join(map(str, self._size))} "
                f"needs {math.prod(self._size)}; only images of a folder are scaled"
            )

    def _require_finite(self, array: Array, what: str) -> None:
        if array.dtype.kind != "f" or np.isfinite(array).all():
            return
        row, column = (int(k) for k in np.argwhere(~np.isfinite(array))[0])
        name = self.columns[column] if self.columns and column < len(self.columns) else column
        hint = " or leave such rows out with skip_missing=True" if what == "row" else ""
        wrong, cure = "no value", f"fill it in{hint}"
        if not np.isnan(array[row, column]):
            wrong, cure = "an infinite value", "correct it or leave it out"
        raise ValueError(
            f"{self.path}: {what} {row} (from 0) has {wrong} in column {name!r}; {cure}"
        )


def read(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    size: int | tuple[int, int] | None = None,
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
    FileNotFoundError, TypeError, ValueError
        If there is no such file, or it cannot be read; the message says what to do.
    ImportError
        If a library that is needed is not installed: Pillow for images, h5py for HDF5.

    Examples
    --------
    >>> import trug_fast as tf
    >>> data = tf.datasets.read("houses.csv", drop="town")  # doctest: +SKIP
    >>> X, y = data.regression("price")  # doctest: +SKIP
    >>> images = tf.datasets.read("faces", size=28)  # doctest: +SKIP
    >>> X = tf.datasets.binarize(images.rows())  # doctest: +SKIP
    """
    place, shape = Path(path), None
    if size is not None:
        shape = checks.image_shape((size, size) if isinstance(size, int | np.integer) else size)
    dropped = [drop] if isinstance(drop, str | int) else list(drop)
    checks.flag("skip_missing", skip_missing)
    if not place.exists():
        raise FileNotFoundError(f"no such file or folder: {place}")
    if archives.is_stream(place):
        raise ValueError(
            f"{place} is a pipe or a device: write what it gives to a file, and name that"
        )
    letters, left_out, columns = None, "", None
    if place.is_dir():
        columns, arrays = _folder(place, dropped, shape)
    elif is_fasta(place):
        family = load_fasta(place, alphabet)
        letters, left_out = family.letters, family.left_out
        arrays = {"": partial(_without, place, lambda: family.X, dropped)}
    else:
        columns, arrays = _file(place, dropped)
    if alphabet is not None and letters is None:
        raise ValueError(f"alphabet={alphabet!r} has no effect on {place}, it holds no letters")
    arrays = {name: cache(each) for name, each in arrays.items()}
    if key is not None and (key not in arrays or key == ""):
        known = f"holds {', '.join(arrays)}" if "" not in arrays else "is no .npz or .h5 file"
        raise ValueError(f"{place} has no array key={key!r}: it {known}")
    if key is None and place.suffix.lower() in hdf5.SUFFIXES and SAMPLES in arrays:
        key = SAMPLES
    return FileData(place, columns, letters, left_out, arrays, key, shape, skip_missing)


def _folder(
    place: Path, drop: Sequence[str | int], size: tuple[int, int] | None
) -> tuple[Names, Arrays]:
    """Return names of columns, and what reads the images or the sequences of a folder."""
    paths = sorted(
        path
        for path in place.rglob("*")
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(place).parts)
    )
    if not paths:
        raise ValueError(f"{place} holds no files")
    if {path.suffix.lower() for path in paths} <= TABLES | {".npy"}:
        found = [_file(path, drop) for path in paths]
        names = [str(path.relative_to(place).with_suffix("")) for path in paths]
        if len({columns for columns, _ in found}) > 1 or len(set(names)) < len(names):
            raise ValueError(f"{place} must hold files with the same columns, each of its own name")
        return found[0][0], {n: each[""] for n, (_, each) in zip(names, found, strict=True)}
    if others := [path for path in paths if path.suffix.lower() not in PICTURES]:
        raise ValueError(
            f"{others[0]} is no image; leave nothing but images in the folder, or nothing but "
            "sequences (.npy, .csv)"
        )
    if drop:
        raise ValueError(f"{place}: drop has no effect on images")
    pixels = _pictures(paths, size)
    return None, {"": lambda: pixels}


def _pictures(paths: list[Path], size: tuple[int, int] | None) -> Array:
    """Return images as grey levels from 0 to 1, shape (n, height, width)."""
    library = need("PIL.Image", "reading images needs Pillow", "images")
    found: list[Array] = []
    for path in paths:
        try:
            with library.open(path) as image:
                grey = _grey(library, image, size)
        except (OSError, SyntaxError, ValueError, library.DecompressionBombError) as error:
            raise ValueError(
                f"{path} is no image or is damaged; leave nothing but images in the folder"
            ) from error
        found.append(grey)
        if grey.shape != found[0].shape or (size is None and grey.size > LARGEST):
            words, first = ("x".join(map(str, each.shape)) for each in (grey, found[0]))
            raise ValueError(
                f"{path} has {words} pixels, a visible unit each, and {paths[0]} has {first}; "
                "scale them all with size=28 or another"
            )
    return np.stack(found)


def _grey(library: Any, image: Any, size: tuple[int, int] | None) -> Array:
    """Return grey levels of an image as it is seen: turned upright, on white where transparent."""
    image = need("PIL.ImageOps", "reading images needs Pillow", "images").exif_transpose(image)
    if image.mode.startswith("I"):  # 16 bits, which a conversion would cut
        image = library.fromarray(np.asarray(image, np.float32) * (255 / FULL))
    elif image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        seen = image.convert("RGBA")
        image = library.alpha_composite(library.new("RGBA", seen.size, "white"), seen).convert("L")
    elif image.mode != "F":
        image = image.convert("L")
    if size is not None and image.size != size[::-1]:
        image = image.resize(size[::-1], library.Resampling.BOX)
    return np.clip(np.asarray(image, np.float32) / 255, 0.0, 1.0)


def _file(place: Path, drop: Sequence[str | int]) -> tuple[Names, Arrays]:
    kind = place.suffix.lower()
    if kind in TABLES:
        values, columns = read_table(place, drop)
        return columns, {"": lambda: values}
    if kind == ".npy":
        arrays: Arrays = {"": partial(_numpys, place)}
    elif kind == ".npz":
        arrays = {name: partial(_numpys, place, name) for name in archives.names(place)}
    elif kind in hdf5.SUFFIXES:
        arrays = {n: partial(hdf5.array, place, n) for n in hdf5.numeric_names(place)}
    else:
        raise ValueError(
            f"{place}: files of kind {kind or 'unknown'} are not read; store the data as .npy, "
            ".npz or .csv, or put images into a folder of their own and name that"
        )
    if not arrays:
        raise ValueError(f"{place} holds no arrays")
    return None, {name: partial(_without, place, each, drop) for name, each in arrays.items()}


def _without(place: Path, read: Callable[[], Array], drop: Sequence[str | int]) -> Array:
    array = read()
    if not drop:
        return array
    if array.ndim != 2:
        raise ValueError(f"{place}: drop needs rows and columns, got shape {array.shape}")
    return np.ascontiguousarray(array[:, kept_columns(place, array.shape[1], None, drop)])


def _numpys(place: Path, name: str | None = None) -> Array:
    try:
        if name is None:  # mapped first, which refuses arrays that claim more than their file holds
            return np.array(np.lib.format.open_memmap(place, mode="r"))
        most = max(archives.ROOM, archives.PACKED * place.stat().st_size)
        return archives.read(place, [name], most)[name]
    except (ValueError, EOFError) as error:
        words = f"{name} in {place}" if name else str(place)
        raise ValueError(
            f"{words} is damaged, or holds no numbers, as X.astype(float) has them: {error}"
        ) from error
