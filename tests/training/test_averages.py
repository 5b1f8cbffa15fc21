"""Averages of parameters over the latest updates."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import one_by_one
from trug_fast.training.rbm.learner import RBMLearner
from trug_fast.training.steps import STRIDE

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

ARGUMENTS = {"n_hidden": 12, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


def watch(monkeypatch, *names):
    """Record parameters after each update; returns the list that fills."""
    one_by_one(monkeypatch)
    seen, update = [], RBMLearner.update

    def watched(self, *args):
        update(self, *args)
        seen.append([self.learned[name].astype(float) for name in names])

    monkeypatch.setattr(RBMLearner, "update", watched)
    return seen


@pytest.mark.parametrize("fraction", [0.3, 1.0])
def test_the_average_is_over_the_last_fraction_of_the_updates(digits, monkeypatch, fraction):
    names = ("weights", "hidden_bias", "upper")
    seen = watch(monkeypatch, *names)
    options = ARGUMENTS | {"truncation": "s-learn"}
    optimizer = tf.training.SGD(average=fraction, truncation_rate=0.1)
    model = tf.train_rbm(digits.train, **options, optimizer=optimizer).model
    kept = seen[STRIDE - 1 :: STRIDE]
    assert len(kept) == 21
    # The weight of sample s among t, in closed form: those after it leave it 1 - 1/(fraction r).
    shares = np.minimum(1, 1 / (fraction * np.arange(1, 22)))
    shares[0] = 1
    weights = [s * np.prod(1 - shares[i + 1 :]) for i, s in enumerate(shares)]
    assert abs(sum(weights) - 1) < 1e-12
    if fraction == 1:
        np.testing.assert_allclose(weights, 1 / 21)
    for at, name in enumerate(names):
        expected = sum(w * arrays[at] for w, arrays in zip(weights, kept, strict=True))
        np.testing.assert_allclose(getattr(model, name), expected, rtol=2e-7, atol=1e-9)
    assert not np.array_equal(model.weights, seen[-1][0])


def test_averaging_does_not_disturb_training(digits, monkeypatch):
    seen = watch(monkeypatch, "weights")
    plain = tf.train_rbm(digits.train, **ARGUMENTS, optimizer=tf.training.SGD(average=0)).model
    last = len(seen)
    tf.train_rbm(digits.train, **ARGUMENTS, optimizer=tf.training.SGD(average=0.5))
    np.testing.assert_array_equal(seen[last - 1][0], seen[-1][0])
    np.testing.assert_array_equal(plain.weights, seen[-1][0])
