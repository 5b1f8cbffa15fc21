"""A file from which an interrupted estimate goes on as if it had never stopped."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks, files

from .runs import State

KIND = "log_partition_run"
LEGS = ("forward", "starts", "mixing", "reverse")
SECONDS = 10.0  # between two writings

Setting = str | int | None


class Checkpoint:
    """The settings of a run, its temperatures and where its chains are; in memory without a path.

    Leaving it as a context writes what the file lacks, also after an error or Ctrl-C.
    """

    def __init__(self, path: str | Path | None) -> None:
        names = ["settings", "temperatures"]
        names += [f"{leg}_{field}" for leg in LEGS for field in State._fields]
        self._path = None if path is None else checks.file_path("checkpoint", path)
        self._arrays = {name: np.zeros(0) for name in names}  # empty: not known yet
        self._written, self._fresh = time.monotonic(), False
        self._started = False  # this process has written
        if self._path is not None and self._path.exists():
            self._arrays = files.read(self._path, KIND, tuple(names))
        elif self._path is not None and not self._path.parent.is_dir():
            raise FileNotFoundError(f"checkpoint: no such folder: {self._path.parent}")

    def __enter__(self) -> Checkpoint:
        """Return the checkpoint."""
        return self

    def __exit__(self, *error: object) -> None:
        """Write what the file lacks."""
        self._save()

    @property
    def settings(self) -> dict[str, Setting]:
        """What the file says of the run it belongs to; empty for a new one."""
        stored = self._arrays["settings"]
        if self._path is None or not stored.size:
            return {}
        try:
            result = json.loads(files.text(self._path, "settings", stored))
        except (json.JSONDecodeError, RecursionError):
            result = None
        if not isinstance(result, dict):
            raise ValueError(f"{self._path} is damaged: it does not say which run it belongs to")
        return result

    def bind(self, settings: dict[str, Setting]) -> None:
        """Take these settings, or raise a ValueError if the file is of a run with others."""
        stored = self.settings
        for name, value in settings.items() if stored else ():
            if stored.get(name) != value:
                raise ValueError(
                    f"{self._path} belongs to another run: its {name} is {stored.get(name)!r}, "
                    f"not {value!r}; remove the file to start anew"
                )
        self._arrays["settings"] = np.array(json.dumps(settings))
        if not stored:
            self.start()

    def start(self) -> None:
        """Write once, so that a place that cannot be written to is refused before the work.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        if self._path is None or self._started:
            return
        try:
            self._write()
        except OSError as error:
            raise type(error)(f"cannot write checkpoint {self._path}: {error}") from error

    @property
    def temperatures(self) -> NDArray[np.float64] | None:
        """The path's temperatures, once they are known."""
        stored = self._arrays["temperatures"]
        return stored if stored.size else None

    def set_temperatures(self, value: NDArray[np.float64]) -> None:
        """Keep the path's temperatures."""
        self._arrays["temperatures"], self._fresh = value, True

    def state(self, leg: str) -> State | None:
        """Return where a leg's chains were, if it had begun."""
        step, values, weight = (self._arrays[f"{leg}_{field}"] for field in State._fields)
        if not step.size:
            return None
        if self._path is None:  # no file, hence no damaged one
            return State(int(step), values, weight)
        return State(files.whole(self._path, f"{leg}_step", step), values, weight)

    def require_possible(self, possible: bool, what: str) -> None:
        """Refuse what no run with these settings writes."""
        if not possible:
            raise ValueError(f"{self._path} is damaged: its {what} are not those of such a run")

    def keep(self, leg: str, state: State) -> None:
        """Keep where a leg's chains are; write if the last time is long past."""
        for field, value in zip(State._fields, state, strict=True):
            self._arrays[f"{leg}_{field}"] = np.asarray(value)
        self._fresh = True
        if time.monotonic() - self._written >= SECONDS:
            self._save()

    def _save(self) -> None:
        """Write what the file lacks, or warn and keep the former file: the run is worth more."""
        if self._path is None or not self._fresh:
            return
        try:
            self._write()
        except OSError as error:
            self._written = time.monotonic()
            warnings.warn(
                f"cannot write checkpoint {self._path}, annealing goes on: {error}", stacklevel=2
            )

    def _write(self) -> None:
        assert self._path is not None
        files.write(self._path, KIND, self._arrays)
        self._written, self._fresh, self._started = time.monotonic(), False, True
