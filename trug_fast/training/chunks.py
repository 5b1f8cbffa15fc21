"""Training data that are not one array in memory: chunks of larger ones, and sparse matrices.

Tested in tests/training/test_chunks.py.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import array_identity

from .gathering import TOGETHER, ColumnMeans, Portion, Rows, in_parts, rows_together, spaced
from .learner import Learner
from .options import settle

BYTES = 2**27  # of a chunk, if nothing else is said; one more may be read meanwhile
LOOKED = 1000  # rows that are looked at again, to choose rates and for scores

Check = Callable[[str, Any, int], NDArray[Any]]  # name, matrix and columns to a checked matrix


@dataclass(frozen=True, eq=False)
class Chunks:
    """Training data of which a chunk of rows is in memory at a time, for data larger than that.

    Chunks come in their order in each epoch, and rows are shuffled within each.  So rows of all
    kinds should lie beside each other: shuffle them once when they are written.  A model does not
    depend on where chunks of the same rows come from; one chunk is trained on as an array is.

    Parameters
    ----------
    source : array_like or callable
        Anything with shape, dtype and slices of rows that NumPy makes arrays of, such as an HDF5
        or Zarr array, or one that is mapped to memory.  Or a function that returns an iterator
        over matrices: it is called for each pass over the data, and must yield the same rows.
    shape : (int, int), optional
        Rows and columns of all that a function yields; that of an array is its own.
    rows : int, optional
        In a chunk of an array; by default as many thousands as fit into 128 MiB.  The chunks of a
        function are what it yields.

    Raises
    ------
    TypeError, ValueError
        If something is missing, has no effect, or is of another kind.

    Examples
    --------
    >>> import trug_fast as tf
    >>> digits = tf.datasets.load_digits(binarize="threshold").train
    >>> def halves():
    ...     yield digits[:700]
    ...     yield digits[700:]
    >>> chunks = tf.training.Chunks(halves, shape=(1437, 64))
    >>> chunks
    Chunks(shape=(1437, 64), rows=None)
    >>> tf.train_rbm(chunks, n_hidden=20, epochs=2, rng=0).model
    TruGRBM(n_visible=64, n_hidden=20, visible='bernoulli', dtype=float32)
    """

    source: Any = field(repr=False)
    shape: tuple[int, int] | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        if self.rows is not None:
            settle(self, rows=checks.count("rows", self.rows))
        if callable(self.source):
            if self.rows is not None:
                raise ValueError("rows has no effect on a function, whose chunks are as they come")
            if not isinstance(self.shape, tuple | list) or len(self.shape) != 2:
                raise TypeError(
                    f"shape must be a pair (rows, columns) beside a function, got {self.shape!r}"
                )
            settle(self, shape=tuple(checks.count("shape", size) for size in self.shape))
            return
        if not has_rows(self.source):
            raise TypeError(
                "source must be a function, or have shape, dtype and slices of rows, got "
                f"{type(self.source).__name__}"
            )
        shape = tuple(int(size) for size in self.source.shape)
        if self.shape is not None and tuple(self.shape) != shape:
            raise ValueError(f"shape must be that of the array, {shape}, got {self.shape!r}")
        if len(shape) != 2 or 0 in shape:
            raise ValueError(
                f"source must be a matrix (rows, columns) with some, got shape {shape}"
            )
        thousands = BYTES // (1000 * shape[1] * self.source.dtype.itemsize)
        each = 1000 * thousands or max(1, BYTES // (shape[1] * self.source.dtype.itemsize))
        settle(self, shape=shape, rows=self.rows or each)

    def __iter__(self) -> Iterator[Any]:
        if self.rows is None:
            yield from self.source()
            return
        for start in range(0, self.source.shape[0], self.rows):
            yield self.source[start : start + self.rows]


def has_rows(value: object) -> bool:
    """Tell whether an array that may be larger than memory gives slices of its rows."""
    has = all(hasattr(value, name) for name in ("shape", "dtype", "__getitem__"))
    return has and isinstance(value.dtype, np.dtype)  # type: ignore[attr-defined]


def as_rows(
    name: str, value: Any, check: Callable[..., NDArray[Any]], columns: int | None = None
) -> NDArray[Any] | RowSource:
    """Return training data, checked: an array if they are one, or small enough to be made one."""
    if hasattr(value, "tocsr") and hasattr(value, "toarray"):
        return _of_width(SparseRows(name, value, check), columns)
    if isinstance(value, Chunks):
        return _of_width(ChunkedRows(name, value, check), columns)
    if has_rows(value) and not isinstance(value, np.ndarray | np.generic) and len(value.shape) == 2:
        if value.shape[0] * value.shape[1] * value.dtype.itemsize > BYTES:
            return _of_width(ChunkedRows(name, Chunks(value), check), columns)
        value = value[: value.shape[0]]
    return rows_together(check(name, value, columns))


def _of_width(rows: RowSource, columns: int | None) -> RowSource:
    """Refuse another number of columns."""
    if columns is not None and rows.width != columns:
        raise ValueError(f"{rows.name} must have {columns} columns, got {rows.width}")
    return rows


def data_identity(data: NDArray[Any] | RowSource | None) -> str | None:
    """Return shape, type and a hash of data in a few words, so that other data is noticed."""
    if data is None:
        return None
    return data.identity() if isinstance(data, RowSource) else array_identity(data)


class RowSource(ABC):
    """Checked rows that are not in memory as they are: what training knows of them.

    Parameters
    ----------
    name : str
        Of the argument.
    shape : (int, int)
    check : callable
        Returns a checked matrix, given a name for it, some rows, and their width; it may have
        another number of columns, which is that of ``shape`` then.
    """

    def __init__(self, name: str, shape: tuple[int, int], check: Check) -> None:
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"{name} must be a matrix that is not empty, got shape {shape}")
        self.name, self.shape, self._check = name, shape, check
        self.width = shape[1]  # as given
        self.lengths: list[int] = []  # of what `each` yields
        rows = shape[0]
        sample = np.arange(0, rows, max(1, rows // LOOKED))[:LOOKED]
        kept: list[tuple[Rows, list[NDArray[Any]]]] = [(spaced(rows, LOOKED), []), (sample, [])]
        seen: ColumnMeans | None = None
        for part in self.each():
            seen = seen or ColumnMeans(part.shape[1])
            start = sum(self.lengths)
            self.lengths.append(len(part))
            seen.add(part)
            for wanted, found in kept:
                inside = wanted[(wanted >= start) & (wanted < start + len(part))]
                found.append(part[inside - start])
        assert seen is not None
        self.means, self.missing = seen.means(name), seen.missing
        self.shape = shape[0], self.means.size
        # Those by which rates are chosen, and those that are scored.
        self.spaced, self.sample = (np.concatenate(found) for _, found in kept)

    @abstractmethod
    def each(self) -> Iterator[NDArray[Any]]:
        """Yield all rows in order, some at a time, as checked matrices."""

    @abstractmethod
    def parts(self, learner: Learner, epoch: int, done: int) -> Iterator[Portion]:
        """Yield matrices and batches of their rows: an epoch, but for the batches that are done."""

    def n_batches(self, learner: Learner) -> int:
        """Return the number of batches of an epoch."""
        return learner.n_batches(self.shape[0])

    def head(self, count: int) -> NDArray[Any]:
        """Return the first rows, as many if there are."""
        found: list[NDArray[Any]] = []
        for part in self.each():
            found.append(part[: count - sum(map(len, found))])
            if sum(map(len, found)) == count:
                break
        return np.concatenate(found)

    def identity(self) -> str:
        """Return what makes them the same data in a few words, those of an array if they fit."""
        digest = hashlib.sha256()
        for part in self.each():
            digest.update(np.ascontiguousarray(part).data)
        return f"{self.shape} {self.sample.dtype} SHA-256 {digest.hexdigest()[:16]}"


class ChunkedRows(RowSource):
    """Chunks, each trained on after the other."""

    def __init__(self, name: str, chunks: Chunks, check: Check) -> None:
        self.chunks = chunks
        super().__init__(name, chunks.shape, check)  # type: ignore[arg-type]

    def each(self) -> Iterator[NDArray[Any]]:
        """Yield the chunks, which must be those of the first time."""
        rows, known = 0, list(self.lengths)
        for number, chunk in enumerate(self.chunks):
            part = rows_together(self._check(f"chunk {number} of {self.name}", chunk, self.width))
            rows += len(part)
            if rows > self.shape[0] or (known and [len(part)] != known[number : number + 1]):
                raise ValueError(
                    f"{self.name} must have {self._expected(known)}, got {len(part)} rows more in "
                    f"chunk {number}"
                )
            yield part
        if rows < self.shape[0]:
            raise ValueError(f"{self.name} must have {self._expected(known)}, got {rows} rows")

    def _expected(self, known: list[int]) -> str:
        words = f"chunks of {self.shape[0]} rows together"
        return f"{words}, each as it was the first time" if known else words

    def n_batches(self, learner: Learner) -> int:
        """Return the number of batches of an epoch, each of which is of one chunk."""
        return sum(learner.n_batches(length) for length in self.lengths)

    def parts(self, learner: Learner, epoch: int, done: int) -> Iterator[Portion]:
        start = 0
        for number, part in enumerate(self.each()):
            batches = list(learner.batches(len(part), epoch, number))
            if done < len(batches):
                yield Portion(part, batches[done:], slice(start, start + len(part)))
            done = max(0, done - len(batches))
            start += len(part)

    def identity(self) -> str:
        """Return what makes them the same data; where chunks end matters, if there are several."""
        words = super().identity()
        if len(self.lengths) == 1:
            return words
        ends = hashlib.sha256(np.array(self.lengths, np.int64).tobytes()).hexdigest()[:16]
        return f"{words}, {len(self.lengths)} chunks {ends}"


class SparseRows(RowSource):
    """Rows of a sparse matrix, trained on as if they were an array; some are dense at a time."""

    def __init__(self, name: str, matrix: Any, check: Check) -> None:
        self._matrix = matrix.tocsr()
        super().__init__(name, tuple(int(size) for size in matrix.shape), check)  # type: ignore[arg-type]

    def each(self) -> Iterator[NDArray[Any]]:
        size = max(1, BYTES // (self.shape[1] * self._matrix.dtype.itemsize))
        for start in range(0, self.shape[0], size):
            name = f"{self.name} from row {start}" if start else self.name
            dense = self._matrix[start : start + size].toarray()
            yield self._check(name, dense, self.width)

    def parts(self, learner: Learner, epoch: int, done: int) -> Iterator[Portion]:
        """Yield the rows of some batches in their order, and their numbers in it."""
        batches = islice(learner.batches(self.shape[0], epoch), done, None)
        size = self.shape[1] * self._matrix.dtype.itemsize
        for part in in_parts(batches, TOGETHER // (2 * size)):
            ends = np.cumsum([rows.size for rows in part])
            rows = np.concatenate(part)
            dense = checks.numbers(self.name, self._matrix[rows].toarray())
            if self.width != self.shape[1]:
                dense = self._check(self.name, dense, self.width)
            yield Portion(dense, np.split(np.arange(ends[-1]), ends[:-1]), rows)
