"""RBMs as users meet them: exact values and what leaves them alone."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.data import exact_cases
from tests.support.models import KINDS, model_of
from trug_fast.evaluation.exact import binary_states as states_of

CASES = exact_cases()
RBM_CASES = [case for case in CASES if case["kind"] == "rbm"]
FIELDS = {
    "W": "weights",
    "b": "visible_bias",
    "c": "hidden_bias",
    "d": "precision",
    "xi1": "lower",
    "xi2": "upper",
}


def of_case(case):
    """Return the model of an exact case."""
    return tf.TruGRBM(*(np.array(case["params"][k], dtype=float) for k in FIELDS))


def numbers(value):
    """Return nested lists as an array, None as 0: a derivative that does not exist."""
    return np.array(
        [0.0 if v is None else v for v in np.ravel(np.array(value, dtype=object))], dtype=float
    ).reshape(np.shape(np.array(value, dtype=object)))


@pytest.mark.parametrize("case", RBM_CASES, ids=lambda case: case["name"])
class TestExactCases:
    def test_likelihoods(self, case):
        model, expected = of_case(case), case["expected"]
        states = states_of(model.n_visible)
        np.testing.assert_allclose(-model.free_energy(states), expected["log_pstar"], atol=1e-12)
        log_z = tf.exact.log_partition(model)
        assert log_z == pytest.approx(expected["logZ"], abs=1e-12)
        for value in (
            tf.exact.log_likelihood(model, case["data"]),
            tf.log_likelihood(model, case["data"], log_z),
        ):
            np.testing.assert_allclose(value, expected["loglik"], atol=1e-12)

    def test_gradients(self, case):
        gradient = tf.exact.gradient(of_case(case), case["data"])
        for key, name in FIELDS.items():
            np.testing.assert_allclose(
                gradient[name], numbers(case["expected"]["grad"][key]), atol=1e-11, err_msg=name
            )

    def test_conditional_moments(self, case):
        model = of_case(case)
        moments = model.hidden_moments(case["data"])
        for row, expected in enumerate(case["expected"]["cond"]):
            np.testing.assert_allclose(moments.mean[row], expected["h_mean"], rtol=1e-13)
            np.testing.assert_allclose(moments.variance[row], expected["h_var"], rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_exact_gradient_is_the_slope_of_the_exact_likelihood(kind):
    model = model_of(kind)
    data = states_of(model.n_visible)[[3, 7, 20]]
    gradient = tf.exact.gradient(model, data)
    step = 1e-5
    rng = np.random.default_rng(0)
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


def test_shift_and_scale_leave_probabilities_alone():
    # mathematics 2.4: only sqrt(d) (upper - lower) matters; [-1, 1] is [0, 2].
    m = model_of("mixed")
    delta, alpha = np.array([0.3, -0.2, 0.7, 0.1]), np.array([0.5, 2.0, 1.3, 0.8])
    shifted = tf.TruGRBM(
        m.weights,
        m.visible_bias + m.weights @ delta,
        m.hidden_bias - m.precision * delta,
        m.precision,
        m.lower - delta,
        m.upper - delta,
    )
    scaled = tf.TruGRBM(
        m.weights * alpha,
        m.visible_bias,
        m.hidden_bias * alpha,
        m.precision * alpha**2,
        m.lower / alpha,
        m.upper / alpha,
    )
    states = states_of(m.n_visible)
    for other in (shifted, scaled):
        np.testing.assert_allclose(
            tf.exact.log_likelihood(other, states), tf.exact.log_likelihood(m, states), atol=1e-12
        )


def test_very_negative_precision_is_the_ordinary_model():
    # mathematics 1.4: on [0, 1] with d -> -inf and hidden bias c - |d|/2 units become binary.
    ordinary = model_of("bernoulli")
    d = 1e9
    limit = tf.TruGRBM(
        ordinary.weights, ordinary.visible_bias, ordinary.hidden_bias - d / 2, -d, 0.0, 1.0
    )
    states = states_of(ordinary.n_visible)
    np.testing.assert_allclose(
        tf.exact.log_likelihood(limit, states),
        tf.exact.log_likelihood(ordinary, states),
        atol=1e-6,
    )


def test_free_energy_takes_any_number_of_rows():
    model = model_of("mixed")
    rows = np.random.default_rng(0).integers(0, 2, (9000, 5))
    whole = model.free_energy(rows)
    # BLAS rounds a product by its shape: digits of float64, not bits.
    np.testing.assert_allclose(whole[:100], model.free_energy(rows[:100]), rtol=1e-13)
    assert whole.shape == (9000,)


def test_pseudo_likelihood_averages_to_its_definition():
    model = model_of("mixed")
    x = np.array([[1.0, 0, 1, 1, 0]])
    flips = np.abs(x - np.eye(5))
    exact = -np.logaddexp(0, model.free_energy(x) - model.free_energy(flips)).sum()
    many = tf.pseudo_log_likelihood(model, np.repeat(x, 40_000, axis=0), rng=0)
    assert abs(many.mean() - exact) < 5 * many.std() / 200


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clamped_is_the_conditional(kind, dtype):
    model = model_of(kind, dtype)
    clamp = np.array([1.0, np.nan, 0.25, np.nan, np.nan])
    given = model.clamped(clamp)
    assert (given.n_visible, given.n_hidden, given.dtype) == (3, 4, dtype)
    # Free energies differ by a constant, that of the held units.
    states = tf.exact.binary_states(3)
    whole = np.tile(clamp, (8, 1))
    whole[:, np.isnan(clamp)] = states
    difference = model.free_energy(whole) - given.free_energy(states)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(difference, difference[0], atol=tolerance)
    held = clamp[[0, 2]] @ model.visible_bias[[0, 2]]
    assert difference[0] == pytest.approx(-held, abs=tolerance)


@pytest.mark.parametrize(
    ("clamp", "words"),
    [
        ([1.0, 0, 1, 0, 1], "clamp must leave a unit free"),
        ([[1.0, np.nan, 0, 0, 0]] * 2, r"clamp must have shape \(5,\), got \(2, 5\)"),
        ([2.0, np.nan, 0, 0, 0], r"clamp must lie in \[0, 1\]"),
    ],
)
def test_bad_clamps(clamp, words):
    with pytest.raises(ValueError, match=words):
        model_of("[0,1]").clamped(clamp)
