"""Rows of hidden units: means, statistics, draws and log-normalisers from their net inputs.

A row is a contiguous part of one chain's hidden layer.  TruG units with d > 0 go through one
vectorised loop; the rare ones with d <= 0 are done again, one by one, by the slow path.  Bernoulli
units, of the ordinary RBM, have the same functions.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import pattern, scalar, serial
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import exp, sigmoid, softplus
from trug_fast.kernels.unit.nonpositive_precision import evaluate_nonpositive, quantile_nonpositive
from trug_fast.kernels.unit.normalizer import evaluate
from trug_fast.kernels.unit.quantile import quantile

TRUG, BERNOULLI = 0, 1


class HiddenUnits(NamedTuple):
    """The hidden layer's own parameters, one entry a unit."""

    kind: int  # TRUG or BERNOULLI
    precision: np.ndarray  # (hidden,)
    lower: np.ndarray  # (hidden,)
    upper: np.ndarray  # (hidden,)
    n_nonpositive: int  # how many units have precision <= 0


class Statistics(NamedTuple):
    """Running sums over rows.  One array a sum: rows of one matrix do not vectorise."""

    first: np.ndarray  # (hidden,) of E[h]
    second: np.ndarray  # (hidden,) of E[h^2]
    at_lower: np.ndarray  # (hidden,) of p(h = lower)
    at_upper: np.ndarray  # (hidden,) of p(h = upper)


@serial
def part_of(units, start, stop):
    """Return the units start..stop as HiddenUnits of their own."""
    return HiddenUnits(
        units.kind,
        units.precision[start:stop],
        units.lower[start:stop],
        units.upper[start:stop],
        units.n_nonpositive,
    )


@pattern
def over_units(value_of, nonpositive_value_of, put, net, units, given, out):
    """Put the value of every TruG unit of a row where it belongs.

    value_of, nonpositive_value_of : scalars of (j, given, a, d, lower, upper)
    put : scalar of (j, value, counts, given, out).  It is called for units with d <= 0 twice, first
        with a value that is void: then ``counts`` is false.
    """
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        value = value_of(j, given, net[j], precision[j], lower[j], upper[j])
        put(j, value, precision[j] > like(net[j], 0.0), given, out)
    if units.n_nonpositive > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                slow = nonpositive_value_of(j, given, net[j], precision[j], lower[j], upper[j])
                put(j, slow, True, given, out)


@scalar
def moments_of(j, given, a, d, lower, upper):
    """Return what ``evaluate`` returns, for ``over_units``."""
    return evaluate(a, d, lower, upper)


@scalar
def nonpositive_moments_of(j, given, a, d, lower, upper):
    """Return the same where d <= 0."""
    return evaluate_nonpositive(a, d, lower, upper)


@scalar
def _put_mean(j, value, counts, given, mean):
    mean[j] = value[2]


@serial
def mean_row(net, units, mean):
    """Write E[h | net input]."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            mean[j] = sigmoid(net[j])
        return
    over_units(moments_of, nonpositive_moments_of, _put_mean, net, units, net, mean)


@scalar
def _put_statistics(j, value, counts, mean, sums):
    _, _, m, v, _, log_low, log_high, _ = value
    zero = like(m, 0.0)
    mean[j] = m
    sums.first[j] += m if counts else zero
    sums.second[j] += v + m * m if counts else zero
    sums.at_lower[j] += exp(log_low) if counts else zero
    sums.at_upper[j] += exp(log_high) if counts else zero


@serial
def statistics_row(net, units, mean, sums):
    """Write E[h | net] and add to the running sums."""
    if units.kind == BERNOULLI:
        mean_row(net, units, mean)
        for j in range(net.size):
            sums.first[j] += mean[j]
        return
    over_units(moments_of, nonpositive_moments_of, _put_statistics, net, units, mean, sums)


@scalar
def _put_moments(j, value, counts, given, out):
    mean, variance, log_low, log_high = out
    mean[j], variance[j], log_low[j], log_high[j] = value[2], value[3], value[5], value[6]


@serial
def moments_row(net, units, mean, variance, log_low, log_high):
    """Write E[h], Var[h] and the log densities at the two ends."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            mean[j] = sigmoid(net[j])
            variance[j] = mean[j] * sigmoid(-net[j])
            log_low[j] = -softplus(net[j])
            log_high[j] = -softplus(-net[j])
        return
    out = (mean, variance, log_low, log_high)
    over_units(moments_of, nonpositive_moments_of, _put_moments, net, units, net, out)


@scalar
def _quantile_of(j, uniform, a, d, lower, upper):
    return quantile(uniform[j], a, d, lower, upper)


@scalar
def _nonpositive_quantile_of(j, uniform, a, d, lower, upper):
    p = uniform[j]
    return quantile_nonpositive(p, like(p, 1.0) - p, a, d, lower, upper)


@scalar
def _put(j, value, counts, given, out):
    out[j] = value


@serial
def draw_row(net, units, uniform, sample):
    """Write one draw of each unit, by inversion of the uniforms."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            one, zero = like(net[j], 1.0), like(net[j], 0.0)
            sample[j] = one if uniform[j] < sigmoid(net[j]) else zero
        return
    over_units(_quantile_of, _nonpositive_quantile_of, _put, net, units, uniform, sample)


@scalar
def _log_norm_of(j, scales, a, d, lower, upper):
    a, d = scales[0] * np.float64(a), scales[1] * np.float64(d)
    return evaluate(a, d, np.float64(lower), np.float64(upper))[0]


@scalar
def _nonpositive_log_norm_of(j, scales, a, d, lower, upper):
    return evaluate_nonpositive(scales[0] * a, scales[1] * np.float64(d), lower, upper)[0]


@serial
def log_norm_row(net, units, scale, precision_scale, values):
    """Write L(scale a, precision_scale d, lower, upper) of each unit and return their sum.

    The parameters may be float32; the arithmetic is float64, since a sum of hundreds of terms of
    order one is compared with others to 1e-3 or better.
    """
    if units.kind == BERNOULLI:
        for j in range(net.size):
            values[j] = softplus(scale * np.float64(net[j]))
        return ordered_sum(values, net.size)
    scales = (scale, precision_scale)
    over_units(_log_norm_of, _nonpositive_log_norm_of, _put, net, units, scales, values)
    return ordered_sum(values, net.size)


@serial
def ordered_sum(values, size):
    """Sum in eight interleaved strands: a fixed order, without waiting for each addition."""
    strands = np.zeros(8)
    whole = size - size % 8
    for start in range(0, whole, 8):
        for lane in range(8):
            strands[lane] += values[start + lane]
    total = 0.0
    for lane in range(8):
        total += strands[lane]
    for j in range(whole, size):
        total += values[j]
    return total
