"""Data by a name or from a file, made fit for the units of a model: rows, sequences, regressions.

Tested in tests/cli/test_data.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trug_fast import datasets
from trug_fast._common.frames import Names, require_names
from trug_fast.datasets.alignments import is_fasta
from trug_fast.datasets.files import FileData
from trug_fast.datasets.tables import column_of, columns_of
from trug_fast.models.scaling import Scaling

from .flags import NAMED, READING, refuse

BYTE = 255
FIT = "fit"  # stands for a scaling by the data; without one, numbers are taken as they are
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


def given(
    arguments: argparse.Namespace,
    kind: str,
    visible: str,
    scaling: Scaling | str | None = None,
    columns: Names = None,
    validation: Any = None,
    weights: Any = None,
    soft: bool = False,
) -> Data:
    """Return rows for an "rbm", or sequences for a "trbm", of these visible units and columns.

    A share of the rows, the last of the sequences, or a file is for validation.
    """
    path, names, letters, test = arguments.data, None, None, None
    found: Any
    read_one = _sequences if kind == "trbm" else _rows
    if named := _is_named(arguments, kind):
        found, test = _named(arguments)
    else:
        found, names, letters = read_one(arguments, path, columns)
    if isinstance(validation, str):
        test, _, _ = read_one(arguments, validation, names)
        if test[0].shape[-1] != found[0].shape[-1]:
            words = f"{test[0].shape[-1]} columns, {path} {found[0].shape[-1]}"
            raise ValueError(f"{validation} has {words}")
    elif validation is not None:
        held, kept = _held_back(arguments, validation, found, weights)
        weights = None if weights is None else weights[kept]
        test, found = (
            found[rows] if kind == "rbm" else [found[k] for k in rows] for rows in (held, kept)
        )
    if letters is not None and visible != "categorical":
        raise ValueError(f"{path} holds letters: they need --visible categorical")
    if getattr(arguments, "binarize", None) is not None and (visible != "bernoulli" or soft):
        raise ValueError(f"--binarize has no effect on {'soft' if soft else visible} units")
    own: Any = scaling if visible == "gaussian" else None
    own = Scaling.fit(found) if own == FIT else own
    parts = [found] if test is None else [found, test]
    if own is not None:
        parts = [
            [own.apply(x) for x in part] if kind == "trbm" else own.apply(part) for part in parts
        ]
    elif visible == "bernoulli":
        parts = _from_0_to_1(arguments, parts, named, soft)
    return Data(parts[0], parts[-1] if len(parts) > 1 else None, None, own, names, letters, weights)


def of_model(arguments: argparse.Namespace, kind: str, model: Any) -> Data:
    """Return what is asked for as a model takes it; refuse other columns than it is of."""
    arguments.alphabet = model.letters if is_fasta(Path(arguments.data)) else None
    found = given(arguments, kind, model.visible, model.scaling, model.columns)
    _require_columns(arguments, model.n_visible, found.train[0].shape[-1])
    return found


def regression(arguments: argparse.Namespace, model: Any = None, *, needs_y: bool = True) -> Data:
    """Return inputs, those of a model in its order, and targets: a file's, or of --target.

    Of a named set rows to train on, or, of a model, those to test it on.
    """
    path, target, y_path = arguments.data, arguments.target, getattr(arguments, "y", None)
    if _is_named(arguments, "tggm"):
        yacht = datasets.load_yacht().split(0)
        train = Data(yacht.X_train, None, yacht.y_train)
        return train if model is None else Data(yacht.X_test, None, yacht.y_test)
    names, wanted = columns_of(Path(path)), None if model is None else model.columns
    if target is not None and y_path is not None:
        raise ValueError(f"--target has no effect beside the targets in {y_path}")
    if needs_y and target is None and y_path is None:
        known = "" if names is None else f"; it has {', '.join(names)}"
        raise ValueError(f"name the targets of {path}: a file after it, or --target COLUMN{known}")
    if target is not None and names is not None:
        target = names[column_of(path, len(names), names, "--target", target)]
    needed = None if wanted is None else wanted + (() if target is None else (target,))
    data = _numbers(arguments, path, needed)
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


def numbers_in(path: str) -> Any:
    """Return a column of weights or targets, or several, that is a file of its own."""
    found = next(iter(datasets.read(path).sequences()))
    return found[:, 0] if found.shape[1] == 1 else found


def _is_named(arguments: argparse.Namespace, kind: str) -> bool:
    """Tell whether data are a set of this name; refuse what is neither that nor a file."""
    data, known = arguments.data, NAMED[kind]
    if data not in known and not Path(data).exists():
        raise ValueError(
            f"DATA must be {', '.join(known)}, or a file or folder; there is no {data}"
        )
    if data in known:
        of_files = [name for name in READING if name != "binarize"]
        refuse(arguments, (*of_files, "sample_weight"), f"is for files, not for {data}")
    return data in known


def _named(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """Return what a set of images, or of videos, has to train on, and to test on."""
    if arguments.data == "balls":
        trains = arguments.command in NAMED
        n, seed = (VIDEOS, arguments.seed) if trains else (TESTS, arguments.seed + 1)
        return list(datasets.bouncing_balls(n, rng=seed)), None
    images = datasets.load_digits() if arguments.data == "digits" else datasets.load_mnist()
    return images.train, images.test


def _read(arguments: argparse.Namespace, path: str, needed: Names = None) -> FileData:
    """Read a file as the flags say; of a table with names only what is needed, if that is known.

    Text in a column that a model never used, or a value that it lacks, does no harm then.
    """
    dropped: list[Any] = [] if arguments.drop is None else arguments.drop.split(",")
    names = None if needed is None else _telling(columns_of(Path(path)))
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


def _numbers(arguments: argparse.Namespace, path: str, needed: Names) -> FileData:
    """Read a file likewise, that must not hold letters."""
    data = _read(arguments, path, needed)
    if data.letters is not None:
        raise ValueError(f"{path} holds letters, which are no numbers: train an rbm on them")
    return data


def _rows(arguments: argparse.Namespace, path: str, wanted: Names) -> tuple[Any, Names, str | None]:
    data = _read(arguments, path, wanted)
    rows = _arranged(path, data.rows(), data.columns, wanted)
    if data.left_out:
        print(f"{path}: {data.left_out}")
    return rows, wanted or _telling(data.columns), data.letters


def _sequences(
    arguments: argparse.Namespace, path: str, wanted: Names
) -> tuple[Any, Names, str | None]:
    data = _numbers(arguments, path, wanted)
    found = data.sequences(arguments.length)
    if max(map(len, found)) < 2:
        raise ValueError(f"{path} must hold sequences of two frames or more, got one in each")
    found = [_arranged(path, x, data.columns, wanted) for x in found]
    return found, wanted or _telling(data.columns), None


def _arranged(path: str, array: Any, names: Names, wanted: Names) -> Any:
    """Return the columns of these names in this order; all as they are if names are not known."""
    if names is None or wanted is None or names == wanted:
        return array
    require_names(path, names, wanted)
    return array[:, [names.index(name) for name in wanted]]


def _telling(names: Names) -> Names:
    """Return names of columns that tell them apart, or None."""
    return None if names is None or len(set(names)) < len(names) else names


def _require_columns(arguments: argparse.Namespace, wanted: int, columns: int) -> None:
    if columns != wanted:
        raise ValueError(
            f"{arguments.model} is of {wanted} columns, {arguments.data} has {columns}; leave out "
            "some by --drop, or name what the model was trained on"
        )


def _held_back(
    arguments: argparse.Namespace, share: Any, found: Any, weights: Any
) -> tuple[Any, Any]:
    """Return which rows, drawn at random, or sequences, the last ones, to hold back, and others."""
    count = len(found)
    if not isinstance(share, float) or not 0 < share < 1:
        raise ValueError(f"--validation must be a share in (0, 1), or a file, got {share}")
    if count < 2:
        raise ValueError(f"{arguments.data} holds {count}, of which none would be left to train on")
    if weights is not None and len(weights) != count:
        raise ValueError(f"--sample-weight must have {count} numbers, got {len(weights)}")
    held = min(count - 1, max(1, round(share * count)))
    order = np.roll(np.arange(count), held)
    if not isinstance(found, list):
        order = np.random.default_rng(arguments.seed).permutation(count)
    return order[:held], order[held:]


def _from_0_to_1(
    arguments: argparse.Namespace, parts: list[Any], named: bool, soft: bool
) -> list[Any]:
    """Return zeros and ones, as the flags say, or grey levels for soft units and frames."""
    video, how = isinstance(parts[0], list), getattr(arguments, "binarize", None)
    arrays, trains = (
        [x for part in parts for x in part] if video else parts,
        arguments.command in NAMED,
    )
    low, high = float(min(map(np.min, arrays))), float(max(map(np.max, arrays)))
    whole = BYTE / 2 < high <= BYTE and all((x == np.round(x)).all() for x in arrays)
    whole |= video and high > 1 and all(x.dtype == np.uint8 for x in arrays)
    full = float(BYTE) if whole else 1.0
    if low < 0 or high > full:
        of = (
            "real numbers need --visible gaussian" if trains else f"{arguments.model} is of 0 and 1"
        )
        raise ValueError(
            f"{arguments.data} has values from {low:g} to {high:g}: {of}; grey levels must lie in "
            f"[0, 1], or be bytes, whole numbers up to {BYTE}"
        )
    if video:
        return [[x / full for x in part] for part in parts] if whole else parts
    if soft:
        return [(part / full).astype(np.float32) for part in parts]
    if how is None and all(((part == 0) | (part == 1)).all() for part in parts):
        return [part.astype(np.uint8) for part in parts]
    if how is None and not named:
        more = ", or train on real numbers with --visible gaussian" if trains else ""
        raise ValueError(
            f"{arguments.data} has grey levels: make them 0 and 1 with --binarize threshold (or "
            f"sample){more}"
        )
    rng = np.random.default_rng(arguments.seed)
    method: Any = how or "threshold"
    return [datasets.binarize(part, method, max_value=full, rng=rng) for part in parts]
