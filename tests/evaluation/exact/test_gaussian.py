"""Exact results of models with Gaussian visible units."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.gaussian import KINDS, gaussian_model
from trug_fast.evaluation.exact import gaussian as exact_gaussian


def plane():
    """Return the points of a square on which two visible units have all their mass, and a cell."""
    side = np.linspace(-12, 12, 361)
    return np.stack([v.ravel() for v in np.meshgrid(side, side)], 1), (side[1] - side[0]) ** 2


@pytest.mark.parametrize("kind", KINDS)
def test_exact_probabilities_integrate_to_one(kind):
    # The trapezoidal rule is exact to rounding for such densities.
    points, cell = plane()
    model = gaussian_model(kind, n_visible=2)
    density = np.exp(tf.exact.log_likelihood(model, points))
    assert density.sum() * cell == pytest.approx(1, abs=1e-10)
    log_z = tf.exact.log_partition(model)
    np.testing.assert_allclose(tf.log_likelihood(model, points, log_z), np.log(density), atol=1e-9)
    moments = exact_gaussian.expectations(model)
    np.testing.assert_allclose(density @ points * cell, moments["visible_bias"], atol=1e-9)
    np.testing.assert_allclose(
        -0.5 * density @ points**2 * cell, moments["visible_precision"], atol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
def test_exact_gradient_is_the_slope_of_the_exact_likelihood(kind):
    model, rng = gaussian_model(kind), np.random.default_rng(0)
    data, step = rng.normal(size=(5, 3)), 1e-5
    gradient = tf.exact.gradient(model, data)
    assert set(gradient) == set(model.names)
    for name in model.names:
        value = getattr(model, name)
        direction = np.where(np.isinf(value), 0.0, rng.normal(size=value.shape))
        ends = []
        for sign in (1, -1):
            fields = {n: getattr(model, n) for n in model.names}
            fields[name] = value + sign * step * direction
            ends.append(tf.exact.log_likelihood(type(model)(**fields), data).mean())
        slope = (ends[0] - ends[1]) / (2 * step)
        assert slope == pytest.approx((gradient[name] * direction).sum(), abs=2e-8), name


def test_too_many_hidden_units_are_refused():
    with pytest.raises(ValueError, match="at most 3 TruG hidden units, got 4"):
        tf.exact.log_partition(gaussian_model("[0,1]", n_hidden=4))


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_a_first_frame_is_such_a_model(kind):
    model, zero = gaussian_model(kind), np.zeros
    kinds = {tf.TruGRBM: tf.TruGTRBM, tf.BernoulliRBM: tf.BernoulliTRBM}
    fields = {name: getattr(model, name) for name in model.names}
    past = {"visible_to_hidden": zero((2, 3)), "visible_to_visible": zero((3, 3))}
    past["hidden_to_hidden"] = zero((2, 2))
    past |= {f"initial_{name}": fields[name] for name in ("visible_bias", "hidden_bias")}
    temporal = kinds[type(model)](**(fields | past))
    x = np.random.default_rng(0).normal(size=(1, 3))
    exact = tf.exact.log_likelihood(model, x)
    np.testing.assert_allclose(tf.exact.log_likelihood(temporal, [x]), exact, rtol=1e-12)
    ours, theirs = tf.exact.gradient(model, x), tf.exact.gradient(temporal, [x])
    for name in model.names:
        frame = f"initial_{name}" if f"initial_{name}" in theirs else name
        np.testing.assert_allclose(theirs[frame], ours[name], atol=1e-12, err_msg=name)
