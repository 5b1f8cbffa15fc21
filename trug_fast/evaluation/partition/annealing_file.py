"""Where the chains of a run are: in memory, and in the file of its checkpoint if it has one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import files
from trug_fast._common.checkpoints import Arrays, RunFile

from .runs import ChainState

KIND = "log_partition_run"
VERSION = 1  # of what the arrays mean and of how annealing uses them
LEGS = ("forward", "starts", "mixing", "reverse")
NAMES = ("temperatures", *(f"{leg}_{field}" for leg in LEGS for field in ChainState._fields))


class AnnealingFile:
    """The temperatures of a run and where the chains of each leg are.

    Leaving it as a context writes what the file lacks, also after an error or Ctrl-C.

    Parameters
    ----------
    file : RunFile or None
        Of which the run is known.  Without one all stays in memory.
    """

    def __init__(self, file: RunFile | None) -> None:
        self._file = file
        self._arrays: Arrays = {name: np.zeros(0) for name in NAMES}  # empty: not known yet
        self._unwritten = False  # there is something that the file lacks
        self._writable = False  # this process has written
        if file is None:
            return
        if file.found is None:
            self.require_writable()
        else:
            self._require(set(NAMES) <= file.found.keys(), "arrays")
            self._arrays = {name: file.found[name] for name in NAMES}

    def __enter__(self) -> AnnealingFile:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Write what the file lacks."""
        self._save()

    def require_writable(self) -> None:
        """Write once, so that a place that cannot be written to is refused before the work."""
        if self._file is not None and not self._writable:
            self._file.start(self._arrays)
            self._writable = True

    def temperatures(self, number: int) -> NDArray[np.float64] | None:
        """Return the path's temperatures, if they are known."""
        found = self._arrays["temperatures"]
        if not found.size:
            return None
        self._require(found.shape == (number,) and found.dtype == np.float64, "temperatures")
        return found

    def keep_temperatures(self, value: NDArray[np.float64]) -> None:
        """Keep the path's temperatures."""
        self._arrays["temperatures"], self._unwritten = value, True

    def chains(
        self, leg: str, shape: tuple[int, int], dtype: np.dtype[Any], steps: int
    ) -> ChainState | None:
        """Return where a leg's chains are, if it has begun; refuse what no such run leaves."""
        step, values, log_weight = (self._arrays[f"{leg}_{f}"] for f in ChainState._fields)
        if not step.size:
            return None
        behind = files.whole(self._file.path, f"{leg}_step", step) if self._file else int(step)
        possible = behind <= steps and values.shape == shape and values.dtype == dtype
        possible &= log_weight.shape == (shape[0],) and log_weight.dtype == np.float64
        possible = possible and bool(np.isfinite(log_weight).all())
        self._require(possible, f"chains of the leg {leg}")
        return ChainState(behind, values, log_weight)

    def keep(self, leg: str, state: ChainState) -> None:
        """Keep where a leg's chains are; write if it is time."""
        for field, value in zip(ChainState._fields, state, strict=True):
            self._arrays[f"{leg}_{field}"] = np.asarray(value)
        self._unwritten = True
        if self._file is not None and self._file.due():
            self._save()

    def _save(self) -> None:
        if self._file is not None and self._unwritten:
            self._unwritten = not self._file.save(self._arrays)

    def _require(self, possible: bool, what: str) -> None:
        """Refuse what no run with these settings writes."""
        if not possible:
            assert self._file is not None
            raise ValueError(
                f"{self._file.path} is damaged: its {what} are not those of such a run"
            )
