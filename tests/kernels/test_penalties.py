"""What penalties take off weights, against their formulas in NumPy."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from trug_fast.kernels.penalties import Pull, shrink_weights
from trug_fast.training.steps import Steps

RATE, STEPS, TAKEN = 0.02, 10.0, 7


def reference(optimizer, weights, second, pull):
    """Return the weights after a pull, by mathematics 2.14."""
    far = RATE * STEPS / (1 - getattr(optimizer, "momentum", 0) * (optimizer.name == "sgd"))
    length = np.ones_like(weights)
    if optimizer.name == "rmsprop":
        length = np.sqrt(second) + 1e-6
    elif optimizer.name == "adam":
        length = np.sqrt(second / (1 - 0.999**TAKEN)) + 1e-8
    l1, l1_squared = pull
    pulls = l1 + l1_squared * abs(weights).sum(axis=0) / len(weights)
    return np.sign(weights) * np.maximum(abs(weights) - far * pulls / length, 0)


@pytest.mark.parametrize(
    "optimizer", [tf.training.SGD(momentum=0.5), tf.training.RMSprop(), tf.training.Adam()]
)
@pytest.mark.parametrize("pull", [(0.3, 0), (0, 0.7), (0.2, 0.4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pull_is_that_of_the_formula(optimizer, pull, dtype):
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 0.2, (60, 7))
    weights[3], weights[:, 2] = 0.0, 0.0
    second = rng.random(weights.shape)
    steps = Steps(optimizer)
    steps.taken = TAKEN
    ours, kept = weights.astype(dtype), np.full(weights.shape, 0.5, dtype)
    shrink_weights(
        steps.rule(RATE), ours, second.astype(dtype), kept, Pull(*map(float, pull), STEPS)
    )
    expected = reference(optimizer, weights, second, pull)
    np.testing.assert_allclose(ours, expected, atol=1e-15 if dtype == np.float64 else 2e-7)
    assert 20 < (expected == 0).sum() < 300
    np.testing.assert_array_equal(ours == 0, expected == 0)
    np.testing.assert_array_equal(kept, expected != 0)


def test_large_matrices_in_all_threads_and_nan():
    rng = np.random.default_rng(2)
    weights, second = rng.normal(size=(300, 250)), rng.random((300, 250))
    weights[5, 6] = np.nan
    pull, rule = Pull(0.2, 0.1, 1.0), Steps(tf.training.Adam()).rule(0.1)
    found = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        found.append((weights.copy(), np.ones((300, 250))))
        shrink_weights(rule, found[-1][0], second, found[-1][1], pull)
    np.testing.assert_array_equal(found[0], found[1])
    assert np.isnan(found[0][0][5, 6]) and np.isfinite(found[0][0][:, 7:]).all()
    zeros = np.ones((4, 3)), np.zeros((4, 3))
    still = Pull(0.5, 0.5, 10.0)
    shrink_weights(Steps(tf.training.SGD()).rule(0.0), np.zeros((4, 3)), zeros[1], zeros[0], still)
    assert not zeros[0].any()  # a rate of 0 makes no 0/0
