"""Tables of numbers in texts (.csv): their columns, and in words what is no number in them.

NumPy reads tables of nothing but numbers; pandas reads those that lack some, or hold text.

Tested in tests/datasets/test_files.py.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks
from trug_fast._common.frames import SHOWN, Names, nearest
from trug_fast._common.lazy import need

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
        values = _by_pandas(path, layout, kept)
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
    if separator is None and path.suffix.lower() == ".csv" and not all(map(_holds, line.split())):
        separator = ","  # one column, whose name may have blanks
    cells = line.split() if separator is None else next(csv.reader([line], delimiter=separator))
    cells = [cell.strip().strip('"') for cell in cells]
    named = not all(map(_holds, cells))
    return _Layout(separator, tuple(cells) if named else None, len(cells), number + named)


def _holds(cell: str) -> bool:
    """Tell whether a cell is a number, or lacks one; 2019_1 is no number, but to Python."""
    try:
        return cell.lower() in MISSING or (float(cell) is not None and "_" not in cell)
    except ValueError:
        return False


def _by_pandas(path: Path, layout: _Layout, kept: Sequence[int]) -> Floats:
    """Read columns that lack numbers, or stand beside text."""
    pandas = need("pandas", f"{path} lacks numbers or holds text: that needs pandas", "tables")
    try:
        # As texts: up to 3.0 its own numbers miss the last bit, and later ones warn of being asked
        # not to.  Its engine in C takes lines that are cut short for lines that lack values.
        how = {"dtype": str, "na_filter": False, "header": None, "engine": "python"}
        frame = pandas.read_csv(
            path, sep=layout.separator or r"\s+", skiprows=layout.first, encoding="utf-8-sig", **how
        )
    except pandas.errors.EmptyDataError:
        raise ValueError(f"{path} holds no rows of numbers") from None
    except ValueError as error:  # lines that are too long, open quotes, other encodings
        raise ValueError(f"{path} is no table: {error}") from error
    short = frame.isna().any(axis=1)
    if short.any() or frame.shape[1] != layout.width:
        raise ValueError(f"{path} is no table: row {short.argmax()} (from 0) has more or fewer "
                         "columns than the first line")  # fmt: skip
    values, text = np.full((len(frame), len(kept)), np.nan), {}
    for column, k in enumerate(kept):
        cells = frame[k].str.strip(' "')  # of texts that blanks separate pandas leaves the quotes
        given = np.flatnonzero(~cells.str.lower().isin(MISSING))
        cells = cells.to_numpy(object)[given]
        if all(map(_holds, cells)):
            values[given, column] = cells.astype(np.float64)
        else:
            first = next(i for i, cell in enumerate(cells) if not _holds(cell))
            text[k if layout.names is None else layout.names[k]] = given[first], cells[first]
    if text:
        (name, (row, cell)), *others = text.items()
        also = "".join(f", and so does {other!r}" for other, _ in others[:SHOWN])
        raise ValueError(
            f"{path}: column {name!r} holds the text {cell!r} in row {row} (from 0){also}; write "
            f"numbers, as 1234.5, or leave columns out with drop={name!r}"
        )
    return values
