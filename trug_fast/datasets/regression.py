"""Regression data: one set that is shipped, with its published splits."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


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


def _published_splits(rows: int, count: int) -> tuple[list[Rows], list[Rows]]:
    """Return the splits that the tables of Hernandez-Lobato and Adams (2015) were made with."""
    # NumPy's former generator, seeded with 1 once, as their script does.
    generator = np.random.RandomState(1)
    orders = [generator.permutation(rows) for _ in range(count)]
    train = round(0.9 * rows)
    return [order[:train] for order in orders], [order[train:] for order in orders]
