"""``--weights COLUMN|FILE``: what each row or sequence of one's own counts for in a training.

Tested in tests/cli/test_own_weights.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast import datasets
from trug_fast._common.frames import Names
from trug_fast.datasets.tables import column_of
from trug_fast.training.weighing import as_weights


def add_weights(parser: argparse.ArgumentParser, row: str, column: bool = True) -> None:
    """Add --weights."""
    columns = "a column by name or index, which is no data then, or " if column else ""
    parser.add_argument(
        "--weights",
        metavar="COLUMN|FILE" if column else "FILE",
        help=f"what each training {row} of your own counts for: {columns}a file with one number "
        f"for each {row}",
    )


def column_of_weights(
    arguments: argparse.Namespace, width: int, names: Names, target: int | None = None
) -> int | None:
    """Return which column of a table holds the weights, if one does.

    target : the column that is to be predicted

    Raises
    ------
    ValueError
        If there is no such column, nor such a file.
    """
    word = getattr(arguments, "weights", None)
    if word is None or Path(word).exists():
        return None
    try:
        index = column_of(arguments.data, width, names, "--weights", word)
    except ValueError as error:
        raise ValueError(f"{error}; nor is there a file of this name") from None
    if index == target:
        raise ValueError(f"--weights {word} is what is to be predicted: name another column")
    if width - (target is not None) < 2:
        raise ValueError(f"{arguments.data} has no column beside --weights {word}")
    return index


def apart(rows: Any, names: Names, column: int | None) -> tuple[Any, Names]:
    """Return rows and the names of their columns without that of the weights."""
    if column is None:
        return rows, names
    kept = None if names is None else names[:column] + names[column + 1 :]
    return np.delete(rows, column, axis=1), kept


def weights_for(arguments: argparse.Namespace, rows: Any, column: int | None, what: str) -> Any:
    """Return the weights of all rows or sequences, from their column or from their file; or None.

    Raises
    ------
    ValueError
        If they are no weights.
    """
    word = getattr(arguments, "weights", None)
    if word is None:
        return None
    if column is not None:
        found = rows[:, column]
    else:
        found = next(iter(datasets.read(word).sequences()))
        if found.size != len(found):
            raise ValueError(f"--weights {word} must hold one column, got {found.shape[1]}")
        found = found.reshape(-1)
    try:
        as_weights(found, len(rows), what)
    except ValueError as error:
        raise ValueError(str(error).replace("sample_weight", f"--weights {word}")) from None
    return found.astype(np.float64)


def few_weights(weights: Any, count: int) -> Any:
    """Return weights for a few rows, none where there are none."""
    return None if weights is None else np.resize([1.0, 2.0], count)
