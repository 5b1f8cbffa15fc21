"""The order in which the coordinates of a cut normal vector are taken, and its factor.

Tested in tests/distributions/multivariate/test_tilting.py.
"""

import math

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, scalar
from trug_fast.kernels.special.elementary import log_of_any
from trug_fast.kernels.special.tails import tail_integrals
from trug_fast.kernels.unit.distribution import LOG_ROOT_TWO_PI, piece
from trug_fast.kernels.unit.normalizer import evaluate_one, whiten


@scalar
def _log_value(u, u_far, width, tau):
    """Return the log of a mass, less -u**2/2 where the mode is outside."""
    near, far = tail_integrals(abs(u))[0], tail_integrals(abs(u_far))[0]
    base = 0.0 if u >= 0.0 else -0.5 * u * u
    value, exponent = piece(u, near, far, width, tau, base)
    return exponent + (log_of_any(value) - LOG_ROOT_TWO_PI)


@linked
def _cut(lower, upper, tilt, out):
    """Write origin, distance, variance and log value of a normal of mean ``tilt`` and variance 1.

    It is cut to an interval.  The origin is the end near the mode if that lies outside, else the
    mode; the mean less the origin is the distance; the log of the mass is
    -(origin - tilt)**2/2 + log value.  So no square of a tilt cancels against another.
    """
    a, b = lower - tilt, upper - tilt
    _, _, u, u_far, width, tau, reflected = whiten(0.0, 1.0, a, b)
    _, offset, mean, variance, _, _, _, _ = evaluate_one(0.0, 1.0, a, b)
    inside = u < 0.0
    out[0] = tilt if inside else (upper if reflected else lower)
    out[1] = mean if inside else (-offset if reflected else offset)
    out[2], out[3] = variance, _log_value(u, u_far, width, tau)


@linked
def _log_masses(first, lower, upper, shift, variance, found, out):
    for i in range(first, out.size):
        scale = math.sqrt(variance[i])
        _cut((lower[i] - shift[i]) / scale, (upper[i] - shift[i]) / scale, 0.0, found)
        # Without ends it comes after one whose ends are too far out to be seen.
        free = lower[i] == -np.inf and upper[i] == np.inf
        out[i] = 1.0 if free else found[3] - 0.5 * found[0] * found[0]


@linked
def _least(first, values):
    least = first
    for i in range(first, values.size):
        if values[i] < values[least]:
            least = i
    return least


@linked
def _swap(vector, i, j):
    kept = vector[i]
    vector[i] = vector[j]
    vector[j] = kept


@linked
def _dot(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@kernel
def ordered_factor(cov, lower, upper, order, factor):
    """Write an order of the coordinates and the triangular factor of the covariance in that order.

    The next coordinate is always the one least likely to lie between its ends, given the means of
    those before (Gibson, Glasbey and Elston, 1994); so those without ends come last.  ``lower``
    and ``upper``, of a vector of mean 0, are put in that order.  order : int64
    """
    d = lower.size
    shift, variance = empty(d, np.float64), empty(d, np.float64)
    mass, found = empty(d, np.float64), empty(4, np.float64)
    for i in range(d):
        order[i], shift[i], variance[i] = i, 0.0, cov[i, i]
        for j in range(d):
            factor[i, j] = 0.0
    for k in range(d):
        _log_masses(k, lower, upper, shift, variance, found, mass)
        chosen = _least(k, mass)
        for vector in (lower, upper, shift, variance):
            _swap(vector, k, chosen)
        _swap(order, k, chosen)
        for j in range(k):
            kept = factor[k, j]
            factor[k, j] = factor[chosen, j]
            factor[chosen, j] = kept
        scale = math.sqrt(variance[k])
        _cut((lower[k] - shift[k]) / scale, (upper[k] - shift[k]) / scale, 0.0, found)
        mean = found[0] + found[1]
        factor[k, k] = scale
        for i in range(k + 1, d):
            value = cov[order[i], order[k]] - _dot(factor[i, :k], factor[k, :k])
            value /= scale
            factor[i, k] = value
            shift[i] += value * mean
            variance[i] = max(variance[i] - value * value, 1e-300)


@kernel
def mean_path(factor, lower, upper, tilt, point, found):
    """Write the mean of each tilted coordinate, those before being at theirs, as ``point``.

    found : (d, 4) of each: origin, distance, variance and log value, see ``_cut``
    """
    for k in range(lower.size):
        shift = _dot(factor[k, :k], point[:k])
        _cut(lower[k] - shift, upper[k] - shift, tilt[k], found[k])
        point[k] = found[k, 0] + found[k, 1]


@kernel
def standard_moments(lower, upper, log_masses, means, variances):
    """Write log mass, mean and variance of the standard normal cut to each interval."""
    found = empty(4, np.float64)
    for i in range(lower.size):
        _cut(lower[i], upper[i], 0.0, found)
        log_masses[i] = found[3] - 0.5 * found[0] * found[0]
        means[i], variances[i] = found[0] + found[1], found[2]
