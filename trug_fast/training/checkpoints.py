"""Files from which an interrupted training run continues as if it had never stopped."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import files
from trug_fast._common.checkpoint import Checkpoint
from trug_fast.datasets import Resampler

State = dict[str, NDArray[Any]]

KIND = "RBMTraining"
VERSION = 2  # of what the arrays mean and of how training uses them


def data_identity(data: NDArray[Any] | Resampler | None) -> str | None:
    """Return shape, type and a hash of data in a few words, so that other data is noticed."""
    if data is None:
        return None
    array = data.intensities if isinstance(data, Resampler) else data
    digest = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()[:16]
    words = f"{array.shape} {array.dtype} SHA-256 {digest}"
    return f"{words}, resampled with seed {data.seed}" if isinstance(data, Resampler) else words


class RunFile:
    """The file of one run: what an earlier run left in it, and when to write it again.

    Raises
    ------
    FileExistsError, FileNotFoundError, ValueError
        If a file is there that must not be, or none that must, or if it is damaged.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.path, self._every, resume = checkpoint.path, checkpoint.every, checkpoint.resume
        self.found: State | None = None
        self._written = time.monotonic()
        if self.path.exists() and not resume:
            raise FileExistsError(
                f"checkpoint {self.path} exists; pass resume=True to continue its run, "
                "or choose another path"
            )
        if resume is True or self.path.exists():
            self.found = files.read(self.path, KIND)
            missing = {"identity", "seed"} - self.found.keys()
            if missing:
                raise ValueError(f"{self.path} lacks {', '.join(sorted(missing))}; it is damaged")
        self._identity: dict[str, Any] = {}
        self._seed = 0
        self._state: Callable[[], State] = dict

    @property
    def seed(self) -> int | None:
        """The seed of the run that was found, if one was."""
        return None if self.found is None else files.whole(self.path, "seed", self.found["seed"])

    def belong_to(self, identity: Mapping[str, Any], seed: int) -> None:
        """Say which run writes here, and refuse to continue a run with other settings or data.

        Raises
        ------
        ValueError
            Naming each difference.
        """
        text = json.dumps({"version": VERSION, **identity, "seed from rng": seed})
        self._identity, self._seed = json.loads(text), seed
        if self.found is None:
            return
        theirs = self._their_identity(self.found["identity"])
        differences = [
            f"{name} is {theirs.get(name)!r} there, {self._identity.get(name)!r} here"
            for name in {**theirs, **self._identity}
            if theirs.get(name) != self._identity.get(name)
        ]
        if differences:
            raise ValueError(
                f"checkpoint {self.path} belongs to another run: {'; '.join(differences)}"
            )

    def _their_identity(self, array: NDArray[Any]) -> dict[str, Any]:
        try:
            theirs = json.loads(files.text(self.path, "identity", array))
        except (json.JSONDecodeError, RecursionError):
            theirs = None
        if not isinstance(theirs, dict):
            raise ValueError(f"{self.path} is damaged: it does not say which run it belongs to")
        return theirs

    def start(self, state: Callable[[], State]) -> None:
        """Write for the first time, so that a place that takes no file is known before training.

        ``state`` gives what is written, now and whenever :meth:`save` is called.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        self._state = state
        try:
            self._write()
        except OSError as error:
            raise type(error)(f"cannot write checkpoint {self.path}: {error}") from error

    def due(self) -> bool:
        """Return whether it is time to write."""
        return time.monotonic() - self._written >= self._every

    def save(self) -> None:
        """Write, or warn and keep the former file: a full disk must not end a long run."""
        try:
            self._write()
        except OSError as error:
            self._written = time.monotonic()
            warnings.warn(
                f"cannot write checkpoint {self.path}, training goes on: {error}", stacklevel=2
            )

    def _write(self) -> None:
        own = {"identity": np.array(json.dumps(self._identity)), "seed": np.array(self._seed)}
        files.write(self.path, KIND, self._state() | own)
        self._written = time.monotonic()


def copy_into(targets: Mapping[str, NDArray[Any]], found: Mapping[str, NDArray[Any]]) -> None:
    """Copy arrays of a file into arrays of a program, in place.

    Raises
    ------
    ValueError
        If one is missing or has another shape or type.
    """
    for name, target in targets.items():
        value = found.get(name)
        if value is None or value.shape != target.shape or value.dtype != target.dtype:
            what = "nothing" if value is None else f"{value.shape} {value.dtype}"
            raise ValueError(f"{name} should be {target.shape} {target.dtype}, is {what}")
    for name, target in targets.items():
        target[...] = found[name]
