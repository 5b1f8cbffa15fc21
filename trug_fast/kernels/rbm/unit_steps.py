"""How an update moves the hidden units' own parameters: truncation points and precisions.

The points move as ``low_end`` and ``log_width`` (truncation_coordinates.py); precisions as
``curvature``, d times the squared width at the start, or as log d where an end is infinite, which
keeps them positive.

Tested in tests/training/test_unit_parameters.py.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import scalar, unfused
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.optimizer import GRADIENT, VALUES, rule_at, step
from trug_fast.kernels.special.elementary import exp
from trug_fast.kernels.unit.truncation_coordinates import (
    LOG_WIDTH,
    SHARED,
    scalar_ends,
    scalar_slopes,
)

PRECISION, LOWER, UPPER = 0, 1, 2  # rows of Units.own
BENDING = "learned precisions"  # subject of rare kernels
CURVATURES = 1e3  # d (upper - lower)^2: beyond -1e3 units are binary, beyond 1e3 Gaussian


class Units(NamedTuple):
    """The hidden units' parameters as training moves them, and what of them it moves."""

    ends: int  # FIXED, SHARED or PER_UNIT
    learn_lower: bool
    learn_upper: bool
    learn_precision: bool
    bounded: bool  # no end is infinite
    own: np.ndarray  # (3, hidden): precision, lower and upper end of each
    area: np.ndarray  # (hidden,) float64, squared width at the start
    low_end: np.ndarray  # (4, hidden), stacked as optimizer.py does; if shared, all alike
    log_width: np.ndarray  # (4, hidden)
    curvature: np.ndarray  # (4, hidden)


@unfused
def _clip(values, limit):
    """Bring values into -limit ... limit; NaN stays, to be found by those who look for it."""
    for i in range(values.size):
        if values[i] > limit:
            values[i] = limit
        elif values[i] < -limit:
            values[i] = -limit


@unfused
def move_precision(rule, units, by_precision, by_mean, mean, rate, shift):
    """Move the precisions along their gradient.

    The energy d (h - m)^2 / 2, with m amid the interval (or at the mean, where there is no
    middle), is d h^2 / 2 with another hidden bias; held at that, a step of d bends the unit
    without pushing it to one side.

    by_precision, by_mean : plain gradients by the precisions (float64) and by the hidden biases
    mean : about the means of the units
    shift : overwritten with what is to be added to the hidden biases
    """
    precision, curvature, gradient = (
        units.own[PRECISION],
        units.curvature[VALUES],
        units.curvature[GRADIENT],
    )
    for j in range(precision.size):
        slope = by_precision[j] + _middle(units, mean, j) * by_mean[j]
        gradient[j] = slope / units.area[j] if units.bounded else slope * precision[j]
    step(rule_at(rule, rate, 0.0), units.curvature)
    _clip(curvature, CURVATURES if units.bounded else LOG_WIDTH)
    for j in range(precision.size):
        former = precision[j]
        if units.bounded:
            precision[j] = curvature[j] / like(former, units.area[j])
        else:
            precision[j] = exp(curvature[j])
        shift[j] = _middle(units, mean, j) * (precision[j] - former)


@scalar
def _middle(units, mean, j):
    middle = (units.own[LOWER, j] + units.own[UPPER, j]) * like(mean[j], 0.5)
    return middle if units.bounded else mean[j]


@unfused
def _widths(units, out):
    for j in range(out.size):
        out[j] = exp(units.log_width[VALUES, j])


@unfused
def move_ends(rule, units, by_lower, by_upper, rate):
    """Move the truncation points along their gradients (float64), which are overwritten.

    With both ends learned the coordinates are the lower end, at constant width, and the log
    width, at constant lower end; with one learned, the log width at the other end.
    """
    own, log_width, low_end = units.own, units.log_width, units.low_end
    count, rule = own.shape[1], rule_at(rule, rate, 0.0)
    total_moves, total_by_width = 0.0, 0.0
    for j in range(count):
        moves, by_width = scalar_slopes(by_lower[j], by_upper[j], units.learn_upper)
        by_lower[j], by_upper[j] = moves, by_width
        total_moves += moves
        total_by_width += by_width
    width = log_width[GRADIENT]
    _widths(units, width)
    for j in range(count):
        moves, by_width = by_lower[j], by_upper[j]
        if units.ends == SHARED:  # the mean, so that rates do not depend on the number of units
            moves, by_width = total_moves / count, total_by_width / count
        low_end[GRADIENT, j] = moves
        width[j] *= by_width
    step(rule, log_width)
    _clip(log_width[VALUES], LOG_WIDTH)
    if units.learn_lower and units.learn_upper:
        step(rule, low_end)
    _widths(units, width)
    for j in range(count):
        ends = scalar_ends(low_end[VALUES, j], width[j], own[UPPER, j], units.learn_upper)
        own[LOWER, j], own[UPPER, j] = ends
