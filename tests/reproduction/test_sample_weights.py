"""Draws of weights: the right distribution where it is known, by the gradient of the posterior."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction.scripts.sample_weights import Potential, drawn_ensemble, learner_at, sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X @ [1.0, -0.5] + 0.5 * RNG.normal(size=30)


def potential_of(model, free=None):
    learner, rows = learner_at(model, X, Y)
    return Potential(learner, rows, free), rows


def test_gradient_is_that_of_the_potential():
    model = tf.train_tggm(X, Y, 4, epochs=10, noise="separate", rng=0, monitor=None).model
    potential, _ = potential_of(model)
    potential.renew(RNG)
    values = potential.values
    _, gradient = potential(values)
    for k in range(0, values.size, 3):
        step = np.zeros(values.size)
        step[k] = 1e-5
        slope = (potential(values + step)[0] - potential(values - step)[0]) / 2e-5
        assert abs(slope - gradient[k]) < 1e-5 * max(1, abs(gradient).max())


def test_linear_units_are_drawn_from_the_exact_posterior():
    """Four standard errors for each of three means and of three deviations: 4 in 10,000."""
    model = tf.TruGTGGM(
        np.eye(2), 0.0, [[0.3, 0.1]], 0.0, 0.4, -500.0, 500.0, hidden_variance=1e-10
    )
    potential, rows = potential_of(model, ["output_weights", "output_bias"])
    potential.precision[potential.free] = 1.5
    learner = potential.learner
    network = learner.model(scales=learner.scales.none())
    hidden = rows.inputs @ network.input_weights.T + network.input_bias
    features = np.c_[hidden, np.ones(30)]
    noise = network.noise_variance[0]
    precision = features.T @ features / noise + 1.5 * np.eye(3)
    exact = np.linalg.solve(precision, features.T @ rows.targets[:, 0] / noise)
    spread = np.sqrt(np.diag(np.linalg.inv(precision)))
    n = 1500
    chain = sample(potential, potential.values, warm_up=300, n=n, steps=12, rng=RNG)
    assert 0.6 < chain.acceptance < 0.98
    error = chain.draws.mean(axis=0) - exact
    np.testing.assert_array_less(abs(error), 4 * spread / np.sqrt(n / 3))
    np.testing.assert_allclose(chain.draws.std(axis=0), spread, rtol=4 / np.sqrt(2 * n / 3))


@pytest.mark.filterwarnings("ignore")
def test_an_ensemble_of_draws_predicts():
    options = {"n_hidden": 3, "epochs": 20, "objective": "moments"}
    own = {"warm_up": 40, "n": 20, "steps": 5, "kept": 10}
    several, half, chain = drawn_ensemble(X, Y, options, own, 0)
    assert len(several) == 10 and len(half) == 5 and chain.draws.shape[0] == 20
    assert tf.regression_scores(several, X, Y).rmse < Y.std()
