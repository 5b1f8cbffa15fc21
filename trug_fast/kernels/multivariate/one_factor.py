"""Normal vectors of one factor, cut by a box: given the factor their coordinates are independent.

x_k = mean_k + loading_k z + scale_k e_k with z and e standard normal.  In the box the factor has
the density exp(h), unnormalised,

    h(z) = -z**2/2 + sum_k log Pr(low_k - slope_k z < Z < high_k - slope_k z)

with slope = loading / scale, and low, high the ends less the mean over the scale; h'' <= -1.  A
coordinate without noise, of scale 0, holds z itself to an interval (mathematics 1.15).

Tested in tests/distributions/multivariate/test_one_factor.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, row_loop
from trug_fast.kernels.loops import each
from trug_fast.kernels.unit.distribution import log_mass
from trug_fast.kernels.unit.normalizer import evaluate
from trug_fast.kernels.unit.quantile_rows import ROW


class FactorBox(NamedTuple):
    """What cuts the factor; float64."""

    low: np.ndarray  # (n,) of the coordinates with noise
    high: np.ndarray
    slope: np.ndarray
    least: float  # ends of the factor itself
    most: float


@row_loop
def _ends(low, high, slope, z, a, b):
    for i in range(a.size):
        a[i] = low[i] - slope[i] * z
        b[i] = high[i] - slope[i] * z


@row_loop
def ends_along(low, high, slope, z, a, b):
    """Write the ends of one coordinate's noise for each factor of a row."""
    for i in range(a.size):
        a[i] = low - slope * z[i]
        b[i] = high - slope * z[i]


@row_loop
def _log_masses(a, b, out):
    for i in range(out.size):
        out[i] = log_mass(0.0, 1.0, a[i], b[i])


@row_loop
def _moments(a, b, mean, variance):
    for i in range(mean.size):
        _, _, mean[i], variance[i], _, _, _, _ = evaluate(0.0, 1.0, a[i], b[i])


@linked
def density(box, z, space):
    """Return h and its first two derivatives."""
    value, a, b, mean, variance = height(box, z, space), space[0], space[1], space[2], space[3]
    _moments(a, b, mean, variance)
    first, second = -z, -1.0
    for k in range(a.size):
        first += box.slope[k] * mean[k]
        second -= box.slope[k] * box.slope[k] * (1.0 - variance[k])
    return value, first, min(second, -1.0)


@linked
def height(box, z, space):
    """Return h alone; ``space`` has four rows."""
    a, b, logs = space[0], space[1], space[2]
    _ends(box.low, box.high, box.slope, z, a, b)
    _log_masses(a, b, logs)
    value = -0.5 * z * z
    for k in range(a.size):
        value += logs[k]
    return value


@linked
def peak_of(box, space):
    """Return where h is highest, h there and the first two derivatives.

    By Newton's method between points known to lie on both sides, else by halving: from any z the
    peak is no farther than |h'(z)|.
    """
    for end, side in ((box.least, -1.0), (box.most, 1.0)):
        if abs(end) < np.inf:
            value, first, second = density(box, end, space)
            if side * first >= 0.0:
                return end, value, first, second
    z, left, right, before = min(max(0.0, box.least), box.most), box.least, box.most, np.inf
    while True:
        value, first, second = density(box, z, space)
        if first > 0.0:
            left, right = z, min(right, z + first)
        else:
            left, right = max(left, z + first), z
        close = 1e-15 * (abs(left) + abs(right))
        if not (abs(first) > 1e-6 * math.sqrt(-second) and right - left > close):
            return z, value, first, second
        z -= first / second
        if not left < z < right or abs(first) > 0.5 * before:
            z = 0.5 * (left + right)
        before = abs(first)


@linked
def _reach(box, peak, top, step, fall, space):
    """Return the point on the side of ``step`` where h has fallen so far, or the end there."""
    end = box.least if step < 0.0 else box.most
    while True:
        z = peak + step
        if not (z > end if step < 0.0 else z < end):
            return end
        if height(box, z, space) < top - fall:
            return z
        step *= 2.0


@linked
def small_step(first, second):
    """Return a step small beside the bends of h, of its derivatives at the peak."""
    return min(1.0 / math.sqrt(-second), 1.0 / max(abs(first), 1e-300))


@linked
def _digits(box, z, push, space):
    """Write |M| of the noise of coordinates, given the factor; return by how much log P changes.

    That is with the last digits of the ends, over these, and, of variances, the sum of
    |M**2 + V - 1| (slope**2 + 1), the last of which are over that of the noise; M and V are mean
    and variance of cut noise.
    """
    a, b, mean, variance = space[0], space[1], space[2], space[3]
    _ends(box.low, box.high, box.slope, z, a, b)
    _moments(a, b, mean, variance)
    ends = turns = 0.0
    for k in range(mean.size):
        slope = box.slope[k]
        sums = min(abs(box.low[k]), abs(box.high[k])) + abs(slope * z)
        push[k] = abs(mean[k])
        ends += push[k] * sums + sums / (box.high[k] - box.low[k])
        turns += abs(mean[k] * mean[k] + variance[k] - 1.0) * (slope * slope + 1.0)
    _log_masses(a, b, mean)
    for k in range(mean.size):
        ends += abs(mean[k])
    return ends, turns


@kernel
def frame(box, fall, out, push):
    """Write where the density of the factor is, and what last digits change; return if it matters.

    out : (7,), the peak of h, h there, a step small beside its bends, the points on both sides
    where it has fallen so far, or the ends of the factor; and what ``_digits`` returns
    push : (n,) |M| at the peak, see ``_digits``
    """
    space = empty((4, box.low.size), np.float64)
    matters = False
    for slope in box.slope:
        matters |= slope != 0.0
    out[0] = 0.0
    if matters:
        peak, top, first, second = peak_of(box, space)
        step = small_step(first, second)
        out[0], out[1], out[2] = peak, top, step
        out[3] = _reach(box, peak, top, -step, fall, space)
        out[4] = _reach(box, peak, top, step, fall, space)
    out[5], out[6] = _digits(box, out[0], push, space)
    return matters


@linked
def _weigh_block(index, box, z, out):
    start = index * ROW
    stop = min(start + ROW, z.size)
    rows, part, total = empty((3, ROW), np.float64), z[start:stop], out[start:stop]
    a, b, one = rows[0, : part.size], rows[1, : part.size], rows[2, : part.size]
    for i in range(part.size):
        total[i] = -0.5 * part[i] * part[i]
    for k in range(box.low.size):
        ends_along(box.low[k], box.high[k], box.slope[k], part, a, b)
        _log_masses(a, b, one)
        for i in range(part.size):
            total[i] += one[i]


@kernel
def log_densities(box, z, out):
    """Write h at many points."""
    each(_weigh_block, -(-z.size // ROW), (box, z, out))
