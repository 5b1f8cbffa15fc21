"""The estimate of a temporal model's gradient: exact on average, and its definition."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import biases_after, temporal_model
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.exact import binary_states as states_of
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.filter import of_lags
from trug_fast.models.sequences import as_sequences
from trug_fast.training.samplers import SequenceCD
from trug_fast.training.trbm.gradients import Draws, Offsets, _starts, estimate

COPIES = 500


def exact_starts(model, x, repeats, seed):
    """Exact draws of x_t given the filtered past, then of h_t given them: (repeats, T, m)."""
    rng = np.random.default_rng(seed)
    hidden = model.filter(x)
    states = states_of(model.n_visible)
    result = np.empty((repeats, len(x), model.n_hidden))
    for t in range(len(x)):
        b, c = biases_after(model, x[:t], hidden[:t])
        p = np.exp([temporal_exact.frame(model, b, c, s).log_likelihood for s in states])
        rows = states[rng.choice(len(states), repeats, p=p / p.sum())]
        if isinstance(model, tf.TruGTRBM):
            rbm = tf.TruGRBM(model.weights, b, c, model.precision, model.lower, model.upper)
        else:
            rbm = tf.BernoulliRBM(model.weights, b, c)
        result[:, t] = rbm.sample_hidden(rows, rng=seed + t)
    return result


@pytest.mark.parametrize(
    ("kind", "rule", "n_lags"),
    [
        ("mixed", "full", 1),
        ("bernoulli", "paper", 1),
        ("mixed", "full", 2),
        pytest.param("mixed", "paper", 1, marks=pytest.mark.slow),
        pytest.param("bernoulli", "full", 1, marks=pytest.mark.slow),
        pytest.param("mixed", "paper", 3, marks=pytest.mark.slow),
    ],
)
def test_estimate_is_exact_on_average_at_the_target(kind, rule, n_lags):
    # Chains that start at the exact conditionals stay there, so the estimate is unbiased.  40
    # repetitions of 500 sequences give its standard error.  Of 400 comparisons one exceeds 4.5 of
    # them by chance in 1 of 40 sets of seeds (Student's t, 39 degrees); the seeds are fixed.
    model = temporal_model(kind, scale=0.5, n_lags=n_lags)
    x = np.random.default_rng(5).integers(0, 2, (3, model.n_visible)).astype(float)
    exact = tf.exact.gradient(model, [x], rule=rule)
    sequences = as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="bernoulli")
    batch = sequences.batch(np.arange(COPIES))
    offsets = Offsets(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    own, runs = model.parameters(), []
    for repeat in range(40):
        start = exact_starts(model, x, COPIES, 10 * repeat).transpose(1, 0, 2)
        start = np.ascontiguousarray(start.reshape(-1, model.n_hidden))
        sampler, draws = SequenceCD(gradient=rule), Draws(2, repeat, 0, 0)
        with one_blas_thread():
            run = estimate(own, sequences, batch, offsets, sampler, draws, start=start)
        runs.append(run)
    for name, value in exact.items():
        draws = np.array([run[name] for run in runs], float)
        if name.endswith(("_to_hidden", "_to_visible")):
            draws = np.array([of_lags(each, n_lags) for each in draws])
        draws *= 1 if name.startswith("initial") else len(x)  # per frame there, per sequence here
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - value) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.02, name  # tight enough to notice a wrong factor or sign


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["past", "both"])
def test_chains_from_the_past_reach_the_target(begin):
    # After 60 sweeps it does not matter where the chains of this small model began.
    model = temporal_model("mixed", scale=0.5)
    x = np.random.default_rng(5).integers(0, 2, (3, model.n_visible)).astype(float)
    exact = tf.exact.gradient(model, [x], rule="full")
    sequences = as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="bernoulli")
    batch = sequences.batch(np.arange(COPIES))
    offsets = Offsets(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    runs = []
    for repeat in range(40):
        with one_blas_thread():
            sampler, draws = SequenceCD(begin=begin), Draws(60, repeat, 0, 0)
            runs.append(estimate(model.parameters(), sequences, batch, offsets, sampler, draws))
    for name in ("weights", "visible_to_hidden", "hidden_to_hidden", "visible_bias", "upper"):
        draws = np.array([run[name] for run in runs], float)
        if name.endswith("_to_hidden"):
            draws = draws.swapaxes(1, 2)
        draws *= len(x)
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - exact[name]) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.03, name


def test_where_chains_start():
    # Strong weights copy a start for many sweeps: what a chain shows is where it began.
    n = 6
    model = tf.TruGTRBM(
        60 * np.eye(n), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)),
        -30.0, -30.0, -30.0, -30.0, 1.0, 0.0, 1.0,
    )  # fmt: skip
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (200, 2, n)).astype(float)
    sequences = as_sequences("x", x, visible="bernoulli")
    batch = sequences.batch(np.arange(len(x)))
    found = {}
    own, draws = model.parameters(), Draws(1, 3, 0, 0)
    for begin in ("data", "past", "both"):
        with one_blas_thread():
            seen = own.filter(sequences, batch)
            starts = _starts(own, seen, batch.first, SequenceCD(begin=begin), draws)
        found[begin] = starts.round()
    first = batch.first
    now, before = seen.visible[first:], seen.past_visible
    for begin in found:  # first frames have no past
        np.testing.assert_array_equal(found[begin][:first], seen.visible[:first])
    np.testing.assert_array_equal(found["data"][first:], now)
    np.testing.assert_array_equal(found["past"][first:], before)
    both = found["both"][first:]
    from_past = (both == before).all(axis=1) & ~(now == before).all(axis=1)
    from_data = (both == now).all(axis=1) & ~(now == before).all(axis=1)
    assert (from_past | from_data | (now == before).all(axis=1)).all()
    assert 60 < from_past.sum() < 140  # binomial of 200: outside by chance once in 10 million


def test_gaussian_estimate_is_exact_on_average():
    # From far-away starts 60 sweeps reach the target of this small model.
    model = temporal_model("gaussian", n_visible=2, n_hidden=2, scale=0.5)
    x = np.random.default_rng(5).normal(size=(3, 2))
    exact = tf.exact.gradient(model, [x], rule="full")
    sequences = as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="gaussian")
    batch, offsets = sequences.batch(np.arange(COPIES)), Offsets(np.zeros(2), np.zeros(2))
    runs = []
    for repeat in range(40):
        with one_blas_thread():
            sampler, draws = SequenceCD(begin="data"), Draws(60, repeat, 0, 0)
            runs.append(estimate(model.parameters(), sequences, batch, offsets, sampler, draws))
    for name, value in exact.items():
        draws = np.array([run[name] for run in runs], float)
        if name.endswith(("_to_hidden", "_to_visible")):
            draws = draws.swapaxes(1, 2)
        draws *= 1 if name.startswith("initial") else len(x)
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - value) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.03, name


@pytest.mark.parametrize("n_lags", [1, 2])
def test_centred_gradient_is_its_definition(n_lags):
    # The plain gradient in the coordinates in which offsets are subtracted from all states.
    model = temporal_model(n_lags=n_lags)
    rng = np.random.default_rng(0)
    data = [rng.random((t, 4)) for t in (5, 3)]
    sequences = as_sequences("x", data, visible="bernoulli")
    batch, draws = sequences.batch(np.arange(2)), Draws(1, 3, 0, 0)
    sampler = SequenceCD(begin="data")
    x, h = rng.random(4), rng.random(3)
    with one_blas_thread():
        plain, centred = (
            estimate(model.parameters(), sequences, batch, Offsets(a, b), sampler, draws)
            for a, b in ((0 * x, 0 * h), (x, h))
        )
    by_visible, by_hidden = plain["visible_bias"], plain["hidden_bias"]
    first, w1 = (x, h), centred["weights"]
    x, h = np.tile(x, n_lags), np.tile(h, n_lags)
    w2 = plain["visible_to_hidden"] - np.outer(x, by_hidden)
    w3 = plain["visible_to_visible"] - np.outer(x, by_visible)
    w4 = plain["hidden_to_hidden"] - np.outer(h, by_hidden)
    for name, value in (
        ("visible_to_hidden", w2),
        ("visible_to_visible", w3),
        ("hidden_to_hidden", w4),
        ("visible_bias", by_visible - w1 @ first[1] - x @ w3),
        ("hidden_bias", by_hidden - first[0] @ w1 - x @ w2 - h @ w4),
        ("initial_visible_bias", plain["initial_visible_bias"] - w1 @ first[1]),
        ("initial_hidden_bias", plain["initial_hidden_bias"] - first[0] @ w1),
        ("upper", plain["upper"]),
    ):
        np.testing.assert_allclose(centred[name], value, atol=1e-13, err_msg=name)
