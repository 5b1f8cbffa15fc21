"""Data by a name or from a file, made fit for the units of a model: rows, sequences, regressions.

Tested in tests/cli/test_data.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trug_fast import datasets
from trug_fast._common import archives
from trug_fast._common.frames import Names, require_names
from trug_fast.datasets.alignments import is_fasta
from trug_fast.datasets.files import FileData
from trug_fast.datasets.tables import column_of, columns_of
from trug_fast.models.scaling import Scaling

from .flags import NAMED, READING, refuse

BYTE = 255
FIT = "fit"  # stands for a scaling by the data; without one, numbers are taken as they are
ScalingOrFit = Scaling | str | None
VIDEOS, TESTS = 200, 20  # of bouncing balls, to train and to test on
KEYED = (".npz", ".h5", ".hdf5")  # files whose arrays have names


class Data(NamedTuple):
    """What a model is trained or tested on, and how it came about."""

    train: Any  # rows, or a list of sequences
    test: Any = None  # what is held back, or the test images of a named set
    y: Any = None  # targets of a regression
    scaling: Scaling | None = None  # how real numbers were standardised
    columns: Names = None  # names that tell them apart
    letters: str | None = None  # of aligned sequences the states 0, 1, ...
    weights: Any = None  # of what is trained on


def is_named(arguments: argparse.Namespace, data: str, kind: str) -> bool:
    """Tell whether data are a set of this name; refuse what is neither that nor a file."""
    known = ", ".join(NAMED[kind])
    if data not in NAMED[kind] and not Path(data).exists():
        raise ValueError(f"DATA must be {known}, or a file or folder; there is no {data}")
    if data in NAMED[kind]:
        of_files = [name for name in READING if name != "binarize"]
        refuse(arguments, (*of_files, "sample_weight"), f"is for files, not for {data}")
    return data in NAMED[kind]


def read(arguments: argparse.Namespace, path: str, needed: Names = None) -> FileData:
    """Read a file as the flags say; of a table with names only what is needed, if that is known.

    Text in a column that a model never used, or a value that it lacks, does no harm then.
    """
    dropped: list[Any] = [] if arguments.drop is None else arguments.drop.split(",")
    names = None if needed is None else _telling(_names_in(path))
    if names is not None and needed is not None:
        require_names(path, names, needed)
        dropped += [k for k, name in enumerate(names) if name not in needed]
    return datasets.read(
        path,
        key=arguments.key if Path(path).suffix in KEYED or path == arguments.data else None,
        size=getattr(arguments, "size", None),
        drop=dropped,
        skip_missing=bool(arguments.skip_missing),
        alphabet=getattr(arguments, "alphabet", None),
    )


def _arranged(path: str, array: Any, names: Names, wanted: Names) -> Any:
    """Return the columns of these names in this order; all as they are if names are not known."""
    if names is None or wanted is None or names == wanted:
        return array
    require_names(path, names, wanted)
    return array[:, [names.index(name) for name in wanted]]


def _names_in(path: str) -> Names:
    """Return the names of a table's columns; a pipe or a device, which is refused, is not read."""
    return None if archives.is_stream(Path(path)) else columns_of(Path(path))


def _telling(names: Names) -> Names:
    """Return names of columns that tell them apart, or None."""
    return None if names is None or len(set(names)) < len(names) else names


def numbers_in(path: str) -> Any:
    """Return a column of weights or targets, or several, that is a file of its own."""
    found = next(iter(datasets.read(path).sequences()))
    return found[:, 0] if found.shape[1] == 1 else found


def _held_back(
    path: str, share: Any, count: int, weights: Any, rng: Any = None
) -> tuple[Any, Any, Any]:
    """Return which of so many to hold back, and to train on, and the weights of these.

    They are drawn at random, or are the last ones.
    """
    if not isinstance(share, float) or not 0 < share < 1:
        raise ValueError(f"--validation must be a share in (0, 1), or a file, got {share}")
    if count < 2:
        raise ValueError(f"{path} holds {count}, of which none would be left to train on")
    if weights is not None and len(weights) != count:
        raise ValueError(f"--sample-weight must have {count} numbers, got {len(weights)}")
    held = min(count - 1, max(1, round(share * count)))
    order = np.roll(np.arange(count), held) if rng is None else rng.permutation(count)
    return order[:held], order[held:], None if weights is None else weights[order[held:]]


def static(
    arguments: argparse.Namespace,
    visible: str,
    scaling: ScalingOrFit = None,
    columns: Names = None,
    validation: Any = None,
    weights: Any = None,
    soft: bool = False,
) -> Data:
    """Return rows for an RBM of these visible units, in the order of these columns.

    A share of the rows, or a file, is for validation.
    """
    path, test, names, letters = arguments.data, None, None, None
    named = is_named(arguments, path, "rbm")
    if named:
        images = datasets.load_digits() if path == "digits" else datasets.load_mnist()
        rows, test = images.train, images.test
    else:
        data = read(arguments, path, columns)
        rows, letters = _arranged(path, data.rows(), data.columns, columns), data.letters
        names = columns or _telling(data.columns)
        if data.left_out:
            print(f"{path}: {data.left_out}")
    if isinstance(validation, str):
        other = read(arguments, validation, names)
        test = _arranged(validation, other.rows(), other.columns, names)
        if test.shape[1] != rows.shape[1]:
            raise ValueError(f"{validation} has {test.shape[1]} columns, {path} {rows.shape[1]}")
    elif validation is not None:
        rng = np.random.default_rng(arguments.seed)
        held, kept, weights = _held_back(path, validation, len(rows), weights, rng)
        rows, test = rows[kept], rows[held]
    if letters is not None and visible != "categorical":
        raise ValueError(f"{path} holds letters: they need --visible categorical")
    how: str | None = arguments.binarize
    parts: list[Any] = [rows] if test is None else [rows, test]
    if how is not None and (visible != "bernoulli" or soft):
        raise ValueError(f"--binarize has no effect on {'soft' if soft else visible} units")
    own = _scaling(visible, scaling, rows)
    if own is not None:
        parts = [own.apply(part) for part in parts]
    elif visible == "bernoulli":
        parts = _binary(arguments, parts, "threshold" if named and how is None else how, soft)
    test = parts[1] if len(parts) > 1 else None
    return Data(parts[0], test, None, own, names, letters, weights)


def _scaling(visible: str, scaling: ScalingOrFit, rows: Any) -> Scaling | None:
    """Return how rows, or sequences, of real numbers are standardised."""
    if visible != "gaussian":
        return None
    return Scaling.fit(rows) if scaling == FIT else scaling  # type: ignore[return-value]


def _binary(
    arguments: argparse.Namespace, parts: list[Any], how: str | None, soft: bool
) -> list[Any]:
    """Return rows of zeros and ones, or of grey levels, as the flags say."""
    if how is None and all(((part == 0) | (part == 1)).all() for part in parts):
        return [part.astype(np.uint8) for part in parts]
    low, high = float(min(map(np.min, parts))), float(max(map(np.max, parts)))
    whole = BYTE / 2 < high <= BYTE and all((part == np.round(part)).all() for part in parts)
    full = float(BYTE) if whole else 1.0
    if low < 0 or high > full:
        raise _no_levels(arguments, low, high)
    if soft:
        return [(part / full).astype(np.float32) for part in parts]
    if how is None:
        more = "sample), or train on real numbers with --visible gaussian"
        raise ValueError(
            f"{arguments.data} has grey levels: make them 0 and 1 with --binarize threshold (or "
            + (more if arguments.command in NAMED else "sample)")
        )
    rng = np.random.default_rng(arguments.seed)
    method: Any = "threshold" if how == "threshold" else "sample"
    return [datasets.binarize(part, method, max_value=full, rng=rng) for part in parts]


def _no_levels(arguments: argparse.Namespace, low: float, high: float) -> ValueError:
    """Return the refusal of values that are neither 0 and 1 nor grey levels."""
    trains = arguments.command in NAMED
    what = "real numbers need --visible gaussian" if trains else f"{arguments.model} is of 0 and 1"
    return ValueError(
        f"{arguments.data} has values from {low:g} to {high:g}: {what}; grey levels must lie in "
        f"[0, 1], or be bytes, whole numbers up to {BYTE}"
    )


def rows_of(arguments: argparse.Namespace, model: Any) -> Data:
    """Return the rows that are asked for, as a model takes them; refuse others than it is of."""
    arguments.alphabet = model.letters if is_fasta(Path(arguments.data)) else None
    found = static(arguments, model.visible, model.scaling, model.columns)
    _require_columns(arguments, model.n_visible, found.train.shape[1])
    return found


def _require_columns(arguments: argparse.Namespace, wanted: int, columns: int) -> None:
    if columns != wanted:
        raise ValueError(
            f"{arguments.model} is of {wanted} columns, {arguments.data} has {columns}; leave out "
            "some by --drop, or name what the model was trained on"
        )


def temporal(
    arguments: argparse.Namespace,
    visible: str,
    scaling: ScalingOrFit = None,
    columns: Names = None,
    validation: Any = None,
    weights: Any = None,
) -> Data:
    """Return sequences for a temporal model of these visible units; the last ones validate it."""
    path, names, test = arguments.data, None, None
    found: list[Any]
    if not is_named(arguments, path, "trbm"):
        found, names = _sequences(arguments, path, columns)
    elif arguments.command == "trbm":
        found = list(datasets.bouncing_balls(VIDEOS, rng=arguments.seed))
    else:
        found = list(datasets.bouncing_balls(TESTS, rng=arguments.seed + 1))
    if isinstance(validation, str):
        test, _ = _sequences(arguments, validation, names)
    elif validation is not None:
        held, kept, weights = _held_back(path, validation, len(found), weights)
        found, test = [found[k] for k in kept], [found[k] for k in held]
    own = _scaling(visible, scaling, found)
    test = None if test is None else _units(arguments, test, visible, own)
    found = _units(arguments, found, visible, own)
    return Data(found, test, None, own, names, None, weights)


def sequences_of(arguments: argparse.Namespace, model: Any) -> list[Any]:
    """Return sequences as a temporal model takes them; refuse others than it is of."""
    found: list[Any] = temporal(arguments, model.visible, model.scaling, model.columns).train
    _require_columns(arguments, model.n_visible, found[0].shape[1])
    return found


def _sequences(arguments: argparse.Namespace, path: str, wanted: Names) -> tuple[list[Any], Names]:
    """Return sequences, and names of their columns."""
    data = read(arguments, path, wanted)
    _refuse_letters(data)
    found = data.sequences(arguments.length)
    if max(map(len, found)) < 2:
        raise ValueError(f"{path} must hold sequences of two frames or more, got one in each")
    found = [_arranged(path, x, data.columns, wanted) for x in found]
    return found, wanted or _telling(data.columns)


def _refuse_letters(data: FileData) -> None:
    if data.letters is not None:
        raise ValueError(f"{data.path} holds letters, which are no numbers: train an rbm on them")


def _units(
    arguments: argparse.Namespace, found: list[Any], visible: str, scaling: Scaling | None
) -> list[Any]:
    """Return sequences as visible units take them: standardised, or from 0 to 1."""
    if visible == "gaussian":
        return found if scaling is None else [scaling.apply(x) for x in found]
    low, high = min(map(np.min, found)), max(map(np.max, found))
    if low >= 0 and high <= 1:
        return found
    if any(x.dtype != np.uint8 for x in found):
        raise _no_levels(arguments, low, high)
    return [x / BYTE for x in found]


def regression(arguments: argparse.Namespace, model: Any = None, *, needs_y: bool = True) -> Data:
    """Return inputs, those of a model in its order, and targets: a file's, or of --target.

    Of a named set rows to train on, or, of a model, those to test it on.
    """
    path, target, y_path = arguments.data, arguments.target, getattr(arguments, "y", None)
    if is_named(arguments, path, "tggm"):
        yacht = datasets.load_yacht().split(0)
        train = Data(yacht.X_train, None, yacht.y_train)
        return train if model is None else Data(yacht.X_test, None, yacht.y_test)
    names, wanted = _names_in(path), None if model is None else model.columns
    if target is not None and y_path is not None:
        raise ValueError(f"--target has no effect beside the targets in {y_path}")
    if needs_y and target is None and y_path is None:
        known = "" if names is None else f"; it has {', '.join(names)}"
        raise ValueError(f"name the targets of {path}: a file after it, or --target COLUMN{known}")
    if target is not None and names is not None:
        target = names[column_of(path, len(names), names, "--target", target)]
    needed = None if wanted is None else wanted + (() if target is None else (target,))
    data = read(arguments, path, needed)
    _refuse_letters(data)
    columns = data.columns
    if target is None:
        X, y = data.rows(), None if y_path is None else numbers_in(y_path)
    else:
        X, y = data.regression(target)
        columns = None if columns is None else tuple(each for each in columns if each != target)
    X = _arranged(path, X, columns, wanted)
    if model is not None:
        _require_columns(arguments, model.n_inputs, X.shape[1])
    return Data(X, None, y, columns=_telling(columns))
