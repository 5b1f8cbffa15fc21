"""Truncated normals over whole arrays, as :mod:`trug_fast.truncnorm` needs them; one thread each.

Every argument is a contiguous vector as long as ``out``, or of length 1 to stand for all elements.
a and b are the ends in standard deviations from loc, as in SciPy.  A loop runs over blocks that
stay in the first-level cache; a block of a short argument is filled with its one number, so that
the loop inside sees contiguous memory always and vectorises.  All take float64 or float32.

The patterns hold the loops, the kernels say what is computed: ``value_of`` on a standard normal cut
to [a, b], and ``finish`` for the step from there to loc and scale.
"""

import math

import numpy as np

from .allocation import empty
from .compiling import kernel, linked, pattern, row_loop, scalar
from .intrinsics import fma, like, pick
from .random.philox import DISTRIBUTION, uniform_row
from .special.elementary import exp, log
from .unit import distribution
from .unit.normalizer import evaluate
from .unit.quantile import quantile
from .unit.quantile_rows import ROW, SPACE, standard_quantile_row

BLOCK = 1024
# Standard deviations from the mode, as far as tails.py goes.  Beyond it intervals give NaN.
FARTHEST_64, FARTHEST_32 = 1e100, 1e12
_CHAIN_BITS = 30  # elements 2**30 k ... have chain k, whose block numbers fit 32 bits


@linked
def _part(values, start, stop, buffer):
    """Return elements start..stop; of one element, ``buffer`` filled with it."""
    if values.size > 1:
        return values[start:stop]
    part = buffer[: stop - start]
    part[:] = values[0]
    return part


@linked
def _shape(a, b, loc, scale, start, out, space):
    """Return the block's lower, upper, loc, scale (NaN if anything is amiss), and place in out."""
    stop = min(start + BLOCK, out.size)
    lower, upper = _part(a, start, stop, space[0]), _part(b, start, stop, space[1])
    width = _part(scale, start, stop, space[3])
    checked = space[3][: stop - start]
    for i in range(width.size):
        farthest = pick(width[i], FARTHEST_64, FARTHEST_32)
        within = lower[i] <= farthest and upper[i] >= -farthest
        good = lower[i] < upper[i] and within and width[i] > like(width[i], 0.0)
        checked[i] = width[i] if good else like(width[i], np.nan)
    return lower, upper, _part(loc, start, stop, space[2]), checked, out[start:stop]


@linked
def _points(x, a, b, loc, scale, start, out, space):
    """Return the block's standardised points, lower, upper, scale, and its place in out."""
    lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
    point = _part(x, start, start + value.size, space[4])
    z = space[4][: value.size]
    for i in range(value.size):
        z[i] = (point[i] - shift[i]) / width[i]
    return z, lower, upper, width, value


@pattern
def over_points(value_of, finish, x, a, b, loc, scale, out):
    """Write finish(value_of(z, 0, 1, a, b), ...) for each x, where z = (x - loc)/scale."""
    space = empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, width, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            standard = value_of(z[i], zero, one, lower[i], upper[i])
            value[i] = finish(standard, z[i], lower[i], upper[i], width[i])


@pattern
def over_intervals(value_of, finish, a, b, loc, scale, out):
    """Write finish(value_of(0, 1, a, b), loc, scale) for each interval."""
    space = empty((4, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            standard = value_of(zero, one, lower[i], upper[i])
            value[i] = finish(standard, shift[i], width[i])


@scalar
def _probability(value, z, lower, upper, width):
    return value


@scalar
def _density(log_density, z, lower, upper, width):
    return exp(log_density) / width


@scalar
def _log_density(value, z, lower, upper, width):
    return value - log(width)


@kernel
def pdf(x, a, b, loc, scale, out):
    """Write the density at x."""
    over_points(distribution.logpdf, _density, x, a, b, loc, scale, out)


@kernel
def logpdf(x, a, b, loc, scale, out):
    """Write the log density at x."""
    over_points(distribution.logpdf, _log_density, x, a, b, loc, scale, out)


@kernel
def cdf(x, a, b, loc, scale, out):
    """Write the probability up to x."""
    over_points(distribution.cdf, _probability, x, a, b, loc, scale, out)


@kernel
def sf(x, a, b, loc, scale, out):
    """Write the probability beyond x."""
    over_points(distribution.sf, _probability, x, a, b, loc, scale, out)


@kernel
def logcdf(x, a, b, loc, scale, out):
    """Write the log of the probability up to x."""
    over_points(distribution.logcdf, _probability, x, a, b, loc, scale, out)


@kernel
def logsf(x, a, b, loc, scale, out):
    """Write the log of the probability beyond x."""
    over_points(distribution.logsf, _probability, x, a, b, loc, scale, out)


@scalar
def _variance(a, d, lower, upper):
    return evaluate(a, d, lower, upper)[3]


@scalar
def _skewness(a, d, lower, upper):
    _, _, _, variance, third, _, _, _ = evaluate(a, d, lower, upper)
    return third / variance / math.sqrt(variance)


@scalar
def _placed(h, shift, width):
    """Return shift + width*h, rounded twice as NumPy does, so that ends of intervals agree."""
    return shift + fma(width, h, like(h, 0.0))


@scalar
def _sum(shift, width, end, offset):
    """Return shift + width * end + width * offset, rounded once where offset is small."""
    step = fma(width, end, like(end, 0.0))
    placed = shift + step
    part = placed - shift
    lost = (shift - (placed - part)) + (step - part) + fma(width, end, -step)
    return placed + fma(width, offset, lost)


@scalar
def _stretched(value, shift, width):
    return value * width * width


@scalar
def _widened(value, shift, width):
    return value + log(width)


@scalar
def _unless_amiss(value, shift, width):
    return value if width > like(width, 0.0) else width


@kernel
def mean(a, b, loc, scale, out):
    """Write the mean, to the resolution of its distance from the near end.

    That end is placed first, and what its rounding loses is kept.  1e6 standard deviations out,
    loc + scale * mean leaves ten digits of the distance fewer.
    """
    space = empty((4, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            _, offset, mean, _, _, _, _, reflected = evaluate(zero, one, lower[i], upper[i])
            outside = lower[i] > zero or upper[i] < zero
            end = (upper[i] if reflected else lower[i]) if outside else zero
            offset = (-offset if reflected else offset) if outside else mean
            value[i] = _sum(shift[i], width[i], end, offset)


@kernel
def var(a, b, loc, scale, out):
    """Write the variance."""
    over_intervals(_variance, _stretched, a, b, loc, scale, out)


@kernel
def skewness(a, b, loc, scale, out):
    """Write the third central moment over the cubed standard deviation."""
    over_intervals(_skewness, _unless_amiss, a, b, loc, scale, out)


@kernel
def entropy(a, b, loc, scale, out):
    """Write the differential entropy."""
    over_intervals(distribution.entropy, _widened, a, b, loc, scale, out)


@kernel
def log_mass(a, b, loc, scale, out):
    """Write the log of the standard normal's mass between a and b."""
    over_intervals(distribution.log_mass, _unless_amiss, a, b, loc, scale, out)


@linked
def _quantiles(p, upper_tail, a, b, loc, scale, out):
    space = empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
        share = _part(p, start, start + value.size, space[4])
        for i in range(value.size):
            zero, one = like(share[i], 0.0), like(share[i], 1.0)
            rest = one - share[i]
            below, above = (rest, share[i]) if upper_tail else (share[i], rest)
            h = distribution.ppf(below, above, zero, one, lower[i], upper[i])
            value[i] = _placed(h, shift[i], width[i])


@kernel
def ppf(p, a, b, loc, scale, out):
    """Write the quantile that has probability p below it."""
    _quantiles(p, False, a, b, loc, scale, out)


@kernel
def isf(p, a, b, loc, scale, out):
    """Write the quantile that has probability p above it."""
    _quantiles(p, True, a, b, loc, scale, out)


@scalar
def _has_draws(lower, upper, width):
    farthest = pick(width, FARTHEST_64, FARTHEST_32)
    within = lower <= farthest and upper >= -farthest
    return lower < upper and within and width >= like(width, 0.0)


@row_loop
def _count_without(lower, upper, width):
    count = 0
    for i in range(width.size):
        count += 0 if _has_draws(lower[i], upper[i], width[i]) else 1
    return count


@kernel
def count_without_draws(a, b, scale):
    """Return how many elements have none."""
    size = max(a.size, b.size, scale.size) if min(a.size, b.size, scale.size) > 0 else 0
    space, count = empty((3, BLOCK), scale.dtype), 0
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        lower, upper = _part(a, start, stop, space[0]), _part(b, start, stop, space[1])
        count += _count_without(lower, upper, _part(scale, start, stop, space[2]))
    return count


@row_loop
def _place_draws(lower, upper, shift, width, h):
    """Put standard draws where loc and scale have them; NaN where there are none."""
    for i in range(h.size):
        good = _has_draws(lower[i], upper[i], width[i])
        h[i] = _placed(h[i], shift[i], width[i] if good else like(width[i], np.nan))


@kernel
def rvs(seed, first, a, b, loc, scale, out):
    """Write draws; ``first`` is the number of out[0] in the whole array, a multiple of BLOCK.

    Draw number i depends on the seed and i only.  A scale of 0 gives loc.
    """
    space, working = empty((5, ROW), out.dtype), empty(SPACE, out.dtype)
    uniform = space[4]
    for start in range(0, out.size, ROW):
        stop = min(start + ROW, out.size)
        lower, upper = _part(a, start, stop, space[0]), _part(b, start, stop, space[1])
        shift, width = _part(loc, start, stop, space[2]), _part(scale, start, stop, space[3])
        number, value = first + start, out[start:stop]
        chain = number >> _CHAIN_BITS
        uniform_row(seed, DISTRIBUTION, 0, chain, number - (chain << _CHAIN_BITS), uniform)
        standard_quantile_row(uniform, lower, upper, value, working)
        _place_draws(lower, upper, shift, width, value)


@kernel
def rvs_of_one(seed, first, a, b, loc, scale, out):
    """Write what ``rvs`` does, for one interval: all but ``out`` have length 1.

    Most of a draw is work on the interval, which the compiler takes out of the loop: 8.5 ns for 13.
    """
    lower, upper, shift, width = a[0], b[0], loc[0], scale[0]
    zero, one = like(lower, 0.0), like(lower, 1.0)
    width = width if _has_draws(lower, upper, width) else like(lower, np.nan)
    uniform = empty(BLOCK, out.dtype)
    for start in range(0, out.size, BLOCK):
        value = out[start : min(start + BLOCK, out.size)]
        number = first + start
        chain = number >> _CHAIN_BITS
        uniform_row(seed, DISTRIBUTION, 0, chain, number - (chain << _CHAIN_BITS), uniform)
        for i in range(value.size):
            value[i] = _placed(quantile(uniform[i], zero, one, lower, upper), shift, width)
