"""One's own rows for an RBM: zeros and ones, grey levels, or real numbers that are standardised.

Tested in tests/cli/test_own_data.py.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trug_fast import datasets
from trug_fast._common.frames import Names
from trug_fast.models.scaling import Scaling

from .own_data import (
    BYTE,
    LETTERS,
    ScalingOrFit,
    arranged,
    known_names,
    read,
    scaling_for,
    split,
    stem,
)
from .own_weights import apart, column_of_weights, weights_for


@dataclass(frozen=True, eq=False)
class VisibleRows:
    """Rows for an RBM: all that are tested and trained on, and what training takes of them.

    Attributes
    ----------
    name : str
    train, test : arrays, shape (rows, columns)
    given : array
        What to train on, grey if that is asked for.
    image_shape : (int, int) or None
    scaling : Scaling or None
        How real numbers were standardised.
    columns : tuple of str or None
    weights : array or None
        Of the rows that are trained on.
    letters : str or None
        Of aligned sequences the letters of the states 0, 1, ...
    left_out : str
        Which of their letters became no states, in words.
    """

    name: str
    train: Any
    test: Any
    given: Any
    image_shape: tuple[int, int] | None
    scaling: Scaling | None = None
    columns: Names = None
    weights: Any = None
    letters: str | None = None
    left_out: str = ""

    @property
    def row(self) -> str:
        """What a row is called."""
        return "row" if self.image_shape is None else "image"

    @property
    def of(self) -> str:
        """What log-likelihoods are of."""
        return self.row if self.scaling is None else f"{self.row} of standardised columns"

    def restored(self, rows: Any) -> Any:
        """Return rows in the units of the data."""
        return rows if self.scaling is None else self.scaling.undo(rows)


def visible_rows(
    arguments: argparse.Namespace,
    visible: str,
    soft: bool,
    scaling: ScalingOrFit,
    columns: Names = None,
) -> VisibleRows:
    """Return one's own rows for an RBM of these visible units.

    Real numbers are standardised by ``scaling``, or left as they are without one; columns are put
    in the order of these names.
    """
    data = read(arguments, arguments.data, columns)
    whole, shape = data.rows(), data.image_shape
    column = column_of_weights(arguments, whole.shape[1], data.columns)
    weights = weights_for(arguments, whole, column, "row")
    rows, names = apart(whole, data.columns, column)
    rows = arranged(arguments.data, rows, names, columns)
    names = names if columns is None else columns
    kept, tested = split(arguments, len(rows))
    train, test = rows[kept], rows[tested]
    if arguments.test is not None:
        other = read(arguments, arguments.test, columns)
        test, others = other.rows(), other.columns
        if others is None and test.shape[1] == whole.shape[1]:
            test, _ = apart(test, None, column)
        test = arranged(arguments.test, test, others, names)
    if train.shape[1] != test.shape[1]:
        raise ValueError(
            f"{arguments.test} has {test.shape[1]} columns, {arguments.data} has {train.shape[1]}"
        )
    name, names = stem(arguments.data), known_names(names)
    weights = None if weights is None else weights[kept]
    if visible == "categorical":
        if arguments.binarize is not None:
            raise ValueError("--binarize has no effect on --visible categorical")
        more = data.letters, data.left_out
        return VisibleRows(name, train, test, train, shape, None, names, weights, *more)
    if data.letters is not None:
        raise ValueError(LETTERS.format(arguments.data) + ": they need --visible categorical")
    if visible == "gaussian":
        if arguments.binarize is not None:
            raise ValueError("--binarize has no effect on real numbers, --visible gaussian")
        own = scaling_for(arguments.data, train, scaling)
        if own is not None:
            train, test = own.apply(train), own.apply(test)
        return VisibleRows(name, train, test, train, shape, own, names, weights)
    if visible != "bernoulli":  # states, which trainings and models check
        if arguments.binarize is not None:
            raise ValueError(f"--binarize has no effect on {visible} units")
        pictures = shape if visible in ("truncated", "relu") else None
        return VisibleRows(name, train, test, train, pictures, columns=names, weights=weights)
    levels = _levels(arguments.data, train, test)
    if levels is None:
        train, test = train.astype(np.uint8), test.astype(np.uint8)
        return VisibleRows(name, train, test, train, shape, columns=names, weights=weights)
    grey = VisibleRows(name, train, test, train, shape, columns=names, weights=weights)
    return _binary(arguments, grey, levels, soft)


def _levels(path: str, train: Any, test: Any) -> float | None:
    """Return the level of a full pixel; None of rows that are 0 and 1 already."""
    if all(((part == 0) | (part == 1)).all() for part in (train, test)):
        return None
    low = min(float(part.min()) for part in (train, test))
    high = max(float(part.max()) for part in (train, test))
    if 0 <= low and high <= 1:
        return 1.0
    whole = all((part == np.round(part)).all() for part in (train, test))
    if low >= 0 and whole and BYTE / 2 < high <= BYTE:
        return float(BYTE)
    raise ValueError(
        f"{path} has values from {low:g} to {high:g}: real numbers need --visible gaussian; grey "
        f"levels must lie in [0, 1], or be whole numbers up to {BYTE}"
    )


def _binary(
    arguments: argparse.Namespace, grey: VisibleRows, full: float, soft: bool
) -> VisibleRows:
    """Return grey rows as zeros and ones, as the options say."""
    how = arguments.binarize
    if how is None and not soft:
        raise ValueError(
            f"{arguments.data} has grey levels: make them 0 and 1 with --binarize threshold (or "
            "sample, epoch), or train on real numbers with --visible gaussian"
        )
    if how is not None and soft:
        raise ValueError(f"--binarize {how} has no effect with --soft")
    method: Any = "threshold" if how in ("threshold", None) else "sample"
    rng = np.random.default_rng(arguments.seed)
    train, test = (
        datasets.binarize(part, method, max_value=full, rng=rng) for part in (grey.train, grey.test)
    )
    given: Any = train
    if soft:
        given = (grey.train / full).astype(np.float32)
    return replace(grey, train=train, test=test, given=given)
