"""A start at a forecast to which hidden units add what is not linear."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import random_units
from tests.support.fits import same
from trug_fast._common.randomness import seed_from

WIDE = {"truncation": (-4.0, 4.0)}
UNITS = [  # and how much of the linear forecast's error they leave at most
    (WIDE, 0.6),
    ({"truncation": "tanh", "dtype": "float64"}, 0.7),
    ({"truncation": "sigmoid"}, 0.75),
    ({"truncation": "relu"}, 0.6),
    ({"bernoulli": True}, 0.95),
]


def swinging(rng, n, frames=60):
    """Pendulums that swing far, angle and speed: what pulls them back is the sine of the angle."""
    angle, speed = rng.uniform(-2.5, 2.5, n), rng.normal(size=n)
    states = []
    for _ in range(frames):
        speed = speed - 0.3 * np.sin(angle)
        angle = angle + 0.3 * speed
        states.append([np.sin(angle), np.cos(angle), speed, angle > 0])
    found = np.array(states).transpose(2, 0, 1)
    return found + 0.02 * rng.normal(size=found.shape)


@pytest.fixture(scope="module")
def pendulums():
    rng = np.random.default_rng(0)
    return swinging(rng, 40), swinging(rng, 10)


def started(data, units, n_hidden=60, n_lags=2, hidden_ridge=100.0, **more):
    return random_units.start(
        data, n_hidden, n_lags=n_lags, hidden_ridge=hidden_ridge, seed=0, **units | more
    )


@pytest.mark.parametrize("n_lags", [1, 2])
@pytest.mark.parametrize(("units", "share"), UNITS)
def test_units_add_what_is_not_linear(pendulums, units, share, n_lags):
    train, test = pendulums
    model = started(train, units, n_lags=n_lags)
    error = tf.prediction_error(model, test, method="mean_field").mean()
    linear = tf.evaluation.forecast_errors(train, test, orders=(n_lags,))[
        f"linear, order {n_lags}"
    ].mean()
    assert error < share * linear


def windows(x, order=2):
    """Ones and the frames before each, from the second on; first frames stand for earlier ones."""
    places = np.maximum(np.arange(len(x) - 1)[:, None] - np.arange(order), 0)
    return np.concatenate([np.ones((len(x) - 1, 1)), x[places].reshape(len(places), -1)], axis=1)


def test_the_forecast_is_that_of_a_regression(pendulums):
    """Its columns are the means of units that look where the model's units are found to look."""
    train, test = pendulums
    model = started(train, WIDE | {"dtype": "float64"}, hidden_ridge=1000.0)
    a, w = model.visible_precision, model.weights
    # What the linear part of the forecast does through the present frame belongs to the looks.
    linear = (model.visible_to_visible / a[:, None]).transpose(0, 2, 1).reshape(-1, 4)
    look = model.visible_to_hidden.transpose(0, 2, 1).reshape(-1, 60) + linear @ w
    past = np.concatenate([windows(x) for x in train])
    present = np.concatenate([x[1:] for x in train])

    def columns(past, bias):
        mean = tf.truncnorm(-4 - (s := past[:, 1:] @ look + bias), 4 - s, loc=s).mean()
        return np.concatenate([past, mean / 4], axis=1)

    # hidden_bias = bias - centre @ w, and the centre is the mean of what is forecast: that of x.
    centre = present.mean(axis=0) - past.mean(axis=0)[1:] @ linear
    rows = columns(past, model.hidden_bias + centre @ w)
    steps = np.kron([[1, 1], [0, -1]], np.eye(4))  # of frames, in terms of differences
    penalty = np.zeros((rows.shape[1],) * 2)
    inverse = np.linalg.inv(steps)
    size = np.tile(train.std(axis=(0, 1)), 2)  # of columns over their deviations
    penalty[1:9, 1:9] = 10.0 * inverse.T @ inverse * size[:, None] * size
    penalty[9:, 9:] = 1000.0 * np.eye(60)
    still = np.zeros((rows.shape[1], 4))
    still[1:5] = np.eye(4)
    fit = np.linalg.solve(rows.T @ rows + penalty, rows.T @ present + penalty @ still)
    np.testing.assert_allclose(fit[1:9], linear, atol=0.02)
    for x in test[:3]:
        wanted = columns(windows(x), model.hidden_bias + centre @ w) @ fit
        found = model.predict(x, method="mean_field", n_gibbs=50, rng=0)[1:]
        added = wanted - windows(x) @ fit[:9]  # by the units, of which little may be lost
        assert np.std(found - wanted) < 0.05 * np.std(added)


def test_fewer_frames_than_lags(pendulums):
    train, _ = pendulums
    one = WIDE | {"dtype": "float64"}
    model = started(train, one, n_lags=3, order=2, hidden_ridge=100.0)
    sizes = np.abs(model.visible_to_hidden).max(axis=(1, 2))
    assert sizes[:2].min() > 0.1 and sizes[2] < 1e-6
    assert np.abs(model.hidden_to_hidden).max() < 1e-6


def test_penalties_count(pendulums):
    train, _ = pendulums
    sizes = [
        np.abs(started(train, WIDE, hidden_ridge=ridge).weights).mean() for ridge in (1e2, 1e4)
    ]
    assert sizes[1] < 0.5 * sizes[0]
    stiff = started(train, WIDE, ridge=1e9).visible_to_visible
    np.testing.assert_allclose(stiff[0] / np.diag(stiff[0]), np.eye(4), atol=1e-3)


@pytest.mark.parametrize("n_lags", [1, 2])
def test_units_of_measurement_do_not_matter(pendulums, n_lags):
    train, test = pendulums
    how = WIDE | {"dtype": "float64"}

    def forecast(size):
        model = started(train * size, how, n_lags=n_lags)
        return model.predict(test[0] * size, method="mean_field", n_gibbs=50, rng=0)[1:] / size

    plain, spread = forecast(np.ones(4)), np.std(test[0], axis=0)
    size = np.array([100.0, 1.0, 0.3, 10.0])  # training keeps each between 1e-4 and 1e4
    np.testing.assert_allclose(forecast(size) / spread, plain / spread, atol=1e-5)
    # Columns so small that training holds their precisions at its limit are forecast no worse.
    small = forecast(np.array([1e-3, 1.0, 1e-6, 1.0]))
    errors = [np.square((x - test[0][1:]) / spread).mean() for x in (small, plain)]
    assert errors[0] < 2 * errors[1]


@pytest.mark.parametrize("n_lags", [1, 2])
def test_where_columns_are_does_not_matter(pendulums, n_lags):
    train, test = pendulums
    given = WIDE | {"dtype": "float64"}

    def forecast(change):
        model = started(change(train), given, n_lags=n_lags, hidden_ridge=100.0)
        return model.predict(change(test[0]), method="mean_field", n_gibbs=50, rng=0)[1:]

    plain, place = forecast(lambda x: x), np.array([1e5, -1e3, 0.0, 3.0])
    np.testing.assert_allclose(forecast(lambda x: x + place) - place, plain, atol=1e-5)
    # A column of rounding about 0.1 is noise, and no more harm than a column of noise is.
    coins = np.random.default_rng(0).integers(0, 2, (*train.shape[:2], 1))

    def beside(size, mean):
        return lambda x: np.append(x, mean + size * (coins if x.ndim == 3 else coins[0]), -1)

    found = [forecast(beside(*how))[:, :4] for how in ((1.0, 0.0), (1e-9, 0.1))]
    noise, rounding = (np.square(x - test[0][1:]).mean() for x in found)
    assert rounding < 1.1 * noise


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"visible": "bernoulli"}, "needs real sequences and learn_visible_precision = true"),
        ({"visible": "gaussian"}, "needs real sequences and learn_visible_precision = true"),
        ({"start_hidden_ridge": -1.0}, "train.start_hidden_ridge must be at least 0"),
    ],
)
def test_what_it_is_not_for(pendulums, options, words):
    train = {"n_hidden": 3, "visible": "gaussian", "start_hidden_ridge": 1.0} | options
    with pytest.raises(ValueError, match=words):
        random_units.start_of(train, "start_hidden_ridge", pendulums[0], 0)


def test_options_of_a_file_are_those_of_the_start(pendulums):
    train, _ = pendulums
    options = {"n_hidden": 5, "n_lags": 2, "start_order": 2, "start_ridge": 3.0}
    options |= {"visible": "gaussian", "learn_visible_precision": True, "truncation": [-2, 2]}
    found = random_units.start_of(options | {"ridge of units": 9}, "ridge of units", train, 4)
    key = seed_from(4, "train_trbm")
    wanted = random_units.start(
        train, 5, n_lags=2, order=2, ridge=3.0, hidden_ridge=9, truncation=(-2, 2), seed=key
    )
    assert same(found, wanted) and found.upper[0] == 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_data_far_from_0_or_without_motion(pendulums, dtype):
    train, test = pendulums
    how = WIDE | {"dtype": dtype}
    far = 1e6 + 0.01 * np.random.default_rng(0).normal(size=(5, 20, 4))
    assert np.isfinite(started(far, how, hidden_ridge=1.0).weights).all()
    tiny = 1e-19 if dtype == "float32" else 1e-150
    for still in (np.full((3, 6, 2), 0.1), np.zeros((3, 6, 2)), tiny * train, train[:1, :2]):
        model = started(still, how, n_lags=1, hidden_ridge=1.0)
        assert np.abs(model.visible_to_hidden).max() < 1
    constant = train.copy()
    constant[:, :, 3] = 5.0
    model = started(constant, how, hidden_ridge=100.0)
    assert np.abs(model.predict(constant[0], method="mean_field", rng=0)[1:, 3] - 5.0).max() < 0.01
