"""Objectives of the TruG-TGGM regression and their gradients over a batch.

Four objectives, all ascended (mathematics 5): the evidence lower bound at the mean field's
optimum; the likelihood of y with the exact mean and variance of p(y | x), as if it were normal;
minus half the squared error of the mean; the likelihood of the sign of y, of the same normal.  All
parameters of a run lie in one vector, so an optimiser, a checkpoint or an average is one vector
operation.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.allocation import empty, zeros
from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import kernel, linked, rare, rarely, scalar, want
from trug_fast.kernels.intrinsics import like, rounded
from trug_fast.kernels.special.elementary import exp, log, log1p
from trug_fast.kernels.special.tails import bounded, tail_integrals
from trug_fast.kernels.tiles import copy, copy_rows
from trug_fast.kernels.unit.truncation_coordinates import SHARED

from .mean_field import (
    LOG_TWO_PI,
    Cycles,
    Network,
    UnitMoments,
    bound_constant,
    derive,
    fill,
    infer,
    input_net,
    new_moments,
    prior,
    residual_of,
    total_of,
)

BOUND, MOMENTS, SQUARES, PROBIT = 0, 1, 2, 3  # objectives
PREDICTIVE = "objectives but BOUND"  # whose gradient is compiled when it is wanted


class Task(NamedTuple):
    """What is trained, in numbers."""

    hidden: int
    inputs: int
    outputs: int
    objective: int  # BOUND, MOMENTS, SQUARES or PROBIT
    cycles: Cycles  # of the mean field
    ends: int  # FIXED, SHARED or PER_UNIT
    learn_lower: bool
    learn_upper: bool
    learn_noise: bool
    one_noise: bool  # h has the noise of y
    by_input: bool  # the log of the noise variance has weights, too
    hidden_precision: float  # of h otherwise


class Trained(NamedTuple):
    """All that updates change, in one float type."""

    theta: np.ndarray  # the parameters, in the order of ``parts``
    gradient: np.ndarray  # of the last batch; three vectors as long as theta
    first: np.ndarray
    second: np.ndarray
    lower: np.ndarray  # (hidden,), follow theta where they are learned
    upper: np.ndarray


class Parts(NamedTuple):
    """Views of a vector of parameters, or of their gradients."""

    input_weights: np.ndarray
    output_weights: np.ndarray
    input_bias: np.ndarray
    output_bias: np.ndarray
    log_noise: np.ndarray  # (outputs,) log variance of y
    low_end: np.ndarray  # (hidden,), or (1,) where one pair of ends is learned in common
    log_width: np.ndarray
    noise_weights: np.ndarray  # (outputs, hidden) where the noise is by input, else (0, hidden)


class WeightedRows(NamedTuple):
    """Rows of data and what each counts for, in the float type of the parameters."""

    inputs: np.ndarray  # (rows, inputs)
    targets: np.ndarray  # (rows, outputs)
    weights: np.ndarray  # (rows,), 1 on average


class Work(NamedTuple):
    """Working arrays for batches of one size."""

    inputs: np.ndarray  # (rows, inputs)
    targets: np.ndarray  # (rows, outputs)
    weights: np.ndarray  # (rows,)
    z: np.ndarray  # (hidden, rows)
    slope: np.ndarray  # (hidden, rows), gradient by z
    residual: np.ndarray  # (outputs, rows)
    pull: np.ndarray  # (outputs, rows), gradient by the mean of y
    widen: np.ndarray  # (outputs, rows), gradient by the variance of y
    noise: np.ndarray  # (outputs, rows), noise variance of y; then gradient by its log
    bound: np.ndarray  # (rows,)
    by_mean: np.ndarray  # (rows,), gradients by mean and variance of one hidden unit
    by_variance: np.ndarray
    before: UnitMoments  # given x
    after: UnitMoments  # given x and y


@linked
def new_work(task, rows, kind):
    """Return Work for so many rows, of the float type of the array ``kind``."""
    units = empty((2, task.hidden, rows), kind.dtype)
    outputs = empty((4, task.outputs, rows), kind.dtype)
    single = empty((4, rows), kind.dtype)
    return Work(
        empty((rows, task.inputs), kind.dtype),
        empty((rows, task.outputs), kind.dtype),
        single[3],
        units[0],
        units[1],
        outputs[0],
        outputs[1],
        outputs[2],
        outputs[3],
        single[0],
        single[1],
        single[2],
        new_moments(task.hidden, rows, kind),
        new_moments(task.hidden, rows, kind),
    )


def choose(objective):
    """Return the number of an objective, whose gradient is ready from now on."""
    if objective != BOUND:
        want(PREDICTIVE)
    return objective


@linked
def parts(task, vector):
    """Return a vector's parts."""
    hidden, outputs = task.hidden, task.outputs
    ends = 1 if task.ends == SHARED else hidden
    a = hidden * task.inputs
    b = a + outputs * hidden
    c = b + hidden
    d = c + outputs
    e = d + outputs
    f = e + ends
    g = f + ends
    weighing = outputs if task.by_input else 0
    return Parts(
        vector[:a].reshape(hidden, task.inputs),
        vector[a:b].reshape(outputs, hidden),
        vector[b:c],
        vector[c:d],
        vector[d:e],
        vector[e:f],
        vector[f:g],
        vector[g : g + weighing * hidden].reshape(weighing, hidden),
    )


def views(task, vector):
    """Return a vector's parts, to Python, which makes views without a kernel."""
    return parts.py_func(task, vector)


@kernel
def network_of(task, trained):
    """Return the model of the present parameters."""
    own = parts(task, trained.theta)
    noise = empty(own.log_noise.shape, own.log_noise.dtype)
    for o in range(task.outputs):
        noise[o] = math.exp(-own.log_noise[o])
    hidden_precision = noise[0] if task.one_noise else like(noise[0], task.hidden_precision)
    network = Network(
        own.input_weights,
        own.input_bias,
        own.output_weights,
        own.output_bias,
        noise,
        hidden_precision,
        trained.lower,
        trained.upper,
        own.noise_weights,
        empty(own.output_weights.shape, own.output_weights.dtype),
        empty(own.input_bias.shape, own.input_bias.dtype),
    )
    derive(network)
    return network


@linked
def bound_gradient(task, network, work, own):
    """Write the gradient of the bound but for the inputs' weights, as weighted sums over rows."""
    tau = network.hidden_precision
    z, slope, residual, weights = work.z, work.slope, work.residual, work.weights
    before, after = work.before, work.after
    copy_rows(before.mean, after.mean)
    infer(network, z, residual, task.cycles, after, work.bound)
    weigh(residual, weights, work.pull)
    gemm(False, True, 1.0, work.pull, after.mean, 0.0, own.output_weights)
    excess = zeros(work.bound.shape, work.bound.dtype)
    fill(own.log_noise, -0.5 * total_of(weights))
    # Sums over rows are products with weights: a loop that adds up one number does not vectorise.
    spread = np.dot(after.variance, weights)
    for j in range(task.hidden):
        old, new, row, out = before.mean[j], after.mean[j], z[j], slope[j]
        for r in range(row.size):
            out[r] = tau * (new[r] - old[r]) * weights[r]
        if task.one_noise:
            old_variance, variance = before.variance[j], after.variance[j]
            for r in range(row.size):
                now, then = new[r] - row[r], old[r] - row[r]
                excess[r] += variance[r] + now * now - old_variance[r] - then * then
        for o in range(task.outputs):
            weight, precision = network.output_weights[o, j], network.noise_precision[o]
            own.output_weights[o, j] = precision * (own.output_weights[o, j] - weight * spread[j])
            own.log_noise[o] += 0.5 * precision * weight * weight * spread[j]
    low, high = np.dot(before.at_lower, weights), np.dot(after.at_upper, weights)
    add_ends(task, low, np.dot(after.at_lower, weights), own.low_end)
    add_ends(task, high, np.dot(before.at_upper, weights), own.log_width)
    for o in range(task.outputs):
        precision, rest, pull = network.noise_precision[o], residual[o], work.pull[o]
        own.output_bias[o] = precision * total_of(pull)
        own.log_noise[o] += 0.5 * precision * np.dot(pull, rest)
    return 0.5 * tau * weighted_total(excess, weights)


@linked
def weigh(values, weights, out):
    """Multiply rows (many, rows) by their weights."""
    for o in range(values.shape[0]):
        row, target = values[o], out[o]
        for r in range(target.size):
            target[r] = row[r] * weights[r]


@linked
def weighted_total(values, weights):
    """Add up a vector by weights, from its first number to its last."""
    total = like(values[0], 0.0)
    for r in range(values.size):
        total += weights[r] * values[r]
    return total


@linked
def add_ends(task, gains, losses, out):
    """Add gains less losses (hidden,) to the gradient by each unit's end, or by the common one."""
    for j in range(task.hidden):
        out[j if task.ends != SHARED else 0] += gains[j] - losses[j]


@linked
def noise_of_rows(network, work):
    """Write the noise variance of y in each row: exp(log variance + weights mean of h given x)."""
    noise, weights = work.noise, network.noise_weights
    if weights.shape[0]:
        gemm(False, False, 1.0, weights, work.before.mean, 0.0, noise)
    for o in range(noise.shape[0]):
        row, base = noise[o], 1.0 / network.noise_precision[o]
        if weights.shape[0]:
            for r in range(row.size):
                row[r] = like(row[r], base) * exp(row[r])
        else:
            fill(row, base)


@scalar
def log_probability(z):
    """Return the log of Phi(z), phi(z)/Phi(z) and Phi(-z); |z| up to 1e100 (float32: 1e12)."""
    u = bounded(abs(z))
    ratio = tail_integrals(u)[0]
    half, one = like(u, 0.5), like(u, 1.0)
    tail = exp(-half * (u * u + like(u, LOG_TWO_PI))) * ratio  # Phi(-u)
    if z < 0:
        return log(ratio) - half * (u * u + like(u, LOG_TWO_PI)), one / ratio, one - tail
    return log1p(-tail), tail / ratio / (one - tail), tail


@scalar
def sign_slopes(work, o):
    """Write the slopes of log Phi(t mean/root of variance), t = +1 or -1, by mean and variance.

    The variance stands where its slope goes.  Add the logarithm to work.bound, and leave what is
    between t and the mean of the sign as the residual.
    """
    rest, gain, bend, bound = work.residual[o], work.pull[o], work.widen[o], work.bound
    for r in range(rest.size):
        t, variance = work.targets[r, o], bend[r]
        root = like(variance, math.sqrt(variance))
        z = t * (t - rest[r]) / root
        value, slope, other = log_probability(z)
        gain[r] = t * slope / root
        bend[r] = like(variance, -0.5) * z * slope / variance
        bound[r] += value
        rest[r] = like(variance, 2.0) * t * other


@linked
def predictive_rows(task, network, work):
    """Write the slopes of log N(y | mean, variance) by mean and variance, or of a sign's.

    work.bound is overwritten with the log-likelihood of each row, its outputs taken as independent.
    """
    residual, pull, widen, bound = work.residual, work.pull, work.widen, work.bound
    fill(bound, 0.0)
    noise_of_rows(network, work)
    for o in range(task.outputs):
        spread, rest, gain, bend = widen[o], residual[o], pull[o], widen[o]
        copy(work.noise[o], spread)
        for j in range(task.hidden):
            square, variance = network.output_weights[o, j] ** 2, work.before.variance[j]
            for r in range(spread.size):
                spread[r] += square * variance[r]
        if task.objective == PROBIT:
            sign_slopes(work, o)
            continue
        for r in range(spread.size):
            half, precision = like(spread[r], 0.5), like(spread[r], 1.0) / spread[r]
            gain[r] = rest[r] * precision
            bound[r] -= half * (like(half, LOG_TWO_PI) + log(spread[r]) + rest[r] * gain[r])
            bend[r] = half * (gain[r] * gain[r] - precision)


@scalar
def slopes_of_unit(task, network, work, j):
    """Write the gradient of MOMENTS, SQUARES or PROBIT by mean and variance of hidden unit j."""
    by_mean, by_variance = work.by_mean, work.by_variance
    fill(by_mean, 0.0)
    fill(by_variance, 0.0)
    squares = task.objective == SQUARES
    for o in range(task.outputs):
        weight, bend = network.output_weights[o, j], work.widen[o]
        gain = work.residual[o] if squares else work.pull[o]
        for r in range(by_mean.size):
            by_mean[r] += weight * gain[r]
        if not squares:
            for r in range(by_mean.size):
                by_variance[r] += weight * weight * bend[r]
            if task.by_input:
                slope, weight = work.noise[o], network.noise_weights[o, j]
                for r in range(by_mean.size):
                    by_mean[r] += weight * slope[r]


@scalar
def add_noise_of_unit(network, work, j, lower, upper, excess):
    """Add what a common noise gains by hidden unit j, whose own it is; ends (0 for infinite)."""
    tau, before = network.hidden_precision, work.before
    mean, variance, third = before.mean[j], before.variance[j], before.third[j]
    low, high, row = before.at_lower[j], before.at_upper[j], work.z[j]
    for r in range(row.size):
        above, below, off = upper - mean[r], lower - mean[r], row[r] - mean[r]
        ends = high[r] * above**3 - low[r] * below**3
        fourth = (like(tau, 3.0) * variance[r] - ends) / tau + off * third[r]
        by_mean = variance[r] * off - like(tau, 0.5) * third[r]
        by_variance = third[r] * off - like(tau, 0.5) * (fourth - variance[r] * variance[r])
        excess[r] -= work.by_mean[r] * by_mean + work.by_variance[r] * by_variance


@scalar
def noise_gradient(work, own):
    """Write the gradient by the log of the noise, in place of it, and by what it is read from."""
    for o in range(work.noise.shape[0]):
        slope, bend = work.noise[o], work.widen[o]
        for r in range(slope.size):
            slope[r] *= bend[r]
        own.log_noise[o] = total_of(slope)
    gemm(False, True, 1.0, work.noise, work.before.mean, 0.0, own.noise_weights)


@rare(PREDICTIVE)
def predictive_gradient(task, network, work, own, shared_noise):
    """Write the gradient of these objectives but for the inputs' weights, as weighted sums."""
    predictive_rows(task, network, work)
    for each in (work.residual, work.pull, work.widen):
        weigh(each, work.weights, each)
    squares, before = task.objective == SQUARES, work.before
    pull = work.residual if squares else work.pull
    widen, tau = work.widen, network.hidden_precision
    gemm(False, True, 1.0, pull, before.mean, 0.0, own.output_weights)
    for o in range(task.outputs):
        own.output_bias[o] = total_of(pull[o])
        own.log_noise[o] = total_of(widen[o]) / network.noise_precision[o]
    if task.by_input:
        noise_gradient(work, own)
    if not squares:
        bent = empty(own.output_weights.shape, own.output_weights.dtype)
        gemm(False, True, 2.0, widen, before.variance, 0.0, bent)
        for o in range(task.outputs):
            for j in range(task.hidden):
                own.output_weights[o, j] += rounded(network.output_weights[o, j], bent[o, j])
    by_mean, by_variance = work.by_mean, work.by_variance
    excess, one = zeros(work.bound.shape, work.bound.dtype), np.ones_like(work.bound)
    for j in range(task.hidden):
        mean, variance, third = before.mean[j], before.variance[j], before.third[j]
        slopes_of_unit(task, network, work, j)
        lower = network.lower[j] if network.lower[j] > -np.inf else like(tau, 0.0)
        upper = network.upper[j] if network.upper[j] < np.inf else like(tau, 0.0)
        if task.one_noise and not squares:
            add_noise_of_unit(network, work, j, lower, upper, excess)
        out, low, high = work.slope[j], before.at_lower[j], before.at_upper[j]
        for r in range(out.size):  # the densities become the slopes by the ends
            out[r] = tau * (variance[r] * by_mean[r] + third[r] * by_variance[r])
            above, below = upper - mean[r], lower - mean[r]
            high[r] *= above * by_mean[r] + (above * above - variance[r]) * by_variance[r]
            low[r] *= below * by_mean[r] + (below * below - variance[r]) * by_variance[r]
    none = zeros(own.input_bias.shape, own.input_bias.dtype)
    add_ends(task, none, np.dot(before.at_lower, one), own.low_end)
    add_ends(task, np.dot(before.at_upper, one), none, own.log_width)
    shared_noise[0] = tau * total_of(excess)


@linked
def batch_gradient(task, trained, work):
    """Write the gradient of the mean objective over the rows in ``work``; return the objective.

    Each row counts by its weight; sums of them are divided by the number of rows.
    Of SQUARES too the log-likelihood is returned, and the noise follows it: squares know of none.
    The ends' gradients stand in ``low_end`` (by the lower) and ``log_width`` (by the upper one).
    """
    network, own = network_of(task, trained), parts(task, trained.gradient)
    fill(trained.gradient, 0.0)
    fill(work.bound, bound_constant(network))
    input_net(network, work.inputs, work.z)
    prior(network, work.z, work.before, work.bound)
    residual_of(network, work.targets, work.before.mean, work.residual)
    shared_noise = zeros(1, np.float64)
    if task.objective == BOUND:
        shared_noise[0] = bound_gradient(task, network, work, own)
    else:
        rarely(predictive_gradient, (task, network, work, own, shared_noise))
    gemm(False, False, 1.0, work.slope, work.inputs, 0.0, own.input_weights)
    copy(np.dot(work.slope, np.ones_like(work.bound)), own.input_bias)
    if task.one_noise:
        fill(own.log_noise, total_of(own.log_noise) + shared_noise[0])
    rows = work.bound.size
    share = like(trained.gradient[0], 1.0 / rows)
    for i in range(trained.gradient.size):
        trained.gradient[i] *= share
    return weighted_total(work.bound, work.weights) / rows


@kernel
def gradient_of(task, trained, data):
    """Write the gradient of the mean objective over all rows, and return the objective.

    data : WeightedRows, in the parameters' float type
    """
    work = new_work(task, data.inputs.shape[0], trained.theta)
    copy_rows(data.inputs, work.inputs)
    copy_rows(data.targets, work.targets)
    copy(data.weights, work.weights)
    return batch_gradient(task, trained, work)
