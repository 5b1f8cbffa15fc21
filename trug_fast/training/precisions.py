"""Precisions of visible units in the course of training (mathematics 2.6 and 4.2).

Tested in tests/training/rbm/test_precisions.py and tests/training/trbm/test_train.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checkpoints import Arrays as State
from trug_fast._common.checks import FloatArray

from .learner import Part
from .rates import Schedule, Time
from .steps import Steps
from .unit_parameters import LOG_PRECISION

NAME = "log_visible_precision"


class VisiblePrecisions(Part):
    """Precisions that move as their logs.

    Parameters
    ----------
    values : ndarray, shape (columns,)
        Changed in place, in the columns that learn theirs.
    steps : Steps
        The optimizer.
    rate : Schedule
    learned : ndarray of bool, shape (columns,), optional
        Which columns learn; by default all.
    """

    moves = True

    def __init__(
        self,
        values: FloatArray,
        steps: Steps,
        rate: Schedule,
        learned: NDArray[np.bool_] | None = None,
    ) -> None:
        self.values, self._steps, self._rate = values, steps, rate
        self._learned = np.ones(values.size, bool) if learned is None else learned
        self._logs = np.log(values[self._learned])
        steps.remember(NAME, self._logs)

    def arrays(self) -> State:
        return {"visible_precision": self.values, NAME: self._logs}

    def climb(self, by_log: NDArray[Any], time: Time) -> FloatArray:
        """Move along the gradient by the logs; return what the precisions were before."""
        before, own = self.values.copy(), self._learned
        self._steps.move(NAME, self._logs, by_log[own], self._rate.at(*time))
        np.clip(self._logs, -LOG_PRECISION, LOG_PRECISION, out=self._logs)
        self.values[own] = np.exp(self._logs)
        return before

    def brief(self, learner: Any, time: Time) -> dict[str, float]:
        result = {"visible_precision_rate": self._rate.at(*time)}
        for word in ("mean", "min", "max"):
            result[f"visible_precision_{word}"] = float(getattr(self.values[self._learned], word)())
        return result
