"""What units have become: constructed units, and the probabilities by direct counting."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of

INF = np.inf


def test_constructed_units_are_named():
    weights = np.array([[2.0, 2.0, 2.0, 2.0, 0.01, 2.0]])
    model = tf.TruGRBM(
        weights,
        0.0,
        -1.0,
        [1.0, 1.0, 1.0, -6.0, 1.0, 0.0],
        [-9.0, 0.0, -0.5, 0.0, 0.0, 0.0],
        [9.0, INF, 0.5, 1.0, 1.0, 1.0],
    )
    found = tf.evaluation.unit_regimes(model, np.array([[0], [1]]))
    assert found.regime.tolist() == [
        "gaussian",
        "rectifying",
        "sigmoid",
        "binary",
        "silent",
        "sigmoid",
    ]
    assert found.counts == {
        "gaussian": 1,
        "rectifying": 1,
        "sigmoid": 2,
        "binary": 1,
        "silent": 1,
    }
    assert np.isnan(found.beyond_lower).tolist() == [False, False, False, True, False, True]


def test_probabilities_are_those_of_draws_without_truncation():
    rng = np.random.default_rng(3)
    weights, bias = rng.normal(size=(4, 3)), rng.normal(size=3)
    precision, lower, upper = np.array([0.5, 1.0, 4.0]), -0.3, 0.9
    model = tf.TruGRBM(weights, 0.0, bias, precision, lower, upper)
    X = rng.integers(0, 2, (50, 4))
    found = tf.evaluation.unit_regimes(model, X)
    n = 4000
    h = rng.normal((X @ weights + bias) / precision, precision**-0.5, (n, 50, 3))
    # The error of a mean of n x 50 Bernoulli draws: at most 0.5 / sqrt(200,000); five of these.
    np.testing.assert_allclose(found.beyond_lower, (h < lower).mean(axis=(0, 1)), atol=5.6e-3)
    np.testing.assert_allclose(found.beyond_upper, (h > upper).mean(axis=(0, 1)), atol=5.6e-3)
    mean = model.hidden_moments(X).mean
    np.testing.assert_allclose(found.reach, np.ptp(mean, axis=0), rtol=1e-6)


def test_rows_may_come_in_any_number(monkeypatch):
    model = model_of("mixed")
    X = np.random.default_rng(0).integers(0, 2, (37, model.n_visible))
    whole = tf.evaluation.unit_regimes(model, X)
    monkeypatch.setattr("trug_fast.evaluation.regimes.CHUNK", 5)
    parts = tf.evaluation.unit_regimes(model, X)
    assert (whole.regime == parts.regime).all()
    np.testing.assert_allclose(whole.beyond_upper, parts.beyond_upper, rtol=1e-12)


def test_what_is_no_trug_rbm_is_refused():
    with pytest.raises(TypeError, match="model must be a TruGRBM, got BernoulliRBM"):
        tf.evaluation.unit_regimes(model_of("bernoulli"), [[0, 1]])


@pytest.mark.filterwarnings("error")
def test_numbers_beyond_those_of_floats_are_refused():
    X = np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1]])
    for upper in (1.0, INF):
        far = tf.TruGRBM(np.full((3, 2), [1.0, 1.7e308]), 0.0, 0.0, 1.0, 0.0, upper)
        with pytest.raises(ValueError, match="net input or the mean of hidden unit 1 .* of float"):
            tf.evaluation.unit_regimes(far, X)
    # All rows have an infinite mean, of which no change is known.
    endless = tf.TruGRBM(np.full((3, 1), 1.0), 0.0, 1e200, 1.0, 0.0, INF)
    with pytest.raises(ValueError, match="hidden unit 0"):
        tf.evaluation.unit_regimes(endless, X)
    found = tf.evaluation.unit_regimes(
        tf.TruGRBM(np.full((3, 1), 1e200), 0.0, 0.0, 1e-200, 0.0, 1.0), X
    )
    assert found.regime.tolist() == ["sigmoid"] and found.beyond_upper[0] == pytest.approx(5 / 6)


def test_one_row_tells_no_change():
    with pytest.raises(ValueError, match="X must have at least 2 rows, over which units change, g"):
        tf.evaluation.unit_regimes(tf.TruGRBM(np.ones((2, 1)), 0.0, 0.0, 1.0, 0.0, 1.0), [[0, 1]])
