"""Truncated normals over whole arrays, as :mod:`trug_fast.truncnorm` needs them; one thread each.

Every argument is a contiguous vector as long as ``out``, or of length 1 to stand for all elements.
a and b are the ends in standard deviations from loc, as in SciPy.  A loop runs over blocks that
stay in the first-level cache; a block of a short argument is filled with its one number, so that
the loop inside sees contiguous memory always and vectorises.  All take float64 or float32.
"""

import numpy as np

from . import distribution
from .compiling import scalar, serial
from .elementary import exp, log
from .intrinsics import fma, like
from .philox import DISTRIBUTION, uniform_row
from .quantile import quantile
from .unit import evaluate

BLOCK = 1024
_CHAIN_BITS = 30  # elements 2**30 k ... have chain k, whose block numbers fit 32 bits


@serial
def _part(values, start, stop, buffer):
    """Return elements start..stop; of one element, ``buffer`` filled with it."""
    if values.size > 1:
        return values[start:stop]
    part = buffer[: stop - start]
    part[:] = values[0]
    return part


@serial
def _shape(a, b, loc, scale, start, out, space):
    """Return the block's lower, upper, loc, scale (NaN unless positive), and its place in out."""
    stop = min(start + BLOCK, out.size)
    width = _part(scale, start, stop, space[3])
    checked = space[3][: stop - start]
    for i in range(width.size):
        checked[i] = width[i] if width[i] > 0 else np.nan
    lower, upper = _part(a, start, stop, space[0]), _part(b, start, stop, space[1])
    return lower, upper, _part(loc, start, stop, space[2]), checked, out[start:stop]


@serial
def _points(x, a, b, loc, scale, start, out, space):
    """Return the block's standardised points, lower, upper, scale, and its place in out."""
    lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
    point = _part(x, start, start + value.size, space[4])
    z = space[4][: value.size]
    for i in range(value.size):
        z[i] = (point[i] - shift[i]) / width[i]
    return z, lower, upper, width, value


@scalar
def _placed(h, shift, width):
    """Return shift + width*h, rounded twice as NumPy does, so that ends of intervals agree."""
    return shift + fma(width, h, like(h, 0.0))


@serial
def pdf(x, a, b, loc, scale, out):
    """Write the density at x."""
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, width, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(z.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            value[i] = exp(distribution.logpdf(z[i], zero, one, lower[i], upper[i])) / width[i]


@serial
def logpdf(x, a, b, loc, scale, out):
    """Write the log density at x."""
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, width, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(z.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            standard = distribution.logpdf(z[i], zero, one, lower[i], upper[i])
            value[i] = standard - log(width[i])


@serial
def cdf(x, a, b, loc, scale, out):
    """Write the probability up to x."""
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, _, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(z.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            value[i] = distribution.cdf(z[i], zero, one, lower[i], upper[i])


@serial
def sf(x, a, b, loc, scale, out):
    """Write the probability beyond x."""
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, _, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(z.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            value[i] = distribution.sf(z[i], zero, one, lower[i], upper[i])


@serial
def logcdf(x, a, b, loc, scale, out):
    """Write the log of the probability up to x."""
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, _, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(z.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            value[i] = distribution.logcdf(z[i], zero, one, lower[i], upper[i])


@serial
def logsf(x, a, b, loc, scale, out):
    """Write the log of the probability beyond x."""
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        z, lower, upper, _, value = _points(x, a, b, loc, scale, start, out, space)
        for i in range(z.size):
            zero, one = like(z[i], 0.0), like(z[i], 1.0)
            value[i] = distribution.logsf(z[i], zero, one, lower[i], upper[i])


@serial
def _quantiles(p, upper_tail, a, b, loc, scale, out):
    space = np.empty((5, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
        share = _part(p, start, start + value.size, space[4])
        for i in range(value.size):
            zero, one = like(share[i], 0.0), like(share[i], 1.0)
            rest = one - share[i]
            below, above = (rest, share[i]) if upper_tail else (share[i], rest)
            h = distribution.ppf(below, above, zero, one, lower[i], upper[i])
            value[i] = _placed(h, shift[i], width[i])


@serial
def ppf(p, a, b, loc, scale, out):
    """Write the quantile that has probability p below it."""
    _quantiles(p, False, a, b, loc, scale, out)


@serial
def isf(p, a, b, loc, scale, out):
    """Write the quantile that has probability p above it."""
    _quantiles(p, True, a, b, loc, scale, out)


@serial
def mean(a, b, loc, scale, out):
    """Write the mean."""
    space = np.empty((4, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            h = evaluate(zero, one, lower[i], upper[i])[2]
            value[i] = _placed(h, shift[i], width[i]) if lower[i] < upper[i] else np.nan


@serial
def var(a, b, loc, scale, out):
    """Write the variance."""
    space = np.empty((4, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, _, width, value = _shape(a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            variance = evaluate(zero, one, lower[i], upper[i])[3]
            value[i] = variance * width[i] * width[i] if lower[i] < upper[i] else np.nan


@serial
def entropy(a, b, loc, scale, out):
    """Write the differential entropy."""
    space = np.empty((4, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, _, width, value = _shape(a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            value[i] = distribution.entropy(zero, one, lower[i], upper[i]) + log(width[i])


@serial
def log_mass(a, b, loc, scale, out):
    """Write the log of the standard normal's mass between a and b."""
    space = np.empty((4, BLOCK), out.dtype)
    for start in range(0, out.size, BLOCK):
        lower, upper, _, width, value = _shape(a, b, loc, scale, start, out, space)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            standard = distribution.log_mass(zero, one, lower[i], upper[i])
            value[i] = standard if width[i] > zero else np.nan


@serial
def rvs(seed, first, a, b, loc, scale, out):
    """Write draws; ``first`` is the number of out[0] in the whole array, a multiple of BLOCK.

    Draw number i depends on the seed and i only.
    """
    space = np.empty((5, BLOCK), out.dtype)
    uniform = space[4]
    for start in range(0, out.size, BLOCK):
        lower, upper, shift, width, value = _shape(a, b, loc, scale, start, out, space)
        number = first + start
        chain = number >> _CHAIN_BITS
        uniform_row(seed, DISTRIBUTION, 0, chain, number - (chain << _CHAIN_BITS), uniform)
        for i in range(value.size):
            zero, one = like(lower[i], 0.0), like(lower[i], 1.0)
            h = quantile(uniform[i], zero, one, lower[i], upper[i])
            value[i] = _placed(h, shift[i], width[i])
