"""Penalties that make weights exactly zero: what is taken off them after some optimizer steps.

A matrix of weights has a column for each unit that it acts on.  Its rows fall into sites, those of
a site being the states of one unit (mathematics 2.14).

Tested in tests/kernels/test_penalties.py.
"""

import math
from typing import NamedTuple

import numpy as np

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
    group_lasso: float
    steps: float
    sites: np.ndarray  # (sites + 1,) int64: rows where sites begin, and their number


@row_loop
def _add_sizes(weights, totals):
    for j in range(weights.size):
        totals[j] += abs(weights[j])


@row_loop
def _add_squares(weights, totals):
    for j in range(weights.size):
        totals[j] += weights[j] * weights[j]


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
def _shorten(weights, squares, amount, lengths):
    """Take a length off the vectors to which a row's weights belong, to zero at most."""
    one, least = like(weights[0], 1.0), like(weights[0], 1e-30)
    for j in range(weights.size):
        share = like(weights[0], amount) / (lengths[j] * max(math.sqrt(squares[j]), least))
        weights[j] -= weights[j] * min(share, one)


@row_loop
def _mark(weights, kept):
    for j in range(weights.size):
        kept[j] = like(kept[0], 1.0) if weights[j] != 0 else like(kept[0], 0.0)


@linked
def _shrink_site(rule, pull, amount, thresholds, weights, second, kept, space):
    """Shrink the rows of a site; ``space`` has two rows."""
    length, squares = space[0], space[1]
    for v in range(weights.shape[0]):
        lengths(rule, second[v], length)
        _soften(weights[v], thresholds, length)
    if pull.group_lasso > 0.0:
        for j in range(squares.size):
            squares[j] = 0.0
        for v in range(weights.shape[0]):
            _add_squares(weights[v], squares)
        for v in range(weights.shape[0]):
            lengths(rule, second[v], length)
            _shorten(weights[v], squares, amount, length)
    for v in range(weights.shape[0]):
        _mark(weights[v], kept[v])


@linked
def _shrink_strip(index, strips, rule, pull, amount, thresholds, weights, second, kept):
    sites = pull.sites.size - 1
    height = -(-sites // strips)
    space = zeros((2, weights.shape[1]), weights.dtype)
    for site in range(index * height, min((index + 1) * height, sites)):
        i, stop = pull.sites[site], pull.sites[site + 1]
        _shrink_site(
            rule, pull, amount, thresholds, weights[i:stop], second[i:stop], kept[i:stop], space
        )


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
    thresholds = zeros((2, units), weights.dtype)[0]
    if pull.l1_squared > 0.0:
        for i in range(rows):
            _add_sizes(weights[i], thresholds)
    for j in range(units):
        thresholds[j] = far * (pull.l1 + pull.l1_squared / rows * thresholds[j])
    strips = strips_of(weights)
    amount = far * pull.group_lasso
    each(
        _shrink_strip,
        strips,
        (strips, rule, pull, amount, thresholds, weights, second, kept),
    )
