"""What chains of draws tell."""

import sys
import types

import numpy as np
import pytest

import trug_fast as tf

SAMPLES = np.random.default_rng(0).normal(size=(4, 500, 3))


def test_moments_and_errors_of_all_draws():
    chains = tf.distributions.TruncMVNChains(SAMPLES)
    rows = SAMPLES.reshape(-1, 3)
    np.testing.assert_allclose(chains.mean, rows.mean(0))
    np.testing.assert_allclose(chains.std, rows.std(0, ddof=1))
    np.testing.assert_allclose(chains.cov, np.cov(rows.T))
    np.testing.assert_allclose(chains.std_error, 2000**-0.5, rtol=0.2)
    assert (chains.rhat < 1.01).all() and (chains.ess_tail > 1000).all()
    assert chains.std_error is chains.std_error  # computed once


def test_one_coordinate_and_few_draws():
    one = tf.distributions.truncmvn_gibbs(1.0, 1.0, 0, n_samples=3, rng=1)
    assert one.cov.shape == (1, 1) and one.mean.shape == (1,)
    assert np.isnan(one.rhat).all() and np.isnan(one.ess).all() and np.isnan(one.std_error).all()


@pytest.mark.parametrize(
    "samples, error, words",
    [
        (SAMPLES[0], ValueError, r"samples must have shape \(n_chains, n_samples, d\)"),
        (SAMPLES[:, :0], ValueError, "samples must have shape"),
        ("draws", TypeError, "samples must hold real numbers"),
        (None, TypeError, "samples must hold real numbers"),
    ],
)
def test_what_are_no_chains(samples, error, words):
    with pytest.raises(error, match=words):
        tf.distributions.TruncMVNChains(samples)


def test_lists_and_integers_are_chains_and_chains_compare():
    chains = tf.distributions.TruncMVNChains(np.arange(24).reshape(2, 4, 3).tolist())
    assert chains.samples.dtype == np.float64 and chains.mean.tolist() == [10.5, 11.5, 12.5]
    assert chains == chains and chains != tf.distributions.TruncMVNChains(SAMPLES) and {chains}


def test_arviz_is_given_the_draws(monkeypatch):
    calls = []
    new = types.ModuleType("arviz")
    new.from_dict = lambda *groups, **named: calls.append((groups, named))
    monkeypatch.setitem(sys.modules, "arviz", new)
    chains = tf.distributions.TruncMVNChains(SAMPLES)
    chains.to_arviz("beta")
    assert calls.pop()[0][0]["posterior"]["beta"] is SAMPLES
    new.InferenceData = object  # as before ArviZ 1.0
    chains.to_arviz()
    assert calls.pop()[1]["posterior"]["x"] is SAMPLES
    with pytest.raises(TypeError, match="name must be a str"):
        chains.to_arviz(3)


def test_without_arviz_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "trug_fast\[arviz\]"'):
        tf.distributions.TruncMVNChains(SAMPLES).to_arviz()
