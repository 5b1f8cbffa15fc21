"""Likelihoods of spins, categorical and mixed visible units against exact ones."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.kinds import NAMES, model_of_kinds
from trug_fast.evaluation.likelihood import site_log_probability


@pytest.mark.parametrize("name", ["categorical", "spin", "discrete"])
def test_one_site_given_all_others_is_exact(name):
    model = model_of_kinds(name)
    X = model.sample(20, n_gibbs=5, rng=0)
    site = np.random.default_rng(0).integers(0, model.n_visible, 20)
    known = np.arange(model.n_visible) != site[:, None]
    found = site_log_probability(model, X.astype(float), site)
    exact = tf.log_conditional(model, X, known)
    assert not exact.std_error.any()
    np.testing.assert_allclose(found, exact.value, rtol=1e-11, atol=1e-12)


def test_pseudo_likelihood_of_two_states_is_that_of_zeros_and_ones():
    rng = np.random.default_rng(0)
    weights, X = rng.normal(size=(5, 3)), rng.integers(0, 2, (30, 5))
    pixels = tf.BernoulliRBM(weights, 0.3, 0.1)
    both = np.stack([np.zeros_like(weights), weights], axis=1)
    bias = np.tile([0, 0.3], (5, 1))
    sites = tf.BernoulliRBM(both, bias, 0.1, visible="categorical")
    np.testing.assert_allclose(
        tf.pseudo_log_likelihood(sites, X, rng=1), tf.pseudo_log_likelihood(pixels, X, rng=1)
    )
    with pytest.raises(ValueError, match="not for Gaussian visible units"):
        tf.pseudo_log_likelihood(model_of_kinds("mixed"), [[1, 2, 0.1, 1, 0]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_annealing_finds_log_z(name, hidden):
    # 16 comparisons at 5 standard errors.
    model = model_of_kinds(name, hidden)
    exact, X = tf.exact.log_partition(model), model.sample(200, n_gibbs=20, rng=0)
    options = {"n_temperatures": 100, "n_chains": 200, "rng": 0}
    for beside in ({"base": X}, {"weights_on": "hidden"}, {"direction": "both", "base": X}):
        found = tf.log_partition(model, **options, **beside)
        assert abs(found.log_z - exact) < 5 * found.std_error + 1e-9 and not found.warnings
    bound = tf.evaluation.log_likelihood_bound(model, X, n_temperatures=100, base=X, rng=0)
    gap = bound.value - tf.exact.log_likelihood(model, X)
    assert abs(gap.mean()) < 5 * gap.std() / np.sqrt(len(gap)) + 0.02


def test_conditionals_of_mixed_sites_integrate_to_one():
    model = model_of_kinds("mixed")
    row = np.array([1, 0, 0.3, 1, 0])
    rows = np.repeat(row[None], 6, axis=0)
    rows[:, 1], rows[:, 4] = np.repeat([0, 1, 2], 2), np.tile([0, 1], 3)
    known = [True, False, True, True, False]
    found = tf.log_conditional(model, rows, known)
    assert np.exp(found.value).sum() == pytest.approx(1, rel=1e-12)


def test_an_estimate_belongs_to_units_of_its_kind():
    spins = model_of_kinds("spin")
    parameters = spins.arrays()
    estimate = tf.log_partition(spins, n_temperatures=50, rng=0)
    with pytest.raises(ValueError, match="log_z must be of this model"):
        tf.log_likelihood(tf.TruGRBM(**parameters), np.ones((1, 4)), estimate)
