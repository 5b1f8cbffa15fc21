"""The order in which the coordinates of a cut normal vector are taken, and its factor.

Tested in tests/distributions/multivariate/test_tilting.py.
"""

import math

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.compiling import kernel, linked, row_loop, scalar
from trug_fast.kernels.special.elementary import log_of_any
from trug_fast.kernels.special.tails import tail_integrals
from trug_fast.kernels.unit.distribution import LOG_ROOT_TWO_PI, log_mass, piece
from trug_fast.kernels.unit.normalizer import evaluate, evaluate_one, whiten


@row_loop
def _log_masses(first, lower, upper, shift, variance, out):
    for i in range(first, out.size):
        inverse = 1.0 / math.sqrt(variance[i])
        low, high = (lower[i] - shift[i]) * inverse, (upper[i] - shift[i]) * inverse
        # Without ends it comes after one whose ends are too far out to be seen.
        out[i] = log_mass(0.0, 1.0, low, high) if low > -np.inf or high < np.inf else 1.0


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
    mass = empty(d, np.float64)
    for i in range(d):
        order[i], shift[i], variance[i] = i, 0.0, cov[i, i]
        for j in range(d):
            factor[i, j] = 0.0
    for k in range(d):
        _log_masses(k, lower, upper, shift, variance, mass)
        chosen = _least(k, mass)
        for vector in (lower, upper, shift, variance):
            _swap(vector, k, chosen)
        _swap(order, k, chosen)
        for j in range(k):
            kept = factor[k, j]
            factor[k, j] = factor[chosen, j]
            factor[chosen, j] = kept
        scale = math.sqrt(variance[k])
        low, high = (lower[k] - shift[k]) / scale, (upper[k] - shift[k]) / scale
        mean = evaluate(0.0, 1.0, low, high)[2]
        factor[k, k] = scale
        for i in range(k + 1, d):
            value = cov[order[i], order[k]] - _dot(factor[i, :k], factor[k, :k])
            value /= scale
            factor[i, k] = value
            shift[i] += value * mean
            variance[i] = max(variance[i] - value * value, 1e-300)


@scalar
def _log_value(u, u_far, width, tau):
    """Return the log of a mass, less -u**2/2 where the mode is outside."""
    near, far = tail_integrals(abs(u))[0], tail_integrals(abs(u_far))[0]
    base = 0.0 if u >= 0.0 else -0.5 * u * u
    value, exponent = piece(u, near, far, width, tau, base)
    return exponent + (log_of_any(value) - LOG_ROOT_TWO_PI)


@kernel
def mean_path(factor, lower, upper, tilt, point, origin, distance, variance, log_value):
    """Write the mean of each tilted coordinate, those before being at theirs, as ``point``.

    ``origin`` is the end near the mode if that lies outside, else the mode, which is the tilt; mean
    less origin is ``distance``; the log of the mass is -(origin - tilt)**2/2 + ``log_value``.  So
    no square of a tilt cancels against another.
    """
    for k in range(lower.size):
        shift = _dot(factor[k, :k], point[:k])
        low, high = lower[k] - shift, upper[k] - shift
        a, b = low - tilt[k], high - tilt[k]
        _, _, u, u_far, width, tau, reflected = whiten(0.0, 1.0, a, b)
        _, offset, mean, spread, _, _, _, _ = evaluate_one(0.0, 1.0, a, b)
        inside = u < 0.0
        origin[k] = tilt[k] if inside else (high if reflected else low)
        distance[k] = mean if inside else (-offset if reflected else offset)
        point[k] = origin[k] + distance[k]
        variance[k], log_value[k] = spread, _log_value(u, u_far, width, tau)


@kernel
def standard_moments(lower, upper, log_masses, means, variances):
    """Write log mass, mean and variance of the standard normal cut to each interval."""
    for i in range(lower.size):
        log_masses[i] = log_mass(0.0, 1.0, lower[i], upper[i])
        _, _, mean, variance, _, _, _, _ = evaluate(0.0, 1.0, lower[i], upper[i])
        means[i], variances[i] = mean, variance
