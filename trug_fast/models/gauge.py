"""The zero-sum gauge of categorical visible units (mathematics 2.12).

Tested in tests/models/test_gauge.py.
"""

from __future__ import annotations

import numpy as np

from trug_fast._common.checks import FloatArray

from .visible_kinds import CATEGORICAL, Runs


def to_zero_sum(
    runs: Runs, weights: FloatArray, visible_bias: FloatArray, hidden_bias: FloatArray
) -> None:
    """Change parameters, in place, such that those of a site sum to zero over its states.

    Parameters
    ----------
    runs : sequence of Run
    weights : ndarray, shape (columns, hidden)
    visible_bias, hidden_bias : ndarray, shape (columns,) and (hidden,)
        The hidden ones take what the weights lose, so that the distribution stays what it is.
    """
    first, lost = 0, np.zeros(hidden_bias.size)
    for run in runs:
        stop = first + run.columns
        if run.kind == CATEGORICAL:
            part = weights[first:stop].reshape(run.sites, run.states, -1)
            mean = part.mean(axis=1, dtype=np.float64)
            part -= mean[:, None].astype(part.dtype)
            lost += mean.sum(axis=0)
            bias = visible_bias[first:stop].reshape(run.sites, run.states)
            bias -= bias.mean(axis=1, keepdims=True, dtype=np.float64).astype(bias.dtype)
        first = stop
    hidden_bias += lost.astype(hidden_bias.dtype)
