"""Where and how often a long computation is saved: one rule for trainings and ``log_partition``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import checks

Resume = bool | Literal["auto"]


@dataclass(frozen=True)
class Checkpoint:
    """File from which a run that was interrupted, or killed, goes on as if it had never stopped.

    Parameters
    ----------
    path : str or Path
        Written at once, from time to time, when the run is interrupted (Ctrl-C, SIGTERM) and when
        it ends.
    every : float
        Least number of seconds between two writes: the most that kill -9 can cost.
    resume : bool or "auto"
        Go on with the run in the file: True, which needs the file; False, which refuses to
        overwrite one; "auto" goes on if there is a file and begins if not.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.Checkpoint("run.npz", every=600.0, resume="auto").resume
    'auto'
    """

    path: Path
    every: float = 60.0
    resume: Resume = False

    def __init__(
        self, path: str | os.PathLike[str], every: float = 60.0, resume: Resume = False
    ) -> None:
        object.__setattr__(self, "path", checks.file_path("checkpoint", path))
        object.__setattr__(self, "every", checks.number("every", every, least=0.0))
        if not (isinstance(resume, bool) or (isinstance(resume, str) and resume == "auto")):
            raise ValueError(f"resume must be True, False or 'auto', got {resume!r}")
        object.__setattr__(self, "resume", resume)


def as_checkpoint(value: Checkpoint | str | os.PathLike[str] | None) -> Checkpoint | None:
    """Return a Checkpoint from one or from a path; None stays None."""
    return value if value is None or isinstance(value, Checkpoint) else Checkpoint(value)
