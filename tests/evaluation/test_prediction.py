"""Errors of forecasts: squares summed over a frame, means over the frames from the second on."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import temporal_model


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
