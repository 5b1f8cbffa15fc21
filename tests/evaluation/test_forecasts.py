"""Errors of forecasts: of models, one frame ahead and several, and of simple rules."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import exact_predictions, temporal_model
from trug_fast.evaluation.forecasts import linear_fit
from trug_fast.models.sequences import as_sequences


def test_linear_forecast_finds_a_linear_law():
    rng = np.random.default_rng(0)
    law = np.array([[0.9, 0.3], [-0.3, 0.9]])
    x = np.empty((6, 40, 2))
    x[:, 0] = rng.normal(size=(6, 2))
    for t in range(1, 40):
        x[:, t] = x[:, t - 1] @ law + 0.5
    errors = tf.evaluation.forecast_errors(x[:4], list(x[4:]), ridge=0.0)
    assert (errors["linear, order 1"] < 1e-12).all()
    assert (errors["copy last"] > 1e-3).all()
    assert (errors["mean frame"] > errors["copy last"]).all()


def test_simple_forecasts_of_several_frames_ahead():
    rng = np.random.default_rng(0)
    train = [rng.normal(size=(t, 2)).cumsum(axis=0) for t in (9, 30, 12)]
    test = [rng.normal(size=(t, 2)).cumsum(axis=0) for t in (3, 8, 2)]
    found = tf.evaluation.forecast_horizon_errors(train, test, 4, orders=(1, 3))
    fits = {p: linear_fit(as_sequences("x", train, visible="gaussian"), p, 1.0).coefficients
            for p in (1, 2, 3)}  # fmt: skip
    off = {k: [] for k in range(4)}
    for x in test:
        for t in range(1, len(x)):
            path = list(x[:t])
            for k in range(4):
                p = min(3, len(path))
                path.append(np.concatenate([[1.0], *path[: -p - 1 : -1]]) @ fits[p])
                if t + k < len(x):
                    off[k].append(path[-1] - x[t + k])
    expected = [np.sqrt(np.mean(np.square(each))) for each in off.values()]
    np.testing.assert_allclose(found["linear, order 3"], expected)
    # One frame ahead they are those of forecast_errors; the last frame's are a model's yardstick.
    one = tf.evaluation.forecast_errors(train, test, orders=(1, 3))
    weights = np.array([len(x) - 1 for x in test])
    for name, each in found.items():
        assert each[0] == pytest.approx(np.sqrt(weights @ one[name] / weights.sum() / 2))
    zero = np.zeros
    model = tf.BernoulliTRBM(zero((2, 1)), zero((1, 2)), zero((2, 2)), [[0]], 0, 0, 0, 0, 1.0)
    other = tf.evaluation.horizon_errors(
        model, test, 4, n_samples=2, n_gibbs=1, every=2, rng=0
    ).last_frame
    every = tf.evaluation.forecast_horizon_errors(train, test, 4, every=2)["copy last"]
    np.testing.assert_allclose(other, every)
    with pytest.raises(ValueError, match="n_frames must be less than the longest .* 8, got 8"):
        tf.evaluation.forecast_horizon_errors(train, test, 8)


def test_errors_are_the_literature_s():
    model = temporal_model()
    x = np.random.default_rng(3).integers(0, 2, (5, 4)).astype(float)
    field = model.predict(x, method="mean_field", n_gibbs=100)
    error = tf.prediction_error(model, [x, x[:3]], method="mean_field", n_gibbs=100)
    square = ((field - x) ** 2)[1:].sum(axis=1)
    np.testing.assert_allclose(error, [square.mean(), square[:2].mean()], rtol=1e-12)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="model must be"):
        tf.prediction_error(tf.BernoulliRBM([[1.0]], 0.0, 0.0), np.zeros((1, 3, 1)))


# Five standard errors of the mean square, as thirty seeds have shown; the mean of two draws alone
# would add 0.12.
@pytest.mark.parametrize(("samples", "tolerance"), [(2, 0.1), (100, 0.012)])
def test_one_frame_ahead_is_the_error_of_the_exact_mean(samples, tolerance):
    model = temporal_model(n_visible=3, n_hidden=2, scale=0.4)
    videos = np.random.default_rng(0).integers(0, 2, (40, 6, 3)).astype(float)
    found = tf.evaluation.horizon_errors(model, videos, 1, n_samples=samples, rng=0)
    exact = np.array([exact_predictions(model, x)[1:] for x in videos])
    square, spread = ((exact - videos[:, 1:]) ** 2).mean(), (exact * (1 - exact)).mean()
    assert found.model[0] ** 2 == pytest.approx(square, abs=tolerance)
    assert found.spread[0] ** 2 == pytest.approx(spread, abs=tolerance)
    last = np.sqrt(((videos[:, :-1] - videos[:, 1:]) ** 2).mean())
    assert found.last_frame[0] == pytest.approx(last, abs=1e-12)


def test_a_model_s_own_sequences_are_forecast_with_errors_as_large_as_the_spread():
    model = temporal_model(n_visible=3, n_hidden=2, scale=0.6)
    videos = model.forecast(None, 12, n_samples=60, rng=0).draws
    found = tf.evaluation.horizon_errors(model, videos, 4, every=2, rng=1)
    np.testing.assert_allclose(found.model, found.spread, rtol=0.08)
    assert (found.model < found.last_frame).all()


def test_each_horizon_has_the_beginnings_whose_frames_are_known():
    model = temporal_model(n_visible=3, n_hidden=2)
    x = np.arange(9).reshape(3, 3) % 2
    y = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0], [1, 0, 0]])
    last = tf.evaluation.horizon_errors(model, [x, y], 4, n_samples=2, rng=0).last_frame
    pairs = [[(a[t], a[t + k]) for a in (x, y) for t in range(len(a) - k)] for k in range(1, 5)]
    expected = [np.sqrt(np.mean([(a - b) ** 2 for a, b in each])) for each in pairs]
    np.testing.assert_allclose(last, expected)
    alone = tf.evaluation.horizon_errors(model, [y], 4, n_samples=2, every=4, rng=0).last_frame
    np.testing.assert_allclose(alone, np.sqrt([((y[0] - y[k]) ** 2).mean() for k in range(1, 5)]))


def test_any_number_of_threads_gives_the_same():
    model = temporal_model(n_visible=30, n_hidden=40, dtype=np.float32, scale=0.2)
    videos = np.random.default_rng(0).integers(0, 2, (9, 12, 30))
    both = [tf.evaluation.horizon_errors(model, videos, 3, rng=0)]
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        both.append(tf.evaluation.horizon_errors(model, videos, 3, rng=0))
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"model": None}, TypeError, "model must be a TRBM"),
        ({"n_frames": 4}, ValueError, "n_frames must be less than the longest sequence has, 4"),
        ({"n_samples": 1}, ValueError, "n_samples must be at least 2"),
        ({"every": 0}, ValueError, "every must be at least 1"),
    ],
)
def test_bad_arguments(arguments, kind, words):
    given = {"model": temporal_model(), "sequences": np.zeros((2, 4, 4)), "n_frames": 2}
    with pytest.raises(kind, match=words):
        tf.evaluation.horizon_errors(**(given | arguments))
