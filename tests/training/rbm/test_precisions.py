"""Learned precisions of Gaussian visible units: the gradient, what it finds, runs that go on."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.rates import Schedule, Time
from trug_fast.training.rbm.parts import CentredPrecisions
from trug_fast.training.steps import Steps

LEARNED = tf.GaussianUnits(learn_precision=True)
OPTIONS = {"hidden": "bernoulli", "visible": LEARNED, "monitor": None, "dtype": "float64"}


def signs(n, noise, seed):
    """Return rows of three columns that share a sign, each with noise of its own deviation."""
    rng = np.random.default_rng(seed)
    sign = rng.choice([-1.0, 1.0], (n, 1))
    return sign * np.sqrt(1 - noise**2) + noise * rng.normal(size=(n, 3))


def log_likelihood(model, X):
    return tf.exact.log_likelihood(model, X).mean()


def moved(model, factor, centre):
    """Return the model with its precisions multiplied, the energy a (x - centre)^2 / 2."""
    a = model.visible_precision * factor
    bias = model.visible_bias + centre * (a - model.visible_precision)
    return tf.BernoulliRBM(model.weights, bias, model.hidden_bias, visible_precision=a)


def test_the_gradient_is_that_of_the_exact_likelihood():
    rng = np.random.default_rng(0)
    model = tf.BernoulliRBM(
        rng.normal(size=(3, 2)), [0.3, -0.2, 0.1], [0.1, -0.4], visible_precision=[0.5, 1.0, 3.0]
    )
    X, centre = signs(50, 0.4, 1) + [0.5, 0.0, -1.0], np.array([0.4, -0.1, -0.9])
    exact = []
    for i in range(3):
        ends = [np.exp(sign * 1e-5 * np.eye(3)[i]) for sign in (1, -1)]
        high, low = (log_likelihood(moved(model, end, centre), X) for end in ends)
        exact.append((high - low) / 2e-5)
    # The model's side by the exact distribution of the hidden units, whose four states are few.
    h = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    net = model.visible_bias + h @ model.weights.T
    log_p = h @ model.hidden_bias + (net**2 / (2 * model.visible_precision)).sum(axis=1)
    p = np.exp(log_p - log_p.max())
    precision = model.visible_precision.copy()
    steps, rate = Steps(tf.training.SGD(momentum=0.0)), Schedule("rate", 1e-3, 1e-3)
    own = CentredPrecisions(precision, steps, rate, centre)
    means = own.squares(net / precision, 4 * p / p.sum(), means=True)
    shift = own.move(own.squares(X), means, Time(0.0, 1))
    found = np.log(precision / model.visible_precision) / 1e-3
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    np.testing.assert_allclose(shift, centre * (precision - model.visible_precision), rtol=1e-12)


@pytest.mark.parametrize(
    "sampler",
    [
        tf.training.PCD(n_chains=200),
        tf.training.CD(5),
        tf.training.ParallelTempering(3, n_chains=200),
    ],
)
def test_training_finds_the_noise(sampler):
    # Given the sign columns are independent, of variances noise^2; one hidden unit is the sign.
    noise = np.array([0.6, 0.7, 0.8])
    X = signs(4000, noise, 0)
    run = OPTIONS | {"sampler": sampler, "epochs": 30, "learning_rate": (1.0, 0.05), "rng": 0}
    fit = tf.train_rbm(X, 1, batch_size=100, **run)
    np.testing.assert_allclose(fit.model.visible_precision, 1 / noise**2, rtol=0.12)
    plain = tf.train_rbm(X, 1, batch_size=100, **run | {"visible": "gaussian"})
    held_out = signs(2000, noise, 1)
    assert log_likelihood(fit.model, held_out) > log_likelihood(plain.model, held_out) + 0.2
    last = fit.history["visible_precision_max"][-1]
    assert last == pytest.approx(fit.model.visible_precision.max(), rel=0.05)


def test_rows_of_weight_two_are_rows_twice():
    X = signs(60, 0.4, 0)
    run = {
        "epochs": 3,
        "batch_size": 60,
        "sampler": tf.training.PCD(n_chains=50),
        "rng": 0,
    } | OPTIONS
    one = tf.train_rbm(X, 2, sample_weight=np.full(60, 2.0), **run).model
    other = tf.train_rbm(X, 2, **run).model
    np.testing.assert_allclose(one.visible_precision, other.visible_precision, rtol=1e-9)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_run_that_was_stopped_goes_on(optimizer, tmp_path):
    X, file = signs(200, 0.4, 0), tf.training.Checkpoint(tmp_path / "run.npz")
    run = {"epochs": 4, "batch_size": 50, "rng": 0, "optimizer": optimizer} | OPTIONS
    whole = tf.train_rbm(X, 2, **run).model

    def stop(epoch):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning):
        assert tf.train_rbm(X, 2, checkpoint=file, callbacks=[stop], **run).interrupted
    again = tf.train_rbm(
        X, 2, checkpoint=tf.training.Checkpoint(file.path, resume=True), **run
    ).model
    for name in whole.names:
        assert np.array_equal(getattr(whole, name), getattr(again, name)), name
