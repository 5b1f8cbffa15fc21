"""Errors of forecasts of several frames ahead, against exact means of small models."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import exact_predictions, temporal_model


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
