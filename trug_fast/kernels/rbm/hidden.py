"""Rows of hidden units: means, statistics, draws and log-normalisers from their net inputs.

A row is a contiguous part of one chain's hidden layer.  TruG units with d > 0 go through one
vectorised loop; the rare ones with d <= 0 are done again, one by one, by the slow path.  Bernoulli
units, of the ordinary RBM, have the same functions.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import serial
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import exp, sigmoid, softplus
from trug_fast.kernels.unit.nonpositive_precision import evaluate_flat, quantile_flat
from trug_fast.kernels.unit.normalizer import evaluate
from trug_fast.kernels.unit.quantile import quantile

TRUG, BERNOULLI = 0, 1


class HiddenUnits(NamedTuple):
    """The hidden layer's own parameters, one entry a unit."""

    kind: int  # TRUG or BERNOULLI
    precision: np.ndarray  # (hidden,)
    lower: np.ndarray  # (hidden,)
    upper: np.ndarray  # (hidden,)
    n_flat: int  # how many units have precision <= 0


@serial
def part_of(units, start, stop):
    """Return the units start..stop as HiddenUnits of their own."""
    return HiddenUnits(
        units.kind,
        units.precision[start:stop],
        units.lower[start:stop],
        units.upper[start:stop],
        units.n_flat,
    )


@serial
def mean_row(net, units, mean):
    """Write E[h | net input]."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            mean[j] = sigmoid(net[j])
        return
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        mean[j] = evaluate(net[j], precision[j], lower[j], upper[j])[2]
    if units.n_flat > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                mean[j] = evaluate_flat(net[j], precision[j], lower[j], upper[j])[2]


@serial
def statistics_row(net, units, mean, first, second, at_lower, at_upper):
    """Write E[h | net] and add E[h], E[h^2], p(h = lower), p(h = upper) to the running sums."""
    if units.kind == BERNOULLI:
        mean_row(net, units, mean)
        for j in range(net.size):
            first[j] += mean[j]
        return
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        _, _, m, v, _, log_low, log_high, _ = evaluate(net[j], precision[j], lower[j], upper[j])
        flat = precision[j] <= like(net[j], 0.0)
        zero = like(net[j], 0.0)
        mean[j] = m
        first[j] += zero if flat else m
        second[j] += zero if flat else v + m * m
        at_lower[j] += zero if flat else exp(log_low)
        at_upper[j] += zero if flat else exp(log_high)
    if units.n_flat > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                _, _, m, v, _, log_low, log_high, _ = evaluate_flat(
                    net[j], precision[j], lower[j], upper[j]
                )
                mean[j] = m
                first[j] += m
                second[j] += v + m * m
                at_lower[j] += np.exp(log_low)
                at_upper[j] += np.exp(log_high)


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
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        _, _, m, v, _, low, high, _ = evaluate(net[j], precision[j], lower[j], upper[j])
        mean[j], variance[j], log_low[j], log_high[j] = m, v, low, high
    if units.n_flat > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                _, _, m, v, _, low, high, _ = evaluate_flat(
                    net[j], precision[j], lower[j], upper[j]
                )
                mean[j], variance[j], log_low[j], log_high[j] = m, v, low, high


@serial
def draw_row(net, units, uniform, sample):
    """Write one draw of each unit, by inversion of the uniforms."""
    if units.kind == BERNOULLI:
        for j in range(net.size):
            one, zero = like(net[j], 1.0), like(net[j], 0.0)
            sample[j] = one if uniform[j] < sigmoid(net[j]) else zero
        return
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        sample[j] = quantile(uniform[j], net[j], precision[j], lower[j], upper[j])
    if units.n_flat > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                p = uniform[j]
                sample[j] = quantile_flat(
                    p, like(p, 1.0) - p, net[j], precision[j], lower[j], upper[j]
                )


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
    precision, lower, upper = units.precision, units.lower, units.upper
    for j in range(net.size):
        values[j] = evaluate(
            scale * np.float64(net[j]),
            precision_scale * np.float64(precision[j]),
            np.float64(lower[j]),
            np.float64(upper[j]),
        )[0]
    if units.n_flat > 0:
        for j in range(net.size):
            if precision[j] <= 0:
                d = precision_scale * np.float64(precision[j])
                values[j] = evaluate_flat(scale * net[j], d, lower[j], upper[j])[0]
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
