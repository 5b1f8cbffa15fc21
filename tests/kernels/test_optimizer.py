"""The optimizers' steps against their textbook formulas."""

import numpy as np
import pytest
from numba import njit

from trug_fast.kernels import optimizer as kernels
from trug_fast.training.options import SGD, Adam, RMSprop
from trug_fast.training.steps import Steps


def textbook(name, gradients, start, rate, momentum):
    """Parameters after following the gradients (ascent)."""
    p, m, v = start.astype(float), np.zeros(start.size), np.zeros(start.size)
    for t, g in enumerate(gradients, 1):
        if name == "sgd":
            m = momentum * m + rate * g
            p = p + m
        elif name == "rmsprop":
            v = 0.95 * v + 0.05 * g**2
            p = p + rate * g / (np.sqrt(v) + 1e-6)
        else:
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
            p = p + rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return p


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("optimizer", [SGD(), SGD(momentum=0.9), RMSprop(), Adam()])
def test_steps_are_the_textbook_ones(optimizer, dtype):
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=37), rng.normal(size=(5, 37))
    steps = Steps(optimizer)
    ours = start.astype(dtype)
    for g in gradients:
        steps.taken += 1
        steps.move("p", ours, g, 0.01)
    momentum = getattr(optimizer, "momentum", 0.0)
    expected = textbook(optimizer.name, gradients, start, 0.01, momentum)
    assert ours.dtype == dtype
    np.testing.assert_allclose(ours, expected, rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_matrix_update_equals_vector_update_and_decays_weights():
    rng = np.random.default_rng(1)
    for shape in ((3, 5), (100, 7)):  # fewer rows than tiles, and more
        weights, gradient = rng.normal(size=shape), rng.normal(size=shape)
        rule = Steps(SGD(momentum=0.5)).rule(0.1, 0.01)
        first, second = np.ones(shape), np.zeros(shape)
        expected = weights + 0.5 + 0.1 * (gradient - 0.01 * weights)
        kernels.update_weights(rule, weights, gradient, first, second)
        np.testing.assert_allclose(weights, expected, rtol=1e-12)


def test_rules_inside_a_users_own_function():
    rule = Steps(RMSprop()).rule(0.1)

    @njit
    def descend(p, g, first, second):
        for _ in range(200):
            for i in range(p.size):
                g[i] = -p[i]
            kernels.apply_rule(rule, p, g, first, second)

    p = np.array([1.0, -2.0])
    descend(p, *np.zeros((3, 2)))
    assert abs(p).max() < 0.2
