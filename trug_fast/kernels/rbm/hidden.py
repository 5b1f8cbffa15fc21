"""Rows of hidden units: means, statistics, draws and log-normalisers from their net inputs.

A row is a contiguous part of one chain's hidden layer.  TruG units go through one vectorised loop:
where all have d > 0 by the formulas for these, else, in rare kernels, by those for d of any sign,
which take 1.4 times as long (draws 2.3).  Bernoulli units, of the ordinary RBM, have the same
functions.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import linked, pattern, rare_row, rarely, row_loop, scalar, want
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import exp, sigmoid, softplus
from trug_fast.kernels.unit.any_precision import evaluate_any
from trug_fast.kernels.unit.normalizer import evaluate, evaluate_wide, is_wide
from trug_fast.kernels.unit.quantile_rows import quantile_row
from trug_fast.kernels.unit.valley_quantile import quantile_any

TRUG, BERNOULLI = 0, 1
NONPOSITIVE = "units with precision <= 0"  # of models that few have: a seventh of the compilation


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


def trug_units(precision, lower, upper):
    """Return TruG units with these parameters, for kernels; units with d <= 0 have their own."""
    n_nonpositive = int(np.count_nonzero(precision <= 0))
    if n_nonpositive > 0:
        want(NONPOSITIVE)
    return HiddenUnits(TRUG, precision, lower, upper, n_nonpositive)


@scalar
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
def _means(evaluated, net, units, mean):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        mean[j] = evaluated(net[j], precision[j], lower[j], upper[j])[2]


@rare_row(NONPOSITIVE)
def _means_of_any(net, units, mean):
    _means(evaluate_any, net, units, mean)


@row_loop
def all_wide(units):
    """Tell whether all intervals are so wide that ``evaluate`` needs one of its two halves only."""
    precision, lower, upper = units.precision, units.lower, units.upper
    if precision.size == 0 or not is_wide(precision[0], lower[0], upper[0]):
        return False  # mostly all or none are: spares narrow ones the loop, of 4 % of a row's time
    narrow = 0
    for j in range(precision.size):
        narrow += 0 if is_wide(precision[j], lower[j], upper[j]) else 1
    return narrow == 0


@row_loop
def mean_row(net, units, mean):
    """Write E[h | net input]."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            mean[j] = sigmoid(net[j])
        return
    if units.n_nonpositive > 0:
        rarely(_means_of_any, (net, units, mean))
    elif all_wide(units):
        _means(evaluate_wide, net, units, mean)
    else:
        _means(evaluate, net, units, mean)


@pattern
def _statistics(evaluated, net, units, mean, sums):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        _, _, m, v, _, log_low, log_high, _ = evaluated(net[j], precision[j], lower[j], upper[j])
        mean[j] = m
        sums.first[j] += m
        sums.second[j] += v + m * m
        sums.at_lower[j] += exp(log_low)
        sums.at_upper[j] += exp(log_high)


@rare_row(NONPOSITIVE)
def _statistics_of_any(net, units, mean, sums):
    _statistics(evaluate_any, net, units, mean, sums)


@row_loop
def statistics_row(net, units, mean, sums):
    """Write E[h | net] and add to the running sums."""
    if units.kind == BERNOULLI:
        mean_row(net, units, mean)
        for j in range(net.size):
            sums.first[j] += mean[j]
        return
    if units.n_nonpositive > 0:
        rarely(_statistics_of_any, (net, units, mean, sums))
    elif all_wide(units):
        _statistics(evaluate_wide, net, units, mean, sums)
    else:
        _statistics(evaluate, net, units, mean, sums)


@pattern
def _moments(evaluated, net, units, mean, variance, log_low, log_high):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        value = evaluated(net[j], precision[j], lower[j], upper[j])
        mean[j], variance[j], log_low[j], log_high[j] = value[2], value[3], value[5], value[6]


@rare_row(NONPOSITIVE)
def _moments_of_any(net, units, mean, variance, log_low, log_high):
    _moments(evaluate_any, net, units, mean, variance, log_low, log_high)


@row_loop
def moments_row(net, units, mean, variance, log_low, log_high):
    """Write E[h], Var[h] and the log densities at the two ends."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            mean[j] = sigmoid(net[j])
            variance[j] = mean[j] * sigmoid(-net[j])
            log_low[j] = -softplus(net[j])
            log_high[j] = -softplus(-net[j])
        return
    if units.n_nonpositive > 0:
        rarely(_moments_of_any, (net, units, mean, variance, log_low, log_high))
    else:
        _moments(evaluate, net, units, mean, variance, log_low, log_high)


@rare_row(NONPOSITIVE)
def _draws_of_any(net, units, uniform, sample):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        sample[j] = quantile_any(uniform[j], net[j], precision[j], lower[j], upper[j])


@row_loop
def draw_row(net, units, uniform, sample, space):
    """Write one draw of each unit, by inversion of the uniforms; ``space`` as in quantile_row."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            one, zero = like(net[j], 1.0), like(net[j], 0.0)
            sample[j] = one if uniform[j] < sigmoid(net[j]) else zero
        return
    if units.n_nonpositive > 0:
        rarely(_draws_of_any, (net, units, uniform, sample))
    else:
        quantile_row(uniform, net, units.precision, units.lower, units.upper, sample, space)


@pattern
def _log_norms(evaluated, net, units, scale, precision_scale, values):
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        a, d = scale * np.float64(net[j]), precision_scale * np.float64(precision[j])
        values[j] = evaluated(a, d, np.float64(lower[j]), np.float64(upper[j]))[0]


@rare_row(NONPOSITIVE)
def _log_norms_of_any(net, units, scale, precision_scale, values):
    _log_norms(evaluate_any, net, units, scale, precision_scale, values)


@row_loop
def log_norm_row(net, units, scale, precision_scale, values):
    """Write L(scale a, precision_scale d, lower, upper) of each unit and return their sum.

    The parameters may be float32; the arithmetic is float64, since a sum of hundreds of terms of
    order one is compared with others to 1e-3 or better.
    """
    if units.kind == BERNOULLI:
        for j in range(net.size):
            values[j] = softplus(scale * np.float64(net[j]))
        return ordered_sum(values, net.size)
    if units.n_nonpositive > 0:
        rarely(_log_norms_of_any, (net, units, scale, precision_scale, values))
    else:
        _log_norms(evaluate, net, units, scale, precision_scale, values)
    return ordered_sum(values, net.size)


@linked
def ordered_sum(values, size):
    """Sum in eight interleaved strands: a fixed order, without waiting for each addition."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = size - size % 8
    for start in range(0, whole, 8):
        s0 += values[start]
        s1 += values[start + 1]
        s2 += values[start + 2]
        s3 += values[start + 3]
        s4 += values[start + 4]
        s5 += values[start + 5]
        s6 += values[start + 6]
        s7 += values[start + 7]
    total = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7  # from the left
    for j in range(whole, size):
        total += values[j]
    return total
