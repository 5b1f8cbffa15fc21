"""Mean predictions by the values of one input."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import regression


@pytest.mark.parametrize("outputs", [1, 2])
def test_it_is_the_mean_over_rows_with_the_input_set(outputs):
    models = [regression("separate", outputs=outputs, seed=k) for k in range(2)]
    ensemble = tf.TGGMEnsemble(models).with_columns(["a", "b", "c"])
    X = np.random.default_rng(0).normal(size=(40, 3))
    before = X.copy()
    found = tf.partial_dependence(ensemble, X, "b", values=[-1.0, 0.5])
    np.testing.assert_array_equal(X, before)
    for k, value in enumerate((-1.0, 0.5)):
        rows = X.copy()
        rows[:, 1] = value
        each = [model.predict(rows).mean(axis=0) for model in models]
        np.testing.assert_allclose(found.by_model[:, k], each, rtol=1e-12)
    np.testing.assert_allclose(found.mean, ensemble_mean(found.by_model), rtol=1e-12)
    alone = tf.partial_dependence(models[0], X, 1, values=np.array([-1.0, 0.5]))
    np.testing.assert_allclose(alone.mean, found.by_model[0], rtol=1e-12)


def ensemble_mean(curves):
    return (curves[0] + curves[1]) / 2


def test_values_are_those_of_the_data():
    model = regression("separate", outputs=1)
    X = np.random.default_rng(0).normal(size=(2500, 3))
    X[:, 2] = np.arange(2500) % 3
    few = tf.partial_dependence(model, X, 2)
    np.testing.assert_array_equal(few.values, [0, 1, 2])
    many = tf.partial_dependence(model, X, 0, values=7)
    np.testing.assert_allclose(many.values[[0, -1]], np.quantile(X[:, 0], [0.05, 0.95]))
    assert many.mean.shape == (7,) and many.by_model.shape == (1, 7)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"column": 3}, "column must be below the 3 inputs, got 3"),
        ({"column": -1}, "column must be at least 0"),
        ({"column": "a"}, "column must be a number of a model without names"),
        ({"column": 0, "values": 1}, "values must be at least 2"),
        ({"column": 0, "values": [[1.0]]}, "values must be a number or a vector"),
        ({"column": 0, "values": [1.0, np.nan]}, "values must be finite, got nan"),
        ({"column": 0, "X": [[1.0, np.nan, 2.0]]}, "X must be finite, got nan"),
    ],
)
def test_bad_arguments(more, words):
    given = {"X": np.zeros((3, 3))} | more
    with pytest.raises(ValueError, match=words):
        tf.partial_dependence(regression("separate", outputs=1), **given)
