"""What callbacks see after each epoch, and one that writes it to a file."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from trug_fast._common import checks

Row = dict[str, Any]
ENDINGS = (".jsonl", ".csv")
PASSING = "seconds"  # what a run that was resumed does not repeat


@dataclass(frozen=True)
class EpochEnd:
    """What a callback sees after each epoch.

    Attributes
    ----------
    epoch : int
        Its number, from 1; of the present stage, where a training has several.
    history : dict of lists
        What training will return, so far.
    model : TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM or TruGTGGM
        The current one, made when it is first asked for: ask within the callback.
    stage : str or None
        Of the regression "rate 1 of 2", "rate 2 of 2", "all rows" and "part 1 of 5".

    Examples
    --------
    >>> import trug_fast as tf
    >>> digits = tf.datasets.load_digits(binarize="threshold")
    >>> def upper_ends(event):
    ...     print(event.epoch, event.model.upper.shape, len(event.history["score"]))
    >>> fit = tf.train_rbm(digits.train, 20, epochs=2, callbacks=[upper_ends], rng=0)
    1 (20,) 1
    2 (20,) 2
    """

    epoch: int
    history: dict[str, list[float]]
    make_model: Callable[[], Any] = field(repr=False)
    stage: str | None = None

    @cached_property
    def model(self) -> Any:
        """The current model."""
        return self.make_model()


class EpochLog:
    """A callback that writes a line an epoch to a file, as JSON or with commas.

    What is in the file is the history: a run that goes on from its checkpoint writes no epoch
    twice, and leaves none out, wherever it was stopped.

    Parameters
    ----------
    path : str or Path
        Ends in ``.jsonl`` or ``.csv``; its folder must exist.  What is not finite, such as scores
        that an epoch does not have, is null, or nothing.

    Raises
    ------
    TypeError, ValueError
        If it names no such file.
    FileNotFoundError
        If its folder does not exist.
    FileExistsError
        After the first epoch, if the file holds another run.

    Warns
    -----
    UserWarning
        If a line cannot be written, such as on a full disk; it follows with a later one.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.training.EpochLog("run.jsonl")
    EpochLog('run.jsonl')
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = checks.file_path("path", path)
        if self.path.suffix not in ENDINGS:
            raise ValueError(f"path must end in .jsonl or .csv, got {str(self.path)!r}")
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"path must be in a folder that exists, got {str(self.path)!r}")
        self._last: tuple[str | None, int] | None = None  # stage and epoch in the file, if known
        self._columns: list[str] = []  # of its table

    def __repr__(self) -> str:
        return f"EpochLog({str(self.path)!r})"

    def __call__(self, event: EpochEnd) -> None:
        """Write what the file lacks: a line, or of a new stage all anew."""
        follows = self._last == (event.stage, event.epoch - 1)
        rows = [_row(event, k) for k in range(event.epoch - 1 if follows else 0, event.epoch)]
        if not follows:
            rows = [*self._earlier(event, rows), *rows]
            self._columns = list(dict.fromkeys(name for row in rows for name in row))
        place = self.path if follows else self.path.with_name(self.path.name + ".new")
        self._last = None
        try:
            with place.open("a" if follows else "w", encoding="utf-8", newline="") as file:
                file.write(self._text(rows, header=not follows))
            if not follows:
                os.replace(place, self.path)
        except OSError as error:
            warnings.warn(f"cannot write {self.path}, training goes on: {error}", stacklevel=2)
            return
        self._last = event.stage, event.epoch

    def _text(self, rows: list[Row], *, header: bool) -> str:
        if self.path.suffix == ".jsonl":
            return "".join(json.dumps(row) + "\n" for row in rows)
        out = io.StringIO()
        table = csv.DictWriter(out, self._columns, lineterminator="\n")
        if header:
            table.writeheader()
        table.writerows(rows)
        return out.getvalue()

    def _earlier(self, event: EpochEnd, rows: list[Row]) -> list[Row]:
        """Return the rows in the file of stages before the present one, whose rows must agree."""
        found = _read(self.path)
        stages = [row.get("stage") for row in found]
        first = stages.index(event.stage) if event.stage in stages else len(stages)
        ours = [row for row in found if row.get("stage") == event.stage]
        alike = all(_same(a, b) for a, b in zip(ours, rows, strict=False))
        if not alike or (found and (event.stage is None) != (stages[0] is None)):
            raise FileExistsError(
                f"{self.path} holds another run; remove it, or choose another path"
            )
        return found[:first]


def _row(event: EpochEnd, number: int) -> Row:
    own: Row = {} if event.stage is None else {"stage": event.stage}
    for name, values in event.history.items():
        value = values[number]
        own[name] = value if math.isfinite(value) else None
    return own | {"epoch": int(own["epoch"])}


def _same(one: Row, other: Row) -> bool:
    names = {name for row in (one, other) for name in row if row[name] is not None} - {PASSING}
    return all(one.get(name) == other.get(name) for name in names)


def _read(path: Path) -> list[Row]:
    """Return the rows in a file, but for a last one that was cut off; none if there is no file."""
    if not path.exists():
        return []
    try:
        text = path.read_text(encoding="utf-8")
        text = text[: text.rfind("\n") + 1]
        if path.suffix == ".jsonl":
            return [dict(json.loads(line)) for line in text.splitlines()]
        rows = csv.DictReader(io.StringIO(text), strict=True)
        return [{name: _number(word) for name, word in row.items()} for row in rows]
    except (ValueError, TypeError, csv.Error) as error:
        raise FileExistsError(f"{path} is no log of a training: {error}") from error


def _number(word: Any) -> Any:
    if word is not None and not isinstance(word, str):  # more words in a row than columns
        raise ValueError(f"{word} has no column")
    if not word:
        return None
    try:
        return int(word) if word.isdecimal() else float(word)
    except ValueError:
        return word
