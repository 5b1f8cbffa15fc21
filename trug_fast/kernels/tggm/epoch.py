"""An epoch of a regression's training in one call: batches, optimizer steps, and the scores."""

import math
from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import kernel, linked
from trug_fast.kernels.optimizer import Rule, apply_rule, rule_with
from trug_fast.kernels.tiles import copy_rows
from trug_fast.kernels.unit.truncation_coordinates import (
    FIXED,
    LOG_WIDTH,
    SHARED,
    scalar_ends,
    scalar_slopes,
)

from .mean_field import input_net, prior, residual_of
from .objectives import (
    batch_gradient,
    network_of,
    new_work,
    parts,
    predictive_rows,
    weigh,
    weighted_total,
)

LOG_NOISE = 18.0  # log variances stay between -18 and 18


class EpochPace(NamedTuple):
    """How far the steps of an epoch go."""

    rule: Rule  # but for Adam's corrections, which each step has its own
    end_rate: float  # of the truncation points
    steps: int  # taken before this epoch


@linked
def end_coordinates(task, trained):
    """Turn the gradient by the two ends into that by lower end and log width."""
    own, theta = parts(task, trained.gradient), parts(task, trained.theta)
    both = task.learn_lower and task.learn_upper
    for i in range(own.low_end.size):
        by_lower, by_upper = own.low_end[i], own.log_width[i]
        if task.ends == SHARED:  # the mean, so that rates do not depend on the number of units
            by_lower, by_upper = by_lower / task.hidden, by_upper / task.hidden
        by_low_end, by_width = scalar_slopes(by_lower, by_upper, task.learn_upper)
        own.log_width[i] = math.exp(theta.log_width[i]) * by_width
        own.low_end[i] = by_low_end if both else 0.0


@kernel
def place_ends(task, trained):
    """Set ``lower`` and ``upper`` from theta, which is kept in range."""
    own = parts(task, trained.theta)
    for j in range(task.hidden):
        i = 0 if task.ends == SHARED else j
        own.log_width[i] = min(max(own.log_width[i], -LOG_WIDTH), LOG_WIDTH)
        trained.lower[j], trained.upper[j] = scalar_ends(
            own.low_end[i], math.exp(own.log_width[i]), trained.upper[j], task.learn_upper
        )


@linked
def rule_of(rule, rate, weight_decay, t):
    """Return a rule with this rate and weight decay, and Adam's corrections for step t from 1."""
    first, second = 1.0 / (1.0 - rule.momentum**t), 1.0 / (1.0 - rule.decay**t)
    return rule_with(rule, rate, weight_decay, first, second)


@linked
def move(rule, trained, start, stop):
    """Move the parameters from ``start`` to ``stop`` along the gradient."""
    apply_rule(
        rule,
        trained.theta[start:stop],
        trained.gradient[start:stop],
        trained.first[start:stop],
        trained.second[start:stop],
    )


@linked
def step(task, trained, pace, t):
    """Move all parameters along the gradient, in step t from 1."""
    rule = pace.rule
    weights = task.hidden * (task.inputs + task.outputs)
    noise = weights + task.hidden + task.outputs
    ends = noise + task.outputs
    last = ends + 2 * (1 if task.ends == SHARED else task.hidden)
    move(rule_of(rule, rule.rate, rule.weight_decay, t), trained, 0, weights)
    stop = ends if task.learn_noise else noise
    move(rule_of(rule, rule.rate, 0.0, t), trained, weights, stop)
    log_noise = parts(task, trained.theta).log_noise
    for o in range(task.outputs):
        log_noise[o] = min(max(log_noise[o], -LOG_NOISE), LOG_NOISE)
    if task.ends != FIXED:
        end_coordinates(task, trained)
        move(rule_of(rule, pace.end_rate, 0.0, t), trained, ends, last)
        place_ends(task, trained)
    if task.by_input and task.learn_noise:
        size = trained.theta.size
        move(rule_of(rule, rule.rate, rule.weight_decay, t), trained, last, size)


@linked
def gather_rows(source, order, out):
    """Copy rows ``order`` of a matrix."""
    for r in range(order.size):
        for i in range(out.shape[1]):
            out[r, i] = source[order[r], i]


@kernel
def train_epoch(task, trained, pace, data, order, batch):
    """Take one step for each batch of rows in ``order``; return the mean objective.

    data : WeightedRows, in the parameters' float type
    """
    count = order.size
    full, rest = min(batch, count), count % batch
    large, small = new_work(task, full, trained.theta), new_work(task, rest, trained.theta)
    total, t = 0.0, pace.steps
    for start in range(0, count, batch):
        stop = min(start + batch, count)
        work = large if stop - start == full else small
        gather_rows(data.inputs, order[start:stop], work.inputs)
        gather_rows(data.targets, order[start:stop], work.targets)
        for r in range(stop - start):
            work.weights[r] = data.weights[order[start + r]]
        total += batch_gradient(task, trained, work) * (stop - start)
        t += 1
        step(task, trained, pace, t)
    return total / count


@kernel
def score(task, trained, data):
    """Return the weighted sums of squared errors and of moment-matched log-likelihoods of rows.

    Of PROBIT the errors are those of the mean of the sign.
    """
    inputs, targets = data.inputs, data.targets
    block = 256
    network = network_of(task, trained)
    squares, likelihood = 0.0, 0.0
    for start in range(0, inputs.shape[0], block):
        rows = min(block, inputs.shape[0] - start)
        work = new_work(task, rows, trained.theta)
        input_net(network, inputs[start : start + rows], work.z)
        prior(network, work.z, work.before, work.bound)
        residual_of(network, targets[start : start + rows], work.before.mean, work.residual)
        weights = data.weights[start : start + rows]
        copy_rows(targets[start : start + rows], work.targets)
        predictive_rows(task, network, work)
        weigh(work.residual, weights, work.pull)
        for o in range(task.outputs):
            squares += np.dot(work.pull[o], work.residual[o])
        likelihood += weighted_total(work.bound, weights)
    return squares, likelihood
