"""Gaps in what a forecast goes on from: filled as exact posteriors say, by particles."""

import itertools

import numba
import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from tests.support.temporal import biases_after, temporal_model
from trug_fast.evaluation.exact import trbm as temporal_exact

NAN = np.nan
GAPS = {
    "a late channel": [[1, 0, 1], [0, 1, 1], [1, NAN, 0]],
    "early frames": [[NAN, NAN, NAN], [0, 1, 1], [1, 1, 0]],
    "many": [[1, NAN, 1], [NAN, 1, NAN], [NAN, 0, 1], [1, NAN, NAN]],
    "a frame, then channels": [[1, 0, 1], [NAN, NAN, NAN], [1, NAN, 0], [NAN, NAN, NAN]],
}


def posterior(model, prefix):
    """Return all ways to fill the gaps, the probability of each, the mean frame after each.

    And the log-probability of what is observed.
    """
    prefix = np.asarray(prefix, float)
    missing = np.argwhere(np.isnan(prefix))
    states = tf.exact.binary_states(model.n_visible)
    ways, logs, after = [], [], []
    for values in itertools.product([0.0, 1.0], repeat=len(missing)):
        filled = prefix.copy()
        filled[tuple(missing.T)] = values
        ways.append(filled)
        logs.append(temporal_exact.log_likelihood(model, [filled])[0])
        b, c = biases_after(model, filled)
        p = np.exp([temporal_exact.frame(model, b, c, s).log_likelihood for s in states])
        after.append(p @ states)
    p = np.exp(np.array(logs) - max(logs))
    return np.array(ways), p / p.sum(), np.array(after), max(logs) + np.log(p.sum())


def require_mean(found, exact, within=0.1):
    """Require that independent runs have this mean; one number in 100,000 fails by chance."""
    limit = stats.t.isf(5e-6, len(found) - 1) / np.sqrt(len(found))
    error = limit * np.std(found, axis=0, ddof=1)
    assert (abs(np.mean(found, axis=0) - exact) <= error + 1e-12).all()
    assert error.max() < within  # else the test would show little


@pytest.mark.parametrize(
    ("gaps", "n_lags"),
    [
        *((name, 1) for name in GAPS),
        ("early frames", 2),
        pytest.param("a frame, then channels", 3, marks=pytest.mark.slow),
    ],
)
def test_gaps_are_filled_as_the_exact_posterior_says(gaps, n_lags):
    kind, scale = "bernoulli" if gaps == "many" else "mixed", 1.0 / n_lags
    model = temporal_model(kind, n_visible=3, n_hidden=2, scale=scale, n_lags=n_lags)
    ways, p, after, _ = posterior(model, GAPS[gaps])
    runs = [
        model.forecast(GAPS[gaps], 1, n_samples=300, n_gibbs=10, rng=seed) for seed in range(20)
    ]
    require_mean([run.filled.mean(axis=0) for run in runs], np.tensordot(p, ways, 1))
    require_mean([run.mean for run in runs], (p @ after)[None])


def test_gaussian_gaps_are_those_of_a_normal_distribution():
    # Without hidden units' weights frames are a Gaussian autoregression.
    rng = np.random.default_rng(0)
    a, b, w3 = np.array([2.0, 3.0]), np.array([0.5, -0.5]), rng.normal(size=(2, 2))
    past = np.zeros((1, 2)), w3, np.zeros((1, 1))
    model = tf.BernoulliTRBM(np.zeros((2, 1)), *past, b, 0, 0, 0, visible_precision=a)
    given = np.array([[0.3, NAN], [NAN, NAN], [1.0, NAN], [NAN, -0.4]])
    # x_t - W3 x_(t-1) / a is N(b / a, 1 / a), and x_1 is N(0, 1 / a).
    step = np.eye(8) - np.kron(np.eye(4, k=-1), w3 / a[:, None])
    precision = step.T @ np.diag(np.tile(a, 4)) @ step
    mean = np.linalg.solve(step, np.concatenate([np.zeros(2), np.tile(b / a, 3)]))
    gone = np.isnan(given.ravel())
    off = precision[np.ix_(gone, ~gone)] @ (given.ravel()[~gone] - mean[~gone])
    exact = given.ravel().copy()
    exact[gone] = mean[gone] - np.linalg.solve(precision[np.ix_(gone, gone)], off)
    runs = [model.forecast(given, 1, n_samples=500, n_gibbs=5, rng=seed) for seed in range(20)]
    require_mean([run.filled.mean(axis=0) for run in runs], exact.reshape(4, 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_do_not_depend_on_threads(dtype):
    model = temporal_model(n_visible=30, n_hidden=40, dtype=dtype, scale=0.1)
    x = np.random.default_rng(0).integers(0, 2, (4, 30)).astype(float)
    x[1:, :10] = NAN
    given = x.copy()
    found = model.forecast(x, 2, n_samples=600, n_gibbs=3, rng=5)
    np.testing.assert_array_equal(x, given)
    assert found.draws.dtype == found.filled.dtype == dtype
    there = ~np.isnan(x)
    assert (found.filled[:, there] == x[there]).all()
    assert set(np.unique(found.filled[:, ~there])) == {0, 1}
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        again = model.forecast(x, 2, n_samples=600, n_gibbs=3, rng=5)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(found.draws, again.draws)
    np.testing.assert_array_equal(found.filled, again.filled)
    assert found.ess == again.ess < 600


@pytest.mark.parametrize(
    ("gaps", "n_lags"),
    [
        *(("a late channel", 1), ("early frames", 1), ("many", 1)),
        pytest.param("many", 2, marks=pytest.mark.slow),
    ],
)
def test_likelihoods_of_what_is_observed_add_up_to_the_exact_one(gaps, n_lags):
    model = temporal_model(n_visible=3, n_hidden=2, scale=1.0, n_lags=n_lags)
    exact = posterior(model, GAPS[gaps])[3]
    values, errors = [], []
    for seed in range(12):
        found = tf.evaluation.frame_log_likelihood(model, [GAPS[gaps]], n_chains=200, rng=seed)
        values.append(found.value[0].sum())
        errors.append(np.linalg.norm(found.std_error[0]))
    if gaps == "a late channel":  # nothing to average over
        np.testing.assert_allclose(values, exact, rtol=1e-12)
        assert max(errors) < 1e-12
        return
    require_mean(np.exp(values - exact), 1.0, within=0.2)
    assert 0.4 < np.mean(errors) / np.std(values) < 2.5
    seen = np.array(GAPS[gaps])
    np.testing.assert_array_equal(found.value[0] == 0, np.isnan(seen).all(axis=1))


def test_likelihoods_of_gaussian_frames_with_gaps():
    a, past = [2.0, 3.0], (np.zeros((1, 2)), [[0.9, 0.4], [0.0, 1.2]], np.zeros((1, 1)))
    model = tf.BernoulliTRBM(np.zeros((2, 1)), *past, 0, 0, 0, 0, visible_precision=a)
    given = [[0.3, 0.5], [0.6, NAN], [1.0, -0.2]]
    step = np.eye(6) - np.kron(np.eye(3, k=-1), np.array(past[1]) / np.array(a)[:, None])
    covariance = np.linalg.inv(step.T @ np.diag(a * 3) @ step)
    there = [0, 1, 2, 4, 5]
    exact = stats.multivariate_normal.logpdf(
        np.array(given).ravel()[there], np.zeros(5), covariance[np.ix_(there, there)]
    )
    found = tf.evaluation.frame_log_likelihood(model, [given], method="exact", n_chains=2000, rng=0)
    error = np.linalg.norm(found.std_error[0])
    assert abs(found.value[0].sum() - exact) < 5 * error < 0.2


def test_the_first_gap_is_drawn_by_the_clamped_model_and_all_draws_count():
    model = temporal_model(n_visible=3, n_hidden=2)
    found = model.forecast([[1, 0, 1], [1, NAN, NAN]], 1, n_samples=2000, rng=0)
    assert found.ess == 2000
    given = model.next_frame([[1, 0, 1]]).clamped([1, NAN, NAN])
    p = np.exp(tf.exact.log_likelihood(given, tf.exact.binary_states(2)))
    counts = np.bincount((found.filled[:, 1, 1:] @ [1, 2]).astype(int), minlength=4)
    assert stats.chisquare(counts, p / p.sum() * 2000).pvalue > 1e-6


def test_several_sequences_of_which_some_have_gaps():
    model = temporal_model(n_visible=3, n_hidden=2)
    whole, gap = np.array(GAPS["many"]) == 1, np.array(GAPS["many"])
    found = model.forecast([whole.astype(float), gap, np.zeros((0, 3))], 2, n_samples=50, rng=0)
    assert found[0].filled is None is found[2].filled and found[0].ess is None
    assert found[1].filled.shape == (50, 4, 3) and 5 < found[1].ess <= 50
    np.testing.assert_array_equal(found[1].prefix, gap)


def test_a_forecast_for_which_few_draws_count_says_so():
    arrays = np.zeros((4, 1)), np.zeros((1, 4)), 12 * np.eye(4), np.zeros((1, 1))
    model = tf.BernoulliTRBM(*arrays, -6, 0, 0, 0)  # frames stay what they are
    with pytest.warns(tf.models.ForecastWarning, match="effective draws of n_samples=100"):
        found = model.forecast([[NAN] * 4, [1, 1, 1, 1]], 1, n_samples=100, rng=0)
    assert 1 <= found.ess < 10
    assert found.filled[:, 0].mean() > 0.9
