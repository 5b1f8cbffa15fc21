"""Where penalised trainings come to rest: the gradient of the penalised likelihood vanishes."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.evaluation.exact.states import binary_states
from trug_fast.kernels.compiling import want
from trug_fast.kernels.rbm import updates
from trug_fast.kernels.rbm.weighing import WEIGHTED
from trug_fast.training.going_on import UnitKinds
from trug_fast.training.rates import Time
from trug_fast.training.rbm.learner import RBMLearner
from trug_fast.training.rbm.train import _settings
from trug_fast.training.weighing import Weighted

want(WEIGHTED)
STATES = binary_states(4)
COUNTS = np.array([29, 2, 2, 14, 1, 2, 1, 15, 2, 4, 1, 3, 14, 1, 2, 32])
SEEN = np.repeat(STATES, COUNTS, axis=0)
OFFSET = 0.4, -0.7, 0.5  # of the hidden units: any that stay where they are


def learner_of(optimizer, rate):
    """Return a learner of these states; ``rate`` is of the share of its run."""
    settings, _ = _settings(
        SEEN,
        None,
        UnitKinds(3, tf.TruGUnits(), tf.BernoulliUnits()),
        tf.training.RandomWeights(1.5),
        truncation=tf.Truncation(-1.0, 1.0),
        sampler=tf.training.PCD(n_chains=2),
        optimizer=optimizer,
        learning_rate=rate,
        batch_size=len(STATES),
        epochs=1,
        monitor=None,
        dtype=np.dtype(np.float64),
    )
    learner = RBMLearner(SEEN, settings, 0)
    learner.core.hidden_offset[:] = OFFSET
    return learner


def update(learner, share=0.0):
    """Take an update by the exact gradient: all states count by the data's share less the model's.

    These sum to 0, in floats too: then a model's sampled side counts for nothing.
    """
    shares = np.exp(-learner.seen().free_energy(STATES))
    weights = len(STATES) * (COUNTS / COUNTS.sum() - shares / shares.sum())
    weights = np.round(weights * 2.0**40) / 2.0**40
    weights[0] -= weights.sum()
    core = learner.core
    core._stacked.hidden[updates.MEAN] = core.hidden_offset  # which stays where it is
    learner.update(Weighted(STATES, weights), [np.arange(len(STATES))], [Time(share, 1)])


OPTIMIZERS = {
    "sgd": (tf.training.SGD, {"momentum": 0.9}, 0.2),
    "rmsprop": (tf.training.RMSprop, {}, 0.02),
    "adam": (tf.training.Adam, {}, 0.02),
}


@pytest.mark.parametrize("penalty", ["weight_decay", "l1", "l1_squared"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_gradient_of_the_penalised_likelihood_vanishes(name, penalty):
    # While biases did not follow, weight decay drove hidden biases away until weights died, and l1
    # left visible means off by 0.01 to 0.03, hidden ones by 0.04 to 0.07.
    kind, options, rate = OPTIMIZERS[name]

    def falling(share):
        return rate * min(1.0, 1e-3 ** ((share - 0.625) / 0.375))

    learner = learner_of(kind(**options, **{penalty: 0.02}), falling)
    for i in range(4000):
        update(learner, i / 4000)
    model = learner.seen()
    found, weights = tf.exact.gradient(model, SEEN), model.weights
    assert abs(weights).max() > 1.0
    pull = 0.02 * weights
    if penalty != "weight_decay":
        size = 1.0 if penalty == "l1" else abs(weights).sum(axis=0) / len(weights)
        pull = 0.02 * size * np.sign(weights)
    kept = weights != 0
    np.testing.assert_allclose(found["visible_bias"], 0.0, atol=4e-3)
    np.testing.assert_allclose(found["hidden_bias"], 0.0, atol=4e-3)
    np.testing.assert_allclose(found["weights"][kept], pull[kept], atol=4e-3)
    if penalty == "l1":
        assert not kept.all() and (abs(found["weights"][~kept]) < 0.022).all()


@pytest.mark.parametrize("penalty", [{"weight_decay": 0.1}, {"l1": 0.1}])
def test_penalties_move_weights_about_the_offsets(penalty):
    # Of SGD, in the coordinates of the centred gradient, b + W ho and c + W' xo, biases follow
    # their own plain gradients, whatever is taken off the weights.
    learner = learner_of(tf.training.SGD(momentum=0.0, **penalty), 0.2)
    core = learner.core
    learner.shrinking.expect(1)

    def biases():
        visible = core.visible_bias + core.weights @ core.hidden_offset
        return visible, core.hidden_bias + core.visible_offset @ core.weights

    before, former = biases(), core.weights.copy()
    slope = tf.exact.gradient(learner.seen(), SEEN)
    update(learner)
    assert abs(core.weights - former).max() > 0.01
    for name, old, new in zip(("visible_bias", "hidden_bias"), before, biases(), strict=True):
        np.testing.assert_allclose(new, old + 0.2 * slope[name], rtol=0, atol=1e-11)
