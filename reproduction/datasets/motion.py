"""Motion capture: walking and running of subject 35 of the CMU data base."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks
from trug_fast.datasets.downloads import Directory, Folder

from .skeleton import Skeleton, read_asf
from .stored import read_mat, read_npz

PACKED, ORIGINAL = "cmu35_walk_run_30fps.npz", "cmu35WalkJog.mat"
SKELETON = "35.asf"
MOST = 10**6  # numbers in a file; they have 2,800 frames of 62 channels and 33 labels
TEST_RUN, TEST_WALK = "35_18", "35_29"

Frames = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionData:
    """Sequences of poses, each channel with mean 0 and variance 1 over the training frames.

    Attributes
    ----------
    train, test : lists of arrays, shape (T, n_channels), float64
    train_names, test_names : lists of str
        The trial of each sequence.
    channel_names : list of str
    mean, scale : arrays, shape (n_channels,)
        What was subtracted, and what was divided by then.
    """

    train: list[Frames]
    test: list[Frames]
    train_names: list[str]
    test_names: list[str]
    channel_names: list[str]
    mean: Frames
    scale: Frames

    def restore(self, frames: npt.ArrayLike) -> Frames:
        """Give poses in their original units, from standardised ones of shape (..., n_channels)."""
        array = checks.numbers("frames", frames)
        if array.ndim == 0 or array.shape[-1] != len(self.scale):
            raise ValueError(f"frames must have {len(self.scale)} columns, got shape {array.shape}")
        return array * self.scale + self.mean


def load_cmu_motion(directory: Directory = None, *, raw: bool = False) -> MotionData:
    """Motion capture of a person who walks and runs, 30 frames a second: CMU data base, subject 35.

    33 sequences: 23 walks and 10 runs, of which one each (35_29 and 35_18) are for testing.

    Parameters
    ----------
    directory : path, optional
        The folder that holds ``cmu35_walk_run_30fps.npz`` or, for raw angles, ``cmu35WalkJog.mat``,
        or has a folder ``cmu_mocap`` with them.  By default the environment variable
        ``TRUG_FAST_DATA`` names it.
    raw : bool
        False gives 62 channels after Taylor, Hinton and Roweis (2007): exponential maps of the
        joints, the root relative to the body.  True gives the 62 recorded channels.

    Returns
    -------
    MotionData
        31 training and 2 test sequences.

    Raises
    ------
    FileNotFoundError
        If the file is not there; the message says where it can be got.
    TypeError, ValueError
        If `directory` is not a path or the file is damaged.

    Examples
    --------
    >>> motion = load_cmu_motion("data")  # doctest: +SKIP
    """
    folder = _folder(directory)
    path = folder.need(PACKED, ORIGINAL) if raw else folder.need(PACKED)
    if path.suffix != ".npz":
        return _from_original(folder)
    values, names = ("raw", "channel_names") if raw else ("taylor62", "taylor62_names")
    frames, channels, lengths, trials, count = read_npz(
        path, [values, names, "seq_lengths", "seq_trials", "n_train_sequences"], MOST
    )
    if lengths.sum() != len(frames) or len(lengths) != len(trials):
        raise ValueError(f"{path} must hold as many frames as its sequences are long")
    parts = np.split(np.asarray(frames, np.float64), np.cumsum(lengths)[:-1])
    return _standardised(
        parts, [str(t) for t in trials], int(count), [str(name) for name in channels]
    )


def load_cmu_skeleton(directory: Directory = None) -> Skeleton:
    """Skeleton of the person in `load_cmu_motion`, from ``35.asf`` in the same folder.

    Parameters
    ----------
    directory : path, optional
        As for `load_cmu_motion`.

    Returns
    -------
    Skeleton
        30 bones.  Its unit of length is 5.6 cm; the person is 30 units tall.

    Raises
    ------
    FileNotFoundError
        If the file is not there; the message says where it can be got.
    TypeError, ValueError
        If `directory` is not a path or the file is damaged.

    Examples
    --------
    >>> from reproduction.datasets import joint_positions
    >>> motion, skeleton = load_cmu_motion("data"), load_cmu_skeleton("data")  # doctest: +SKIP
    >>> walk = motion.restore(motion.test[1])  # doctest: +SKIP
    >>> joint_positions(skeleton, walk, motion.channel_names).shape  # doctest: +SKIP
    (125, 31, 3)
    """
    return read_asf(_folder(directory).need(SKELETON))


def _folder(directory: Directory) -> Folder:
    home = "the CMU motion capture data base, subject 35 (python -m reproduction fetch motion)"
    return Folder(directory, ["cmu_mocap"], home)


def _from_original(folder: Folder) -> MotionData:
    path = folder.need(ORIGINAL)
    y, labels, y_test, labels_test = read_mat(path, ["Y", "lbls", "Ytest", "lblstest"], MOST)
    parts = []
    for frames, marks in ((y, labels), (y_test, labels_test)):
        if len(frames) != len(marks):
            raise ValueError(f"{path} must hold a label for each frame")
        sequence = marks.argmax(axis=1)
        parts += np.split(frames.astype(np.float64), np.flatnonzero(np.diff(sequence)) + 1)
    trials = [f"35_{k:02}" for k in (*range(1, 18), *range(19, 27), 28, *range(30, 35))]
    channels = [f"channel {k}" for k in range(y.shape[1])]
    return _standardised(parts, [*trials, TEST_RUN, TEST_WALK], len(parts) - 2, channels)


def _standardised(
    parts: list[Frames], trials: list[str], n_train: int, channels: list[str]
) -> MotionData:
    train = np.concatenate(parts[:n_train])
    mean, scale = train.mean(axis=0), train.std(axis=0, ddof=1)
    scale[scale < 1e-9] = 1.0  # channels that never move
    scaled = [(part - mean) / scale for part in parts]
    return MotionData(
        scaled[:n_train],
        scaled[n_train:],
        trials[:n_train],
        trials[n_train:],
        channels,
        mean,
        scale,
    )
