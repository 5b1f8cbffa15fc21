"""Data of one's own as options: ``--data FILE``, and how it is read, split and made fit for units.

Tested in tests/cli/test_own_data.py.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from trug_fast import datasets
from trug_fast._common.frames import Names, require_names
from trug_fast.datasets import FileData
from trug_fast.datasets.fasta import is_fasta
from trug_fast.datasets.tables import column_of, columns_of
from trug_fast.models.scaling import Scaling
from trug_fast.models.trbm import TRBM

from .own_weights import apart, column_of_weights, weights_for

SHARE = 0.1  # of rows or sequences that are tested on
READING = ("key", "size", "drop", "skip_missing", "alphabet")
SPLITTING = ("test", "test_share")
KEYED = (".npz", ".h5", ".hdf5")  # files whose arrays have names
BYTE = 255
LETTERS = "{} holds letters, which are no numbers"
FIT: Literal["fit"] = "fit"  # means and deviations of the training data
ScalingOrFit = Scaling | Literal["fit"] | None


def add_reading(
    parser: argparse.ArgumentParser, known: Sequence[str], default: str | None, *more: str
) -> None:
    """Add --data and how a file is read; ``more`` names options that only some models have."""
    shipped = f"{', '.join(known)} (default {default})" if known else ""
    files = "a file of your own (.npy, .npz, .h5, .csv), or a folder of images or sequences"
    if "alphabet" in more:
        files = files.replace(".csv", ".csv, .fasta")
    parser.add_argument(
        "--data",
        metavar="NAME|FILE" if known else "FILE",
        default=default,
        help=f"{shipped}{', or ' if known else ''}{files}",
    )
    own = parser.add_argument_group("data of your own")
    own.add_argument("--key", metavar="NAME", help="which array of a .npz or .h5 file")
    own.add_argument(
        "--drop", metavar="A,B", help="columns to leave out, by name or by index from 0"
    )
    if "skip_missing" in more:
        own.add_argument(
            "--skip-missing",
            action="store_true",
            default=None,
            help="leave out rows that lack a value",
        )
    if "size" in more:
        own.add_argument(
            "--size",
            metavar="N|HxW",
            help="scale images of a folder to this; of arrays, what images their rows are",
        )
    if "alphabet" in more:
        own.add_argument(
            "--alphabet",
            metavar="protein|rna|dna|LETTERS",
            help="of aligned sequences (.fasta): the letters of their states (default protein)",
        )
    if "length" in more:
        own.add_argument(
            "--length", type=int, metavar="N", help="cut sequences into ones of so many frames"
        )
    if "target" in more:
        own.add_argument(
            "--target",
            metavar="COLUMN",
            help="what to predict: a column by name or index, or an array of a .npz file",
        )


def add_splitting(parser: argparse.ArgumentParser, words: str) -> None:
    """Add what is tested on."""
    parser.add_argument("--test", metavar="FILE", help="what to test on, read as --data is")
    parser.add_argument(
        "--test-share",
        type=float,
        metavar="SHARE",
        help=f"of your own data, to test on: {words} (default {SHARE:g})",
    )


def is_own(
    arguments: argparse.Namespace, known: Sequence[str], others: Sequence[str] = ("data_dir",)
) -> bool:
    """Return whether --data is a file of one's own; refuse options that have no effect then.

    Raises
    ------
    ValueError
        If it is neither that nor a known name.
    """
    data, own = arguments.data, [*READING, *SPLITTING, "length", "target", "weights"]
    if data in known:
        for name in own:
            if getattr(arguments, name, None) is not None:
                raise ValueError(f"--{name.replace('_', '-')} is for data of your own, not {data}")
        return False
    if data is None or not Path(data).exists():
        if not known:
            raise ValueError(f"--data must name a file or folder of your own, got {data}")
        raise ValueError(
            f"--data must be {', '.join(known)}, or a file or folder of your own; there is no "
            f"{data}"
        )
    for name in others:
        if getattr(arguments, name, None) is not None:
            raise ValueError(f"--{name.replace('_', '-')} has no effect on a file of your own")
    return True


def stem(data: str) -> str:
    """Return how the results of a data set are called."""
    path = Path(data)
    return path.stem or path.resolve().stem


def read(arguments: argparse.Namespace, path: str, needed: Names = None) -> FileData:
    """Read a file as the options say; of a table with names only what is needed, if that is known.

    Text in a column that a model never used, or a value that it lacks, does no harm then.
    """
    drop = getattr(arguments, "drop", None)
    dropped: list[str | int] = [] if drop is None else drop.split(",")
    names = None if needed is None else columns_of(Path(path))
    if names is not None and needed is not None and len(set(names)) == len(names):
        require_names(path, names, needed)
        dropped += [k for k, name in enumerate(names) if name not in needed]
    size = getattr(arguments, "size", None)
    return datasets.read(
        path,
        key=arguments.key if Path(path).suffix in KEYED or path == arguments.data else None,
        size=None if size is None else size_of(size),
        drop=dropped,
        skip_missing=bool(getattr(arguments, "skip_missing", None)),
        alphabet=getattr(arguments, "alphabet", None),
    )


def read_numbers(arguments: argparse.Namespace, path: str, needed: Names = None) -> FileData:
    """Read a file as the options say; refuse letters, whose numbers have no size."""
    if is_fasta(Path(path)):
        raise ValueError(LETTERS.format(path) + ": they are for trug-fast train rbm")
    return read(arguments, path, needed)


def arranged(path: str, array: Any, names: Names, wanted: Names) -> Any:
    """Return the columns of these names in this order; all as they are if names are not known.

    Raises
    ------
    ValueError
        If some are lacking.
    """
    if names is None or wanted is None or names == wanted:
        return array
    require_names(path, names, wanted)
    return array[:, [names.index(name) for name in wanted]]


def known_names(names: Names) -> Names:
    """Return names of columns that tell them apart, or None."""
    return None if names is None or len(set(names)) < len(names) else names


def size_of(text: str) -> int | tuple[int, int]:
    """Return the size that --size means."""
    parts = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*))?", text.lower())
    if parts is None:
        raise ValueError(f"--size must be a number of pixels, or HEIGHTxWIDTH, got {text!r}")
    return int(parts[1]) if parts[2] is None else (int(parts[1]), int(parts[2]))


def split(arguments: argparse.Namespace, rows: int) -> tuple[Any, Any]:
    """Return the numbers of rows to train and to test on, drawn at random.

    Raises
    ------
    ValueError
        If there is nothing to draw from, or both ways of splitting are asked for.
    """
    order = np.random.default_rng(arguments.seed).permutation(rows)
    if arguments.test is not None:
        if arguments.test_share is not None:
            raise ValueError("--test-share has no effect with --test")
        return order, order[:0]
    tested = tested_of(arguments, rows, "rows")
    return order[tested:], order[:tested]


def tested_of(arguments: argparse.Namespace, count: int, what: str) -> int:
    """Return how many of so many rows or sequences are tested on."""
    share = SHARE if arguments.test_share is None else arguments.test_share
    if not 0 < share < 1:
        raise ValueError(f"--test-share must be above 0 and below 1, got {share}")
    if count < 2:
        more = ", or cut it with --length" if what == "sequences" else ""
        raise ValueError(
            f"{arguments.data} holds {count} of the {what} that are needed, 2 or more; test on "
            f"another file with --test{more}"
        )
    return min(count - 1, max(1, round(share * count)))


def scaling_for(path: str, rows: Any, scaling: ScalingOrFit) -> Scaling | None:
    """Return how rows are standardised, fitted to them if that is asked for."""
    if scaling == FIT:
        return Scaling.fit(rows)
    if isinstance(scaling, Scaling) and scaling.mean.size != rows.shape[1]:
        raise ValueError(
            f"{path} has {rows.shape[1]} columns, the model is of {scaling.mean.size}; name by "
            "--data what it was trained on"
        )
    return scaling


class FrameSequences(NamedTuple):
    """Sequences to train and to test on, and how their real numbers were standardised."""

    train: list[Any]
    test: list[Any]
    image_shape: tuple[int, int] | None
    scaling: Scaling | None
    columns: Names = None
    weights: Any = None  # of the sequences to train on


class TableSplit(NamedTuple):
    """Rows for a regression to train and to test on, and the names of its inputs."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    columns: Names = None
    weights: Any = None  # of the rows to train on


def frame_sequences(
    arguments: argparse.Namespace, visible: str, scaling: ScalingOrFit
) -> FrameSequences:
    """Return one's own sequences for a temporal model of these visible units; the last test it."""
    found, shape, names = _sequences(arguments, arguments.data)
    weights = weights_for(arguments, found, None, "sequence")
    if arguments.test is None:
        tested = tested_of(arguments, len(found), "sequences")
        train, test = found[:-tested], found[-tested:]
    elif arguments.test_share is not None:
        raise ValueError("--test-share has no effect with --test")
    else:
        train, (test, *_) = found, _sequences(arguments, arguments.test, names)
    weights = None if weights is None else weights[: len(train)]
    if train[0].shape[1] != test[0].shape[1]:
        raise ValueError(
            f"{arguments.test} has {test[0].shape[1]} columns, {arguments.data} has "
            f"{train[0].shape[1]}"
        )
    if visible == "gaussian":
        own = scaling_for(arguments.data, np.concatenate(train), scaling)
        if own is not None:
            train, test = ([own.apply(x) for x in part] for part in (train, test))
        return FrameSequences(train, test, shape, own, known_names(names), weights)
    full = max(_level_of_frames(arguments.data, part) for part in (train, test))
    train, test = ([x / full if full > 1 else x for x in part] for part in (train, test))
    return FrameSequences(train, test, shape, None, known_names(names), weights)


def sequences_for(arguments: argparse.Namespace, model: TRBM) -> list[Any]:
    """Return one's own sequences as a temporal model takes them; refuse others than it is of."""
    is_own(arguments, ())
    found, *_ = _sequences(arguments, arguments.data, model.columns)
    if found[0].shape[1] != model.n_visible:
        raise ValueError(
            f"{arguments.model} has {model.n_visible} visible units, --data {arguments.data} has "
            f"{found[0].shape[1]} columns"
        )
    if model.scaling is not None:
        return [model.scaling.apply(x) for x in found]
    full = 1.0 if model.visible == "gaussian" else _level_of_frames(arguments.data, found)
    return [x / full if full > 1 else x for x in found]


def _sequences(
    arguments: argparse.Namespace, path: str, wanted: Names = None
) -> tuple[list[Any], tuple[int, int] | None, Names]:
    """Return sequences, the shape of their frames if these are images, and names of columns."""
    data = read_numbers(arguments, path, wanted)
    found = data.sequences(getattr(arguments, "length", None))
    shape = data.image_shape
    if max(map(len, found)) < 2:
        raise ValueError(f"{path} must hold sequences of two frames or more, got one in each")
    images = shape is not None and math.prod(shape) == found[0].shape[1]
    found = [arranged(path, x, data.columns, wanted) for x in found]
    return found, shape if images else None, data.columns


def _level_of_frames(path: str, sequences: Sequence[Any]) -> float:
    """Return the level of a full pixel; refuse real numbers."""
    low, high = min(x.min() for x in sequences), max(x.max() for x in sequences)
    if low >= 0 and high <= 1:
        return 1.0
    if all(x.dtype == np.uint8 for x in sequences):
        return float(BYTE)
    raise ValueError(
        f"{path} has values from {low:g} to {high:g}: real numbers need --visible gaussian, grey "
        "levels must lie in [0, 1] or be bytes (uint8)"
    )


def regression_split(arguments: argparse.Namespace) -> TableSplit:
    """Return one's own rows for a regression; some, drawn at random, test it."""
    X, y, names, weights = _regression(arguments, arguments.data)
    kept, tested = split(arguments, len(X))
    own = None if weights is None else weights[kept]
    if arguments.test is None:
        return TableSplit(X[kept], y[kept], X[tested], y[tested], known_names(names), own)
    X_test, y_test, others, _ = _regression(arguments, arguments.test)
    X_test = arranged(arguments.test, X_test, others, names)
    if X.shape[1] != X_test.shape[1]:
        raise ValueError(
            f"{arguments.test} has {X_test.shape[1]} inputs, {arguments.data} has {X.shape[1]}"
        )
    return TableSplit(X[kept], y[kept], X_test, y_test, known_names(names), own)


def _regression(arguments: argparse.Namespace, path: str) -> tuple[Any, Any, Names, Any]:
    """Return inputs, targets, names of the inputs, and the weights of the rows to train on."""
    data = read_numbers(arguments, path)
    if arguments.target is None:
        known = "" if data.columns is None else f"; it has {', '.join(data.columns)}"
        raise ValueError(f"--target must say which column of {path} is to be predicted{known}")
    X, y = data.regression(arguments.target)
    if (y == y[0]).all():
        raise ValueError(
            f"{path} has the same target {y[0]:g} in all rows: there is nothing to predict; name "
            "another column by --target"
        )
    names, column = inputs_of(data, arguments.target), None
    if arguments.target in data.names:  # an array of its own
        column = column_of_weights(arguments, X.shape[1], names)
    else:
        width = X.shape[1] + 1
        target = column_of(data.path, width, data.columns, "target", arguments.target)
        column = column_of_weights(arguments, width, data.columns, target)
        column = None if column is None else column - (column > target)
    weights = weights_for(arguments, X, column, "row") if path == arguments.data else None
    X, names = apart(X, names, column)
    return X, y, names, weights


def named_target(path: str, target: str) -> str:
    """Return the name of the column that is meant, where a table has names."""
    names = columns_of(Path(path))
    if names is None:
        return target
    return names[column_of(path, len(names), names, "target", target)]


def inputs_of(data: FileData, target: str) -> Names:
    """Return the names of all columns but the target."""
    if data.columns is None:
        return None
    index = column_of(data.path, len(data.columns), data.columns, "target", target)
    return data.columns[:index] + data.columns[index + 1 :]
