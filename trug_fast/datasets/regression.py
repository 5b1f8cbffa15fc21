"""Regression data: one set that is shipped, and the UCI sets with published splits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trug_fast._common import checks

from .readers import Directory, Folder, read_npz

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

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


class RegressionSplit(NamedTuple):
    """Training and test part of one split."""

    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats


@dataclass(frozen=True, eq=False)
class RegressionData:
    """A data set for regression, with its splits.

    Attributes
    ----------
    name : str
        What the data set is called.
    X : array of float64, shape (n, inputs)
    y : array of float64, shape (n,)
    train_rows, test_rows : lists of int64 arrays
        The rows of each split's parts.
    """

    name: str
    X: Floats
    y: Floats
    train_rows: list[Rows]
    test_rows: list[Rows]

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.train_rows)

    def split(self, index: int) -> RegressionSplit:
        """Return copies of the training and test rows of one split.

        Raises
        ------
        IndexError
            If there is no such split.
        """
        if not 0 <= index < self.n_splits:
            raise IndexError(f"{self.name} has splits 0 to {self.n_splits - 1}, got {index}")
        train, test = self.train_rows[index], self.test_rows[index]
        return RegressionSplit(self.X[train], self.y[train], self.X[test], self.y[test])


def load_yacht() -> RegressionData:
    """Resistance of sailing yachts: 308 rows, 6 inputs, shipped with the package.

    Residuary resistance per weight of displacement, from position of the centre of buoyancy,
    prismatic coefficient, length-displacement, beam-draught and length-beam ratio, and Froude
    number. "Yacht Hydrodynamics" by J. Gerritsma, R. Onnink and A. Versluis, UCI Machine Learning
    Repository, CC BY 4.0. The 20 splits are those of J. M. Hernandez-Lobato and R. P. Adams (2015).

    Returns
    -------
    RegressionData

    Examples
    --------
    >>> yacht = load_yacht()
    >>> yacht.X.shape, yacht.split(0).y_test.shape
    ((308, 6), (31,))
    """
    table = np.loadtxt(Path(__file__).with_name("yacht.txt"))
    rows = _published_splits(len(table), 20)
    return RegressionData("yacht", table[:, :6].copy(), table[:, 6].copy(), *rows)


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
    home = "the code of Y. Gal's 'Dropout as a Bayesian Approximation' (folder UCI_Datasets)"
    places = ["uci", "UCI_Datasets"]
    if name == "year":
        return _year(Folder(directory, places, "UCI").need(f"{file}.txt"))
    folder = Folder(directory, places, home, name)
    packed, text = f"{file}.npz", f"{file}/data/data.txt"
    path = folder.find(packed, text)
    if path is None and name == "yacht":
        return load_yacht()
    if path is None:
        raise folder.missing(packed, text)
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


def _published_splits(rows: int, count: int) -> tuple[list[Rows], list[Rows]]:
    """Return the splits that the tables of Hernandez-Lobato and Adams (2015) were made with."""
    # NumPy's former generator, seeded with 1 once, as their script does.
    generator = np.random.RandomState(1)
    orders = [generator.permutation(rows) for _ in range(count)]
    train = round(0.9 * rows)
    return [order[:train] for order in orders], [order[train:] for order in orders]
