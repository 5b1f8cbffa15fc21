"""Scaling: how real data become the numbers of a model, and the model's numbers data again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

FLAT = 1e-14  # of its mean: what the deviation of a constant may come out as


@dataclass(frozen=True, eq=False)
class Scaling:
    """How the columns of real data are standardised: minus their mean, over their deviation.

    A column that never varied has the deviation 0.  It becomes 0, whatever is in it, and comes
    back as its mean: such a column tells a model nothing, and what the model draws there would be
    noise.

    Parameters
    ----------
    mean, deviation : array_like, shape (columns,)
        Deviations are 0 or more.

    Raises
    ------
    TypeError, ValueError
        If these are not finite vectors of one length, or a deviation is below 0.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> X = np.array([[150.0, 7.0], [170.0, 7.0], [190.0, 7.0]])
    >>> scaling = tf.models.Scaling.fit(X)
    >>> scaling.apply(X).round(2).tolist()
    [[-1.22, 0.0], [0.0, 0.0], [1.22, 0.0]]
    >>> bool(np.allclose(scaling.undo(scaling.apply(X)), X))
    True
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check and copy both."""
        for name in ("mean", "deviation"):
            given = checks.numbers(name, getattr(self, name))
            if given.ndim != 1 or given.size == 0:
                raise ValueError(f"{name} must be a vector, got shape {given.shape}")
            own = checks.vector(name, given, given.size, np.float64, infinite=False)
            own.flags.writeable = False
            object.__setattr__(self, name, own)
        if self.mean.shape != self.deviation.shape:
            raise ValueError(
                f"deviation must have {self.mean.size} entries, as mean has, got "
                f"{self.deviation.size}"
            )
        if (self.deviation < 0).any():
            raise ValueError(f"deviation must be 0 or more, got {self.deviation.min()}")

    @classmethod
    def fit(cls, X: ArrayLike) -> Scaling:
        """Take means and deviations from data.

        Parameters
        ----------
        X : array_like, shape (..., columns), or list of such
            Rows, or sequences of rows, which need not be of one length.

        Returns
        -------
        Scaling

        Raises
        ------
        TypeError, ValueError
            If X holds anything but finite real numbers, or no rows.
        """
        if isinstance(X, list | tuple) and all(np.ndim(sequence) == 2 for sequence in X):
            widths = sorted({np.shape(sequence)[1] for sequence in X})
            if len(widths) != 1:
                raise ValueError(f"X must have sequences of as many columns each, got {widths}")
            X = np.concatenate(X)
        array = checks.numbers("X", X)
        if array.ndim < 2:
            raise ValueError(f"X must have rows and columns, got shape {array.shape}")
        return cls.of_rows(checks.matrix("X", array.reshape(-1, array.shape[-1])))

    @classmethod
    def of_rows(cls, rows: NDArray[Any], weights: NDArray[np.float64] | None = None) -> Scaling:
        """Take them from a matrix that has been checked."""
        if weights is None:
            mean = rows.mean(axis=0, dtype=np.float64)
            deviation = rows.std(axis=0, dtype=np.float64)
        else:
            mean = np.average(rows.astype(np.float64), axis=0, weights=weights)
            deviation = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weights))
        # That of a constant need not come out as 0.
        flat = (rows == rows[0]).all(axis=0) | (deviation <= FLAT * abs(mean))
        return cls(mean, np.where(flat, 0.0, deviation))

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns are not constant."""
        return np.asarray(self.deviation > 0)

    def apply(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return data standardised, in float64; shape (..., columns), as that of X.

        NaN, which stands for a missing value, stays NaN.

        Raises
        ------
        TypeError, ValueError
            If X holds anything but real numbers, or another number of columns.
        """
        array = self._columns(X)
        with np.errstate(invalid="ignore"):  # of infinity: NaN, as of NaN, in constant columns too
            rest = np.where(self.varies, array - self.mean, array - array)
        return np.asarray(rest / np.where(self.varies, self.deviation, 1.0))

    def undo(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return data in their own units, from standardised ones of shape (..., columns).

        Raises
        ------
        TypeError, ValueError
            As :meth:`apply`.
        """
        return self._columns(X) * self.deviation + self.mean

    def _columns(self, X: ArrayLike) -> NDArray[np.float64]:
        array = checks.numbers("X", X)
        if array.ndim == 0 or array.shape[-1] != self.mean.size:
            raise ValueError(f"X must have {self.mean.size} columns, got shape {array.shape}")
        return array.astype(np.float64)

    def __repr__(self) -> str:
        constant = int(self.mean.size - self.varies.sum())
        return f"Scaling(columns={self.mean.size}, constant={constant})"
