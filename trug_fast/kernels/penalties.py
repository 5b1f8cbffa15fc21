"""Penalties that make weights exactly zero: what is taken off them after some optimizer steps.

A matrix of weights has a column for each unit that it acts on (mathematics 2.14).

Tested in tests/kernels/test_penalties.py.
"""

import math
from typing import NamedTuple

from .allocation import zeros
from .compiling import kernel, linked, row_loop
from .intrinsics import like
from .loops import each
from .optimizer import SGD, strips_of

PENALTIES = "penalties"  # subject of rare kernels


class Pull(NamedTuple):
    """How strongly the weights of a matrix are pulled to zero, and for how many steps at once."""

    l1: float
    l1_squared: float
    steps: float


@row_loop
def _add_sizes(weights, totals):
    for j in range(weights.size):
        totals[j] += abs(weights[j])


@row_loop
def lengths(rule, second, out):
    """Write what an optimizer divides its steps by."""
    square, epsilon = like(out[0], rule.second_correction), like(out[0], rule.epsilon)
    if rule.kind == SGD:
        for j in range(out.size):
            out[j] = like(out[0], 1.0)
    else:
        for j in range(out.size):
            out[j] = math.sqrt(square * second[j]) + epsilon


@row_loop
def _soften(weights, thresholds, lengths):
    for j in range(weights.size):
        threshold = thresholds[j] / lengths[j]
        weights[j] -= min(max(weights[j], -threshold), threshold)


@row_loop
def _mark(weights, kept):
    for j in range(weights.size):
        kept[j] = like(kept[0], 1.0) if weights[j] != 0 else like(kept[0], 0.0)


@linked
def _shrink_strip(index, strips, rule, thresholds, weights, second, kept):
    height = -(-weights.shape[0] // strips)
    length = zeros((1, weights.shape[1]), weights.dtype)[0]
    for i in range(index * height, min((index + 1) * height, weights.shape[0])):
        lengths(rule, second[i], length)
        _soften(weights[i], thresholds, length)
        _mark(weights[i], kept[i])


@kernel
def shrink_weights(rule, weights, second, kept, pull):
    """Take off weights what penalties do in so many steps (mathematics 2.14); mark what is left.

    rule : the Rule of the last step, whose rate and corrections count for all of them
    second : the optimizer's second memory
    kept : 1 where a weight is not zero, else 0
    """
    rows, units = weights.shape
    far = rule.rate * pull.steps
    if rule.kind == SGD:
        far /= 1.0 - rule.momentum
    thresholds = zeros((1, units), weights.dtype)[0]
    if pull.l1_squared > 0.0:
        for i in range(rows):
            _add_sizes(weights[i], thresholds)
    for j in range(units):
        thresholds[j] = far * (pull.l1 + pull.l1_squared / rows * thresholds[j])
    strips = strips_of(weights)
    each(_shrink_strip, strips, (strips, rule, thresholds, weights, second, kept))
