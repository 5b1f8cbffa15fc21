"""The UCI sets of Table 4 with their published splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trug_fast._common import checks
from trug_fast.datasets import RegressionData, load_yacht
from trug_fast.datasets.downloads import Directory, Folder
from trug_fast.datasets.published import Rows

from .stored import read_npz

# Short name -> file or folder name in the distribution, and the number of rows.
UCI = {
    "boston": ("bostonHousing", 506),
    "concrete": ("concrete", 1030),
    "energy": ("energy", 768),
    "kin8nm": ("kin8nm", 8192),
    "naval": ("naval-propulsion-plant", 11934),
    "power": ("power-plant", 9568),
    "protein": ("protein-tertiary-structure", 45730),
    "wine": ("wine-quality-red", 1599),
    "yacht": ("yacht", 308),
    "year": ("YearPredictionMSD", 515345),
}
YEAR_TRAIN = 463_715  # rows; of the authors' split, by which no artist is in both parts
KEYS = ("data", "index_features", "index_target", "index_train", "index_test")


def load_uci(name: str, directory: Directory = None) -> RegressionData:
    """One of the UCI sets by which regressions are compared, with its published splits.

    Parameters
    ----------
    name : str
        "boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht" or
        "year".  The yachts are shipped: they need no file.
    directory : path, optional
        The folder with the files, or with a folder ``uci`` or ``UCI_Datasets`` with them: for each
        set ``FILE.npz`` (arrays data, index_features, index_target, and a row for each split in
        index_train and index_test) or the texts ``FILE/data/data.txt``, ``index_features.txt``,
        ``index_target.txt``, ``index_train_0.txt``, ``index_test_0.txt`` and so on, as Y. Gal
        distributes them; FILE is e.g. bostonHousing.  "year" is UCI's ``YearPredictionMSD.txt``.
        By default the environment variable ``TRUG_FAST_DATA`` names the folder.

    Returns
    -------
    RegressionData
        With 20 splits of 90 % of the rows for training, "protein" with 5, "year" with 1.

    Raises
    ------
    FileNotFoundError
        If the file is not there; the message says where it can be got.
    TypeError, ValueError
        If an argument is not one of those above or a file is damaged.

    Examples
    --------
    >>> split = load_uci("boston", "data").split(0)  # doctest: +SKIP
    """
    checks.choice("name", name, tuple(UCI))
    file, rows = UCI[name]
    home = (
        "the code of Y. Gal's 'Dropout as a Bayesian Approximation' (folder UCI_Datasets; "
        f"python -m reproduction fetch {name})"
    )
    places = ["uci", "UCI_Datasets"]
    if name == "year":
        return _year(Folder(directory, places, "UCI").need(f"{file}.txt"))
    folder = Folder(directory, places, home)
    packed, text = f"{file}.npz", f"{file}/data/data.txt"
    try:
        path = folder.need(packed, text)
    except FileNotFoundError:
        if name == "yacht":
            return load_yacht()
        raise
    # Up to 20 columns, and 20 splits that name each row once.
    packed_file = path.suffix == ".npz"
    found = read_npz(path, KEYS, 100 * rows) if packed_file else _read_texts(path)
    data, features, target, train, test = found
    if data.ndim != 2 or len(data) != rows or not np.isfinite(data).all():
        raise ValueError(f"{path} must hold {rows} rows of finite numbers, got {data.shape}")
    for index in (features, target):
        if index.size == 0 or not ((index >= 0) & (index < data.shape[1])).all():
            raise ValueError(f"{path} names columns that its {data.shape[1]} do not have")
    splits: tuple[list[Rows], list[Rows]] = ([], [])
    for ours, theirs in zip(train, test, strict=True):
        if not np.array_equal(np.sort(np.concatenate([ours, theirs])), np.arange(rows)):
            raise ValueError(f"{path}: a split does not have every row in one of its parts")
        splits[0].append(ours.astype(np.int64))
        splits[1].append(theirs.astype(np.int64))
    X = np.ascontiguousarray(data[:, features.astype(int)], dtype=np.float64)
    return RegressionData(name, X, data[:, int(target.ravel()[0])].astype(np.float64), *splits)


def _read_texts(path: Path) -> list[Any]:
    """Read the texts beside ``data.txt``."""
    folder = path.parent
    try:
        data = np.loadtxt(path)
        features = np.loadtxt(folder / "index_features.txt", dtype=float).ravel()
        target = np.loadtxt(folder / "index_target.txt", dtype=float).ravel()
        count = len(list(folder.glob("index_train_*.txt")))
        train, test = (
            [np.loadtxt(folder / f"index_{part}_{i}.txt", dtype=float) for i in range(count)]
            for part in ("train", "test")
        )
    except ValueError as error:
        raise ValueError(f"{folder} holds a damaged file: {error}") from error
    return [data, features, target, train, test]


def _year(path: Path) -> RegressionData:
    try:
        table = np.loadtxt(path, delimiter=",")
    except ValueError as error:
        raise ValueError(f"{path} is damaged or cut short: {error}") from error
    rows = UCI["year"][1]
    if table.shape != (rows, 91):
        raise ValueError(f"{path} must hold {rows} rows of 91 numbers, got {table.shape}")
    every = np.arange(rows)
    parts = [every[:YEAR_TRAIN]], [every[YEAR_TRAIN:]]
    return RegressionData("year", table[:, 1:].copy(), table[:, 0].copy(), *parts)
