"""Updates of an RBM in one call, each from its batch: both phases, the gradient, the steps.

Only the rates differ from update to update; the arrays are the learner's own.  A call of its own
for every kernel took as long as a small model's update itself: 0.1 ms of 0.2 for 20x64x100.
"""

from typing import NamedTuple

import numpy as np

from trug_fast.kernels.compiling import kernel, linked, rounded
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.optimizer import (
    GRADIENT,
    VALUES,
    Rule,
    approach,
    approach_weights,
    rule_at,
    step,
    step_weights,
)
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.tiles import tile_count

from .gibbs import Address, Chains, Phase, draw_hidden, hidden_statistics, model_phase
from .gradients import Centring, weight_gradient
from .unit_steps import Slopes, Units, move_ends, move_precision

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

    visible: np.ndarray  # (3, visible): means of the data, of the model; shift (gradients.py)
    hidden: np.ndarray  # (3, hidden): means of the data; their difference; anything
    means: np.ndarray  # (2, 4, hidden) float64: Statistics of the data, of the model
    slopes: np.ndarray  # (3, hidden) float64: gradients by precision, lower and upper end
    strips: np.ndarray  # (STRIPS, hidden), of gradients.py; zeros at first

    @classmethod
    def new(cls, n_visible, n_hidden, strips, dtype):
        """Make the arrays."""
        visible, hidden = np.zeros((3, n_visible), dtype), np.zeros((3, n_hidden), dtype)
        means, slopes = np.zeros((2, 4, n_hidden)), np.zeros((3, n_hidden))
        return cls(visible, hidden, means, slopes, np.zeros((strips, n_hidden), dtype))


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
    if course.chains == PERSISTENT:
        model_phase(layers, chains, n_gibbs, True, course.seed, step)
    elif course.chains == FROM_DATA:
        rows = batch.net.shape[0]
        phase = _first_rows(chains.phase, rows)
        chains = Chains(chains.hidden[:rows], chains.visible_mean[:rows], phase)
        draw_hidden(
            layers, batch.net, Address(course.seed, HIDDEN, STARTS + update, 0), chains.hidden
        )
        model_phase(layers, chains, n_gibbs, False, course.seed, step)
    return chains.phase


@rounded
def mean_of_rows(matrix, out):
    """Write the mean of the rows."""
    for i in range(out.size):
        out[i] = matrix[0, i]
    for r in range(1, matrix.shape[0]):
        row = matrix[r]
        for i in range(out.size):
            out[i] += row[i]
    for i in range(out.size):
        out[i] /= like(out[0], matrix.shape[0])


@rounded
def _mean_statistics(phase, out):
    """Write the mean over rows of the phase's Statistics."""
    rows = phase.visible.shape[0]
    for k in range(out.shape[0]):
        mean = out[k]
        for j in range(mean.size):
            mean[j] = phase.sums[0, k, j]
        for t in range(1, phase.sums.shape[0]):
            for j in range(mean.size):
                mean[j] += phase.sums[t, k, j]
        for j in range(mean.size):
            mean[j] /= rows


@rounded
def _compare(data, model, work):
    """Write means of both phases, and what they say of the units' own parameters."""
    mean_of_rows(data.visible, work.visible[0])
    mean_of_rows(model.visible, work.visible[1])
    visible, theirs = work.visible[0], work.visible[1]
    for i in range(visible.size):
        visible[i] -= theirs[i]
    _mean_statistics(data, work.means[0])
    _mean_statistics(model, work.means[1])
    ours, others = work.means[0], work.means[1]
    for j in range(ours.shape[1]):
        work.hidden[0, j] = ours[0, j]
        work.hidden[1, j] = ours[0, j] - others[0, j]
        work.slopes[0, j] = -0.5 * (ours[1, j] - others[1, j])
        work.slopes[1, j] = -(ours[2, j] - others[2, j])
        work.slopes[2, j] = ours[3, j] - others[3, j]


@rounded
def _bias_gradients(trained, work):
    """Write the biases' gradients: differences of means less what the weights' gradient takes."""
    by_visible, by_hidden = trained.visible_bias[GRADIENT], trained.hidden_bias[GRADIENT]
    difference, shift = work.visible[0], work.visible[2]
    for i in range(by_visible.size):
        by_visible[i] = difference[i] - shift[i]
    difference, shift = work.hidden[1], work.hidden[2]
    for j in range(by_hidden.size):
        shift[j] = work.strips[0, j]
    for s in range(1, work.strips.shape[0]):
        strip = work.strips[s]
        for j in range(by_hidden.size):
            shift[j] += strip[j]
    for j in range(by_hidden.size):
        by_hidden[j] = difference[j] - shift[j]


@linked
def write_gradient(trained, data, model, work):
    """Write the contrastive estimate of the likelihood's gradient (mathematics 2.2 and 2.5).

    Offsets of zero give the plain gradient.  That of weights and biases goes to where they are
    stacked; work.slopes has those by the units' own parameters, work.hidden[1] that by the hidden
    biases before centring.
    """
    _compare(data, model, work)
    centring = Centring(
        trained.visible_offset, trained.hidden_offset, work.visible[0], work.hidden[1]
    )
    gradient, shift = trained.weights[GRADIENT], work.visible[2]
    weight_gradient(data, model, centring, gradient, work.strips, shift)
    _bias_gradients(trained, work)


@rounded
def _take_steps(rule, trained, rates, work):
    """Move all parameters along their gradients."""
    rule = Rule(
        rule.kind,
        rates[LEARNING],
        rule.momentum,
        rule.decay,
        rule.epsilon,
        rule.weight_decay,
        rates[FIRST_CORRECTION],
        rates[SECOND_CORRECTION],
    )
    step_weights(rule, trained.weights)
    plain = rule_at(rule, rates[LEARNING], 0.0)
    step(plain, trained.visible_bias)
    step(plain, trained.hidden_bias)
    by_precision, by_lower, by_upper = work.slopes[0], work.slopes[1], work.slopes[2]
    slopes = Slopes(by_precision, by_lower, by_upper, work.hidden[1], trained.hidden_offset)
    shift, hidden_bias = work.hidden[2], trained.hidden_bias[VALUES]
    move_precision(plain, trained.units, slopes, rates[PRECISION], shift)
    for j in range(shift.size):
        hidden_bias[j] += shift[j]
    move_ends(plain, trained.units, slopes, rates[TRUNCATION])


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
        _take_steps(course.rule, trained, rates, work)
        if course.centred:
            approach(trained.hidden_offset, work.hidden[0], 1 - MEMORY)
        if rates[SHARE] > 0:
            _average(averaged, trained, rates[SHARE])
        if trained.units.learn_precision and _bends_otherwise(layers):
            return i + 1
    return course.n_gibbs.size
