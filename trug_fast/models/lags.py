"""Temporal weights of one lag or several: checks, and how they lie for the kernels.

Tested in tests/models/test_lags.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trug_fast._common.checks import FloatArray

from .fields import Field
from .sequences import dimensions
from .two_layers import TwoLayers

LAGS = "n_lags"
LAGGED = ("visible_to_hidden", "visible_to_visible", "hidden_to_hidden")


class LaggedLayers(TwoLayers):
    """A model whose weights named in LAGGED have a leading axis where it has several lags."""

    @property
    def n_lags(self) -> int:
        """Number of frames before it that a frame depends on; one in the paper's model."""
        return self._sizes[LAGS]

    def _matrix(self, field: Field, value: Any) -> FloatArray:
        """Return a checked matrix; of temporal weights one for each lag, if there are several."""
        if field.name not in LAGGED:
            return super()._matrix(field, value)
        several = dimensions(value) == 3
        if several and not len(value):
            raise ValueError(f"{field.name} must have a lag or more, got none")
        parts = []
        for lag, part in enumerate(value if several else [value]):
            own = field._replace(name=f"{field.name}[{lag}]") if several else field
            parts.append(super()._matrix(own, part))
        n_lags = self._sizes.setdefault(LAGS, len(parts))
        if len(parts) != n_lags:
            raise ValueError(
                f"{field.name} must have {n_lags} lags, as {LAGGED[0]} has, got {len(parts)}"
            )
        return np.stack(parts) if n_lags > 1 else parts[0]

    def _shown(self) -> tuple[str, ...]:
        """Name the number of lags in print where there are several."""
        return (*self.shown, LAGS) if self.n_lags > 1 else self.shown


def stacked(weights: FloatArray) -> FloatArray:
    """Return weights of one lag, or all, as they lead from past to present, lag below lag."""
    back = np.array(weights.swapaxes(-1, -2), order="C")
    return back.reshape(-1, back.shape[-1])


def of_lags(stack: FloatArray, n_lags: int) -> FloatArray:
    """Return the weights of which `stacked` makes these."""
    parts = stack.reshape(n_lags, -1, stack.shape[1]).swapaxes(1, 2)
    return parts if n_lags > 1 else parts[0]
