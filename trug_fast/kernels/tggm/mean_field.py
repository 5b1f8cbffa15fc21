"""Mean-field inference of the TruG-TGGM regression (mathematics 5).

p(y, h | x) = N(y | W1 h + b1, noise) N(h | z, hidden variance) on [lower, upper], z = W0 x + b0.
Given y, the units are updated one after the other, each to its conditional at the others' means.
The residual y - b1 - W1 mean carries all that one unit needs of the others, so an update costs one
product with a column of W1 instead of one with the posterior precision.

Units are sequential, rows of data independent: arrays of a block are (unit, row), so that the loop
inside runs over contiguous rows and vectorises.

Tested in tests/models/test_tggm.py.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.loops import each
from trug_fast.kernels.special.elementary import exp
from trug_fast.kernels.tiles import copy
from trug_fast.kernels.unit.normalizer import evaluate, evaluate_wide, is_wide

ROWS = 128  # of a block: its arrays stay in the second-level cache with 100 hidden units
LOG_TWO_PI = 1.8378770664093453


class Network(NamedTuple):
    """A model as the kernels see it: arrays of one float type."""

    input_weights: np.ndarray  # (hidden, inputs)
    input_bias: np.ndarray  # (hidden,)
    output_weights: np.ndarray  # (outputs, hidden)
    output_bias: np.ndarray  # (outputs,)
    noise_precision: np.ndarray  # (outputs,) of y
    hidden_precision: float  # of h before truncation
    lower: np.ndarray  # (hidden,)
    upper: np.ndarray  # (hidden,)
    noise_weights: (
        np.ndarray
    )  # (outputs, hidden) of log noise by the mean of h given x; (0, hidden)
    coupling: np.ndarray  # (outputs, hidden) output weights times noise precision
    stiffness: np.ndarray  # (hidden,) precision of a unit given y and the others


class Rows(NamedTuple):
    """Rows of data, in the float type of the parameters."""

    inputs: np.ndarray  # (rows, inputs)
    targets: np.ndarray  # (rows, outputs)


class Cycles(NamedTuple):
    """How often the mean field goes over the units."""

    most: int
    tolerance: float  # fewer once none moves a mean by more standard deviations before truncation


class Inferred(NamedTuple):
    """The mean field of rows of data, written to."""

    net: np.ndarray  # (rows, hidden)
    mean: np.ndarray
    variance: np.ndarray
    bound: np.ndarray  # (rows,)


class UnitMoments(NamedTuple):
    """What a pass over units gives, each (hidden, rows)."""

    net: np.ndarray  # a; with the unit's precision it is all that the rest follows from
    mean: np.ndarray
    variance: np.ndarray
    third: np.ndarray  # third central moment
    at_lower: np.ndarray  # densities at the ends
    at_upper: np.ndarray


@linked
def fill(out, value):
    """Set all of a vector."""
    for i in range(out.size):
        out[i] = value


@linked
def total_of(values):
    """Add up a vector, from its first number to its last."""
    total = like(values[0], 0.0)
    for i in range(values.size):
        total += values[i]
    return total


@linked
def largest(values):
    """Return the largest number of a vector; NaN if one is."""
    most = values[0]
    for i in range(values.size):
        most = values[i] if values[i] > most or values[i] != values[i] else most
    return most


@kernel
def derive(network):
    """Write ``coupling`` and ``stiffness`` from the other parameters, in place."""
    weights, coupling, stiffness = network.output_weights, network.coupling, network.stiffness
    fill(stiffness, network.hidden_precision)
    for o in range(weights.shape[0]):
        precision = network.noise_precision[o]
        for j in range(weights.shape[1]):
            coupling[o, j] = precision * weights[o, j]
            stiffness[j] += coupling[o, j] * weights[o, j]


@linked
def new_moments(hidden, rows, kind):
    """Return UnitMoments to be written to, of the float type of the array ``kind``."""
    space = empty((6, hidden, rows), kind.dtype)
    return UnitMoments(space[0], space[1], space[2], space[3], space[4], space[5])


@linked
def input_net(network, inputs, z):
    """Write z = W0 x + b0 of each row of ``inputs``; z (hidden, rows)."""
    gemm(False, True, 1.0, network.input_weights, inputs, 0.0, z)
    for j in range(z.shape[0]):
        row, bias = z[j], network.input_bias[j]
        for r in range(row.size):
            row[r] += bias


@linked
def mean_of_unit(a, d, lower, upper, mean):
    """Write the mean of one unit for each row's net input.

    All rows share the unit's width, so most units need one regime's loop (2.2 instead of 4.2 ns).
    """
    if is_wide(d, lower, upper):
        for r in range(a.size):
            mean[r] = evaluate_wide(a[r], d, lower, upper)[2]
    else:
        for r in range(a.size):
            mean[r] = evaluate(a[r], d, lower, upper)[2]


@linked
def moments_of_unit(out, j, d, lower, upper, log_norm):
    """Write all moments of unit j from ``out.net`` of each row."""
    net, mean, variance, third = out.net[j], out.mean[j], out.variance[j], out.third[j]
    at_lower, at_upper = out.at_lower[j], out.at_upper[j]
    if is_wide(d, lower, upper):
        for r in range(net.size):
            norm, _, m, v, t, low, high, _ = evaluate_wide(net[r], d, lower, upper)
            log_norm[r], mean[r], variance[r], third[r] = norm, m, v, t
            at_lower[r], at_upper[r] = exp(low), exp(high)
    else:
        for r in range(net.size):
            norm, _, m, v, t, low, high, _ = evaluate(net[r], d, lower, upper)
            log_norm[r], mean[r], variance[r], third[r] = norm, m, v, t
            at_lower[r], at_upper[r] = exp(low), exp(high)


@linked
def prior(network, z, out, bound):
    """Write the moments given x alone and subtract the units' L from ``bound`` (rows,)."""
    tau = network.hidden_precision
    log_norm = empty(z[0].shape, z[0].dtype)
    for j in range(z.shape[0]):
        row, net = z[j], out.net[j]
        for r in range(row.size):
            net[r] = tau * row[r]
        moments_of_unit(out, j, tau, network.lower[j], network.upper[j], log_norm)
        for r in range(row.size):
            bound[r] -= log_norm[r]


@linked
def residual_of(network, targets, mean, residual):
    """Write y - b1 - W1 mean; targets (rows, outputs), mean (hidden, rows)."""
    gemm(False, False, -1.0, network.output_weights, mean, 0.0, residual)
    for o in range(residual.shape[0]):
        row, bias = residual[o], network.output_bias[o]
        for r in range(row.size):
            row[r] += targets[r, o] - bias


@linked
def net_given_rest(network, j, z, residual, own, net):
    """Write unit j's net input given y and the other units' means."""
    tau = network.hidden_precision
    pull, row = network.stiffness[j] - tau, z[j]
    for r in range(net.size):
        net[r] = tau * row[r] + pull * own[r]
    for o in range(residual.shape[0]):
        weight, rest = network.coupling[o, j], residual[o]
        for r in range(net.size):
            net[r] += weight * rest[r]


@linked
def move_residual(network, j, before, after, residual):
    """Carry a unit's change of means into the residual."""
    for o in range(residual.shape[0]):
        weight, rest = network.output_weights[o, j], residual[o]
        for r in range(rest.size):
            rest[r] -= weight * (after[r] - before[r])


@linked
def move_mean(scale, own, fresh, moves):
    """Overwrite the means and raise ``moves`` to each row's largest scaled move so far."""
    for r in range(own.size):
        move = scale * abs(fresh[r] - own[r])
        moves[r] = move if move > moves[r] else moves[r]
        own[r] = fresh[r]


@linked
def infer(network, z, residual, cycles, out, bound):
    """Run coordinate updates to the posterior's mean field, and complete the bound.

    z : (hidden, rows); residual : (outputs, rows), that of ``out.mean``, where the updates start
    out : UnitMoments, overwritten with those of the last pass
    bound : (rows,), gains all of the evidence lower bound but the constant and the prior's part
    """
    hidden, tau = z.shape[0], network.hidden_precision
    net, fresh, moves = (
        empty(z[0].shape, z[0].dtype),
        empty(z[0].shape, z[0].dtype),
        empty(z[0].shape, z[0].dtype),
    )
    for _ in range(cycles.most - 1):
        fill(moves, 0.0)
        for j in range(hidden):
            own, stiffness = out.mean[j], network.stiffness[j]
            net_given_rest(network, j, z, residual, own, net)
            mean_of_unit(net, stiffness, network.lower[j], network.upper[j], fresh)
            move_residual(network, j, own, fresh, residual)
            move_mean(math.sqrt(stiffness), own, fresh, moves)
        if largest(moves) <= cycles.tolerance:
            break
    log_norm = net
    for j in range(hidden):
        own, stiffness, a, row = out.mean[j], network.stiffness[j], out.net[j], z[j]
        net_given_rest(network, j, z, residual, own, a)
        copy(own, fresh)
        moments_of_unit(out, j, stiffness, network.lower[j], network.upper[j], log_norm)
        move_residual(network, j, fresh, own, residual)
        # Entropy of q, E[log p(h)], and the variance's share of E[log p(y | h)] in one.
        half = like(tau, 0.5) * (stiffness - tau)
        for r in range(a.size):
            m = own[r]
            bound[r] += (tau * row[r] - a[r]) * m + half * m * m + log_norm[r]
    for o in range(residual.shape[0]):
        half, rest = like(tau, 0.5) * network.noise_precision[o], residual[o]
        for r in range(rest.size):
            bound[r] -= half * rest[r] * rest[r]


@linked
def bound_constant(network):
    """Return the part of the bound that is the same for all rows."""
    total = 0.0
    for o in range(network.noise_precision.size):
        total += math.log(network.noise_precision[o]) - LOG_TWO_PI
    return 0.5 * total


@linked
def _posterior_block(index, network, data, cycles, found):
    inputs, targets = data.inputs, data.targets
    net, mean, variance, bound = found.net, found.mean, found.variance, found.bound
    rows, hidden = mean.shape
    start, stop = index * ROWS, min(rows, (index + 1) * ROWS)
    count = stop - start
    z = empty((hidden, count), mean.dtype)
    residual = empty((targets.shape[1], count), mean.dtype)
    out = new_moments(hidden, count, mean)
    part = bound[start:stop]
    fill(part, bound_constant(network))
    input_net(network, inputs[start:stop], z)
    prior(network, z, out, part)
    residual_of(network, targets[start:stop], out.mean, residual)
    infer(network, z, residual, Cycles(cycles, -1.0), out, part)
    for r in range(count):
        for j in range(hidden):
            net[start + r, j] = out.net[j, r]
            mean[start + r, j] = out.mean[j, r]
            variance[start + r, j] = out.variance[j, r]


@kernel
def posterior(network, data, cycles, found):
    """Write the posterior's mean field and the evidence lower bound of each row.

    data : Rows; found : Inferred, overwritten.  ``found.net`` is the net input of which mean and
    variance follow with the precision ``network.stiffness``.
    """
    blocks = -(-found.mean.shape[0] // ROWS)
    each(_posterior_block, blocks, (network, data, cycles, found))
