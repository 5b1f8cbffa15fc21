"""Tables of numbers in texts (.csv): their columns, and in words what is no number in them.

Tested in tests/datasets/test_files.py.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks

TABLES = {".csv", ".tsv", ".txt"}
DELIMITERS = ("\t", ";", ",")  # the first that occurs; where none does, blanks
MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "."}
INDEX = ("", "Unnamed: 0")  # what pandas calls a column that counts rows
SHOWN = 12  # names of columns in a message


class TextTable(NamedTuple):
    """Numbers by rows and columns, NaN where there are none, and names of columns if they have."""

    values: npt.NDArray[np.float64]
    columns: tuple[str, ...] | None


class _Layout(NamedTuple):
    """How a text holds a table."""

    delimiter: str | None
    names: tuple[str, ...] | None
    width: int
    first: int  # the line of the first numbers, from 0


def read_table(path: Path, drop: Sequence[str | int]) -> TextTable:
    """Read a table without the columns in ``drop``.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no table of numbers, saying where it is not and what to do.
    """
    try:
        layout = _layout(path)
        kept = kept_columns(path, layout.width, layout.names, drop)
        names = None if layout.names is None else tuple(layout.names[k] for k in kept)
        try:
            values = _fast(path, layout, kept)
            whole = set(_lengths(path, layout)) <= {layout.width}
        except ValueError:
            whole = False
        if not whole:  # cells without numbers, or lines that are too short: found one by one
            values = _values(path, layout, kept)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error.reason}") from error
    except csv.Error as error:
        raise ValueError(f"{path} is no table: {error}") from error
    if not len(values):
        raise ValueError(f"{path} holds no rows of numbers")
    if names and names[0] in INDEX and np.array_equal(values[:, 0], np.arange(len(values))):
        raise ValueError(
            f"{path}: the first column has no name and counts the rows; leave it out with drop=0"
        )
    return TextTable(values, names)


def columns_of(path: Path) -> tuple[str, ...] | None:
    """Return the names of a table's columns; None if it has none, or is no table."""
    if path.is_dir() or path.suffix.lower() not in TABLES:
        return None
    try:
        return _layout(path).names
    except UnicodeDecodeError:  # which reading it tells
        return None


def kept_columns(
    path: Path, width: int, names: tuple[str, ...] | None, drop: Sequence[str | int]
) -> list[int]:
    """Return the indices of the columns that are not dropped."""
    dropped = {column_of(path, width, names, "drop", each) for each in drop}
    kept = [k for k in range(width) if k not in dropped]
    if not kept:
        raise ValueError(f"{path}: drop leaves none of its {width} columns")
    return kept


def column_of(
    path: Path | str, width: int, names: tuple[str, ...] | None, argument: str, word: str | int
) -> int:
    """Return the index of a column that is given by name or index.

    Raises
    ------
    TypeError, ValueError
        If there is none, or several of that name.
    """
    checks.kind(argument, word, str, int, np.integer)
    if names is not None and word in names:
        if names.count(str(word)) > 1:
            raise ValueError(f"{path} has {names.count(str(word))} columns {word!r}; {argument} "
                             f"must be an index, from 0 to {width - 1}")  # fmt: skip
        return names.index(str(word))
    try:
        index = int(word)
    except ValueError:
        known = "no names" if names is None else ", ".join(names[:SHOWN])
        more = "" if names is None or len(names) <= SHOWN else ", ..."
        raise ValueError(
            f"{path} has no column {word!r} for {argument}: its columns have {known}; "
            f"give an index from 0 to {width - 1}"
            if names is None
            else f"{path} has no column {word!r} for {argument}; its columns are {known}{more}"
        ) from None
    if not -width <= index < width:
        raise ValueError(f"{path} has columns 0 to {width - 1}, got {argument}={index}")
    return index % width


def _layout(path: Path) -> _Layout:
    """Find out what separates columns, and whether they have names."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        lines = enumerate(stream)
        full = ((n, line) for n, line in lines if line.strip() and not line.startswith("#"))
        number, line = next(full, (0, ""))
    if not line:
        raise ValueError(f"{path} is empty")
    delimiter = next((each for each in DELIMITERS if each in line), None)
    if delimiter is None and path.suffix.lower() == ".csv" and not _all_numbers(line):
        delimiter = ","  # one column, whose name may have blanks
    cells = _cells(line, delimiter)
    named = any(not _is_number(cell) and cell.lower() not in MISSING for cell in cells)
    names = tuple(cells) if named else None
    return _Layout(delimiter, names, len(cells), number + named)


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return [cell.strip('"') for cell in line.split()]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _all_numbers(line: str) -> bool:
    return all(map(_is_number, line.split()))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python reads as a number


def _fast(path: Path, layout: _Layout, kept: Sequence[int]) -> npt.NDArray[np.float64]:
    """Read cells that all hold numbers; ValueError if they do not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there are no rows, as we say ourselves
        return np.loadtxt(
            path,
            delimiter=layout.delimiter,
            skiprows=layout.first,
            usecols=kept,
            comments=None,
            quotechar='"',
            encoding="utf-8-sig",
            ndmin=2,
        )


def _lines(path: Path, layout: _Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each line, from 1, and its cells."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for number, line in enumerate(stream):
            if number >= layout.first and line.strip():
                yield number + 1, _cells(line, layout.delimiter)


def _lengths(path: Path, layout: _Layout) -> Iterator[int]:
    """Yield how many cells each line has, where that is cheap to see: without quotes."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for number, line in enumerate(stream):
            if number >= layout.first and line.strip():
                if layout.delimiter is None or '"' in line:
                    yield len(_cells(line, layout.delimiter))
                else:
                    yield line.count(layout.delimiter) + 1


def _values(path: Path, layout: _Layout, kept: Sequence[int]) -> npt.NDArray[np.float64]:
    """Read cell by cell: NaN for those without a value, an error for those that hold text."""
    rows = []
    for number, cells in _lines(path, layout):
        if len(cells) != layout.width:
            raise ValueError(
                f"{path}: line {number} has {len(cells)} values, expected {layout.width} as the "
                "first line has; correct it or leave it out"
            )
        rows.append([_value(path, layout, number, k, cells[k]) for k in kept])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(kept))


def _value(path: Path, layout: _Layout, line: int, column: int, cell: str) -> float:
    if cell.lower() in MISSING:
        return np.nan
    if _is_number(cell):
        return float(cell)
    name = column if layout.names is None else layout.names[column]
    if _is_number(cell.replace(",", ".")):
        hint = "numbers must be written with points, not commas"
    else:
        hint = f"write numbers for it, or leave the column out with drop={name!r}"
    raise ValueError(f"{path}: column {name!r} holds the text {cell!r} in line {line}; {hint}")
