"""Updates of an RBM in one call, each from its batch: both phases, the gradient, the steps.

Only the rates differ from update to update; the arrays are the learner's own.  A call of its own
for every kernel took as long as a small model's update itself: 0.1 ms of 0.2 for 20x64x100.

Vectors lie together in few matrices, since the code that takes an array from Python, or hands it
on, takes 15 ms to compile.

Tested in tests/training/rbm/test_learner.py and tests/training/rbm/test_gradients.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import kernel, linked, rare, rarely
from trug_fast.kernels.loops import each
from trug_fast.kernels.optimizer import (
    GRADIENT,
    SECOND,
    VALUES,
    Rule,
    add,
    approach,
    divide,
    rule_at,
    rule_with,
    step,
    step_weights,
)
from trug_fast.kernels.penalties import PENALTIES, Pull, lengths, shrink_weights
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.tiles import STRIPS, copy_rows
from trug_fast.kernels.unit.truncation_coordinates import FIXED

from .gibbs import Address, Layers, Phase, draw_hidden, hidden_statistics, model_phase
from .gradients import Centring, weight_gradient
from .turning import Turns, approach_middle, turn_and_draw
from .unit_steps import BENDING, LOWER, PRECISION, UPPER, move_ends, move_precision
from .visible import VisibleKinds
from .weighing import weighted_statistics

# What becomes of the model's chains: they go on, begin anew at the data, or are run by others.
# Before the first update they start, and that is all.
PERSISTENT, FROM_DATA, GIVEN, START = 0, 1, 2, 3
STARTS = 1 << 40  # its own half of the step numbers keeps draws of starts apart from the sweeps'
MEMORY = 0.99  # of the running mean of the hidden units, per update

# Rows of vectors behind a stacked bias (optimizer.py): its units' offset, and working space; of the
# hidden units also the data's mean, and the strips of gradients.py, which are zeros at first.
OFFSET, SPACE, MEAN, FIRST_STRIP = 4, 5, 6, 7
VISIBLE_ROWS, HIDDEN_ROWS = 6, FIRST_STRIP + STRIPS


class Stacked(NamedTuple):
    """What updates move, and their working space."""

    weights: np.ndarray  # (4, visible, hidden), stacked
    visible: np.ndarray  # (VISIBLE_ROWS, visible)
    hidden: np.ndarray  # (HIDDEN_ROWS, hidden)
    statistics: np.ndarray  # (8, hidden) float64: plain gradients, the model's mean Statistics


class Averaged(NamedTuple):
    """Running averages of parameters in float64."""

    weights: np.ndarray  # (visible, hidden)
    visible_bias: np.ndarray  # (visible,)
    hidden: np.ndarray  # (4, hidden): those of Units.own, then the bias


# What is told to each update: columns of Course.paces.
RATE, END_RATE, PRECISION_RATE, N_GIBBS, FIRST_CORRECTION, SECOND_CORRECTION, SHARE = range(7)
WEIGHT_DECAY, L1, L1_SQUARED, SHRINKS = range(7, 11)
PACES = 11  # so many


class Course(NamedTuple):
    """A run of updates: how far each goes, and its random numbers."""

    paces: np.ndarray  # (updates, PACES) float64; SHARE is that of the parameters in their averages
    rule: Rule  # rates, corrections and weight decay are each update's own
    chains: int  # PERSISTENT, FROM_DATA, GIVEN or START
    centred: bool
    seed: int
    update: int  # number of the first, from 0
    step: int  # of its first sweep
    weights: np.ndarray  # (rows of all batches,) float64, 1 on average over the data; or none
    kept: np.ndarray  # (visible, hidden) 1 where weights are not zero; or none
    turns: Turns  # of persistent chains


@linked
def run_chains_from(layers, batch, chains, course, update, n_gibbs, step):
    """Run the chains of an update and fill their phase."""
    if course.chains == FROM_DATA:
        address = Address(course.seed, HIDDEN, STARTS + update, 0)
        draw_hidden(layers, batch.net, address, chains.hidden)
    turns = course.chains == PERSISTENT and course.turns.sign.size > 0
    if course.chains != GIVEN:
        draws = course.chains == PERSISTENT and not turns
        model_phase(layers, chains, n_gibbs, draws, course.seed, step)
    if turns:
        last = step + n_gibbs - 1
        rarely(turn_and_draw, (layers, chains, course.turns, course.seed, last, update))


@linked
def sum_rows(matrix, weights, out):
    """Write the sum of the rows, one after the other, by their weights if there are some."""
    for r in range(matrix.shape[0]):
        add(out, matrix[r], weights[r] if weights.size > 0 else 1.0, int(r > 0))


@linked
def mean_weight(weights):
    """Return the mean of the rows' weights, 1 where they have none."""
    if weights.size == 0:
        return 1.0
    total = 0.0
    for r in range(weights.size):
        total += weights[r]
    return total / weights.size


@linked
def _mean_statistics(sums, rows, out):
    for k in range(out.shape[0]):
        for t in range(sums.shape[0]):
            add(out[k], sums[t, k], 1.0, int(t > 0))
        divide(out[k], rows)


@linked
def _compare(data, model, trained, weights, share):
    """Write means of both phases, and what their differences are the gradients of."""
    visible, hidden, statistics = trained.visible, trained.hidden, trained.statistics
    ours, theirs = data.visible.shape[0], model.visible.shape[0]
    sum_rows(data.visible, weights, visible[GRADIENT])
    divide(visible[GRADIENT], ours)
    sum_rows(model.visible, weights[:0], visible[SPACE])
    divide(visible[SPACE], theirs)
    add(visible[GRADIENT], visible[SPACE], -share, 1)
    _mean_statistics(data.sums, ours, statistics[:4])
    _mean_statistics(model.sums, theirs, statistics[4:])
    if share > 0.0:
        add(hidden[MEAN], statistics[0], 1.0 / share, 0)
    for k in range(4):
        add(statistics[k], statistics[4 + k], -share, 1)
    add(hidden[GRADIENT], statistics[0], 1.0, 0)
    divide(statistics[1], -2.0)
    divide(statistics[2], -1.0)


@linked
def write_gradient(trained, data, model, weights):
    """Write the contrastive estimate of the likelihood's gradient (mathematics 2.2, 2.5 and 2.10).

    The sums of ``data`` are weighted if its rows are; the model's side counts for as much.
    Offsets of zero give the plain gradient.  That of weights and biases goes to where they are
    stacked; the first rows of ``trained.statistics`` are the plain gradients by the hidden biases,
    the precisions, the lower and the upper ends.
    """
    share = mean_weight(weights)
    _compare(data, model, trained, weights, share)
    visible, hidden, strips = trained.visible, trained.hidden, trained.hidden[FIRST_STRIP:]
    by_visible, by_hidden = visible[GRADIENT], hidden[GRADIENT]
    centring = Centring(visible[OFFSET], hidden[OFFSET], by_visible, by_hidden, share)
    weight_gradient(data, model, centring, trained.weights[GRADIENT], strips, visible[SPACE])
    add(by_visible, visible[SPACE], -1.0, 1)
    sum_rows(strips, weights[:0], hidden[SPACE])
    add(by_hidden, hidden[SPACE], -1.0, 1)


@linked
def _take_steps(course, trained, units, pace):
    first, second = pace[FIRST_CORRECTION], pace[SECOND_CORRECTION]
    rule = rule_with(course.rule, pace[RATE], pace[WEIGHT_DECAY], first, second)
    if course.centred and pace[WEIGHT_DECAY] > 0.0:
        rarely(_centre_decay, (trained, pace[WEIGHT_DECAY]))
    step_weights(rule, trained.weights)
    plain = rule_at(rule, pace[RATE], 0.0)
    step(plain, trained.visible)
    step(plain, trained.hidden)
    if pace[SHRINKS] > 0.0:
        pull = Pull(pace[L1], pace[L1_SQUARED], pace[SHRINKS])
        rarely(_shrink, (rule, trained, course.kept, pull, course.centred))
    if units.learn_precision:
        rarely(_bend, (plain, trained.hidden, trained.statistics, units, pace[PRECISION_RATE]))
    if units.ends != FIXED:
        by_lower, by_upper = trained.statistics[2], trained.statistics[3]
        move_ends(plain, units, by_lower, by_upper, pace[END_RATE])


@linked
def _carry_strip(index, weights, trained):
    visible, strip = trained.visible, trained.hidden[FIRST_STRIP + index]
    rows, offset = weights.shape[0], trained.hidden[OFFSET]
    strip[:] = 0.0
    for i in range(index * rows // STRIPS, (index + 1) * rows // STRIPS):
        visible[SPACE, i] = np.dot(weights[i], offset)
        add(strip, weights[i], visible[OFFSET, i], 1)


@linked
def _carry(weights, trained):
    """Write what weights (visible, hidden) are worth at the offsets to both layers' space."""
    each(_carry_strip, STRIPS, (weights, trained))
    sum_rows(trained.hidden[FIRST_STRIP:], trained.statistics[0, :0], trained.hidden[SPACE])


@rare(PENALTIES)
def _centre_decay(trained, decay):
    """Have the biases' gradients centred by all of the weights', its decay too (mathematics 2.14).

    Else training rests where visible means are off by decay W ho.
    """
    _carry(trained.weights[VALUES], trained)
    add(trained.visible[GRADIENT], trained.visible[SPACE], decay, 1)
    add(trained.hidden[GRADIENT], trained.hidden[SPACE], decay, 1)


@rare(PENALTIES)
def _shrink(rule, trained, kept, pull, centred):
    """Take off weights what other penalties do; centred, biases follow in their steps' lengths."""
    weights, visible, hidden = trained.weights, trained.visible, trained.hidden
    values, second, taken = weights[VALUES], weights[SECOND], weights[GRADIENT]
    if centred:
        copy_rows(values, taken)
    shrink_weights(rule, values, second, kept, pull)
    if not centred:
        return
    length = hidden[GRADIENT]
    for i in range(values.shape[0]):
        lengths(rule, second[i], length)
        for j in range(length.size):
            taken[i, j] = (taken[i, j] - values[i, j]) * length[j]
    _carry(taken, trained)
    for layer in (visible, hidden):
        lengths(rule, layer[SECOND], layer[GRADIENT])
        for j in range(layer.shape[1]):
            layer[VALUES, j] += layer[SPACE, j] / layer[GRADIENT, j]


@rare(BENDING)
def _bend(rule, hidden, statistics, units, rate):
    """Move the precisions, and the hidden biases with them."""
    by_mean, shift = hidden[SPACE], hidden[GRADIENT]
    add(by_mean, statistics[0], 1.0, 0)
    move_precision(rule, units, statistics[1], by_mean, hidden[OFFSET], rate, shift)
    add(hidden[VALUES], shift, 1.0, 1)


@linked
def _average(averaged, trained, units, share):
    weights = trained.weights[VALUES]
    for i in range(weights.shape[0]):
        approach(averaged.weights[i], weights[i], share)
    approach(averaged.visible_bias, trained.visible[VALUES], share)
    approach(averaged.hidden[3], trained.hidden[VALUES], share)
    for k in range(3):
        approach(averaged.hidden[k], units.own[k], share)


@linked
def _some_nonpositive(precision):
    for j in range(precision.size):
        if precision[j] <= 0:
            return True
    return False


class Given(NamedTuple):
    """What the layers have beside what moves."""

    weights: np.ndarray  # (visible, hidden), those of Stacked, read-only
    visible_kinds: VisibleKinds
    kind: int  # of hidden units
    n_nonpositive: int


@linked
def _update(layers, trained, units, averaged, data, chains, course, i, step):
    """Take one update of a course, with data of which the visible units are known."""
    pace, rows = course.paces[i], data.net.shape[0]
    weights = course.weights[i * rows : (i + 1) * rows]
    if weights.size > 0:
        rarely(weighted_statistics, (layers, data, weights))
    else:
        hidden_statistics(layers, data)
    run_chains_from(layers, data, chains, course, course.update + i, int(pace[N_GIBBS]), step)
    write_gradient(trained, data, chains.phase, weights)
    _take_steps(course, trained, units, pace)
    if course.centred:
        offset, update = trained.hidden[OFFSET], course.update + i
        if course.turns.sign.size > 0:
            rarely(approach_middle, (data, weights, course.turns, update, 1 - MEMORY, offset))
        else:
            approach(offset, trained.hidden[MEAN], 1 - MEMORY)
    if pace[SHARE] > 0.0:
        _average(averaged, trained, units, pace[SHARE])


@kernel
def run_updates(given, trained, units, averaged, batches, chains, course):
    """Take the updates of a course, in place; return how many.

    It ends before its time where units with precision <= 0 come up or are no more: ``given`` has
    to say so, and to have the kernels compiled that such units need.

    batches : Phase of the visible units of all batches; of the rest for the rows of one
    chains : Chains; where they are given, it is their phase that counts, of one update
    """
    layers = Layers(
        given.weights,
        trained.visible[:1],
        trained.hidden[:1],
        given.kind,
        units.own[PRECISION],
        units.own[LOWER],
        units.own[UPPER],
        given.n_nonpositive,
        given.visible_kinds,
    )
    if course.chains == START:
        hidden_statistics(layers, batches)
        draw_hidden(layers, batches.net, Address(course.seed, HIDDEN, 0, 0), chains.hidden)
    rows, step = batches.net.shape[0], course.step
    for i in range(course.paces.shape[0]):
        visible = batches.visible[i * rows : (i + 1) * rows]
        data = Phase(visible, batches.net, batches.mean, batches.sums)
        _update(layers, trained, units, averaged, data, chains, course, i, step)
        step += int(course.paces[i, N_GIBBS])
        if units.learn_precision and _some_nonpositive(layers.precision) != (
            given.n_nonpositive > 0
        ):
            return i + 1
    return course.paces.shape[0]
