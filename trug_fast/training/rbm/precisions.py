"""Precisions of Gaussian and truncated visible units in the course of training (mathematics 2.6).

Tested in tests/training/rbm/test_precisions.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray
from trug_fast.training.checkpoints import State
from trug_fast.training.optimizers import Steps
from trug_fast.training.unit_parameters import LOG_PRECISION
from trug_fast.training.weighing import Weights

# Of log a: the variance of its derivative by one row is 1/2, whatever the units and the data.
VISIBLE_RATES = {"sgd": (0.05, 0.0025), "rmsprop": (2e-3, 1e-4), "adam": (2e-3, 1e-4)}
NAME = "log_visible_precision"


class VisiblePrecisions:
    """Precisions that move as log a, with the energy a (x - centre)^2 / 2.

    Parameters
    ----------
    precision : ndarray, shape (columns,)
        Changed in place, in the columns that learn theirs.
    centre : ndarray, shape (columns,)
        The data's means: a step of a is not to move them.
    steps : Steps
        The optimizer.
    learned : ndarray of bool, shape (columns,), optional
        Which columns learn; by default all.
    """

    def __init__(
        self,
        precision: FloatArray,
        centre: NDArray[np.float64],
        steps: Steps,
        learned: NDArray[np.bool_] | None = None,
    ) -> None:
        self.values, self._steps = precision, steps
        self._learned = np.ones(precision.size, bool) if learned is None else learned
        self._centre = centre.astype(precision.dtype)
        self._logs = np.log(precision[self._learned])
        steps.remember(NAME, self._logs)

    def arrays(self) -> State:
        """Return what an update reads before it writes it, sharing memory."""
        return {"visible_precision": self.values, NAME: self._logs}

    def squares(
        self, rows: FloatArray, weights: Weights | None = None, *, means: bool = False
    ) -> NDArray[np.float64]:
        """Return the mean over rows of (x - centre)^2, by their weights.

        means : whether rows are means given the hidden units, each of a draw of variance 1/a
        """
        squares = np.square(rows - self._centre)
        if weights is not None and weights.size:
            squares *= weights.astype(rows.dtype)[:, None]
        found = squares.mean(axis=0, dtype=np.float64)
        return np.asarray(found + 1.0 / self.values if means else found)

    def move(
        self, data: NDArray[np.float64], model: NDArray[np.float64], rate: float
    ) -> FloatArray:
        """Move along the gradient; return what is to be added to the visible biases.

        data, model : ``squares`` of both phases, the model's times the mean weight of the data
        """
        before, own = self.values.copy(), self._learned
        self._steps.move(NAME, self._logs, (0.5 * before * (model - data))[own], rate)
        np.clip(self._logs, -LOG_PRECISION, LOG_PRECISION, out=self._logs)
        self.values[own] = np.exp(self._logs)
        return np.asarray(self._centre * (self.values - before))

    def brief(self, rate: float) -> dict[str, float]:
        """Return the rate and the precisions in brief."""
        result = {"visible_precision_rate": rate}
        for word in ("mean", "min", "max"):
            result[f"visible_precision_{word}"] = float(getattr(self.values[self._learned], word)())
        return result
