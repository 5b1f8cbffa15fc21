"""Temporal models that look back further than one frame: their parameters, files and printing."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import biases_after, exact_predictions, temporal_model
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.filter import LAGGED, of_lags, stacked
from trug_fast.models.missing_frames import precise


def test_files_and_printing(tmp_path):
    model = temporal_model("gaussian", n_lags=3, dtype=np.float32)
    assert repr(model) == (
        "TruGTRBM(n_visible=4, n_hidden=3, visible='gaussian', n_lags=3, dtype=float32)"
    )
    model.save(tmp_path / "model.npz")
    again = tf.TruGTRBM.load(tmp_path / "model.npz")
    assert again.n_lags == 3 and again.visible_to_hidden.shape == (3, 3, 4)
    for name in model.names:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    with pytest.raises(ValueError, match="read-only"):
        again.hidden_to_hidden[0] = 0
    assert temporal_model().n_lags == 1


def test_one_lag_may_have_an_axis_of_its_own():
    model = temporal_model("bernoulli")
    arrays = {k: v[None] if k in LAGGED else v for k, v in model.arrays().items()}
    again = tf.BernoulliTRBM(**arrays)
    assert again.n_lags == 1
    for name in model.names:
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "hidden_to_hidden",
            np.zeros((3, 3, 3)),
            "must have 2 lags, as visible_to_hidden has, got 3",
        ),
        ("hidden_to_hidden", np.zeros((3, 3)), "must have 2 lags, as visible_to_hidden has, got 1"),
        ("visible_to_visible", np.zeros((2, 4, 3)), r"visible_to_visible\[0\] must have"),
        ("visible_to_hidden", np.zeros((0, 3, 4)), "must have a lag or more, got none"),
        (
            "visible_to_visible",
            np.full((2, 4, 4), np.nan),
            r"visible_to_visible\[0\] must be finite",
        ),
        ("weights", np.zeros((2, 4, 3)), "weights must"),
    ],
)
def test_wrong_lags(name, value, words):
    arrays = temporal_model("bernoulli", n_lags=2).arrays()
    with pytest.raises(ValueError, match=words):
        tf.BernoulliTRBM(**(arrays | {name: value}))


def test_weights_lie_lag_below_lag():
    weights = np.arange(24.0).reshape(2, 3, 4)
    stack = stacked(weights)
    np.testing.assert_array_equal(stack, np.concatenate([weights[0].T, weights[1].T]))
    np.testing.assert_array_equal(of_lags(stack, 2), weights)
    np.testing.assert_array_equal(of_lags(stacked(weights[0]), 1), weights[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_filter_looks_at_all_lags(dtype):
    model = temporal_model(n_lags=3, dtype=dtype)
    x = np.random.default_rng(0).random((6, 4)).astype(dtype)
    hidden, tolerance = model.filter(x), 1e-12 if dtype is np.float64 else 1e-5
    assert hidden.dtype == dtype
    for t in range(len(x)):
        rbm = model.frame_model(*biases_after(model, x[:t], hidden[:t]))
        expected = rbm.hidden_moments(x[t : t + 1]).mean[0]
        np.testing.assert_allclose(hidden[t], expected, atol=tolerance)
        found = model.next_frame(x[:t] if t else None)
        np.testing.assert_allclose(found.visible_bias, rbm.visible_bias, atol=tolerance)


def test_forecasts_are_those_of_the_exact_model():
    model = temporal_model(n_visible=3, n_hidden=2, n_lags=2, scale=0.5)
    x = np.random.default_rng(0).integers(0, 2, (5, 3)).astype(float)
    found = np.mean([model.predict(x, n_gibbs=2000, rng=seed) for seed in range(4)], axis=0)
    np.testing.assert_allclose(found, exact_predictions(model, x), atol=0.03)
    errors = tf.evaluation.horizon_errors(model, [x], 1, n_samples=4000, rng=0).model[0]
    exact = np.sqrt(((exact_predictions(model, x) - x)[1:] ** 2).mean())
    assert errors == pytest.approx(exact, abs=0.02)
    each = tf.evaluation.frame_log_likelihood(model, [x, x[:2]]).value
    exact = tf.exact.log_likelihood(model, [x, x[:2]])
    np.testing.assert_allclose([part.sum() for part in each], exact, atol=1e-12)


def test_the_paper_s_gradient_holds_the_filter_fixed():
    model = temporal_model(n_lags=2)
    x = np.random.default_rng(1).random((4, 4))
    hidden, found = model.filter(x), tf.exact.gradient(model, [x], rule="paper")

    def value(arrays):
        other = tf.TruGTRBM(**arrays)
        frames = [
            temporal_exact.frame(other, *biases_after(other, x[:t], hidden[:t]), x[t])
            for t in range(len(x))
        ]
        return sum(frame.log_likelihood for frame in frames)

    for name in (*LAGGED, "weights", "hidden_bias", "initial_visible_bias", "upper"):
        at = np.unravel_index(np.argmax(abs(found[name])), found[name].shape)
        ends = []
        for sign in (1, -1):
            arrays = {k: np.array(v) for k, v in model.arrays().items()}
            arrays[name][at] += 1e-5 * sign
            ends.append(value(arrays))
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(found[name][at], abs=1e-7), name


def test_a_lag_without_weights_changes_nothing():
    model = temporal_model("gaussian")
    arrays = {k: np.stack([v, 0 * v]) if k in LAGGED else v for k, v in model.arrays().items()}
    longer = tf.TruGTRBM(**arrays)
    assert longer.n_lags == 2
    x = np.random.default_rng(0).normal(size=(7, 4))
    np.testing.assert_allclose(longer.filter(x), model.filter(x), atol=1e-13)
    pairs = zip(
        (precise(longer.parameters()).n_lags, longer.predict(x, rng=0)),
        (2, model.predict(x, rng=0)),
        strict=True,
    )
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
