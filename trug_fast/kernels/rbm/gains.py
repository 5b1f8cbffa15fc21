"""What a step of temperature adds to a chain's log-weight (mathematics 3.4), of either layer.

Tested in tests/kernels/rbm/test_annealing.py and test_visible.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import linked, rare, rarely, scalar
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import log, sigmoid, softplus
from trug_fast.kernels.unit.quantile_rows import SPACE

from .hidden import log_norm_row, mean_row
from .visible import (
    BERNOULLI,
    CATEGORIES,
    GAUSSIAN,
    SPIN,
    SPINS,
    TRUNCATED,
    TRUNCATIONS,
    VisiblePart,
    categorical_means,
    exp_from_largest,
    span_at,
    spin_mean,
    truncated_units,
)

# A small gain is integrated from its derivative by the temperature, in the model's float type:
# a difference of two log-normalisers of order ten would need float64 and twice the evaluations.
# One point while the squared moves of a tile sum to ONE_POINT, two up to TWO_POINTS, else the
# difference.  Measured on whole runs: see tests/kernels/rbm/test_annealing.py.
ONE_POINT, TWO_POINTS = 0.01, 0.1
GAUSS = 0.5 / 3.0**0.5
STRANDS = 16


class Scratch(NamedTuple):
    """Working arrays of one row of units, of either layer."""

    move: np.ndarray  # (units,)
    old: np.ndarray  # (units,)
    work: np.ndarray  # (units,)
    mean: np.ndarray  # (units,)
    strands: np.ndarray  # (STRANDS,)
    space: np.ndarray  # (SPACE,) of quantile_rows.py
    values: np.ndarray  # (units,) float64
    gain: np.ndarray  # (1,) float64


@linked
def new_scratch(size, kind):
    """Return Scratch for so many units, of the float type of the array ``kind``."""
    rows, strands = empty((4, size), kind.dtype), empty(STRANDS, kind.dtype)
    values, gain, space = empty(size, np.float64), empty(1, np.float64), empty(SPACE, kind.dtype)
    return Scratch(rows[0], rows[1], rows[2], rows[3], strands, space, values, gain)


class VisibleStep(NamedTuple):
    """Part of the visible units at p_k, with net inputs bias + scale Wh, and what has moved."""

    bias: np.ndarray  # (units,)
    bias_step: np.ndarray  # (units,)
    scale: float
    scale_step: float
    units: VisiblePart


@linked
def scaled_log_norm(net, units, scale, precision_scale, values):
    """Return the row's sum of L, or 0 where the path omits the factor."""
    if scale == 0.0 and precision_scale == 0.0:
        return 0.0
    return log_norm_row(net, units, scale, precision_scale, values)


@linked
def inner(left, right, strands):
    """Return the sum of products in a fixed order, without waiting for each addition."""
    for lane in range(STRANDS):
        strands[lane] = like(strands[lane], 0.0)
    whole = left.size - left.size % STRANDS
    for start in range(0, whole, STRANDS):
        for lane in range(STRANDS):
            strands[lane] += left[start + lane] * right[start + lane]
    total = np.float64(0.0)
    for lane in range(STRANDS):
        total += strands[lane]
    for j in range(whole, left.size):
        total += left[j] * right[j]
    return total


@scalar
def points_for(squares):
    """Return how many points integrate the gain over such moves; 0: take the difference."""
    return 1 if squares < ONE_POINT else (2 if squares < TWO_POINTS else 0)


@linked
def hidden_gain(net, units, tempered, old, new, scratch):
    """Return a row's sum of L(t a, q d) at ``new`` minus at ``old``, both pairs (t, q).

    tempered : the units at ``new``, their precision multiplied by its q
    """
    step = new[0] - old[0]
    points = points_for(step * step * inner(net, net, scratch.strands))
    if points == 0 or old[1] != new[1]:
        gain = scaled_log_norm(net, units, new[0], new[1], scratch.values)
        return gain - scaled_log_norm(net, units, old[0], old[1], scratch.values)
    gain = 0.0
    for point in range(points):
        # dL(t a)/dt = a E[h]
        t = old[0] + step * (0.5 if points == 1 else 0.5 + (2 * point - 1) * GAUSS)
        for j in range(net.size):
            scratch.work[j] = like(net[j], t) * net[j]
        mean_row(scratch.work, tempered, scratch.mean)
        gain += step / points * inner(net, scratch.mean, scratch.strands)
    return gain


@scalar
def point_of(kind, point, points):
    """Return where a point lies between 0, before the move, and 1, in the float type of kind."""
    return like(kind, 0.5 if points == 1 else 0.5 + (2 * point - 1) * GAUSS)


@linked
def _gaussian_gain(old, move, precision, scratch):
    work = scratch.work
    for i in range(move.size):
        work[i] = (old[i] + like(move[i], 0.5) * move[i]) / precision[i]
    return inner(move, work[: move.size], scratch.strands)


@linked
def _bernoulli_gain(old, move, scratch):
    points = points_for(inner(move, move, scratch.strands))
    work, gain = scratch.work, 0.0
    if points == 0:
        for i in range(move.size):
            start = np.float64(old[i])
            gain += softplus(start + move[i]) - softplus(start)
    for point in range(points):
        at = point_of(old[0], point, points)
        for i in range(move.size):
            work[i] = sigmoid(old[i] + at * move[i])
        gain += inner(move, work[: move.size], scratch.strands) / points
    return gain


@rare(SPINS)
def _spin_gain(old, move, scratch):
    # A spin is twice a unit of 0 and 1, less 1: it moves twice as far.
    points = points_for(4.0 * inner(move, move, scratch.strands))
    work, gain = scratch.work, 0.0
    if points == 0:
        for i in range(move.size):
            start, end = np.float64(old[i]), np.float64(old[i]) + move[i]
            gain += softplus(2.0 * end) - softplus(2.0 * start) - move[i]
    for point in range(points):
        at = point_of(old[0], point, points)
        for i in range(move.size):
            work[i] = spin_mean(old[i] + at * move[i])
        gain += inner(move, work[: move.size], scratch.strands) / points
    scratch.gain[0] = gain


@linked
def _log_sum(values):
    largest = values[0]
    for k in range(1, values.size):
        largest = max(largest, values[k])
    return largest + log(exp_from_largest(values, values))


@rare(CATEGORIES)
def _categorical_gain(old, move, states, scratch, space):
    # Two moves of one unit differ by at most sqrt(2) times the root of the sum of their squares.
    points = points_for(2.0 * inner(move, move, scratch.strands))
    work, gain = scratch.work, 0.0
    if points == 0:
        values = scratch.values[:states]
        for first in range(0, move.size, states):
            for k in range(states):
                values[k] = np.float64(old[first + k]) + move[first + k]
            gain += _log_sum(values)
            for k in range(states):
                values[k] = old[first + k]
            gain -= _log_sum(values)
    for point in range(points):
        at = point_of(old[0], point, points)
        for i in range(move.size):
            work[i] = old[i] + at * move[i]
        categorical_means(work[: move.size], states, scratch.mean[: move.size], space)
        gain += inner(move, scratch.mean[: move.size], scratch.strands) / points
    scratch.gain[0] = gain


@rare(TRUNCATIONS)
def _truncated_gain(old, move, precision, lower, upper, scratch):
    # A unit moves as far as one of 0 and 1 that is as wide, or as two deviations without ends.
    # Near an end it is skewed: two points where others have one.
    units, size = truncated_units(precision, lower, upper), move.size
    work, mean, gain = scratch.work[:size], scratch.mean[:size], 0.0
    for i in range(size):
        width = upper[i] - lower[i]
        spread = min(like(width, 4.0) / precision[i], width * width)
        work[i] = move[i] * math.sqrt(spread)
    points = 2 if inner(work, work, scratch.strands) < TWO_POINTS else 0
    if points == 0:
        for i in range(size):
            work[i] = old[i] + move[i]
        gain += log_norm_row(work, units, 1.0, 1.0, scratch.values)
        gain -= log_norm_row(old, units, 1.0, 1.0, scratch.values)
    for point in range(points):
        at = point_of(old[0], point, points)
        for i in range(size):
            work[i] = old[i] + at * move[i]
        mean_row(work, units, mean)
        gain += inner(move, mean, scratch.strands) / points
    scratch.gain[0] = gain


@linked
def visible_gain(net, step, scratch):
    """Return a row's sum of log-normalisers at bias + scale net, minus that before both moved."""
    bias, bias_step, units = step.bias, step.bias_step, step.units
    for i in range(net.size):
        scratch.move[i] = bias_step[i] + step.scale_step * net[i]
        scratch.old[i] = bias[i] + step.scale * net[i] - scratch.move[i]
    gain = 0.0
    for s in range(units.spans.shape[0]):
        kind, first, stop, states = span_at(units.spans, s)
        old, move = scratch.old[first:stop], scratch.move[first:stop]
        if kind == BERNOULLI:
            gain += _bernoulli_gain(old, move, scratch)
        elif kind == GAUSSIAN:
            gain += _gaussian_gain(old, move, units.precision[first:stop], scratch)
        elif kind == SPIN:
            rarely(_spin_gain, (old, move, scratch))
            gain += scratch.gain[0]
        elif kind == TRUNCATED:
            precision, lower = units.precision[first:stop], units.lower[first:stop]
            upper = units.upper[first:stop]
            rarely(_truncated_gain, (old, move, precision, lower, upper, scratch))
            gain += scratch.gain[0]
        else:
            rarely(_categorical_gain, (old, move, states, scratch, units.space))
            gain += scratch.gain[0]
    return gain
