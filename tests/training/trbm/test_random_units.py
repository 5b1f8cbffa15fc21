"""A start at a forecast to which hidden units add what is not linear."""

import warnings

import numpy as np
import pytest

import trug_fast as tf

STILL = {"epochs": 1, "learning_rate": 1e-9, "monitor": None, "rng": 0}
WIDE = {"truncation": (-4.0, 4.0)}
UNITS = [  # and how much of the linear forecast's error they leave at most
    (WIDE, 0.6),
    ({"truncation": "tanh", "dtype": "float64"}, 0.7),
    ({"truncation": "sigmoid"}, 0.75),
    ({"truncation": "relu"}, 0.6),
    ({"hidden": "bernoulli"}, 0.95),
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


def started(data, units, n_hidden=60, n_lags=2, **start):
    how = {"visible": "gaussian", "start": tf.LinearStart(**start)} | units
    return tf.train_trbm(data, n_hidden, n_lags=n_lags, **STILL | how).model


@pytest.mark.parametrize("n_lags", [1, 2])
@pytest.mark.parametrize(("units", "share"), UNITS)
def test_units_add_what_is_not_linear(pendulums, units, share, n_lags):
    train, test = pendulums
    errors = {}
    for hidden_ridge in (None, 100.0):
        model = started(train, units, n_lags=n_lags, order=n_lags, hidden_ridge=hidden_ridge)
        errors[hidden_ridge] = tf.prediction_error(model, test, method="mean_field").mean()
    assert errors[100.0] < share * errors[None]


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


def test_fewer_frames_than_lags_and_weights_of_sequences(pendulums):
    train, _ = pendulums
    one = WIDE | {"dtype": "float64"}
    model = started(train, one, n_lags=3, order=2, hidden_ridge=100.0)
    sizes = np.abs(model.visible_to_hidden).max(axis=(1, 2))
    assert sizes[:2].min() > 0.1 and sizes[2] < 1e-6
    assert np.abs(model.hidden_to_hidden).max() < 1e-6
    twice = np.concatenate([train, train[:20]])
    weight = np.repeat([2.0, 1.0], 20)
    # Weights are scaled to a mean of 1, penalties are not: 60 sequences count as 40.
    doubled = started(twice, one, ridge=15.0, hidden_ridge=150.0)
    weighted = started(train, one | {"sample_weight": weight}, ridge=10.0, hidden_ridge=100.0)
    x = train[0]
    found, wanted = (m.predict(x, method="mean_field", rng=0) for m in (weighted, doubled))
    np.testing.assert_allclose(found[1:], wanted[1:], atol=1e-6)


def test_penalties_count(pendulums):
    train, _ = pendulums
    sizes = [
        np.abs(started(train, WIDE, hidden_ridge=ridge).weights).mean() for ridge in (1e2, 1e4)
    ]
    assert sizes[1] < 0.5 * sizes[0]
    stiff = started(train, WIDE, ridge=1e9).visible_to_visible
    np.testing.assert_allclose(stiff[0] / np.diag(stiff[0]), np.eye(4), atol=1e-3)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("n_lags", [1, 2])
def test_units_of_measurement_do_not_matter(pendulums, n_lags, learned):
    train, test = pendulums
    rate = {"precision_rate": 0.0} if learned else {}
    visible = tf.GaussianUnits(learn_precision=learned, **rate)
    how = WIDE | {"dtype": "float64", "visible": visible, "learning_rate": 0.0}

    def forecast(size):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tf.TrainingWarning)  # of rates: standardise
            model = started(train * size, how, n_lags=n_lags, hidden_ridge=100.0)
        return model.predict(test[0] * size, method="mean_field", n_gibbs=50, rng=0)[1:] / size

    plain, spread = forecast(np.ones(4)), np.std(test[0], axis=0)
    sizes = [np.full(4, 1e6), np.full(4, 1e-6)]
    if learned:  # which one for all columns is not; training keeps each between 1e-4 and 1e4
        sizes = [np.array([100.0, 1.0, 0.3, 10.0])]
    for size in sizes:
        np.testing.assert_allclose(forecast(size) / spread, plain / spread, atol=1e-5)
    # Columns so small that training holds their precisions at its limit are forecast no worse.
    small = forecast(np.array([1e-3, 1.0, 1e-6, 1.0]))
    errors = [np.square((x - test[0][1:]) / spread).mean() for x in (small, plain)]
    assert errors[0] < 2 * errors[1]


@pytest.mark.parametrize("n_lags", [1, 2])
def test_where_columns_are_does_not_matter(pendulums, n_lags):
    train, test = pendulums
    given = WIDE | {"dtype": "float64", "learning_rate": 0.0}

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


def test_what_it_is_not_for(pendulums):
    train, _ = pendulums
    with pytest.raises(ValueError, match="hidden_ridge is for visible='gaussian'"):
        tf.train_trbm(np.zeros((3, 5, 4)), 3, start=tf.LinearStart(hidden_ridge=1.0))
    with pytest.raises(ValueError, match="order 2 needs n_lags=2 .* without hidden_ridge"):
        started(train, WIDE, n_lags=1, order=2, hidden_ridge=1.0)
    with pytest.raises(ValueError, match="hidden_ridge must be at least 0"):
        tf.LinearStart(hidden_ridge=-1.0)
    with pytest.raises(ValueError, match="ridge must be at least 0"):
        tf.LinearStart(ridge=-1.0)


def test_a_start_that_is_worse_than_the_linear_one_says_so(pendulums):
    train, _ = pendulums
    few = train[:2, :30]
    start = {"n_hidden": 300, "ridge": 0.0}
    with pytest.warns(tf.TrainingWarning, match="hidden_ridge=0 .* error of .* linear ones alone"):
        started(few, WIDE, hidden_ridge=0.0, **start)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        started(train, WIDE, hidden_ridge=100.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_data_far_from_0_or_without_motion(pendulums, dtype):
    train, test = pendulums
    how = WIDE | {"dtype": dtype}
    far = 1e6 + 0.01 * np.random.default_rng(0).normal(size=(5, 20, 4))
    assert np.isfinite(started(far, how, hidden_ridge=1.0).weights).all()
    tiny = 1e-19 if dtype == "float32" else 1e-150
    for still in (np.full((3, 6, 2), 0.1), np.zeros((3, 6, 2)), tiny * train, train[:1, :2]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nothing is learned
            model = started(still, how, n_lags=1, hidden_ridge=1.0)
        assert np.abs(model.visible_to_hidden).max() < 1
    constant = train.copy()
    constant[:, :, 3] = 5.0
    model = started(constant, how, hidden_ridge=100.0)
    assert np.abs(model.predict(constant[0], method="mean_field", rng=0)[1:, 3] - 5.0).max() < 0.01


@pytest.mark.parametrize("ends", [(-np.inf, np.inf), (-np.inf, 0.0), (0.0, np.inf)])
@pytest.mark.parametrize("start", [{}, {"hidden_ridge": 100.0}, {"order": 1}])
def test_intervals_without_a_lower_end(pendulums, ends, start):
    train, test = pendulums
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = started(train, {"truncation": ends}, n_lags=1, **start)
    simple = tf.forecast_errors(train, test, orders=(1,))["linear, order 1"].mean()
    assert tf.prediction_error(model, test, method="mean_field").mean() < 1.05 * simple
