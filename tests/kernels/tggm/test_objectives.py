"""The regression's gradients, against exact values and slopes."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import (
    COMMON,
    PER_UNIT,
    TGGM_CASES,
    gradient,
    learner,
    of_case,
)
from trug_fast.kernels.tggm import epoch as steps
from trug_fast.kernels.tggm import objectives as kernels
from trug_fast.kernels.tggm.mean_field import Cycles


@pytest.mark.parametrize("case", TGGM_CASES, ids=lambda case: case["name"])
class TestExactCases:
    def found(self, case, objective):
        model, X, y = of_case(case)
        sizes = model.n_inputs, model.n_hidden, model.n_outputs
        ends = PER_UNIT
        if np.isinf(model.upper).any():  # which cannot be learned
            ends = tf.Truncation(model.lower[0], model.upper[0])
        return gradient(learner(objective, "shared", ends, sizes, start=model), X, y)

    def compare(self, own, expected):
        names = {
            "W0": own.input_weights,
            "b0": own.input_bias,
            "W1": own.output_weights,
            "b1": own.output_bias,
            "xi1": own.low_end,  # before end_coordinates: by the two ends
            "xi2": own.log_width,
        }
        for key, values in names.items():
            exact = np.array(expected[key], dtype=object)
            exact = np.where(exact == None, 0.0, exact).astype(float)  # noqa: E711
            np.testing.assert_allclose(values, exact, rtol=0, atol=1e-11, err_msg=key)

    def test_bound(self, case):
        expected, noise = case["expected"]["mf"], case["params"]["sigma2"]
        value, own = self.found(case, "ml")
        assert value == pytest.approx(expected["elbo"], abs=1e-12)
        self.compare(own, expected["grad"])
        np.testing.assert_allclose(own.log_noise, noise * expected["grad"]["sigma2"], atol=1e-11)

    def test_squared_error(self, case):
        self.compare(self.found(case, "bp")[1], case["expected"]["neg_half_sq_err_grad"])


@pytest.mark.parametrize(
    "truncation", [PER_UNIT, COMMON, tf.Truncation(0.0, np.inf)], ids=["per unit", "common", "relu"]
)
@pytest.mark.parametrize("kind", ["separate", "shared"])
@pytest.mark.parametrize("objective", ["ml", "moments"])
def test_gradient_is_the_slope_of_the_objective(objective, kind, truncation):
    # In the coordinates that training moves: log noise, lower end, log width.
    own_variance = {"hidden_variance": 0.4} if kind == "separate" else {}
    run = learner(objective, tf.Noise(kind, variance=0.3, **own_variance), truncation)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    task, trained = run.task, run.trained
    gradient(run, X, y)
    if truncation.learn is not None:
        steps.end_coordinates(task, trained)
    own = trained.gradient.copy()
    start, step = trained.theta.copy(), 1e-5
    stop = start.size if truncation.learn is not None else start.size - 2 * task.hidden
    slope = np.zeros(stop)
    for i in range(stop):
        values = []
        for shift in (step, -step):
            trained.theta[:] = start
            trained.theta[i] += shift
            if truncation.learn is not None:
                steps.place_ends(task, trained)
            values.append(gradient(run, X, y)[0])
        slope[i] = (values[0] - values[1]) / (2 * step)
    slopes, ours = (kernels.parts(task, np.append(v, start[stop:])) for v in (slope, own[:stop]))
    for name in ("input_weights", "input_bias", "output_weights", "output_bias"):
        np.testing.assert_allclose(getattr(ours, name), getattr(slopes, name), atol=1e-9)
    if kind == "shared":  # both entries move together, along the sum
        np.testing.assert_allclose(ours.log_noise, slopes.log_noise.sum(), atol=1e-9)
    else:
        np.testing.assert_allclose(ours.log_noise, slopes.log_noise, atol=1e-9)
    if truncation.learn is not None:
        share = task.hidden if truncation.learn == "shared" else 1  # common ends take the mean
        np.testing.assert_allclose(ours.low_end * share, slopes.low_end, atol=1e-9)
        np.testing.assert_allclose(ours.log_width * share, slopes.log_width, atol=1e-9)


def test_noise_of_squared_errors_follows_the_predictive_likelihood():
    X, y = np.random.default_rng(0).normal(size=(2, 7, 3))
    y = y[:, :2]
    _, squares = gradient(learner("bp"), X, y)
    _, moments = gradient(learner("moments"), X, y)
    np.testing.assert_array_equal(squares.log_noise, moments.log_noise)


def test_early_end_of_cycles_changes_the_gradient_little():
    noise = tf.Noise("separate", variance=0.3, hidden_variance=0.4)
    run = learner("ml", noise, sizes=(3, 30, 2))
    X, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    y = y[:, :2]
    _, exact = gradient(run, X, y)
    errors = []
    for tolerance in (0.1, 0.01):
        run.task = run.task._replace(cycles=Cycles(10, tolerance))
        _, own = gradient(run, X, y)
        errors.append(max(abs(a - b).max() for a, b in zip(own, exact, strict=True)))
    assert errors[1] < errors[0] < 0.02 * max(abs(part).max() for part in exact)
