"""Where penalised trainings come to rest: the gradient of the penalised likelihood vanishes."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.evaluation.exact.states import binary_states
from trug_fast.kernels.compiling import want
from trug_fast.kernels.rbm import updates
from trug_fast.kernels.rbm.weighing import WEIGHTED
from trug_fast.training.going_on import UnitKinds
from trug_fast.training.penalties import as_penalties
from trug_fast.training.rbm.learner import RBMLearner
from trug_fast.training.rbm.train import _settings
from trug_fast.training.settings import Pace
from trug_fast.training.weighing import Weighted

want(WEIGHTED)
STATES = binary_states(4)
COUNTS = np.array([29, 2, 2, 14, 1, 2, 1, 15, 2, 4, 1, 3, 14, 1, 2, 32])
SEEN = np.repeat(STATES, COUNTS, axis=0)
OFFSET = 0.4, -0.7, 0.5  # of the hidden units: any that stay where they are


def learner_of(optimizer):
    """Return a learner of these states, and how far its updates go."""
    settings, _ = _settings(
        SEEN,
        None,
        UnitKinds(3, tf.TruGUnits(), tf.BernoulliUnits()),
        tf.training.RandomWeights(1.5),
        truncation=tf.Truncation(-1.0, 1.0),
        sampler=tf.training.PCD(n_chains=2),
        optimizer=optimizer,
        batch_size=len(STATES),
        dtype=np.dtype(np.float64),
    )
    penalties = as_penalties(optimizer, ("weights",), 1)
    learner = RBMLearner(SEEN, settings, 0, None, penalties)
    learner.hidden_offset[:] = OFFSET
    return learner, Pace(0.0, 0.0, 0.0, 1, penalties=penalties.at(0.0, 0))


def update(learner, pace, rate):
    """Take an update by the exact gradient: all states count by the data's share less the model's.

    These sum to 0, in floats too: then a model's sampled side counts for nothing.
    """
    shares = np.exp(-learner.model(learner._current()).free_energy(STATES))
    weights = len(STATES) * (COUNTS / COUNTS.sum() - shares / shares.sum())
    weights = np.round(weights * 2.0**40) / 2.0**40
    weights[0] -= weights.sum()
    learner._stacked.hidden[updates.MEAN] = learner.hidden_offset  # which stays where it is
    every = np.arange(len(STATES))
    learner.update(Weighted(STATES, weights), [every], [pace._replace(learning_rate=rate)])


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
    learner, pace = learner_of(kind(**options, **{penalty: 0.02}))
    for i in range(4000):
        update(learner, pace, rate * min(1.0, 1e-3 ** ((i - 2500) / 1500)))
    model = learner.model(learner._current())
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
    learner, pace = learner_of(tf.training.SGD(momentum=0.0, **penalty))
    learner.shrinking.expect(1)

    def biases():
        visible = learner.visible_bias + learner.weights @ learner.hidden_offset
        return visible, learner.hidden_bias + learner.visible_offset @ learner.weights

    before, former = biases(), learner.weights.copy()
    slope = tf.exact.gradient(learner.model(learner._current()), SEEN)
    update(learner, pace, 0.2)
    assert abs(learner.weights - former).max() > 0.01
    for name, old, new in zip(("visible_bias", "hidden_bias"), before, biases(), strict=True):
        np.testing.assert_allclose(new, old + 0.2 * slope[name], rtol=0, atol=1e-11)
