"""Tables of numbers in texts (.csv): their columns, and in words what is no number in them.

NumPy reads tables of nothing but numbers; of those that lack some, or hold text, each cell is read.

Tested in tests/datasets/test_files.py.
"""

from __future__ import annotations

import csv
import math
import warnings
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks
from trug_fast._common.frames import SHOWN, Names, nearest

TABLES = {".csv", ".tsv", ".txt"}
SEPARATORS = ("\t", ";", ",")  # the first that occurs; where none does, blanks
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "."}
INDEX = ("", "Unnamed: 0")  # what pandas calls a column that counts rows

Floats = npt.NDArray[np.float64]


class _Layout(NamedTuple):
    """How a text holds a table; ``first`` is the line of the first numbers, from 0."""

    separator: str | None
    names: Names
    width: int
    first: int


def read_table(path: Path, drop: Sequence[str | int]) -> tuple[Floats, Names]:
    """Return the numbers of a table but for the columns in ``drop``, and the names of its columns.

    NaN stands where there is no value.
    """
    layout = _layout(path)
    kept = kept_columns(path, layout.width, layout.names, drop)
    names = None if layout.names is None else tuple(layout.names[k] for k in kept)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # that there are no rows
            all_columns = np.loadtxt(
                path,
                comments=None,
                delimiter=layout.separator,
                skiprows=layout.first,
                quotechar='"',
                encoding="utf-8-sig",
                ndmin=2,
            )
        if all_columns.shape[1] != layout.width:
            raise ValueError("no line is as long as the first")
        values = all_columns[:, kept]
    except (ValueError, UserWarning):
        values = _by_cells(path, layout, kept)
    if names and names[0] in INDEX and np.array_equal(values[:, 0], np.arange(len(values))):
        raise ValueError(
            f"{path}: the first column has no name and counts the rows; leave it out with drop=0"
        )
    return values, names


def columns_of(path: Path) -> Names:
    """Return the names of a table's columns; None if it has none, or is no table."""
    return _layout(path).names if path.is_file() and path.suffix.lower() in TABLES else None


def kept_columns(path: Path, width: int, names: Names, drop: Sequence[str | int]) -> list[int]:
    """Return the indices of the columns that are not dropped."""
    dropped = {column_of(path, width, names, "drop", each) for each in drop}
    kept = [k for k in range(width) if k not in dropped]
    if not kept:
        raise ValueError(f"{path}: drop leaves none of its {width} columns")
    return kept


def column_of(path: Path | str, width: int, names: Names, argument: str, word: str | int) -> int:
    """Return the index of a column that is given by name or index, or raise a ValueError."""
    checks.kind(argument, word, str, int, np.integer)
    count = 0 if names is None else names.count(str(word))
    if names is not None and count == 1:
        return names.index(str(word))
    try:
        index = int(word)
    except ValueError:
        known = f"have no names; give an index from 0 to {width - 1}"
        if names is not None:
            known = f"are {', '.join(names[:SHOWN])}{', ...' if len(names) > SHOWN else ''}"
        raise ValueError(
            f"{path} has {'several columns' if count else 'no column'} {word!r} for {argument}"
            f"{'' if count else nearest(str(word), names or ())}; its columns {known}"
        ) from None
    if not -width <= index < width:
        raise ValueError(f"{path} has columns 0 to {width - 1}, got {argument}={index}")
    return index % width


def _layout(path: Path) -> _Layout:
    """Find out what separates columns, and whether they have names."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            full = ((n, x) for n, x in enumerate(stream) if x.strip() and not x.startswith("#"))
            number, line = next(full, (0, ""))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error.reason}") from error
    if not line:
        raise ValueError(f"{path} is empty")
    separator = next((each for each in SEPARATORS if each in line), None)
    if separator is None and path.suffix.lower() == ".csv" and None in map(_number, line.split()):
        separator = ","  # one column, whose name may have blanks
    cells = line.split() if separator is None else next(csv.reader([line], delimiter=separator))
    cells = [cell.strip().strip('"') for cell in cells]
    named = None in map(_number, cells)
    return _Layout(separator, tuple(cells) if named else None, len(cells), number + named)


def _number(cell: str) -> float | None:
    """Return the number in a cell, NaN where it lacks one; 2019_1 is none, but to Python."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return math.nan if cell.lower() in MISSING else None


def _by_cells(path: Path, layout: _Layout, kept: Sequence[int]) -> Floats:
    """Read columns that lack numbers, or stand beside text."""
    found, text, count = array("d"), dict[int, tuple[int, str]](), 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = islice(stream, layout.first, None)
            rows: Iterable[list[str]] = map(str.split, lines)
            if layout.separator is not None:
                rows = csv.reader(lines, delimiter=layout.separator, strict=True)
            for row in rows:
                if len(row) < 2 and not "".join(row).strip():
                    continue
                if len(row) != layout.width:
                    raise ValueError(
                        f"row {count} (from 0) has more or fewer columns than the first line"
                    )
                for k in kept:
                    number = _number(cell := row[k].strip(' "'))
                    if number is None:
                        text.setdefault(k, (count, cell))
                    found.append(0.0 if number is None else number)
                count += 1
    except (ValueError, csv.Error) as error:  # open quotes and other encodings too
        raise ValueError(f"{path} is no table: {error}") from error
    if not count:
        raise ValueError(f"{path} holds no rows of numbers")
    if text:
        columns = [k for k in kept if k in text]
        name, *others = (k if layout.names is None else layout.names[k] for k in columns)
        first, cell = text[columns[0]]
        also = "".join(f", and so does {other!r}" for other in others[:SHOWN])
        raise ValueError(
            f"{path}: column {name!r} holds the text {cell!r} in row {first} (from 0){also}; write "
            f"numbers, as 1234.5, or leave columns out with drop={name!r}"
        )
    return np.frombuffer(found).reshape(count, len(kept))
