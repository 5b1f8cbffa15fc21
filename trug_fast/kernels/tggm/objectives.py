"""Objectives of the TruG-TGGM regression and their gradients over a batch.

Three objectives, all ascended (math.md 5): the evidence lower bound at the mean field's optimum;
the likelihood of y with the exact mean and variance of p(y | x), as if it were normal; minus half
the squared error of the mean.  All parameters of a run lie in one vector, so an optimiser, a
checkpoint or an average is one vector operation.
"""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.blas import gemm
from trug_fast.kernels.compiling import serial
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import log

from .mean_field import (
    LOG_TWO_PI,
    Network,
    bound_constant,
    derive,
    infer,
    input_net,
    new_moments,
    prior,
    residual_of,
)

BOUND, MOMENTS, SQUARES = 0, 1, 2  # objectives
FIXED, SHARED, PER_UNIT = 0, 1, 2  # truncation points


class Task(NamedTuple):
    """What is trained, in numbers."""

    hidden: int
    inputs: int
    outputs: int
    objective: int  # BOUND, MOMENTS or SQUARES
    cycles: int  # of the mean field
    tolerance: float  # where its cycles may end
    ends: int  # FIXED, SHARED or PER_UNIT
    learn_lower: bool
    learn_upper: bool
    learn_noise: bool
    one_noise: bool  # h has the noise of y
    hidden_precision: float  # of h otherwise


class State(NamedTuple):
    """All that updates change, in one float type."""

    theta: np.ndarray  # the parameters, in the order of ``parts``
    gradient: np.ndarray  # of the last batch; three vectors as long as theta
    first: np.ndarray
    second: np.ndarray
    lower: np.ndarray  # (hidden,), follow theta where they are learned
    upper: np.ndarray


class Work(NamedTuple):
    """Working arrays for batches of one size."""

    inputs: np.ndarray  # (rows, inputs)
    targets: np.ndarray  # (rows, outputs)
    z: np.ndarray  # (hidden, rows)
    slope: np.ndarray  # (hidden, rows), gradient by z
    residual: np.ndarray  # (outputs, rows)
    pull: np.ndarray  # (outputs, rows), gradient by the mean of y
    widen: np.ndarray  # (outputs, rows), gradient by the variance of y
    bound: np.ndarray  # (rows,)


class Parts(NamedTuple):
    """Views of a vector of parameters, or of their gradients."""

    input_weights: np.ndarray
    output_weights: np.ndarray
    input_bias: np.ndarray
    output_bias: np.ndarray
    log_noise: np.ndarray  # (outputs,) log variance of y
    low_end: np.ndarray  # (hidden,), or (1,) where one pair of ends is learned in common
    log_width: np.ndarray


@serial
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
    return Parts(
        vector[:a].reshape(hidden, task.inputs),
        vector[a:b].reshape(outputs, hidden),
        vector[b:c],
        vector[c:d],
        vector[d:e],
        vector[e:f],
        vector[f : f + ends],
    )


@serial
def network_of(task, state):
    """Return the model of the present parameters."""
    own = parts(task, state.theta)
    noise = np.empty_like(own.log_noise)
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
        state.lower,
        state.upper,
        np.empty_like(own.output_weights),
        np.empty_like(own.input_bias),
    )
    derive(network)
    return network


@serial
def new_work(task, rows, kind):
    """Return Work for so many rows, of the float type of the array ``kind``."""
    units, outputs = (
        np.empty((2, task.hidden, rows), kind.dtype),
        np.empty((3, task.outputs, rows), kind.dtype),
    )
    return Work(
        np.empty((rows, task.inputs), kind.dtype),
        np.empty((rows, task.outputs), kind.dtype),
        units[0],
        units[1],
        outputs[0],
        outputs[1],
        outputs[2],
        np.empty(rows, kind.dtype),
    )


@serial
def bound_gradient(task, network, work, before, after, own):
    """Write the gradient of the bound but for the inputs' weights, as sums over rows.

    before, after : Moments given x, and given x and y, which are computed here
    """
    tau = network.hidden_precision
    z, slope, residual = work.z, work.slope, work.residual
    after.mean[:] = before.mean
    infer(network, z, residual, task.cycles, task.tolerance, after, work.bound)
    gemm(False, True, 1.0, residual, after.mean, 0.0, own.output_weights)
    excess, one = np.zeros_like(work.bound), np.ones_like(work.bound)
    own.log_noise[:] = -0.5 * work.bound.size
    # Sums over rows are products with ones: a loop that adds up one number does not vectorise.
    spread = np.dot(after.variance, one)
    for j in range(task.hidden):
        old, new, row, out = before.mean[j], after.mean[j], z[j], slope[j]
        for r in range(row.size):
            out[r] = tau * (new[r] - old[r])
        if task.one_noise:
            old_variance, variance = before.variance[j], after.variance[j]
            for r in range(row.size):
                now, then = new[r] - row[r], old[r] - row[r]
                excess[r] += variance[r] + now * now - old_variance[r] - then * then
        for o in range(task.outputs):
            weight, precision = network.output_weights[o, j], network.noise_precision[o]
            own.output_weights[o, j] = precision * (own.output_weights[o, j] - weight * spread[j])
            own.log_noise[o] += 0.5 * precision * weight * weight * spread[j]
    add_ends(task, np.dot(before.at_lower, one), np.dot(after.at_lower, one), own.low_end)
    add_ends(task, np.dot(after.at_upper, one), np.dot(before.at_upper, one), own.log_width)
    for o in range(task.outputs):
        precision, rest = network.noise_precision[o], residual[o]
        own.output_bias[o] = precision * rest.sum()
        own.log_noise[o] += 0.5 * precision * np.dot(rest, rest)
    return 0.5 * tau * excess.sum()


@serial
def add_ends(task, gains, losses, out):
    """Add gains less losses (hidden,) to the gradient by each unit's end, or by the common one."""
    for j in range(task.hidden):
        out[j if task.ends != SHARED else 0] += gains[j] - losses[j]


@serial
def predictive_rows(task, network, work, before):
    """Write the slopes of log N(y | mean, variance) by mean and variance; return its sum.

    work.bound is overwritten with the log-likelihood of each row, its outputs taken as independent.
    """
    residual, pull, widen, bound = work.residual, work.pull, work.widen, work.bound
    bound[:] = 0.0
    for o in range(task.outputs):
        spread, rest, gain, bend = widen[o], residual[o], pull[o], widen[o]
        spread[:] = 1.0 / network.noise_precision[o]
        for j in range(task.hidden):
            square, variance = network.output_weights[o, j] ** 2, before.variance[j]
            for r in range(spread.size):
                spread[r] += square * variance[r]
        for r in range(spread.size):
            half, precision = like(spread[r], 0.5), like(spread[r], 1.0) / spread[r]
            gain[r] = rest[r] * precision
            bound[r] -= half * (like(half, LOG_TWO_PI) + log(spread[r]) + rest[r] * gain[r])
            bend[r] = half * (gain[r] * gain[r] - precision)


@serial
def predictive_gradient(task, network, work, before, own):
    """Write the gradient of MOMENTS or SQUARES but for the inputs' weights, as sums over rows."""
    predictive_rows(task, network, work, before)
    squares = task.objective == SQUARES
    pull = work.residual if squares else work.pull
    widen, tau = work.widen, network.hidden_precision
    gemm(False, True, 1.0, pull, before.mean, 0.0, own.output_weights)
    for o in range(task.outputs):
        own.output_bias[o] = pull[o].sum()
        own.log_noise[o] = widen[o].sum() / network.noise_precision[o]
    if not squares:
        bent = np.empty_like(own.output_weights)
        gemm(False, True, 2.0, widen, before.variance, 0.0, bent)
        own.output_weights[:] += network.output_weights * bent
    beta, kappa = np.empty_like(work.bound), np.empty_like(work.bound)
    excess, one = np.zeros_like(work.bound), np.ones_like(work.bound)
    for j in range(task.hidden):
        mean, variance, third = before.mean[j], before.variance[j], before.third[j]
        beta[:] = 0.0
        kappa[:] = 0.0
        for o in range(task.outputs):
            weight, gain, bend = network.output_weights[o, j], pull[o], widen[o]
            for r in range(beta.size):
                beta[r] += weight * gain[r]
            if not squares:
                for r in range(beta.size):
                    kappa[r] += weight * weight * bend[r]
        out, row = work.slope[j], work.z[j]
        low, high = before.at_lower[j], before.at_upper[j]
        lower = network.lower[j] if network.lower[j] > -np.inf else like(tau, 0.0)
        upper = network.upper[j] if network.upper[j] < np.inf else like(tau, 0.0)
        if task.one_noise and not squares:
            for r in range(beta.size):
                above, below, off = upper - mean[r], lower - mean[r], row[r] - mean[r]
                ends = high[r] * above**3 - low[r] * below**3
                fourth = (like(tau, 3.0) * variance[r] - ends) / tau + off * third[r]
                by_mean = variance[r] * off - like(tau, 0.5) * third[r]
                by_variance = third[r] * off - like(tau, 0.5) * (fourth - variance[r] * variance[r])
                excess[r] -= beta[r] * by_mean + kappa[r] * by_variance
        for r in range(beta.size):  # the densities become the slopes by the ends
            out[r] = tau * (variance[r] * beta[r] + third[r] * kappa[r])
            above, below = upper - mean[r], lower - mean[r]
            high[r] *= above * beta[r] + (above * above - variance[r]) * kappa[r]
            low[r] *= below * beta[r] + (below * below - variance[r]) * kappa[r]
    none = np.zeros_like(own.input_bias)
    add_ends(task, none, np.dot(before.at_lower, one), own.low_end)
    add_ends(task, np.dot(before.at_upper, one), none, own.log_width)
    return tau * excess.sum()


@serial
def batch_gradient(task, state, network, work, before, after):
    """Write the gradient of the mean objective over the rows in ``work``; return the objective.

    Of SQUARES too the log-likelihood is returned, and the noise follows it: squares know of none.
    The ends' gradients stand in ``low_end`` (by the lower) and ``log_width`` (by the upper one).
    """
    own = parts(task, state.gradient)
    state.gradient[:] = 0.0
    work.bound[:] = bound_constant(network)
    input_net(network, work.inputs, work.z)
    prior(network, work.z, before, work.bound)
    residual_of(network, work.targets, before.mean, work.residual)
    if task.objective == BOUND:
        shared_noise = bound_gradient(task, network, work, before, after, own)
    else:
        shared_noise = predictive_gradient(task, network, work, before, own)
    gemm(False, False, 1.0, work.slope, work.inputs, 0.0, own.input_weights)
    own.input_bias[:] = np.dot(work.slope, np.ones_like(work.bound))
    if task.one_noise:
        own.log_noise[:] = own.log_noise.sum() + shared_noise
    rows = work.bound.size
    state.gradient[:] *= like(state.gradient[0], 1.0 / rows)
    return work.bound.sum() / rows


@serial
def gradient_of(task, state, inputs, targets):
    """Write the gradient of the mean objective over all rows, and return the objective."""
    work = new_work(task, inputs.shape[0], state.theta)
    work.inputs[:] = inputs
    work.targets[:] = targets
    before = new_moments(task.hidden, inputs.shape[0], state.theta)
    after = new_moments(task.hidden, inputs.shape[0], state.theta)
    return batch_gradient(task, state, network_of(task, state), work, before, after)
