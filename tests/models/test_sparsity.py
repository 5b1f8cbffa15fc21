"""Numbers of sparse connections, in cases where they are known."""

import numpy as np
import pytest

import trug_fast as tf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_known_cases(dtype):
    weights = np.zeros((10, 4), dtype)
    weights[:3, 0] = 2.0, -2.0, 2.0  # three alike
    weights[:, 1] = 1e-25  # all alike: their fourth powers are none of float32
    weights[4, 2] = -5.0
    found = tf.BernoulliRBM(weights, 0.0, 0.0).sparsity()
    np.testing.assert_allclose(found.participation, [3, 10, 1, 0], rtol=1e-6)
    np.testing.assert_allclose(found.norm, [12**0.5, 1e-25 * 10**0.5, 5, 0], rtol=1e-6)
    np.testing.assert_allclose(found.zeros, [0.7, 0, 0.9, 1])


def test_matrices_of_a_temporal_model():
    rng = np.random.default_rng(0)
    model = tf.BernoulliTRBM(
        rng.normal(size=(5, 3)),
        rng.normal(size=(3, 5)),
        np.diag(np.arange(5.0)),
        np.array([[0, 1, 1], [0, 0, 2], [0, 0, 0.0]]),
        0.0,
        0.0,
        0.0,
        0.0,
    )
    acted_on = model.sparsity("hidden_to_hidden")  # by rows: from the past, to the present
    np.testing.assert_allclose(acted_on.participation, [2, 1, 0])
    assert model.sparsity("visible_to_hidden").norm.shape == (3,)
    np.testing.assert_allclose(model.sparsity("visible_to_visible").norm, np.arange(5.0))
    with pytest.raises(ValueError, match="matrix must be one of 'weights', 'visible_to_hidden'"):
        model.sparsity("visible_bias")
