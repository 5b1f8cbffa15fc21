"""Log-likelihoods by reverse annealing: a distribution of its own that tends to the model's."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import exact_draws, strong_model
from trug_fast.evaluation.bridges import mean_field

STATES = tf.exact.binary_states(8)


@pytest.mark.parametrize("path", ["quad", "quad2", "paper"])
@pytest.mark.parametrize("temperatures", [1, 4, 40])
def test_all_states_together_have_the_probability_one(path, temperatures, monkeypatch):
    monkeypatch.setattr(mean_field, "bound", lambda *_: -1e6)  # which takes from some rows
    model = strong_model()
    found = tf.evaluation.log_likelihood_bound(
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
        (
            tf.evaluation.log_likelihood_bound(model, X, n_temperatures=n, n_chains=3, rng=0).value
            - exact
        )
        for n in (3, 30, 1000)
    ]
    means = [each.mean() for each in off]
    assert means[0] < means[1] < 0
    assert abs(means[2]) < 5 * off[2].std() / np.sqrt(300) + 1e-3


def test_modes_far_from_the_rows_are_not_forgotten():
    # One unit wants all 20 pixels at once: 13.9 nats of states without it, 20 with all pixels on.
    # No chain gets there, and annealing says that other rows have a probability of 2^-20.
    model = tf.BernoulliRBM(np.full((20, 1), 6.0), 0.0, -100.0)
    X = (np.random.default_rng(0).random((50, 20)) < 0.5).astype(float)
    exact = tf.exact.log_likelihood(model, X)
    with pytest.warns(tf.evaluation.PartitionWarning, match="a mode that annealing misses"):
        found = tf.evaluation.log_likelihood_bound(model, X, n_temperatures=100, rng=0)
    assert len(found.warnings) == 1
    assert (found.value <= exact + 0.01).all() and (found.value > exact - 0.01).all()
    assert (found.std_error < 1e-9).all()  # the bound has no chance in it


def test_errors_are_those_of_what_the_bound_leaves(monkeypatch):
    model = strong_model()
    exact, options = tf.exact.log_likelihood(model, STATES), {"n_temperatures": 30}
    monkeypatch.setattr(mean_field, "bound", lambda *_: -1e9)
    free = tf.evaluation.log_likelihood_bound(model, STATES, rng=0, **options).value
    cut = np.median(free - exact)  # so that it takes away half of what chains find
    monkeypatch.setattr(mean_field, "bound", lambda *_: tf.exact.log_partition(model) - cut)
    runs = [tf.evaluation.log_likelihood_bound(model, STATES, rng=k, **options) for k in range(40)]
    assert 0.3 < np.mean([run.value == exact + cut for run in runs]) < 0.7
    spread = np.std([run.value for run in runs], axis=0, ddof=1)
    said = np.sqrt(np.mean([run.std_error**2 for run in runs], axis=0))
    np.testing.assert_allclose(said.mean(), spread.mean(), rtol=0.15)


def test_gaussian_visible_units():
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 0.7, (5, 4))
    model = tf.BernoulliRBM(weights, 0.0, 0.0, visible_precision=2.0)
    X = model.sample(200, n_gibbs=50, rng=0)
    exact = tf.exact.log_likelihood(model, X)
    off = tf.evaluation.log_likelihood_bound(model, X, n_temperatures=1000, rng=0).value - exact
    assert abs(off.mean()) < 5 * off.std() / np.sqrt(200) + 1e-3


def test_bad_arguments():
    model = strong_model()
    with pytest.raises(ValueError, match="X must be 0 or 1"):
        tf.evaluation.log_likelihood_bound(model, np.full((1, 8), 0.5))
    with pytest.raises(ValueError, match="n_chains must be at least 1"):
        tf.evaluation.log_likelihood_bound(model, STATES, n_chains=0)
    with pytest.raises(ValueError, match="path must be"):
        tf.evaluation.log_likelihood_bound(model, STATES, path="short")
    assert np.isnan(
        tf.evaluation.log_likelihood_bound(model, STATES, n_chains=1, rng=0).std_error
    ).all()
