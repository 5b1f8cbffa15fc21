"""Sequences of frames: how they are checked, kept, and laid out for the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.units.kinds import Run
from trug_fast.units.layer import Layer

SequencesLike = ArrayLike | Sequence[ArrayLike]


class Batch(NamedTuple):
    """Frames of some sequences, time by time, the longest sequence first.

    See kernels/trbm/frames.py.
    """

    rows: NDArray[np.int64]  # of all frames, the place of each in Sequences.frames
    past: NDArray[np.int64]  # of all but first frames, the row in this batch of the one before
    starts: NDArray[np.int64]  # (times + 1,), the first row of each time

    @property
    def first(self) -> int:
        """Number of first frames, the rows with which a batch begins."""
        return int(self.starts[1])

    def lagged(self, n_lags: int) -> NDArray[np.int64]:
        """Return the rows of each frame, the one before it and so on; shape (rows, n_lags).

        First frames stand for those before them.
        """
        before = np.concatenate([np.arange(self.first), self.past])
        found = np.empty((before.size, n_lags), np.int64)
        found[:, 0] = np.arange(before.size)
        for lag in range(1, n_lags):
            found[:, lag] = before[found[:, lag - 1]]
        return found


class Sequences:
    """Frames of all sequences, one after the other, (all frames, n_visible).

    weights : what each sequence counts for in a training, 1 on average over the frames
    """

    def __init__(
        self,
        frames: NDArray[Any],
        lengths: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.frames, self.lengths, self.weights = frames, lengths, weights
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sequences and of visible units."""
        return self.lengths.size, int(self.frames.shape[1])

    def astype(self, dtype: Any) -> Sequences:
        """Return the same in another float type, so that kernels need no version for each."""
        frames = checks.cast("sequences", self.frames, dtype)
        return Sequences(np.ascontiguousarray(frames), self.lengths, self.weights)

    def frame_weights(self, left_out: int = 0) -> NDArray[np.float64] | None:
        """Return the weight of each frame, but for so many at the start of each sequence."""
        if self.weights is None:
            return None
        return np.repeat(self.weights, np.maximum(self.lengths - left_out, 0))

    def batch(self, chosen: NDArray[np.int64]) -> Batch:
        """Return where the frames of the chosen sequences go."""
        order = chosen[np.argsort(-self.lengths[chosen], kind="stable")]
        lengths = self.lengths[order]
        times = np.arange(int(lengths[0]))
        active = np.searchsorted(-lengths, -times, side="left")  # sequences longer than t
        starts = np.concatenate([[0], np.cumsum(active)])
        time = np.repeat(times, active)
        place = np.arange(starts[-1]) - starts[time]
        later = slice(active[0], None)
        return Batch(
            self.offsets[order[place]] + time,
            starts[time[later] - 1] + place[later],
            starts,
        )

    def take(self, chosen: NDArray[np.int64]) -> Sequences:
        """Return a copy of the chosen sequences."""
        parts = [self.frames[self.offsets[k] : self.offsets[k + 1]] for k in chosen]
        weights = None if self.weights is None else self.weights[chosen]
        return Sequences(np.concatenate(parts), self.lengths[chosen], weights)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the parts of an array of all frames, one for each sequence."""
        return np.split(values, self.offsets[1:-1])


def as_sequences(
    name: str,
    value: SequencesLike,
    n_visible: int | None = None,
    *,
    visible: str,
    missing: bool | None = None,
) -> Sequences:
    """Check sequences and put them one after the other; frames of a 3-D array are not copied.

    visible : kind of the visible units, "bernoulli" or "gaussian"
    missing : whether NaN stands for a missing value
    """
    if isinstance(value, np.ndarray) and value.dtype != object:
        if value.ndim != 3 or value.size == 0:
            raise ValueError(
                f"{name} must have shape (n, T, n_visible) or be a list of (T, n_visible) arrays, "
                f"got shape {value.shape}"
            )
        rows = value.reshape(-1, value.shape[2])
        flat = checked_frames(visible, name, rows, n_visible, missing=missing)
        return Sequences(flat, np.full(value.shape[0], value.shape[1], np.int64))
    if isinstance(value, np.ndarray):  # of objects
        value = list(value) if value.ndim else []
    if not isinstance(value, list | tuple) or not value:
        what = "none" if isinstance(value, list | tuple) else type(value).__name__
        raise TypeError(f"{name} must be a 3-D array or a list of 2-D arrays, got {what}")
    parts = []
    for index, part in enumerate(value):
        own = f"{name}[{index}]"
        parts.append(checked_frames(visible, own, part, n_visible, missing=missing))
        n_visible = int(parts[0].shape[1])
    return Sequences(np.concatenate(parts), np.array([len(part) for part in parts], np.int64))


def checked_frames(
    visible: str,
    name: str,
    value: ArrayLike,
    columns: int | None = None,
    *,
    missing: bool | None = None,
) -> NDArray[Any]:
    """Return ``value`` as a matrix of frames of visible units of this kind, or of their means."""
    return Layer((Run(visible, 1),)).checked(name, value, columns, missing=missing)


def dimensions(value: Any) -> int:
    """Return the dimensions of an array; 0 of anything else, and of a list without one shape."""
    try:
        return np.ndim(value)
    except ValueError:
        return 0
