"""Updates of an RBM in one call, each from its batch: both phases, the gradient, the steps.

Only the rates differ from update to update; the arrays are the learner's own.  A call of its own
for every kernel took as long as a small model's update itself: 0.1 ms of 0.2 for 20x64x100.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trug_fast.kernels.compiling import kernel, linked, rare
from trug_fast.kernels.linking import rarely
from trug_fast.kernels.optimizer import (
    GRADIENT,
    VALUES,
    Rule,
    add,
    approach,
    approach_weights,
    divide,
    rule_at,
    step,
    step_weights,
)
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.tiles import STRIPS, tile_count

from .gibbs import Address, Chains, Phase, draw_hidden, hidden_statistics, model_phase
from .gradients import Centring, weight_gradient
from .unit_steps import BENDING, FIXED, Units, move_ends, move_precision

PERSISTENT, FROM_DATA, GIVEN = 0, 1, 2  # the model's chains go on, begin anew, or are run by others
STARTS = 1 << 40  # its own half of the step numbers keeps draws of starts apart from the sweeps'
MEMORY = 0.99  # of the running mean of the hidden units, per update


class Trained(NamedTuple):
    """What updates move; parameters are stacked as optimizer.py does."""

    weights: np.ndarray  # (4, visible, hidden)
    visible_bias: np.ndarray  # (4, visible)
    hidden_bias: np.ndarray  # (4, hidden)
    visible_offset: np.ndarray  # (visible,)
    hidden_offset: np.ndarray  # (hidden,)
    units: Units


class Averaged(NamedTuple):
    """Running averages of parameters in float64, without entries of those that have none."""

    weights: np.ndarray  # (visible, hidden)
    visible_bias: np.ndarray  # (visible,)
    hidden_bias: np.ndarray  # (hidden,)
    precision: np.ndarray  # (hidden,)
    lower: np.ndarray  # (hidden,)
    upper: np.ndarray  # (hidden,)


class Work(NamedTuple):
    """Working arrays."""

    visible: np.ndarray  # (visible,)
    hidden: np.ndarray  # (hidden,)
    mean: np.ndarray  # (hidden,) of the data's hidden units
    difference: np.ndarray  # (4, hidden) float64, of the phases' mean Statistics
    model: np.ndarray  # (4, hidden) float64: the model's mean Statistics
    strips: np.ndarray  # (STRIPS, hidden), of gradients.py; zeros at first

    @classmethod
    def new(cls, n_visible: int, n_hidden: int, dtype: Any) -> Work:
        """Make the arrays."""
        visible, hidden, mean = (np.zeros(n, dtype) for n in (n_visible, n_hidden, n_hidden))
        statistics = np.zeros((2, 4, n_hidden))
        return cls(visible, hidden, mean, *statistics, np.zeros((STRIPS, n_hidden), dtype))


# What is told to each update: columns of Course.rates.
LEARNING, TRUNCATION, PRECISION, FIRST_CORRECTION, SECOND_CORRECTION, SHARE = range(6)
RATES = 6  # so many


class Course(NamedTuple):
    """A run of updates: which rows each takes, and how far it goes."""

    rule: Rule  # with the weights' decay; rates and corrections are each update's own
    visible: np.ndarray  # (rows, visible), batch after batch
    starts: np.ndarray  # (updates + 1,) int64: rows starts[i] to starts[i + 1] are batch i
    rates: np.ndarray  # (updates, 6) float64; SHARE is that of the parameters in their averages
    n_gibbs: np.ndarray  # (updates,) int64
    chains: int  # PERSISTENT, FROM_DATA or GIVEN
    centred: bool
    seed: int
    update: int  # number of the first, from 0
    step: int  # of its first sweep


@linked
def _first_rows(phase, rows):
    """Return the first rows of a phase, sharing memory."""
    sums = phase.sums[: tile_count(rows, 1, 1)]
    return Phase(phase.visible[:rows], phase.net[:rows], phase.mean[:rows], sums)


@linked
def _model_side(layers, batch, chains, course, update, n_gibbs, step):
    """Run the chains of an update and return the phase that they make."""
    if course.chains == GIVEN:
        return chains.phase
    persistent = course.chains == PERSISTENT
    if not persistent:
        rows = batch.net.shape[0]
        phase = _first_rows(chains.phase, rows)
        chains = Chains(chains.hidden[:rows], chains.visible_mean[:rows], phase)
        address = Address(course.seed, HIDDEN, STARTS + update, 0)
        draw_hidden(layers, batch.net, address, chains.hidden)
    model_phase(layers, chains, n_gibbs, persistent, course.seed, step)
    return chains.phase


@linked
def sum_rows(matrix, out):
    """Write the sum of the rows, one after the other."""
    for r in range(matrix.shape[0]):
        add(out, matrix[r], 1.0, int(r > 0))


@linked
def _mean_statistics(phase, out):
    """Write the mean over rows of the phase's Statistics."""
    for k in range(out.shape[0]):
        for t in range(phase.sums.shape[0]):
            add(out[k], phase.sums[t, k], 1.0, int(t > 0))
        divide(out[k], phase.visible.shape[0])


@linked
def _compare(data, model, trained, work):
    """Write means of both phases, and their differences as gradients of the biases."""
    by_visible, by_hidden = trained.visible_bias[GRADIENT], trained.hidden_bias[GRADIENT]
    sum_rows(data.visible, by_visible)
    divide(by_visible, data.visible.shape[0])
    sum_rows(model.visible, work.visible)
    divide(work.visible, model.visible.shape[0])
    add(by_visible, work.visible, -1.0, 1)
    _mean_statistics(data, work.difference)
    _mean_statistics(model, work.model)
    add(work.mean, work.difference[0], 1.0, 0)
    for k in range(work.model.shape[0]):
        add(work.difference[k], work.model[k], -1.0, 1)
    add(by_hidden, work.difference[0], 1.0, 0)


@linked
def write_gradient(trained, data, model, work):
    """Write the contrastive estimate of the likelihood's gradient (mathematics 2.2 and 2.5).

    Offsets of zero give the plain gradient.  That of weights and biases goes to where they are
    stacked; ``work`` gets the mean of the data's hidden units and the difference of the phases'.
    """
    _compare(data, model, trained, work)
    by_visible, by_hidden = trained.visible_bias[GRADIENT], trained.hidden_bias[GRADIENT]
    centring = Centring(trained.visible_offset, trained.hidden_offset, by_visible, by_hidden)
    shift = work.visible
    weight_gradient(data, model, centring, trained.weights[GRADIENT], work.strips, shift)
    add(by_visible, shift, -1.0, 1)
    sum_rows(work.strips, work.hidden)
    add(by_hidden, work.hidden, -1.0, 1)


@linked
def _rule_of(rule, rates):
    """Return the rule of an update's steps."""
    return Rule(
        rule.kind,
        rates[LEARNING],
        rule.momentum,
        rule.decay,
        rule.epsilon,
        rule.weight_decay,
        rates[FIRST_CORRECTION],
        rates[SECOND_CORRECTION],
    )


@linked
def _take_steps(rule, trained, rates, work):
    """Move all parameters along their gradients."""
    units = trained.units
    step_weights(rule, trained.weights)
    plain = rule_at(rule, rates[LEARNING], 0.0)
    step(plain, trained.visible_bias)
    step(plain, trained.hidden_bias)
    if units.learn_precision:
        rarely(bend_units, (plain, rates[PRECISION], trained, work))
    if units.ends != FIXED:
        by_lower, by_upper = work.difference[2], work.difference[3]
        divide(by_lower, -1.0)
        move_ends(plain, units, by_lower, by_upper, rates[TRUNCATION])


@rare(BENDING)
def bend_units(rule, rate, trained, work):
    """Move the precisions, and the hidden biases with them."""
    by_precision, by_mean = work.difference[1], work.hidden
    divide(by_precision, -2.0)
    add(by_mean, work.difference[0], 1.0, 0)
    shift = trained.units.curvature[GRADIENT]
    move_precision(rule, trained.units, by_precision, by_mean, trained.hidden_offset, rate, shift)
    add(trained.hidden_bias[VALUES], shift, 1.0, 1)


@linked
def _average(averaged, trained, share):
    """Take the parameters into their averages."""
    approach_weights(averaged.weights, trained.weights[VALUES], share)
    approach(averaged.visible_bias, trained.visible_bias[VALUES], share)
    approach(averaged.hidden_bias, trained.hidden_bias[VALUES], share)
    approach(averaged.precision, trained.units.precision, share)
    approach(averaged.lower, trained.units.lower, share)
    approach(averaged.upper, trained.units.upper, share)


@linked
def _bends_otherwise(layers):
    """Tell whether there are units with precision <= 0 now and were none before, or were some."""
    found = 0
    for j in range(layers.precision.size):
        found += int(layers.precision[j] <= 0)
    return (found > 0) != (layers.n_nonpositive > 0)


@kernel
def run_updates(layers, trained, averaged, batch, chains, work, course, begin):
    """Take the updates of a course from number ``begin`` on, in place; return where they end.

    They end before their time where units with precision <= 0 come up or are no more: ``layers``
    have to say so, and to have the kernels compiled that such units need.

    batch : Phase whose visible units are not used
    chains : Chains; where they are given, it is their phase that counts, of one update
    """
    sweeps = course.step
    for i in range(begin):
        sweeps += course.n_gibbs[i]
    for i in range(begin, course.n_gibbs.size):
        start, stop, rates = course.starts[i], course.starts[i + 1], course.rates[i]
        rest = _first_rows(batch, stop - start)
        data = Phase(course.visible[start:stop], rest.net, rest.mean, rest.sums)
        hidden_statistics(layers, data)
        update, n_gibbs = course.update + i, course.n_gibbs[i]
        model = _model_side(layers, data, chains, course, update, n_gibbs, sweeps)
        sweeps += n_gibbs
        write_gradient(trained, data, model, work)
        _take_steps(_rule_of(course.rule, rates), trained, rates, work)
        if course.centred:
            approach(trained.hidden_offset, work.mean, 1 - MEMORY)
        if rates[SHARE] > 0.0:
            _average(averaged, trained, rates[SHARE])
        if trained.units.learn_precision and _bends_otherwise(layers):
            return i + 1
    return course.n_gibbs.size
