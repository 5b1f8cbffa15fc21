"""The regression's gradients, against exact values and slopes."""

import numpy as np
import pytest
from scipy.stats import norm

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
from trug_fast.training.tggm.data import Examples


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
@pytest.mark.parametrize(
    ("objective", "kind"),
    [
        *((o, k) for o in ("ml", "moments", "probit") for k in ("separate", "shared")),
        ("moments", "by_input"),
    ],
)
def test_gradient_is_the_slope_of_the_objective(objective, kind, truncation):
    # In the coordinates that training moves: log noise, lower end, log width.
    own_variance = {"hidden_variance": 0.4} if kind != "shared" else {}
    run = learner(objective, tf.training.Noise(kind, variance=0.3, **own_variance), truncation)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    if objective == "probit":
        y = np.sign(y)
    task, trained = run.task, run.trained
    run.parts().noise_weights[:] = rng.normal(size=run.parts().noise_weights.shape)
    gradient(run, X, y)
    if truncation.learn is not None:
        steps.end_coordinates(task, trained)
    own = trained.gradient.copy()
    start, step = trained.theta.copy(), 1e-5
    kept = kernels.views(task, np.arange(start.size))
    still = [*kept.low_end, *kept.log_width] if truncation.learn is None else []
    slope = np.zeros(start.size)
    for i in set(range(start.size)) - set(still):
        values = []
        for shift in (step, -step):
            trained.theta[:] = start
            trained.theta[i] += shift
            if truncation.learn is not None:
                steps.place_ends(task, trained)
            values.append(gradient(run, X, y)[0])
        slope[i] = (values[0] - values[1]) / (2 * step)
    slopes, ours = (kernels.parts(task, v) for v in (slope, own))
    names = ("input_weights", "input_bias", "output_weights", "output_bias", "noise_weights")
    assert ours.noise_weights.any() == (kind == "by_input")
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(slopes, name), atol=1e-9)
    if kind == "shared":  # both entries move together, along the sum
        np.testing.assert_allclose(ours.log_noise, slopes.log_noise.sum(), atol=1e-9)
    else:
        np.testing.assert_allclose(ours.log_noise, slopes.log_noise, atol=1e-9)
    if truncation.learn is not None:
        share = task.hidden if truncation.learn == "shared" else 1  # common ends take the mean
        np.testing.assert_allclose(ours.low_end * share, slopes.low_end, atol=1e-9)
        np.testing.assert_allclose(ours.log_width * share, slopes.log_width, atol=1e-9)


@pytest.mark.parametrize("far", [1.0, 30.0, 1e4])
def test_probit_is_the_likelihood_of_the_sign(far):
    X, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    signs = np.where(y[:, :2] > 0, 1.0, -1.0)
    run = learner("probit", tf.training.Noise("separate", learn=False, variance=0.3))
    run.parts().output_weights[:] *= far
    model = run.model()
    mean, std = model.predict(X, return_std=True)
    value, _ = gradient(run, X, signs)
    exact = norm.logcdf(signs * mean / std).sum(axis=1)
    assert value == pytest.approx(exact.mean(), rel=1e-13)
    rmse, likelihood = run.score(Examples(X, signs, np.ones(40)))
    assert likelihood == pytest.approx(exact.mean(), rel=1e-13)
    above = model.probability_above(X)
    np.testing.assert_allclose(above, norm.cdf(mean / std), rtol=1e-13)
    assert rmse == pytest.approx(np.sqrt(np.mean((signs - (2 * above - 1)) ** 2)), rel=1e-12)


def test_noise_of_squared_errors_follows_the_predictive_likelihood():
    X, y = np.random.default_rng(0).normal(size=(2, 7, 3))
    y = y[:, :2]
    _, squares = gradient(learner("bp"), X, y)
    _, moments = gradient(learner("moments"), X, y)
    np.testing.assert_array_equal(squares.log_noise, moments.log_noise)


@pytest.mark.parametrize("objective", ["moments", "bp"])
def test_a_noise_by_input_without_weights_is_the_separate_one(objective):
    X, y = np.random.default_rng(0).normal(size=(2, 7, 3))
    y = y[:, :2]
    value, separate = gradient(learner(objective, "separate"), X, y)
    again, by_input = gradient(learner(objective, "by_input"), X, y)
    assert again == pytest.approx(value, rel=1e-14)
    for one, other in zip(separate[:-1], by_input[:-1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert not separate.noise_weights.size and by_input.noise_weights.all()


def test_squared_errors_leave_the_noise_to_its_weights():
    X, y = np.random.default_rng(0).normal(size=(2, 7, 3))
    runs = [learner(objective, "by_input") for objective in ("bp", "moments")]
    for run in runs:
        run.parts().noise_weights[:] = 0.5
    squares, moments = (gradient(run, X, y[:, :2])[1] for run in runs)
    np.testing.assert_array_equal(squares.noise_weights, moments.noise_weights)
    np.testing.assert_array_equal(squares.log_noise, moments.log_noise)
    plain = gradient(learner("bp", "separate"), X, y[:, :2])[1]
    np.testing.assert_array_equal(squares.input_weights, plain.input_weights)


def test_early_end_of_cycles_changes_the_gradient_little():
    noise = tf.training.Noise("separate", variance=0.3, hidden_variance=0.4)
    run = learner("ml", noise, sizes=(3, 30, 2))
    X, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    y = y[:, :2]
    _, exact = gradient(run, X, y)
    errors = []
    for tolerance in (0.1, 0.01):
        run.task = run.task._replace(cycles=Cycles(10, tolerance))
        _, own = gradient(run, X, y)
        pairs = zip(own[:-1], exact[:-1], strict=True)  # there are no weights of the noise
        errors.append(max(abs(a - b).max() for a, b in pairs))
    assert errors[1] < errors[0] < 0.02 * max(abs(part).max() for part in exact[:-1])
