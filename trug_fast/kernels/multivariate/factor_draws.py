"""Exact draws of cut normal vectors of one factor: the factor first, then each coordinate.

ROW vectors go together, so that coordinates are loops over contiguous numbers.  Vector n of a
stream depends on the seed and on n alone.

Tested in tests/distributions/multivariate/test_one_factor.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, row_loop
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import TILTED, block, double_from_words, uniform_row
from trug_fast.kernels.special.elementary import log1p
from trug_fast.kernels.unit import quantile_rows as steps
from trug_fast.kernels.unit.quantile_rows import ROW, SPACE

from .one_factor import ends_along, height
from .sequential import CHAIN_BITS, PITCH


class Placing(NamedTuple):
    """How coordinates follow from the factor; those without noise come last."""

    mean: np.ndarray  # (k,)
    loading: np.ndarray
    scale: np.ndarray
    least: np.ndarray  # ends as they were given, which no draw crosses
    most: np.ndarray
    place: np.ndarray  # (k,) int64, which coordinate of x each one is


@linked
def _find(hull, uniform, found, rows):
    """Write the tangents in whose shares of the area uniforms lie, and what is needed of them.

    A loop over numbers one by one: gathers from a table into registers take five times as long.
    """
    for i in range(found.size):
        j = hull.guide[int(uniform[i] * hull.guide.size)]
        while j + 1 < hull.points.size and hull.table[j + 1, 3] <= uniform[i]:
            j += 1
        found[i] = j
        rows[0, i] = (uniform[i] - hull.table[j, 3]) * hull.table[j, 4]
        for c in range(3):
            rows[1 + c, i] = hull.table[j, c]
            rows[4 + c, i] = hull.table[j, 5 + c]


@row_loop
def _propose(rows, chance, least, most, z, doubt):
    """Write the proposals, and by how much their uniforms lie above chances by a chord."""
    for i in range(z.size):
        share = rows[0, i] if rows[0, i] < 1.0 else 1.0
        value = rows[1, i] + rows[2, i] * log1p(share * rows[3, i])
        away = value - rows[4, i]
        # exp(q) >= 1 + q, with q the chord less the tangent
        slope = rows[5, i] if away < 0.0 else rows[6, i]
        doubt[i] = (chance[i] - 1.0) - slope * away
        z[i] = least if value < least else (most if value > most else value)


@linked
def _is_taken(box, hull, top, j, z, uniform, space):
    tangent = hull.heights[j] + hull.slopes[j] * (z - hull.points[j])
    return math.log(uniform) <= height(box, z, space) - top - tangent


@linked
def _again(box, hull, top, seed, step, chain, unit, space):
    """Return a draw by other numbers, and how many proposals it took."""
    rows, four, found = empty((7, 1), np.float64), empty((4, 1), np.float64), empty(1, np.int64)
    uniform, chance, z, doubt = four[0], four[1], four[2], four[3]
    attempt = 0
    while True:
        w0, w1, w2, w3 = block(seed, TILTED, step + attempt, chain, unit)
        uniform[0], chance[0] = double_from_words(w0, w1), double_from_words(w2, w3)
        attempt += 1
        _find(hull, uniform, found, rows)
        _propose(rows, chance, box.least, box.most, z, doubt)
        if doubt[0] <= 0.0 or _is_taken(box, hull, top, found[0], z[0], chance[0], space):
            return z[0], attempt


@linked
def _factors(box, hull, top, seed, step, chain, unit, uniform, z, found, rows, space):
    """Draw ROW factors; return how many proposals that took.

    uniform : (2, ROW)
    """
    uniform_row(seed, TILTED, 0, chain, unit, uniform[0])
    uniform_row(seed, TILTED, 1, chain, unit, uniform[1])
    doubt = rows[7, :ROW]
    _find(hull, uniform[0], found, rows)
    _propose(rows, uniform[1], box.least, box.most, z, doubt)
    proposals = ROW
    for i in range(ROW):
        if doubt[i] > 0.0 and not _is_taken(box, hull, top, found[i], z[i], uniform[1, i], space):
            z[i], count = _again(box, hull, top, seed, step, chain, unit + i, space)
            proposals += count
    return proposals


@row_loop
def _put(space, mean, loading, scale, least, most, z, x):
    """Write the draws of a coordinate: from its end, if the mode lies outside, else from the mode.

    So far out nothing is lost by a sum of large numbers.
    """
    for i in range(x.size):
        away = scale * (space[steps.STEP + i] * space[steps.V + i])
        end = most if space[steps.SIGNED + i] < 0.0 else least
        origin = mean + loading * z[i] if space[steps.U + i] < 0.0 else end
        value = origin + away
        x[i] = least if value < least else (most if value > most else value)


@linked
def _draw_block(index, box, placing, hull, top, seed, first, draws, proposals):
    n, number = box.low.size, (first + index) * ROW
    chain = number >> CHAIN_BITS
    unit = number - (chain << CHAIN_BITS)
    uniform, z = empty((2, ROW), np.float64), empty(ROW, np.float64)
    rows, working = empty((8, PITCH), np.float64), empty(SPACE, np.float64)
    if hull.guide.size > 0:
        found, space = empty(ROW, np.int64), empty((4, n), np.float64)
        proposals[index] = _factors(
            box, hull, top, seed, 2 + n, chain, unit, uniform, z, found, rows, space
        )
    else:
        z[:] = 0.0
        proposals[index] = ROW
    a, b, x = rows[0, :ROW], rows[1, :ROW], rows[2, :ROW]
    for k in range(placing.mean.size):
        mean, loading, scale = placing.mean[k], placing.loading[k], placing.scale[k]
        least, most = placing.least[k], placing.most[k]
        if k < n:
            uniform_row(seed, TILTED, 2 + k, chain, unit, uniform[0])
            ends_along(box.low[k], box.high[k], box.slope[k], z, a, b)
            steps.begin_standard(a, b, working)
            steps.weigh_ends(ROW, working)
            steps.go_on(uniform[0], ROW, working)
            _put(working, mean, loading, scale, least, most, z, x)
        else:
            for i in range(ROW):
                x[i] = min(max(mean + loading * z[i], least), most)
        place = placing.place[k]
        for i in range(ROW):
            draws[index * ROW + i, place] = x[i]


@kernel
def draw(box, placing, hull, top, seed, first, draws, proposals):
    """Draw blocks of ROW vectors, ``first`` the number of the first block.

    draws : (blocks ROW, k); proposals : (blocks,) int64, how many factors were proposed
    """
    each(_draw_block, proposals.size, (box, placing, hull, top, seed, first, draws, proposals))
