"""Files from which an interrupted run goes on as if it had never stopped, by one rule for all."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import checks, files
from .mapping import blocks
from .randomness import RngLike, seed_from

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """Where a long run keeps its state, how often, and whether it goes on from what is there.

    The state is written at the start, now and then, and when the run ends, also by Ctrl-C.  A run
    that is continued gives, bit for bit, what it would have given without the interruption.  A path
    in place of a checkpoint stands for ``Checkpoint(path)``.

    Parameters
    ----------
    path : str or Path
        A file, by custom with the ending ``.npz``; its folder must exist.
    every : float
        Least number of seconds between two writes.
    resume : {False, True, "auto"}
        False starts anew and refuses to overwrite a file.  True continues the run in the file,
        which must be of the same data and settings; only the ``epochs`` of a training may be more.
        "auto" does so if there is a file.

    Raises
    ------
    TypeError, ValueError
        Naming the argument, before anything is read or written.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.Checkpoint("run.npz", every=10, resume="auto").every
    10.0
    """

    path: str | PathLike[str]
    every: float = 60.0
    resume: bool | Literal["auto"] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", checks.file_path("path", self.path))
        object.__setattr__(self, "every", checks.number("every", self.every, least=0.0))
        if not isinstance(self.resume, bool) and str(self.resume) != "auto":
            raise ValueError(f"resume must be True, False or 'auto', got {self.resume!r}")


CheckpointLike = Checkpoint | str | PathLike[str] | None


class RunFile:
    """The file of one run: what an earlier run left in it, and when to write it again.

    ``version`` is that of what the arrays mean, ``work`` what goes on where it cannot be written.
    """

    def __init__(self, checkpoint: Checkpoint, kind: str, version: int, work: str) -> None:
        self.path, self._every = Path(checkpoint.path), checkpoint.every
        self._kind, self._version, self._work = kind, version, work
        self.found: Arrays | None = None
        self._written = time.monotonic()
        self._identity: dict[str, Any] = {}
        self._seed = 0
        if self.path.exists() and not checkpoint.resume:
            raise FileExistsError(
                f"checkpoint {self.path} exists; pass resume=True to continue its run, "
                "or choose another path"
            )
        if checkpoint.resume is True or self.path.exists():
            self.found = files.read(self.path, kind)
            missing = {"identity", "seed"} - self.found.keys()
            if missing:
                raise ValueError(f"{self.path} lacks {', '.join(sorted(missing))}; it is damaged")

    @property
    def seed(self) -> int | None:
        """The seed of the run that was found, if one was."""
        return None if self.found is None else files.whole(self.path, "seed", self.found["seed"])

    def belong_to(self, identity: Mapping[str, Any], seed: int, longer: Sequence[str] = ()) -> None:
        """Say which run writes here, and refuse to continue a run with other settings or data.

        Numbers of these names may have become larger since: then the run is made longer.
        """
        text = json.dumps({"version": self._version, **identity, "seed from rng": seed})
        self._identity, self._seed = json.loads(text), seed
        if self.found is None:
            return
        try:
            theirs = json.loads(files.text(self.path, "identity", self.found["identity"]))
        except (json.JSONDecodeError, RecursionError):
            theirs = None
        if not isinstance(theirs, dict):
            raise ValueError(f"{self.path} is damaged: it does not say which run it belongs to")
        differences = []
        for name in {**theirs, **self._identity}:
            there, here = theirs.get(name), self._identity.get(name)  # there may be anything
            grown = name in longer and type(there) is type(here) is int and 0 < there < here
            if there != here and not grown:
                differences.append(f"{name} is {there!r} there, {here!r} here")
        if differences:
            raise ValueError(
                f"checkpoint {self.path} belongs to another run: {'; '.join(differences)}"
            )

    def start(self, state: Arrays) -> None:
        """Write for the first time, so that a place that takes no file is known before the work."""
        try:
            self._write(state)
        except OSError as error:
            words = error.strerror or error
            raise type(error)(f"cannot write checkpoint {self.path}: {words}") from error

    def wait(self) -> float:
        """Return in how many seconds it is time to write."""
        return max(0.0, self._written + self._every - time.monotonic())

    def due(self) -> bool:
        """Return whether it is time to write."""
        return self.wait() == 0.0

    def save(self, state: Arrays) -> bool:
        """Write, or warn and keep the former file: a full disk must not end a long run.

        Return whether it was written.
        """
        try:
            self._write(state)
        except OSError as error:
            self._written = time.monotonic()
            warnings.warn(
                f"cannot write checkpoint {self.path}, {self._work} goes on: "
                f"{error.strerror or error}",
                stacklevel=2,
            )
            return False
        return True

    def _write(self, state: Arrays) -> None:
        own = {"identity": np.array(json.dumps(self._identity)), "seed": np.array(self._seed)}
        files.write(self.path, self._kind, state | own)
        self._written = time.monotonic()


def as_checkpoint(value: CheckpointLike) -> Checkpoint | None:
    """Return the checkpoint that a caller's argument stands for."""
    if value is None or isinstance(value, Checkpoint):
        return value
    return Checkpoint(checks.file_path("checkpoint", value))


def seed_of(file: RunFile | None, rng: RngLike, purpose: str) -> int:
    """Return the seed from ``rng``; without one, that of the run to be continued."""
    found = None if file is None or rng is not None else file.seed
    return seed_from(rng, purpose) if found is None else found


def array_identity(array: NDArray[Any]) -> str:
    """Return shape, type and a hash of an array in a few words, so that another is noticed."""
    digest = hashlib.sha256()
    for _, part in blocks(array):
        digest.update(np.ascontiguousarray(part).data)
    return f"{array.shape} {array.dtype} SHA-256 {digest.hexdigest()[:16]}"


def copy_into(targets: Mapping[str, NDArray[Any]], found: Mapping[str, NDArray[Any]]) -> None:
    """Copy arrays of a file into arrays of a program, in place, if all are of one kind."""
    for name, target in targets.items():
        value = found.get(name)
        if value is None or value.shape != target.shape or value.dtype != target.dtype:
            what = "nothing" if value is None else f"{value.shape} {value.dtype}"
            raise ValueError(f"{name} should be {target.shape} {target.dtype}, is {what}")
    for name, target in targets.items():
        target[...] = found[name]
