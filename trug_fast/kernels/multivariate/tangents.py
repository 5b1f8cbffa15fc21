"""Tangents of the log density of a factor: it is log-concave, so they lie above it.

Draws from them are draws of the factor once a share is thrown away; where a chord of the log
density shows that a proposal is accepted, it need not be known (mathematics 1.15).

Tested in tests/distributions/multivariate/test_one_factor.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked

from .one_factor import density, peak_of, small_step

GUIDES = 256  # places where the search for a tangent begins
FALL = 40.0  # of h, from where on one tangent does for all
EXCESS = 0.005  # share of the area under tangents that may lie above chords


class Hull(NamedTuple):
    """Tangents of h, each with the piece of the line over which it is the lowest."""

    points: np.ndarray  # (t,) where they touch
    heights: np.ndarray  # (t,) h there, less the highest
    slopes: np.ndarray  # (t,)
    table: np.ndarray  # (t, 8), see ``_tabulate``
    guide: np.ndarray  # (GUIDES,) int64; none: there is no factor


@linked
def _area(height, slope, width):
    """Return the area under exp(height + slope v) for v from 0 to width."""
    turn = abs(slope) * width
    highest = math.exp(height if slope < 0.0 else height + slope * width)
    if turn < 1e-12:
        return highest * width
    return highest * -math.expm1(-turn) / abs(slope)


@linked
def _meeting(points, heights, slopes, j):
    """Return how far after point j the tangents of j and the next cross."""
    gap = points[j + 1] - points[j]
    bend = slopes[j] - slopes[j + 1]
    if not bend > 0.0:
        return 0.5 * gap
    return min(max((heights[j + 1] - heights[j] - slopes[j + 1] * gap) / bend, 0.0), gap)


@linked
def _between(points, heights, slopes, j):
    """Return the areas under tangents j and j + 1, and what of it lies above the chord."""
    gap, at = points[j + 1] - points[j], _meeting(points, heights, slopes, j)
    rest = gap - at
    over = _area(heights[j], slopes[j], at)
    over += _area(heights[j + 1] - slopes[j + 1] * rest, slopes[j + 1], rest)
    under = _area(heights[j], (heights[j + 1] - heights[j]) / gap, gap)
    return over, max(over - under, 0.0)


@linked
def _insert(arrays, count, j, z, height, slope):
    for i in range(count, j, -1):
        for array in arrays:
            array[i] = array[i - 1]
    arrays[0][j], arrays[1][j], arrays[2][j] = z, height, slope


@linked
def _spread(box, arrays, space):
    """Write points from the peak outwards, and h there; return how many, and the highest h."""
    peak, top, first, second = peak_of(box, space)
    arrays[0][0], arrays[1][0], arrays[2][0] = peak, 0.0, first
    count, most = 1, arrays[0].size // 3
    for side in (-1.0, 1.0):
        step, end = side * small_step(first, second), box.least if side < 0.0 else box.most
        if peak == end:
            continue
        for _ in range(most):
            z = peak + step
            beyond = z <= end if side < 0.0 else z >= end
            z = end if beyond else z
            value, slope, _ = density(box, z, space)
            _insert(arrays, count, 0 if side < 0.0 else count, z, value - top, slope)
            count += 1
            if beyond or value < top - FALL:
                break
            step *= 2.0
    return count, top


@linked
def _touch(box, points, heights, slopes):
    """Write where tangents of h touch it, h there less the highest, and slopes.

    Return how many there are, and the highest h: as many as leave a share of EXCESS between the
    tangents and the chords, where the arrays hold so many.
    """
    space = empty((4, box.low.size), np.float64)
    arrays = (points, heights, slopes)
    count, top = _spread(box, arrays, space)
    while count < points.size:
        total, excess, worst, most = 0.0, 0.0, 0, -1.0
        for j in range(count - 1):
            over, extra = _between(points, heights, slopes, j)
            total, excess = total + over, excess + extra
            if extra > most:
                worst, most = j, extra
        if not excess > EXCESS * total:
            break
        z = points[worst] + _meeting(points, heights, slopes, worst)
        if not points[worst] < z < points[worst + 1]:
            z = 0.5 * (points[worst] + points[worst + 1])
            if not points[worst] < z < points[worst + 1]:
                break
        value, slope, _ = density(box, z, space)
        _insert(arrays, count, worst + 1, z, value - top, slope)
        count += 1
    return count, top


@linked
def _tabulate(box, points, heights, slopes, table, guide):
    """Write the table and the guide of tangents that touch h; return the area under them.

    Of each tangent the table has: the end of its piece where it is highest, the factor of the
    logarithm by which its exponential is inverted, that of the uniform; the share of the area
    before it, and one over its own; the point where it touches; and how much steeper it is than
    the chords before and after that point.
    """
    count, total, start = points.size, 0.0, box.least
    for j in range(count):
        last = j == count - 1
        stop = box.most if last else points[j] + _meeting(points, heights, slopes, j)
        slope, width = slopes[j], stop - start
        falling = slope < 0.0
        steep = max(abs(slope), 1e-12 / max(width, 1e-300))
        anchor = start if falling else stop
        area = math.exp(heights[j] + slope * (anchor - points[j]))
        area *= -math.expm1(-steep * width) / steep
        table[j, 0], table[j, 1] = anchor, (-1.0 if falling else 1.0) / steep
        table[j, 2], table[j, 3], table[j, 4] = math.expm1(-steep * width), total, area
        table[j, 5], table[j, 6], table[j, 7] = points[j], 1e300, -1e300
        total += area
        start = stop
    for j in range(count - 1):
        chord = (heights[j + 1] - heights[j]) / (points[j + 1] - points[j])
        table[j, 7], table[j + 1, 6] = chord - slopes[j], chord - slopes[j + 1]
    for j in range(count):
        table[j, 3] /= total
        table[j, 4] = total / table[j, 4] if table[j, 4] > 0.0 else 0.0
    j = 0
    for i in range(guide.size):
        while j + 1 < count and table[j + 1, 3] <= i / guide.size:
            j += 1
        guide[i] = j
    return total


@kernel
def cover(box, hull):
    """Write tangents of h; return how many there are, the highest h and the area under them.

    The arrays of ``hull`` hold the most that there may be.
    """
    points, heights, slopes, table, guide = hull
    count, top = _touch(box, points, heights, slopes)
    points, heights, slopes = points[:count], heights[:count], slopes[:count]
    return count, top, _tabulate(box, points, heights, slopes, table, guide)
