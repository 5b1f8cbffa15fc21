"""One-step forecasts come near the exact means."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import BINARY, CASES, exact_predictions, of_case, read, temporal_model
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.sequences import as_sequences
from trug_fast.models.trbm import predict_all


@pytest.mark.parametrize("name", BINARY)
def test_exact_predictions_are_the_cases(name):
    case = CASES[name]
    found = exact_predictions(of_case(case), read(case["x"]))
    np.testing.assert_allclose(found, read(case["expected"]["pred_mean"]), atol=1e-12)


def averaged(model, x):
    """Predictions averaged over 400 sequences that are all alike."""
    copies = as_sequences("x", np.tile(x, (400, 1, 1)), visible=model.visible)
    found = predict_all(model.parameters(), copies, "gibbs", 100, 0)
    return found.reshape(400, *x.shape).mean(axis=0)


def test_gibbs_predictions_come_near_the_exact_mean():
    model = temporal_model()
    x = np.random.default_rng(3).integers(0, 2, (5, 4)).astype(float)
    exact = exact_predictions(model, x)
    # Means of 32,000 states of chains that mix in a few sweeps: standard errors below 3e-3.
    assert abs(averaged(model, x) - exact).max() < 0.015
    field = model.predict(x, method="mean_field", n_gibbs=100)
    assert 0 < abs(field - exact).max() < 0.15


def test_gaussian_predictions_come_near_the_exact_mean():
    model = temporal_model("gaussian", n_visible=2, n_hidden=2)
    x = np.random.default_rng(3).normal(size=(4, 2))
    hidden, found = model.filter(x), averaged(model, x)
    for t in range(1, 4):
        b, c = temporal_exact.biases(model, x[t - 1], hidden[t - 1])
        exact = x[t] - temporal_exact.frame(model, b, c, x[t]).gradient["visible_bias"]
        np.testing.assert_allclose(found[t], exact, atol=0.02)


def test_the_rules_are_what_they_say():
    model = temporal_model()
    x = np.random.default_rng(3).integers(0, 2, (5, 4)).astype(float)
    # Of one sweep nothing is dropped; that of "last" starts at noise, that of "gibbs" at the past.
    one = {m: model.predict(x, method=m, n_gibbs=1, rng=0) for m in ("gibbs", "last")}
    assert (one["gibbs"] != one["last"])[1:].any()
    np.testing.assert_array_equal(one["gibbs"], model.predict(x, n_gibbs=1, rng=0))
    hidden = model.filter(x)
    b, c = model.parameters().next_biases(x[:-1], hidden[:-1])
    field = model.predict(x, method="mean_field", n_gibbs=1, rng=0)
    units = model.precision, model.lower, model.upper
    for t in range(1, 5):
        own = tf.TruGRBM(model.weights, b[t - 1], c[t - 1], *units)
        mean = own.hidden_moments(x[t - 1 : t]).mean
        expected = 1 / (1 + np.exp(-(mean @ model.weights.T + b[t - 1])))
        np.testing.assert_allclose(field[t], expected[0], atol=1e-12)
