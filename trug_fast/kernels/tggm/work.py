"""Rows of a regression's data, and the arrays that a batch of them needs.

Tested in tests/kernels/tggm/test_objectives.py.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import linked

from .mean_field import UnitMoments, new_moments


class WeightedRows(NamedTuple):
    """Rows of data and what each counts for, in the float type of the parameters."""

    inputs: np.ndarray  # (rows, inputs)
    targets: np.ndarray  # (rows, outputs)
    weights: np.ndarray  # (rows,), 1 on average


class Work(NamedTuple):
    """Working arrays for batches of one size."""

    inputs: np.ndarray  # (rows, inputs)
    targets: np.ndarray  # (rows, outputs)
    weights: np.ndarray  # (rows,)
    z: np.ndarray  # (hidden, rows)
    slope: np.ndarray  # (hidden, rows), gradient by z
    residual: np.ndarray  # (outputs, rows)
    pull: np.ndarray  # (outputs, rows), gradient by the mean of y
    widen: np.ndarray  # (outputs, rows), gradient by the variance of y
    noise: np.ndarray  # (outputs, rows), noise variance of y; then gradient by its log
    bound: np.ndarray  # (rows,)
    by_mean: np.ndarray  # (rows,), gradients by mean and variance of one hidden unit
    by_variance: np.ndarray
    before: UnitMoments  # given x
    after: UnitMoments  # given x and y


@linked
def new_work(task, rows, kind):
    """Return Work for so many rows, of the float type of the array ``kind``."""
    units = empty((2, task.hidden, rows), kind.dtype)
    outputs = empty((4, task.outputs, rows), kind.dtype)
    single = empty((4, rows), kind.dtype)
    return Work(
        empty((rows, task.inputs), kind.dtype),
        empty((rows, task.outputs), kind.dtype),
        single[3],
        units[0],
        units[1],
        outputs[0],
        outputs[1],
        outputs[2],
        outputs[3],
        single[0],
        single[1],
        single[2],
        new_moments(task.hidden, rows, kind),
        new_moments(task.hidden, rows, kind),
    )
