"""Exact likelihoods and gradients of temporal models."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import BINARY, CASES, GAUSS, NAMES, of_case, read, temporal_model
from trug_fast.evaluation.exact import trbm as temporal_exact


@pytest.mark.parametrize("name", BINARY)
def test_binary_cases(name):
    case = CASES[name]
    model, x, expected = of_case(case), read(case["x"]), case["expected"]
    np.testing.assert_allclose(model.filter(x), read(expected["h_filtered"]), atol=1e-14)
    np.testing.assert_allclose(
        [f.log_likelihood for f in temporal_exact._frames(model, x)],
        read(expected["logp"]),
        atol=1e-12,
    )
    assert abs(tf.exact.log_likelihood(model, [x])[0] - expected["sum_logp"]) < 1e-12
    for rule, field in (("paper", "grad"), ("full", "grad_full")):
        found = tf.exact.gradient(model, [x], rule=rule)
        assert set(found) == {NAMES[k] for k in expected[field]}
        for key, value in expected[field].items():
            np.testing.assert_allclose(found[NAMES[key]], read(value), atol=1e-11, err_msg=key)


@pytest.mark.parametrize("name", GAUSS)
def test_real_cases(name):
    case = CASES[name]
    model, expected = of_case(case), case["expected"]
    past, hidden, x = (read(case[k]) for k in ("x_prev", "h_prev", "x"))
    b, c = temporal_exact.biases(model, past, hidden)
    np.testing.assert_allclose(b, read(expected["b_t"]), atol=1e-14)
    np.testing.assert_allclose(c, read(expected["c_t"]), atol=1e-14)
    found = temporal_exact.frame(model, b, c, x)
    assert abs(found.log_likelihood - expected["logp"]) < 1e-12
    np.testing.assert_allclose(found.hidden_mean, read(expected["h_given_x"]), atol=1e-13)
    slope = dict(found.gradient)
    slope["visible_to_hidden"] = np.outer(slope["hidden_bias"], past)
    slope["visible_to_visible"] = np.outer(slope["visible_bias"], past)
    slope["hidden_to_hidden"] = np.outer(slope["hidden_bias"], hidden)
    for key, value in expected["grad"].items():
        np.testing.assert_allclose(slope[NAMES[key]], read(value), atol=1e-11, err_msg=key)


@pytest.mark.parametrize(
    ("kind", "n_lags"),
    [
        *(("mixed", 1), ("bernoulli", 1), ("gaussian", 1), ("mixed", 3), ("bernoulli", 2)),
        pytest.param("gaussian", 2, marks=pytest.mark.slow),
    ],
)
def test_full_gradient_is_the_derivative(kind, n_lags):
    size = {"n_visible": 2, "n_hidden": 2} if kind == "gaussian" else {}
    model = temporal_model(kind, n_lags=n_lags, **size)
    rng = np.random.default_rng(1)
    x = [rng.random((4, model.n_visible)), rng.random((2, model.n_visible))]
    found = tf.exact.gradient(model, x, rule="full")
    step = 1e-5
    for name, value in found.items():
        at = np.unravel_index(np.argmax(abs(value)), value.shape)
        ends = []
        for sign in (1, -1):
            arrays = {
                n: np.array(getattr(model, n)) for n in model.names if getattr(model, n) is not None
            }
            arrays[name][at] += sign * step
            ends.append(tf.exact.log_likelihood(type(model)(**arrays), x).mean())
        assert abs((ends[0] - ends[1]) / (2 * step) - value[at]) < 1e-7, name
