"""Forecasts: their draws are of the model's own distribution, and the same on any threads."""

import numba
import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from tests.support.temporal import biases_after, temporal_model
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models import continuations

PREFIX = np.array([[1.0, 0, 1], [0, 1, 1], [1, 1, 0]])


def next_frames(model, b, c):
    """Return all frames, the probability of each, and the hidden means that the filter gives."""
    states = tf.exact.binary_states(model.n_visible)
    found = [temporal_exact.frame(model, b, c, s) for s in states]
    return states, np.exp([f.log_likelihood for f in found]), [f.hidden_mean for f in found]


def exact_pairs(model, prefix):
    """Return the probability of each pair of frames that follow, by enumeration."""
    states, first, _ = next_frames(model, *biases_after(model, prefix))
    rows = []
    for state, share in zip(states, first, strict=True):
        after = biases_after(model, np.concatenate([prefix, [state]]))
        rows.append(share * next_frames(model, *after)[1])
    return np.array(rows)


@pytest.mark.parametrize(
    ("kind", "seen", "n_lags"),
    [
        *(("mixed", 3, 1), ("mixed", 1, 1), ("mixed", 0, 1), ("bernoulli", 2, 1)),
        *(("mixed", 3, 2), ("mixed", 1, 2), ("mixed", 0, 3), ("bernoulli", 2, 3)),
    ],
)
def test_two_frames_ahead_are_distributed_as_the_model_says(kind, seen, n_lags):
    # 64 pairs of frames; of an exact sampler one seed in a million fails.
    scale = 0.4 / np.sqrt(n_lags)  # all pairs must be seen
    model = temporal_model(kind, n_visible=3, n_hidden=2, scale=scale, n_lags=n_lags)
    prefix = PREFIX[:seen]
    draws = model.forecast(prefix, 2, n_samples=10_000, rng=1).draws
    places = draws @ [1, 2, 4]  # binary_states: unit i is bit i
    counts = np.bincount((8 * places[:, 0] + places[:, 1]).astype(int), minlength=64)
    exact = exact_pairs(model, prefix).ravel()
    assert exact.min() * len(draws) > 5
    assert stats.chisquare(counts, exact / exact.sum() * len(draws)).pvalue > 1e-6


def test_gaussian_frames_have_the_exact_mean():
    model = temporal_model("gaussian", n_visible=2, n_hidden=2)
    x = np.random.default_rng(3).normal(size=(3, 2))
    ahead = model.forecast(x, 1, n_samples=10_000, rng=0)
    b, c = temporal_exact.biases(model, x[-1], model.filter(x)[-1])
    exact = x[0] - temporal_exact.frame(model, b, c, x[0]).gradient["visible_bias"]
    # Five standard errors, of two numbers.
    assert (abs(ahead.mean[0] - exact) < 5 * ahead.std[0] / np.sqrt(10_000)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_do_not_depend_on_threads_and_are_not_alike(dtype):
    model = temporal_model(n_visible=30, n_hidden=40, dtype=dtype, scale=0.2)
    x = np.random.default_rng(0).integers(0, 2, (4, 30))
    found = model.forecast(x, 3, n_samples=1100, rng=5).draws  # many blocks of chains
    assert found.dtype == dtype and found.shape == (1100, 3, 30)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(found, model.forecast(x, 3, n_samples=1100, rng=5).draws)
    finally:
        numba.set_num_threads(before)
    assert len(np.unique(found.reshape(1100, -1), axis=0)) == 1100


@pytest.mark.parametrize("return_mean", [False, True])
def test_frames_drawn_in_several_calls_are_the_same(return_mean, monkeypatch):
    model = temporal_model(n_visible=5, n_hidden=4, n_lags=2)
    found = model.generate(6, rng=2, n_gibbs=5, return_mean=return_mean)
    monkeypatch.setattr(continuations, "STRETCH", 1.0)  # a frame a call
    again = model.generate(6, rng=2, n_gibbs=5, return_mean=return_mean)
    np.testing.assert_array_equal(found, again)


def test_several_sequences_and_none():
    model = temporal_model(n_visible=3, n_hidden=2)
    many = model.forecast([PREFIX, PREFIX[:1], np.zeros((0, 3))], 2, n_samples=1000, rng=0)
    assert repr(many) == "Forecast(n=3, n_samples=1000, n_frames=2, n_visible=3)"
    assert many.mean.shape == many.std.shape == (3, 2, 3)
    for k, prefix in enumerate((PREFIX, PREFIX[:1], None)):
        alone = model.forecast(prefix, 2, n_samples=1000, rng=1)
        error = np.sqrt((alone.std**2 + many.std[k] ** 2) / 1000)
        assert (abs(alone.mean - many.mean[k]) < 5 * error).all()  # 18 numbers
        np.testing.assert_array_equal(many[k].draws, many.draws[k])
        assert (many[k].prefix is None) == (prefix is None)
    stacked = model.forecast(np.array([PREFIX, PREFIX]), 1, n_samples=2, rng=0)
    assert stacked.draws.shape == (2, 2, 1, 3)
    with pytest.raises(TypeError, match="forecast of one sequence"):
        alone[0]


def test_statistics_are_those_of_the_draws():
    draws = np.random.default_rng(0).normal(size=(7, 2, 3)).astype(np.float32)
    ahead = tf.models.Forecast(draws)
    np.testing.assert_allclose(ahead.mean, draws.astype(float).mean(0))
    np.testing.assert_allclose(ahead.std, draws.astype(float).std(0, ddof=1))
    np.testing.assert_array_equal(ahead.quantiles(0), draws.min(0))
    np.testing.assert_array_equal(ahead.quantiles([0.5, 1])[0], np.median(draws, 0))


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"prefix": [[0, 1]]}, ValueError, "prefix must have 3 columns, got 2"),
        ({"prefix": [PREFIX, PREFIX + 1]}, ValueError, r"prefix\[1\] must lie in \[0, 1\]"),
        ({"prefix": []}, None, ""),
        ({"prefix": np.zeros((0, 3, 3))}, ValueError, "prefix must hold sequences, got none"),
        ({"prefix": PREFIX + np.inf}, ValueError, "prefix must be finite"),
        ({"prefix": "none"}, TypeError, "prefix must hold real numbers"),
        ({"n_frames": 0}, ValueError, "n_frames must be at least 1"),
        ({"n_samples": 1}, ValueError, "n_samples must be at least 2, got 1"),
        ({"n_gibbs": 2.0}, TypeError, "n_gibbs must be an int"),
    ],
)
def test_bad_arguments(arguments, kind, words):
    model = temporal_model(n_visible=3, n_hidden=2)
    given = {"prefix": PREFIX, "n_frames": 2, "n_samples": 3, "rng": 0} | arguments
    if kind is None:
        assert model.forecast(**given).prefix is None
        return
    with pytest.raises(kind, match=words):
        model.forecast(**given)


@pytest.mark.parametrize("q", [-0.1, [0.5, 1.1], np.nan])
def test_quantiles_of_no_share(q):
    with pytest.raises(ValueError, match=r"q must lie in \[0, 1\]"):
        tf.models.Forecast(np.zeros((2, 1, 1))).quantiles(q)
