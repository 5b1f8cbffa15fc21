"""The file of one training, and how its data are known again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checkpoints import Checkpoint as Option
from trug_fast._common.checkpoints import RunFile, array_identity, copy_into
from trug_fast.datasets import Resampler

__all__ = ["Checkpoint", "Resume", "State", "copy_into", "data_identity"]

Resume = Any

KIND = "RBMTraining"
VERSION = 1  # of what the arrays mean and of how training uses them


def data_identity(data: NDArray[Any] | Resampler | None) -> str | None:
    """Return shape, type and a hash of data in a few words, so that other data is noticed."""
    if data is None:
        return None
    if isinstance(data, Resampler):
        return f"{array_identity(data.intensities)}, resampled with seed {data.seed}"
    return array_identity(data)


class Checkpoint(RunFile):
    """The file of a training; goes once the trainings take tf.Checkpoint."""

    def __init__(self, path: str | Path, every: float, resume: Resume) -> None:
        option = Option(checks.file_path("checkpoint", path), every, resume)
        super().__init__(option, KIND, VERSION, "training")
