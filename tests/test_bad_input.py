"""Bad input meets a clear error at the door, before anything is computed or changed."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of

X = np.array([[0, 1, 1], [1, 0, 0]])
NAN, INF = float("nan"), float("inf")
SOFT = {"visible": tf.BernoulliUnits(soft=True)}


def with_value(value, dtype=float):
    """Return X with one other value."""
    data = X.astype(dtype)
    data[1, 2] = value
    return data


TRAIN = [
    (with_value(NAN), {}, ValueError, r"X must be finite, got nan at index \(1, 2\)"),
    (with_value(INF), {}, ValueError, r"X must be finite, got inf"),
    (with_value(0.5), {}, ValueError, r"X must be 0 or 1, got 0.5 at row 1, column 2.*soft=True"),
    (
        with_value(2),
        SOFT,
        ValueError,
        r"X must lie in \[0, 1\], got 2",
    ),
    (with_value(-1, int), {}, ValueError, r"X must be 0 or 1, got -1"),
    (X[0], {}, ValueError, r"X must be a matrix \(rows, columns\), got shape \(3,\)"),
    (X[:0], {}, ValueError, r"X must not be empty, got shape \(0, 3\)"),
    (X[:, :0], {}, ValueError, r"X must not be empty"),
    (X.astype(str), {}, TypeError, r"X must hold real numbers, got dtype <U"),
    (X * 1j, {}, TypeError, r"X must hold real numbers, got dtype complex"),
    (X, {"n_hidden": 0}, ValueError, r"n_hidden must be at least 1, got 0"),
    (X, {"n_hidden": 2.5}, TypeError, r"n_hidden must be an int, got 2.5"),
    (X, {"n_hidden": True}, TypeError, r"n_hidden must be an int, got True"),
    (
        X,
        {"monitor": tf.training.Monitor(patience=3)},
        ValueError,
        r"patience needs validation data",
    ),
    (X, {"validation": X, "monitor": None}, ValueError, r"validation has no effect with monitor=N"),
    (
        X,
        {"truncation": "relu", "optimizer": tf.training.SGD(truncation_rate=0.1)},
        ValueError,
        r"truncation_rate has no ef",
    ),
    (
        X,
        {"hidden": "bernoulli", "optimizer": tf.training.SGD(truncation_rate=0.1)},
        ValueError,
        r"truncation_rate has no ef",
    ),
    (X, {"epochs": -1}, ValueError, r"epochs must be at least 1, got -1"),
    (X, {"batch_size": 0}, ValueError, r"batch_size must be at least 1"),
    (X, {"hidden": "gauss"}, ValueError, r"hidden must be one of 'trug', 'bernoulli', got 'gauss'"),
    (
        X,
        {"hidden": tf.training.PCD()},
        TypeError,
        r"hidden must be one of .* or made by TruGUnits, got PCD",
    ),
    (X, {"sampler": "pdc"}, ValueError, r"sampler must be one of"),
    (
        X,
        {"sampler": tf.training.SequenceCD()},
        TypeError,
        r"sampler must be .*made by PCD or CD or P",
    ),
    (X, {"optimizer": "lbfgs"}, ValueError, r"optimizer must be one of"),
    (X, {"optimizer": 3}, TypeError, r"optimizer must be one of .*SGD or RMSprop or Adam, got 3"),
    (X, {"monitor": "loss"}, ValueError, r"monitor must be one of"),
    (X, {"monitor": "rmse"}, ValueError, r"monitor must be one of 'auto', 'pseudo', 'reconstr"),
    (
        X,
        {"monitor": tf.training.Monitor("rmse")},
        ValueError,
        r"score must be one of 'auto', 'pseudo', ",
    ),
    (X, {"monitor": 3}, TypeError, r"monitor must be a Monitor, got int"),
    (X, {"truncation": "relus"}, ValueError, r"truncation must be one of 'sigmoid', 'relu'"),
    (X, {"truncation": (1, 1)}, ValueError, r"lower must be below upper, got lower=1, upper=1"),
    (X, {"truncation": (2, 1)}, ValueError, r"lower must be below upper"),
    (X, {"truncation": (NAN, 1)}, ValueError, r"lower must not be NaN"),
    (X, {"truncation": 3}, TypeError, r"truncation must be a Truncation, a name or a pair"),
    (X, {"truncation": "relu", "hidden": "bernoulli"}, ValueError, r"Bernoulli units have none"),
    (
        X,
        {"truncation": "relu", "hidden": tf.TruGUnits(0)},
        ValueError,
        r"precision must be positive where an",
    ),
    (X, {"start": "big"}, TypeError, r"start must be a TruGRBM or BernoulliRBM or RandomWeights"),
    (X, {"learning_rate": -0.1}, ValueError, r"learning_rate must be at least 0"),
    (X, {"learning_rate": (0.1, 0)}, ValueError, r"learning_rate decays geometrically"),
    (X, {"learning_rate": (1, 2, 3)}, ValueError, r"learning_rate must have a value for each"),
    (X, {"dtype": "float16"}, TypeError, r"dtype must be float32 or float64, got float16"),
    (X, {"validation": X[:, :2]}, ValueError, r"validation must have 3 columns, got 2"),
    (X, {"validation": with_value(NAN)}, ValueError, r"validation must be finite"),
    (X, {"rng": "seed"}, TypeError, r"rng must be None, an int or a numpy.random.Generator"),
    (X, {"rng": -1}, ValueError, r"rng must not be a negative int, got -1"),
    (X, {"progress": 3}, TypeError, r"progress must be None, True or False"),
]


@pytest.mark.parametrize(("data", "options", "kind", "message"), TRAIN)
def test_train_rbm(data, options, kind, message):
    before = np.array(data, copy=True)
    with pytest.raises(kind, match=message):
        tf.train_rbm(data, **({"n_hidden": 2} | options))
    np.testing.assert_array_equal(before, data)


GOOD = {
    "weights": np.zeros((3, 2)),
    "visible_bias": 0.0,
    "hidden_bias": 0.0,
    "precision": 1.0,
    "lower": 0.0,
    "upper": 1.0,
}
MODEL = [
    ({"weights": np.zeros(3)}, ValueError, r"weights must be a matrix"),
    ({"weights": [[NAN]]}, ValueError, r"weights must be finite"),
    ({"visible_bias": [0, 1]}, ValueError, r"visible_bias must be a number or have shape \(3,\)"),
    ({"hidden_bias": [0, NAN]}, ValueError, r"hidden_bias must not be NaN, got nan at index 1"),
    ({"lower": [0, 1]}, ValueError, r"got lower=1.0, upper=1.0 at unit 1"),
    ({"lower": [0, 2]}, ValueError, r"got lower=2.0, upper=1.0 at unit 1"),
    ({"upper": NAN}, ValueError, r"upper must not be NaN"),
    (
        {"precision": -1, "upper": INF},
        ValueError,
        r"precision=-1.0, lower=0.0, upper=inf at unit 0",
    ),
    (
        {"precision": 0, "lower": -INF},
        ValueError,
        r"precision must be positive where an end is inf",
    ),
    ({"precision": INF}, ValueError, r"precision must be finite"),
    ({"precision": "one"}, TypeError, r"precision must hold real numbers"),
]


@pytest.mark.parametrize(("changed", "kind", "message"), MODEL)
def test_trug_rbm(changed, kind, message):
    with pytest.raises(kind, match=message):
        tf.TruGRBM(**(GOOD | changed))


CALLS = [
    (lambda m: m.free_energy(X[:, :2]), ValueError, r"X must have 5 columns, got 2"),
    (lambda m: m.free_energy([[NAN] * 5]), ValueError, r"X must be finite"),
    (lambda m: m.sample_visible(X), ValueError, r"H must have 4 columns, got 3"),
    (lambda m: m.sample(0), ValueError, r"n must be at least 1, got 0"),
    (lambda m: m.sample(2, n_gibbs=0), ValueError, r"n_gibbs must be at least 1"),
    (lambda m: m.sample(2, start=np.zeros((3, 5))), ValueError, r"must agree on the number of ch"),
    (lambda m: m.sample(clamp=[1, NAN]), ValueError, r"clamp must have shape \(5,\)"),
    (
        lambda m: m.sample(clamp=[True, False] * 2 + [True]),
        TypeError,
        r"NaN where they are free, got",
    ),
    (lambda m: m.clamped(np.ones(5, bool)), TypeError, r"clamp must hold the values at which"),
    (lambda m: m.sample(clamp=[2, 0, 0, 0, NAN]), ValueError, r"clamp must lie in \[0, 1"),
    (lambda m: m.sample(2, rng=1.5), TypeError, r"rng must be None"),
    (lambda m: tf.log_partition(m, n_chains=1), ValueError, r"n_chains must be at least 2, got 1"),
    (lambda m: tf.log_partition(m, n_temperatures=0), ValueError, r"n_temperatures must be at le"),
    (lambda m: tf.log_partition(m, path="quod"), ValueError, r"path must be one of 'auto'"),
    (lambda m: tf.log_partition(m, base=X), ValueError, r"base must have 5 columns, got 3"),
    (lambda m: tf.log_likelihood(m, np.zeros((2, 5)), NAN), ValueError, r"log_z must be finite"),
    (lambda m: tf.log_likelihood(m, np.zeros((2, 5)), "z"), TypeError, r"log_z must be a number"),
    (lambda m: tf.exact.log_likelihood(m, [[2] * 5]), ValueError, r"X must lie in"),
]


@pytest.mark.parametrize(("call", "kind", "message"), CALLS)
def test_models_and_estimators(call, kind, message):
    with pytest.raises(kind, match=message):
        call(model_of("[0,1]"))


def test_enumeration_refuses_large_models():
    large = tf.BernoulliRBM(np.zeros((30, 23)), 0.0, 0.0)
    with pytest.raises(
        ValueError,
        match="at most 4,194,304 states of visible units, or 22 Bernoulli hidden units, got 1.07e",
    ):
        tf.exact.log_partition(large)


def test_one_hidden_unit_is_enough_for_gaussian_sequences():
    # The start from two frames would take a unit that is not there.
    frames = np.random.default_rng(0).normal(size=(3, 6, 4))
    fit = tf.train_trbm(frames, 1, visible="gaussian", epochs=1, progress=False, rng=0)
    assert fit.model.n_hidden == 1


MORE = [
    (X * 255, {}, ValueError, r"X must be 0 or 1, got 255 .*datasets.binarize.*visible='gaussian'"),
    (
        X - 0.5,
        SOFT,
        ValueError,
        r"lie in \[0, 1\], got -0.5.*visible='gaussian'",
    ),
    (X, {"epochs": 10**30}, ValueError, r"epochs must be at most 9223372036854775807, got 1000"),
    (X, {"learning_rate": 10**400}, ValueError, r"learning_rate must be finite"),
    (X, {"sampler": np.array(["pcd", "cd"])}, TypeError, r"sampler must be one of"),
    (X, {"dtype": None}, TypeError, r"dtype must be float32 or float64, got None"),
    (X, {"callbacks": [3]}, TypeError, r"callbacks must hold functions, got 3"),
    (X, {"callbacks": print}, TypeError, r"callbacks must be a list of functions"),
    (X, {"truncation": (0, 10**400)}, ValueError, r"upper must be a number that floats can hold"),
    (X, {"checkpoint": ""}, ValueError, r"checkpoint must name a file, got ''"),
    (X, {"visible": "gaussian", "validation": [[1e300] * 3] * 2}, ValueError, r"must fit float32"),
]


@pytest.mark.parametrize(("data", "options", "kind", "message"), MORE)
def test_train_rbm_says_what_to_use_instead(data, options, kind, message):
    test_train_rbm(data, options, kind, message)


def test_real_sequences_are_told_their_option():
    with pytest.raises(
        ValueError, match=r"lie in \[0, 1\], got 2.0.*visible='gaussian' in training"
    ):
        tf.train_trbm(np.full((2, 3, 4), 2.0), 2)


def test_numbers_that_the_model_s_type_cannot_hold():
    # They would become infinite, and all that is computed from them NaN.
    small = tf.BernoulliRBM(np.ones((3, 2), np.float32), 0, 0, visible_precision=1.0)
    with pytest.raises(ValueError, match="X must fit float32, got 1e[+]300"):
        small.hidden_moments([[1e300, 0, 0]])
    with pytest.raises(ValueError, match="visible_bias must fit float32, got 1e[+]300"):
        tf.BernoulliRBM(np.ones((3, 2), np.float32), 1e300, 0)


def test_pictures_check_what_they_draw():
    plots = pytest.importorskip("matplotlib") and tf.plots
    with pytest.raises(TypeError, match="model must have n_hidden, which int has not"):
        plots.nonlinearities(5)
    with pytest.raises(TypeError, match="image_shape must be a pair"):
        plots.images(X, 3)
