"""An epoch of a regression's training in one call: batches, optimiser steps, and the scores."""

import math

import numpy as np

from trug_fast.kernels.compiling import serial
from trug_fast.kernels.optimizer import Rule, apply_rule

from .mean_field import input_net, new_moments, prior, residual_of
from .objectives import FIXED, SHARED, batch_gradient, network_of, new_work, parts, predictive_rows

LOG_WIDTH = 9.2  # learned intervals stay between 1e-4 and 1e4 wide
LOG_NOISE = 18.0  # log variances stay between -18 and 18


@serial
def end_coordinates(task, state):
    """Turn the gradient by the two ends into that by lower end and log width."""
    own, theta = parts(task, state.gradient), parts(task, state.theta)
    for i in range(own.low_end.size):
        by_lower, by_upper = own.low_end[i], own.log_width[i]
        if task.ends == SHARED:  # the mean, so that rates do not depend on the number of units
            by_lower, by_upper = by_lower / task.hidden, by_upper / task.hidden
        width = math.exp(theta.log_width[i])
        own.log_width[i] = width * (by_upper if task.learn_upper else -by_lower)
        both = task.learn_lower and task.learn_upper
        own.low_end[i] = by_lower + by_upper if both else 0.0


@serial
def place_ends(task, state):
    """Set ``lower`` and ``upper`` from theta, which is kept in range."""
    own = parts(task, state.theta)
    for j in range(task.hidden):
        i = 0 if task.ends == SHARED else j
        own.log_width[i] = min(max(own.log_width[i], -LOG_WIDTH), LOG_WIDTH)
        width = math.exp(own.log_width[i])
        if task.learn_upper:
            state.lower[j] = own.low_end[i]
            state.upper[j] = own.low_end[i] + width
        else:
            state.lower[j] = state.upper[j] - width


@serial
def step(task, state, rule, end_rate):
    """Move all parameters along the gradient."""
    weights = task.hidden * (task.inputs + task.outputs)
    noise = weights + task.hidden + task.outputs
    ends = noise + task.outputs
    plain = Rule(
        rule.kind,
        rule.rate,
        rule.momentum,
        rule.decay,
        rule.epsilon,
        0.0,
        rule.first_correction,
        rule.second_correction,
    )
    theta, slope, first, second = state.theta, state.gradient, state.first, state.second
    apply_rule(rule, theta[:weights], slope[:weights], first[:weights], second[:weights])
    stop = ends if task.learn_noise else noise
    apply_rule(
        plain, theta[weights:stop], slope[weights:stop], first[weights:stop], second[weights:stop]
    )
    log_noise = parts(task, theta).log_noise
    for o in range(task.outputs):
        log_noise[o] = min(max(log_noise[o], -LOG_NOISE), LOG_NOISE)
    if task.ends != FIXED:
        end_coordinates(task, state)
        slower = Rule(
            rule.kind,
            end_rate,
            rule.momentum,
            rule.decay,
            rule.epsilon,
            0.0,
            rule.first_correction,
            rule.second_correction,
        )
        apply_rule(slower, theta[ends:], slope[ends:], first[ends:], second[ends:])
        place_ends(task, state)


@serial
def corrected(rule, t):
    """Return the rule with Adam's corrections for step t, counted from 1."""
    return Rule(
        rule.kind,
        rule.rate,
        rule.momentum,
        rule.decay,
        rule.epsilon,
        rule.weight_decay,
        1.0 / (1.0 - rule.momentum**t),
        1.0 / (1.0 - rule.decay**t),
    )


@serial
def gather_rows(source, order, out):
    """Copy rows ``order`` of a matrix."""
    for r in range(order.size):
        for i in range(out.shape[1]):
            out[r, i] = source[order[r], i]


@serial
def train_epoch(task, state, rule, end_rate, steps, inputs, targets, order, batch):
    """Take one step for each batch of rows in ``order``; return the mean objective.

    steps : updates before this epoch
    inputs : (rows, inputs); targets : (rows, outputs), in the parameters' float type
    """
    count = order.size
    full, rest = min(batch, count), count % batch
    large = new_work(task, full, state.theta)
    small = new_work(task, rest, state.theta)
    before = new_moments(task.hidden, full, state.theta)
    after = new_moments(task.hidden, full, state.theta)
    before_small = new_moments(task.hidden, rest, state.theta)
    after_small = new_moments(task.hidden, rest, state.theta)
    total = 0.0
    for start in range(0, count, batch):
        stop = min(start + batch, count)
        whole = stop - start == full
        work = large if whole else small
        gather_rows(inputs, order[start:stop], work.inputs)
        gather_rows(targets, order[start:stop], work.targets)
        network = network_of(task, state)
        value = batch_gradient(
            task,
            state,
            network,
            work,
            before if whole else before_small,
            after if whole else after_small,
        )
        total += value * (stop - start)
        steps += 1
        step(task, state, corrected(rule, steps), end_rate)
    return total / count


@serial
def score(task, state, inputs, targets):
    """Return the sums of squared errors and of moment-matched log-likelihoods over all rows."""
    block = 256
    network = network_of(task, state)
    squares, likelihood = 0.0, 0.0
    for start in range(0, inputs.shape[0], block):
        rows = min(block, inputs.shape[0] - start)
        work = new_work(task, rows, state.theta)
        before = new_moments(task.hidden, rows, state.theta)
        input_net(network, inputs[start : start + rows], work.z)
        prior(network, work.z, before, work.bound)
        residual_of(network, targets[start : start + rows], before.mean, work.residual)
        for o in range(task.outputs):
            squares += np.dot(work.residual[o], work.residual[o])
        predictive_rows(task, network, work, before)
        likelihood += work.bound.sum()
    return squares, likelihood
