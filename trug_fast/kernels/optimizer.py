"""The optimizers' steps, in place, and averages of what they move.

Everything here ascends an objective: parameters move along its gradient.  Where a kernel takes many
steps, a parameter lies in one array with its gradient and the optimizer's two memories.
"""

import math
from typing import NamedTuple

from .compiling import kernel, linked, scalar, unfused
from .intrinsics import like
from .loops import each
from .tiles import STRIPS

SGD, RMSPROP, ADAM = 0, 1, 2
SMALL = 1 << 16  # entries of a matrix up to which one thread takes it
VALUES, GRADIENT, FIRST, SECOND = 0, 1, 2, 3  # of a parameter that is stacked


class Rule(NamedTuple):
    """One step of an optimizer."""

    kind: int  # SGD, RMSPROP or ADAM
    rate: float
    momentum: float  # SGD: of the velocity; Adam: of the mean
    decay: float  # RMSprop, Adam: of the mean square
    epsilon: float  # added to the root of the mean square
    weight_decay: float  # L2 penalty's factor
    first_correction: float  # Adam: 1 / (1 - momentum**t)
    second_correction: float  # Adam: 1 / (1 - decay**t)


@kernel
def apply_rule(rule, parameter, gradient, first, second):
    """Move a contiguous vector along its gradient, updating the optimizer's two memories.

    Every number keeps the vectors' type, so that float32 loops stay in wide registers.
    """
    rate, epsilon = like(parameter[0], rule.rate), like(parameter[0], rule.epsilon)
    momentum, decay = like(parameter[0], rule.momentum), like(parameter[0], rule.decay)
    fresh = like(parameter[0], 1.0 - rule.decay)
    shrink = like(parameter[0], rule.weight_decay)
    if rule.kind == SGD:
        for i in range(parameter.size):
            g = gradient[i] - shrink * parameter[i]
            first[i] = momentum * first[i] + rate * g
            parameter[i] += first[i]
    elif rule.kind == RMSPROP:
        for i in range(parameter.size):
            g = gradient[i] - shrink * parameter[i]
            second[i] = decay * second[i] + fresh * g * g
            parameter[i] += rate * g / (math.sqrt(second[i]) + epsilon)
    else:
        mean_fresh = like(parameter[0], 1.0 - rule.momentum)
        step = like(parameter[0], rule.rate * rule.first_correction)
        square = like(parameter[0], rule.second_correction)
        for i in range(parameter.size):
            g = gradient[i] - shrink * parameter[i]
            first[i] = momentum * first[i] + mean_fresh * g
            second[i] = decay * second[i] + fresh * g * g
            parameter[i] += step * first[i] / (math.sqrt(square * second[i]) + epsilon)


@scalar
def strips_of(matrix):
    """Return into how many strips a matrix is cut: for a small one, threads cost 2 us of 4."""
    return STRIPS if matrix.size > SMALL else 1


@linked
def _update_strip(index, strips, rule, weights, gradient, first, second):
    height = -(-weights.shape[0] // strips)
    for i in range(index * height, min((index + 1) * height, weights.shape[0])):
        apply_rule(rule, weights[i], gradient[i], first[i], second[i])


@linked
def update_weights(rule, weights, gradient, first, second):
    """Take one optimizer step with all weights."""
    strips = strips_of(weights)
    each(_update_strip, strips, (strips, rule, weights, gradient, first, second))


@linked
def rule_with(rule, rate, weight_decay, first_correction, second_correction):
    """Return the same rule with other numbers of a step."""
    return Rule(
        rule.kind,
        rate,
        rule.momentum,
        rule.decay,
        rule.epsilon,
        weight_decay,
        first_correction,
        second_correction,
    )


@linked
def rule_at(rule, rate, weight_decay):
    """Return the same rule with this rate and this weight decay."""
    return rule_with(rule, rate, weight_decay, rule.first_correction, rule.second_correction)


@linked
def step(rule, parameter):
    """Take one step with a stacked vector."""
    apply_rule(rule, parameter[VALUES], parameter[GRADIENT], parameter[FIRST], parameter[SECOND])


@linked
def step_weights(rule, parameter):
    """Take one step with a stacked matrix."""
    update_weights(
        rule, parameter[VALUES], parameter[GRADIENT], parameter[FIRST], parameter[SECOND]
    )


@unfused
def add(total, values, factor, keep):
    """Add a multiple of a vector to another, or to zero if not to ``keep`` that one's values."""
    for i in range(total.size):
        former = total[i] if keep != 0 else like(total[0], 0.0)
        total[i] = former + like(values[0], factor) * values[i]


@unfused
def divide(values, by):
    """Divide a vector by a number."""
    for i in range(values.size):
        values[i] /= like(values[0], by)


@unfused
def approach(average, values, share):
    """Move a running average by a share of the way to the values."""
    for i in range(average.size):
        average[i] += like(average[0], share) * (values[i] - average[i])
