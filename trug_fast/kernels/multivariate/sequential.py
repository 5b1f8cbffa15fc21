"""Draws of a cut normal vector one coordinate after the other, tilted, and their log weights.

In the coordinates z of a triangular factor, x = mean + diag (z + L z) with L strictly lower
triangular, coordinate k of the proposal is a normal of mean ``tilt[k]`` and variance 1 cut to

    [lower_k - c_k, upper_k - c_k],    c_k = (L z)_k,

and the log of the ratio of the cut vector's unnormalised density to that of the proposal is

    psi(z) = sum_k [ log Pr(lower_k - c_k - tilt_k < Z < upper_k - c_k - tilt_k) + tilt_k**2 / 2
                     - tilt_k z_k ]

(mathematics 1.15).  ROW vectors go together, a row of them for each coordinate, so that every step
is a loop over contiguous numbers.  Vector n of a stream depends on the seed and on n alone.

Tested in tests/distributions/multivariate/test_draws.py and test_probability.py.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked, row_loop
from trug_fast.kernels.loops import each
from trug_fast.kernels.random.philox import TILTED, uniform_row
from trug_fast.kernels.special.elementary import exp, log
from trug_fast.kernels.unit import quantile_rows as steps
from trug_fast.kernels.unit.normalizer import ROOT_TWO_PI
from trug_fast.kernels.unit.quantile import THIN
from trug_fast.kernels.unit.quantile_rows import ROW, SPACE

PANEL = 8  # coordinates whose sums over all before them are one product of matrices
PITCH = ROW + 8  # rows a power of two apart would take turns in a few lines of the cache
CHAIN_BITS = 30  # vectors 2**30 k ... have chain k


class Proposal(NamedTuple):
    """A cut normal vector in the order of its factor, and its tilt; float64 throughout."""

    factor: np.ndarray  # (d, d) L, strictly lower triangular
    lower: np.ndarray  # (d,) ends over ``diag``, less the mean
    upper: np.ndarray
    tilt: np.ndarray  # (d,)
    diag: np.ndarray  # (d,)
    mean: np.ndarray  # (d,)
    least: np.ndarray  # (d,) ends as they were given, which no draw crosses
    most: np.ndarray
    place: np.ndarray  # (d,) int64, which coordinate of x each one is


@row_loop
def _add(factor, row, total):
    for i in range(total.size):
        total[i] += factor * row[i]


@row_loop
def _begin(shift, tilt, lower, upper, a, b):
    for i in range(a.size):
        start = shift[i] + tilt
        a[i] = lower - start
        b[i] = upper - start


@row_loop
def _weigh(space, lower, upper, tilt, shift, origin, log_weight):
    """Add the log masses of ROW intervals, and write what draws are counted from.

    That is the end near the mode, if the mode lies outside, else the mode: their squares, not those
    of tilts, so that no large numbers cancel.  Right to 1e-11 of the mass, which
    distribution.log_mass gives to 1e-15 in three times the time.
    """
    for i in range(log_weight.size):
        u, width = space[steps.U + i], space[steps.WIDTH + i]
        near, far = space[steps.NEAR_0 + i], space[steps.FAR_0 + i]
        decay, height = space[steps.DECAY + i], space[steps.HEIGHT + i]
        thin, inside = width < THIN, u < 0.0
        beyond = near * -space[steps.MINUS + i] if thin else near - decay * far
        u_far = u + width
        flat = width - (u_far * u_far * u_far - u * u * u) * (1.0 / 6.0)
        within = flat if thin else ROOT_TWO_PI - height * (near + decay * far)
        end = (upper if space[steps.SIGNED + i] < 0.0 else lower) - shift[i]
        start = tilt if inside else end
        mass = (within if inside else beyond) * (1.0 / ROOT_TWO_PI)
        origin[i] = start
        log_weight[i] += log(mass) - 0.5 * start * start


@row_loop
def _end(space, lower, upper, tilt, origin, shift, z, log_weight):
    """Take the draws into account, and turn ``shift`` into (z + L z)."""
    for i in range(log_weight.size):
        away = space[steps.STEP + i] * space[steps.V + i]
        low, high = lower - shift[i], upper - shift[i]
        value = origin[i] + away
        value = low if value < low else (high if value > high else value)
        z[i] = value
        shift[i] += value
        log_weight[i] -= tilt * away


@linked
def walk(proposal, uniform, shift, z, rows, working, log_weight):
    """Draw ROW vectors.

    uniform : (d, ROW); on return ``shift`` (d, PITCH) has z + L z, and ``log_weight`` psi
    """
    d = proposal.tilt.size
    a, b, origin = rows[0], rows[1], rows[2]
    log_weight[:] = 0.0
    for first in range(0, d, PANEL):
        stop = min(first + PANEL, d)
        if first > 0:
            factor = proposal.factor[first:stop, :first]
            gemm(False, False, 1.0, factor, z[:first, :ROW], 0.0, shift[first:stop, :ROW])
        else:
            for k in range(stop):
                shift[k, :ROW] = 0.0
        for k in range(first, stop):
            total = shift[k, :ROW]
            for j in range(first, k):
                _add(proposal.factor[k, j], z[j, :ROW], total)
            tilt, lower, upper = proposal.tilt[k], proposal.lower[k], proposal.upper[k]
            _begin(total, tilt, lower, upper, a, b)
            steps.begin_standard(a, b, working)
            steps.weigh_ends(ROW, working)
            _weigh(working, lower, upper, tilt, total, origin, log_weight)
            steps.go_on(uniform[k], ROW, working)
            _end(working, lower, upper, tilt, origin, total, z[k, :ROW], log_weight)


@linked
def _keep(proposal, shift, uniform, chance, out):
    """Write the vectors whose uniform is at most their chance, as x; return how many they are."""
    count = 0
    for i in range(uniform.size):
        if uniform[i] <= chance[i]:
            for k in range(proposal.tilt.size):
                value = proposal.mean[k] + proposal.diag[k] * shift[k, i]
                out[count, proposal.place[k]] = min(max(value, proposal.least[k]), proposal.most[k])
            count += 1
    return count


@row_loop
def _chances(log_weight, bound, chance):
    for i in range(chance.size):
        chance[i] = exp(log_weight[i] - bound)


@linked
def _accept_block(index, proposal, seed, first, bound, draws, counts, totals):
    d, number = proposal.tilt.size, (first + index) * ROW
    chain = number >> CHAIN_BITS
    unit = number - (chain << CHAIN_BITS)
    uniform, shift, z = (
        empty((d + 1, ROW), np.float64),
        empty((d, PITCH), np.float64),
        empty((d, PITCH), np.float64),
    )
    rows, working = empty((5, ROW), np.float64), empty(SPACE, np.float64)
    for k in range(d + 1):
        uniform_row(seed, TILTED, k, chain, unit, uniform[k])
    log_weight, chance = rows[4], rows[3]
    walk(proposal, uniform, shift, z, rows, working, log_weight)
    _chances(log_weight, bound, chance)
    total, highest = 0.0, -np.inf
    for i in range(ROW):
        total += chance[i]
        highest = max(highest, log_weight[i])
    counts[index] = _keep(proposal, shift, uniform[d], chance, draws[index])
    totals[index, 0] = total
    totals[index, 1] = highest


@kernel
def accept(proposal, seed, first, bound, draws, counts, totals):
    """Draw blocks of ROW vectors and keep those that are accepted, at the front of each block.

    A vector is accepted with probability exp(psi - bound).  ``first`` is the number of the first
    block.  draws : (blocks, ROW, d), counts : (blocks,) int64, totals : (blocks, 2), the sum of
    these probabilities and the highest psi
    """
    each(_accept_block, counts.size, (proposal, seed, first, bound, draws, counts, totals))


@linked
def _weigh_block(index, proposal, uniform, log_weight, points):
    d, first = proposal.tilt.size, index * ROW
    shift, z = empty((d, PITCH), np.float64), empty((d, PITCH), np.float64)
    rows, working = empty((4, ROW), np.float64), empty(SPACE, np.float64)
    part = uniform[:, first : first + ROW]
    walk(proposal, part, shift, z, rows, working, log_weight[first : first + ROW])
    if points.size > 0:
        rows[0, :] = 1.0
        _keep(proposal, shift, part[0], rows[0], points[first : first + ROW])


@kernel
def weigh(proposal, uniform, log_weight, points):
    """Write psi, and if ``points`` has rows the vectors, for numbers in (0, 1).

    uniform : (d, n), n a multiple of ROW; log_weight : (n,); points : (n, d) or (0, d)
    """
    each(_weigh_block, log_weight.size // ROW, (proposal, uniform, log_weight, points))
