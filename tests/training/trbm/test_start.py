"""Where training on sequences starts: linear forecasts, built into the model."""

import numpy as np
import pytest

import trug_fast as tf

STILL = {"epochs": 1, "learning_rate": 1e-9, "monitor": None, "rng": 0}
KEPT = STILL | {"truncation": (-4.0, 4.0)}  # nothing moves


@pytest.fixture(scope="module")
def swings():
    """Two mixed pendulums, seen in six channels: the next frame needs two frames before it."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(4, 6)) / 2
    sequences = []
    for _ in range(40):
        t, phase = np.arange(60), rng.uniform(0, 6, 2)
        angle = t[:, None] * np.array([0.5, 0.35]) + phase
        states = np.concatenate([np.sin(angle), np.sin(2 * angle + 1)], axis=1)
        sequences.append(states @ mixing + 0.05 * rng.normal(size=(60, 6)))
    scale = np.concatenate(sequences).std(axis=0)
    sequences = [x / scale + 0.3 for x in sequences]  # the mean need not be 0
    return sequences[:30], sequences[30:]


@pytest.mark.parametrize(
    "units",
    [
        {"truncation": "sigmoid"},
        {"truncation": "tanh", "visible": tf.GaussianUnits(learn_precision=True)},
        {"truncation": "relu"},
        {"truncation": (-2.0, 2.0), "dtype": "float64"},
        {"hidden": "bernoulli"},
    ],
)
def test_training_starts_at_the_forecast_from_two_frames(swings, units):
    train, test = swings
    simple = {k: v.mean() for k, v in tf.forecast_errors(train, test).items()}
    assert simple["linear, order 2"] < 0.5 * simple["linear, order 1"]
    errors = {}
    for order in (1, 2):
        options = {"visible": "gaussian", "start": tf.LinearStart(order, 0.001)} | units
        fit = tf.train_trbm(train, 120, **options, **STILL)
        errors[order] = tf.prediction_error(fit.model, test, method="mean_field").mean()
    # The first is exact but for small random weights; the second holds while units are linear.
    assert errors[1] == pytest.approx(simple["linear, order 1"], rel=0.02)
    assert errors[2] < simple["linear, order 2"] + 0.1 * simple["linear, order 1"]


def test_models_too_small_for_it_start_at_one_frame(swings):
    train, test = swings
    models = [
        tf.train_trbm(train, 3, visible="gaussian", start=tf.LinearStart(order), **KEPT).model
        for order in (1, 2)
    ]
    for name in models[0].names:
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))


def test_gaussian_visibles_start_as_exact_as_the_linear_forecast(swings):
    train = swings[0]
    error = tf.forecast_errors(train, train, orders=(1,))["linear, order 1"].mean()
    precision = tf.train_trbm(train, 3, visible="gaussian", **KEPT).model.visible_precision
    np.testing.assert_allclose(precision, train[0].shape[1] / error, rtol=1e-4)
    given = tf.train_trbm(train, 3, visible=tf.GaussianUnits(2.5), **KEPT).model
    np.testing.assert_array_equal(given.visible_precision, np.float32(2.5))


def test_wrong_orders():
    videos = tf.datasets.bouncing_balls(2, 5, size=4, n_balls=1, rng=0)
    with pytest.raises(ValueError, match="LinearStart of order 2 is for visible='gaussian'"):
        tf.train_trbm(videos, 4, start=tf.LinearStart(2))
    with pytest.raises(ValueError, match="order must be 1 or 2"):
        tf.train_trbm(videos, 4, visible="gaussian", start=tf.LinearStart(3))
