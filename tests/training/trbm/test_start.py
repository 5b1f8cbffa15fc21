"""Where training on sequences starts: linear forecasts, built into the model."""

import warnings

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
    simple = {k: v.mean() for k, v in tf.evaluation.forecast_errors(train, test).items()}
    assert simple["linear, order 2"] < 0.5 * simple["linear, order 1"]
    errors = {}
    for order in (1, 2):
        options = {"visible": "gaussian", "start": tf.training.LinearStart(order, 0.001)} | units
        fit = tf.train_trbm(train, 120, **options, **STILL)
        errors[order] = tf.prediction_error(fit.model, test, method="mean_field").mean()
    # The first is exact but for small random weights; the second holds while units are linear.
    assert errors[1] == pytest.approx(simple["linear, order 1"], rel=0.02)
    assert errors[2] < simple["linear, order 2"] + 0.1 * simple["linear, order 1"]


def test_models_too_small_for_it_start_at_one_frame(swings):
    train, test = swings
    models = [
        tf.train_trbm(
            train, 3, visible="gaussian", start=tf.training.LinearStart(order), **KEPT
        ).model
        for order in (1, 2)
    ]
    for name in models[0].names:
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))


def test_gaussian_visibles_start_as_exact_as_the_linear_forecast(swings):
    train = swings[0]
    error = tf.evaluation.forecast_errors(train, train, orders=(1,))["linear, order 1"].mean()
    precision = tf.train_trbm(train, 3, visible="gaussian", **KEPT).model.visible_precision
    np.testing.assert_allclose(precision, train[0].shape[1] / error, rtol=1e-4)
    given = tf.train_trbm(train, 3, visible=tf.GaussianUnits(2.5), **KEPT).model
    np.testing.assert_array_equal(given.visible_precision, np.float32(2.5))


def test_wrong_orders():
    videos = tf.datasets.bouncing_balls(2, 5, size=4, n_balls=1, rng=0)
    with pytest.raises(ValueError, match="order 2 needs n_lags=2 .* is for visible='gaussian'"):
        tf.train_trbm(videos, 4, start=tf.training.LinearStart(2))
    with pytest.raises(ValueError, match="order 3 needs n_lags=3 or more, got 2$"):
        tf.train_trbm(videos, 4, n_lags=2, visible="gaussian", start=tf.training.LinearStart(3))


@pytest.mark.parametrize(("n_lags", "order"), [(2, 2), (3, 2), (3, 3)])
def test_models_of_several_lags_start_at_the_forecast_from_as_many_frames(swings, n_lags, order):
    train, test = swings
    options = {
        "visible": "gaussian",
        "start": tf.training.LinearStart(order, 0.0),
        "dtype": "float64",
    }
    model = tf.train_trbm(train, 3, n_lags=n_lags, **options, **KEPT).model
    assert model.n_lags == n_lags

    def past(x):  # the first frame stands for those before it
        places = np.arange(len(x) - 1)[:, None] - np.arange(order)
        rows = x[np.maximum(places, 0)].reshape(len(places), -1)
        return np.concatenate([np.ones((len(rows), 1)), rows], axis=1)

    a = np.concatenate([past(x) for x in train])
    # The penalty is on what differences of frames, not frames, say of the next difference.
    steps = {2: [[1, 1], [0, -1]], 3: [[1, 1, 1], [0, -1, -2], [0, 0, 1]]}[order]
    steps = np.kron(steps, np.eye(6))
    b = np.concatenate([a[:, :1], a[:, 1:] @ steps], axis=1)
    ridge = 10.0 * np.diag([0.0, *np.ones(a.shape[1] - 1)])
    fit = np.linalg.solve(
        b.T @ b + ridge, b.T @ np.concatenate([np.diff(x, axis=0) for x in train])
    )
    fit[1:] = steps @ fit[1:]
    fit[1:7] += np.eye(6)
    for x in test[:3]:
        found = model.predict(x, method="mean_field", n_gibbs=1, rng=0)[1:]
        np.testing.assert_allclose(found, past(x) @ fit, atol=1e-6)


def test_pixels_of_several_lags_start_at_log_odds_from_as_many_frames():
    # Pixels that repeat what was two frames ago: with two lags the forecast is sure of it.
    rng = np.random.default_rng(0)
    data = np.tile(rng.integers(0, 2, (30, 2, 8)), (1, 10, 1)).astype(float)
    fits = {n: tf.train_trbm(data[:20], 3, n_lags=n, **STILL).model for n in (1, 2)}
    errors = {n: tf.prediction_error(fits[n], data[20:], rng=0).mean() for n in fits}
    assert errors[2] < 0.3 < 1 < errors[1]  # 0.2 are of second frames, which have one before them


@pytest.mark.parametrize("kind", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("n_lags", [1, 2])
def test_training_can_start_at_an_rbm_of_single_frames(kind, n_lags):
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 0.3, (5, 4))
    own = {} if kind == "bernoulli" else {"visible_precision": rng.uniform(1, 2, 5)}
    rbm = tf.TruGRBM(weights, 0.1, rng.normal(size=4), 1.0, -1.0, [1, 2, 1, 2], **own)
    videos = rng.integers(0, 2, (4, 6, 5))
    still = STILL | {"optimizer": tf.training.Adam(truncation_rate=1e-9)}
    fit = tf.train_trbm(videos, n_lags=n_lags, dtype="float64", start=rbm, **still)
    assert fit.model.n_lags == n_lags and fit.model.visible == kind
    for name, value in fit.model.arrays().items():
        exact = getattr(rbm, name.removeprefix("initial_"), 0)
        np.testing.assert_allclose(value, np.broadcast_to(exact, value.shape), atol=1e-3)
    again = tf.train_trbm(videos, start=fit.model, **STILL).model
    assert again.n_lags == n_lags  # that of the model to go on from
    with pytest.raises(ValueError, match=f"start must agree in n_lags: 4 asked for, {n_lags} in"):
        tf.train_trbm(videos, n_lags=4, start=fit.model, **STILL)


@pytest.mark.parametrize(
    ("n_lags", "kind", "words"),
    [
        (0, ValueError, "n_lags must be at least 1"),
        (1.5, TypeError, "n_lags must be an int"),
        (6, ValueError, "n_lags must be less than the longest sequence has frames, 6, got 6"),
    ],
)
def test_wrong_numbers_of_lags(n_lags, kind, words):
    with pytest.raises(kind, match=words):
        tf.train_trbm(np.zeros((4, 6, 5)), 3, n_lags=n_lags, **STILL)


def test_training_learns_what_comes_from_the_second_lag():
    # A pixel moves on as it did between the two frames before: right or left.
    rng = np.random.default_rng(0)
    steps, places = rng.choice([-1, 1], 60), rng.integers(0, 10, 60)
    at = (places[:, None] + steps[:, None] * np.arange(14)) % 10
    data = (at[:, :, None] == np.arange(10)).astype(float)
    train, test = data[:40], data[40:]
    options = {
        "epochs": 20,
        "learning_rate": (0.02, 0.002),
        "start": tf.training.LinearStart(order=1),
    }
    fit = tf.train_trbm(train, 30, n_lags=2, **options, rng=0)
    errors = [((fit.model.predict(x, rng=0) - x)[2:] ** 2).sum(axis=1).mean() for x in test]
    assert tf.evaluation.forecast_errors(train, test)["linear, order 1"].mean() > 0.4
    assert np.mean(errors) < 0.1


@pytest.mark.parametrize("ends", [(-np.inf, np.inf), (-np.inf, 0.0), (0.0, np.inf)])
@pytest.mark.parametrize("order", [1, 2])
def test_intervals_without_a_lower_end(swings, ends, order):
    train, test = swings
    options = {"visible": "gaussian", "start": tf.training.LinearStart(order), "truncation": ends}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tf.train_trbm(train, 60, **options, **STILL).model
    simple = tf.evaluation.forecast_errors(train, test, orders=(1,))["linear, order 1"].mean()
    assert tf.prediction_error(model, test, method="mean_field").mean() < 1.05 * simple
