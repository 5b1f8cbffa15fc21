"""Log-likelihoods by reverse annealing: a distribution of its own that tends to the model's."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import exact_draws, strong_model

STATES = tf.exact.binary_states(8)


@pytest.mark.parametrize("path", ["quad", "quad2", "paper"])
@pytest.mark.parametrize("temperatures", [1, 4, 40])
def test_all_states_together_have_the_probability_one(path, temperatures):
    model = strong_model()
    found = tf.log_likelihood_bound(
        model, STATES, path=path, n_temperatures=temperatures, n_chains=50, rng=0
    )
    p = np.exp(found.value)
    # Unbiased: five standard errors of independent rows.
    error = np.sqrt(((p * found.std_error) ** 2).sum())
    assert abs(p.sum() - 1) < 5 * error + 1e-6


def test_it_comes_from_below():
    model = strong_model()
    X = exact_draws(model, 300, seed=0)
    exact = tf.exact.log_likelihood(model, X)
    off = [
        (tf.log_likelihood_bound(model, X, n_temperatures=n, n_chains=3, rng=0).value - exact)
        for n in (3, 30, 1000)
    ]
    means = [each.mean() for each in off]
    assert means[0] < means[1] < 0
    assert abs(means[2]) < 5 * off[2].std() / np.sqrt(300) + 1e-3


def test_gaussian_visible_units():
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 0.7, (5, 4))
    model = tf.BernoulliRBM(weights, 0.0, 0.0, visible_precision=2.0)
    X = model.sample(200, n_gibbs=50, rng=0)
    exact = tf.exact.log_likelihood(model, X)
    off = tf.log_likelihood_bound(model, X, n_temperatures=1000, rng=0).value - exact
    assert abs(off.mean()) < 5 * off.std() / np.sqrt(200) + 1e-3


def test_bad_arguments():
    model = strong_model()
    with pytest.raises(ValueError, match="X must be 0 or 1"):
        tf.log_likelihood_bound(model, np.full((1, 8), 0.5))
    with pytest.raises(ValueError, match="n_chains must be at least 1"):
        tf.log_likelihood_bound(model, STATES, n_chains=0)
    with pytest.raises(ValueError, match="path must be"):
        tf.log_likelihood_bound(model, STATES, path="short")
    assert np.isnan(tf.log_likelihood_bound(model, STATES, n_chains=1, rng=0).std_error).all()
