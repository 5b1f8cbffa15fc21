"""The TruG-TGGM as users meet it: exact values, bounds, draws, files."""

import numba
import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from tests.support.regressions import KINDS, TGGM_CASES, of_case, regression, rows
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.tggm import mean_field

ENOUGH = 200  # cycles after which the mean field of the exact cases has converged


@pytest.mark.parametrize("case", TGGM_CASES, ids=lambda case: case["name"])
class TestExactCases:
    def test_mean_field(self, case):
        model, X, y = of_case(case)
        expected = case["expected"]["mf"]
        found = model.posterior(X, y, n_cycles=ENOUGH)
        np.testing.assert_allclose(found.mean[0], expected["mean"], rtol=1e-12)
        np.testing.assert_allclose(found.variance[0], expected["var"], rtol=1e-10)
        assert model.elbo(X, y, n_cycles=ENOUGH)[0] == pytest.approx(expected["elbo"], abs=1e-12)
        ten = model.posterior(X, y).mean[0]
        np.testing.assert_allclose(ten, expected["mean_after_10_cycles"], rtol=1e-12)

    def test_prediction(self, case):
        model, X, _ = of_case(case)
        mean, std = model.predict(X, return_std=True)
        covariance = model.predictive_covariance(X)[0]
        np.testing.assert_allclose(np.ravel(mean), case["expected"]["pred_mean"], rtol=1e-13)
        np.testing.assert_allclose(covariance, case["expected"]["pred_cov"], rtol=1e-12)
        np.testing.assert_allclose(np.ravel(std) ** 2, np.diag(covariance), rtol=1e-13)

    def test_sampled_likelihood(self, case):
        model, X, y = of_case(case)
        exact = case["expected"]["log_p_y_given_x"]
        found = model.log_likelihood(X, y, n_samples=20_000, rng=0)
        # Normal errors would leave 4.5 standard errors once in 150,000 seeds; this one is fixed.
        assert abs(found.value[0] - exact) < 4.5 * found.std_error[0] < 0.03
        assert model.elbo(X, y)[0] < exact


@pytest.mark.parametrize("kind", KINDS)
class TestBound:
    def test_never_falls_over_cycles(self, kind):
        model = regression(kind, hidden=12)
        X, y = rows(model, 40)
        bounds = np.array([model.elbo(X, y, n_cycles=n) for n in (1, 2, 3, 5, 10, 30, 100)])
        assert (np.diff(bounds, axis=0) > -1e-12).all()
        assert (bounds[1] - bounds[0]).max() > 1e-3  # the cycles do something

    def test_is_below_the_sampled_likelihood(self, kind):
        model = regression(kind)
        X, y = rows(model, 60)
        sampled = model.log_likelihood(X, y, n_samples=2000, rng=1)
        gap = sampled.value - model.elbo(X, y)
        assert (gap > -4.5 * sampled.std_error).all()
        assert gap.mean() > 1e-3

    def test_is_that_of_its_definition(self, kind):
        # E_q[log p(y, h | x)] - E_q[log q] term by term, from the reported moments.
        model = regression(kind)
        X, y = rows(model, 5)
        mean, variance = model.posterior(X, y, n_cycles=3)
        z = X @ model.input_weights.T + model.input_bias
        tau, s = 1 / model.hidden_variance, np.sqrt(model.hidden_variance)
        ends = (model.lower - z) / s, (model.upper - z) / s
        rest = y - mean @ model.output_weights.T - model.output_bias
        noise = model.noise_variance
        square = rest**2 + variance @ (model.output_weights**2).T
        data = -0.5 * (np.log(2 * np.pi * noise) + square / noise).sum(axis=1)
        prior = -0.5 * tau * ((mean - z) ** 2 + variance) - np.log(s * np.sqrt(2 * np.pi))
        prior = (prior - tf.truncnorm.log_mass(*ends)).sum(axis=1)
        network = model.network()
        net = np.empty_like(mean)
        with one_blas_thread():
            found = mean_field.Inferred(net, mean, variance, np.empty(5))
            mean_field.posterior(network, mean_field.Rows(X, y), 3, found)
        root = np.sqrt(network.stiffness)
        centre = net / network.stiffness
        low, high = (model.lower - centre) * root, (model.upper - centre) * root
        entropy = tf.truncnorm.entropy(low, high, scale=1 / root).sum(axis=1)
        np.testing.assert_allclose(
            model.elbo(X, y, n_cycles=3), data + prior + entropy, rtol=0, atol=1e-11
        )


def test_one_hidden_unit_has_an_exact_bound():
    # One unit: the mean field is the posterior, after one cycle.
    model = regression("[0,1]", hidden=1, outputs=1)
    X, y = rows(model, 20)
    h, step = np.linspace(0, 1, 20_001, retstep=True)
    z = X @ model.input_weights.T + model.input_bias
    s = np.sqrt(model.noise_variance[0])
    prior = stats.norm.pdf(h, z, s)
    mean = h * model.output_weights[0, 0] + model.output_bias[0]
    joint = prior * stats.norm.pdf(y, mean, s)
    weight = np.full(h.size, step)
    weight[[0, -1]] /= 2
    exact = np.log((joint @ weight) / (prior @ weight))
    np.testing.assert_allclose(model.elbo(X, y, n_cycles=1), exact, atol=1e-8)


@pytest.mark.parametrize("kind", [*KINDS, "by_input"])
def test_draws_have_the_predicted_moments(kind):
    # 40,000 draws: of 4 x 5 statistics one leaves 4.5 standard errors once in 7,000 seeds.
    model = regression(kind)
    x = np.array([[0.3, -1.0, 0.7]])
    n = 40_000
    y = model.sample(np.repeat(x, n, axis=0), rng=3)
    mean, covariance = model.predict(x)[0], model.predictive_covariance(x)[0]
    assert (abs(y.mean(axis=0) - mean) < 4.5 * np.sqrt(np.diag(covariance) / n)).all()
    centred = y - mean
    products = centred[:, [0, 0, 1]] * centred[:, [0, 1, 1]]
    error = products.std(axis=0) / np.sqrt(n)
    assert (abs(products.mean(axis=0) - covariance[[0, 0, 1], [0, 1, 1]]) < 4.5 * error).all()


def test_draws_and_posterior_do_not_depend_on_threads_or_company():
    model = regression("mixed", hidden=70)
    X, y = rows(model, 300)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = model.sample(X, rng=0), *model.posterior(X, y), model.elbo(X, y)
    finally:
        numba.set_num_threads(before)
    together = model.sample(X, rng=0), *model.posterior(X, y), model.elbo(X, y)
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(model.elbo(X[:1], y[:1]), alone[3][:1], rtol=1e-12)


@pytest.mark.parametrize("kind", [*KINDS, "by_input"])
def test_float32_follows_float64(kind):
    double, single = regression(kind), regression(kind, np.float32)
    X, y = rows(double, 50)
    assert single.dtype == np.float32 and single.predict(X).dtype == np.float32
    np.testing.assert_allclose(single.predict(X), double.predict(X), atol=5e-6)
    for a, b in zip(single.posterior(X, y), double.posterior(X, y), strict=True):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, atol=2e-5)
    assert single.elbo(X, y).dtype == np.float64


def test_a_noise_by_input_is_a_noise_of_its_own_in_each_row():
    model = regression("by_input")
    X, y = rows(model, 6)
    noise = model.predict_noise(X)
    assert noise.shape == (6, 2) and (noise.std(axis=0) > 0.1 * noise.mean(axis=0)).all()
    z = X @ model.input_weights.T + model.input_bias
    ends = (model.lower - z) / 0.5**0.5, (model.upper - z) / 0.5**0.5
    hidden = tf.truncnorm.mean(*ends, loc=z, scale=0.5**0.5)
    expected = model.noise_variance * np.exp(hidden @ model.noise_weights.T)
    np.testing.assert_allclose(noise, expected, rtol=1e-12)
    found = model.elbo(X, y), *model.posterior(X, y), model.log_density(X, y)
    sampled = model.log_likelihood(X, y, n_samples=200, rng=0)
    own = model.arrays() | {"noise_weights": None}
    for k in range(6):
        x, aim = X[k : k + 1], y[k : k + 1]
        alone = tf.TruGTGGM(**own | {"noise_variance": noise[k]})
        np.testing.assert_allclose(alone.predict(x, True)[1], model.predict(x, True)[1], rtol=1e-12)
        expected = alone.elbo(x, aim), *alone.posterior(x, aim), alone.log_density(x, aim)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a[k], b[0], rtol=1e-10, atol=1e-12)
        exact = alone.log_likelihood(x, aim, n_samples=3000, rng=1)
        both = np.hypot(sampled.std_error[k], exact.std_error[0])
        assert abs(sampled.value[k] - exact.value[0]) < 5 * both
    constant = regression("separate")
    assert (constant.predict_noise(X) == constant.noise_variance).all()


def test_one_output_comes_as_a_vector():
    model = regression("[0,1]", outputs=1)
    X, y = rows(model, 4)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == model.sample(X, rng=0).shape == (4,)
    assert model.predictive_covariance(X).shape == (4, 1, 1)
    np.testing.assert_array_equal(model.elbo(X, y), model.elbo(X, y[:, 0]))


@pytest.mark.parametrize("kind", [*KINDS, "by_input"])
def test_files_keep_every_bit(kind, tmp_path):
    model = regression(kind, np.float32)
    model.save(tmp_path / "model.npz")
    loaded = tf.TruGTGGM.load(tmp_path / "model.npz")
    for name in model.names:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.dtype == np.float32


def test_a_file_of_another_model_is_refused(tmp_path):
    tf.BernoulliRBM(np.zeros((2, 2)), 0.0, 0.0).save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="holds a BernoulliRBM, expected a TruGTGGM"):
        tf.TruGTGGM.load(tmp_path / "model.npz")


GOOD = dict(
    input_weights=np.ones((2, 3)),
    input_bias=0.0,
    output_weights=np.ones((2, 2)),
    output_bias=0.0,
    noise_variance=0.2,
    lower=0.0,
    upper=1.0,
)
BAD = [
    (dict(input_weights=np.ones(3)), "input_weights must be a matrix"),
    (dict(output_weights=np.ones((2, 3))), "output_weights must have 2 columns, got 3"),
    (dict(input_bias=np.ones(3)), r"input_bias must be a number or have shape \(2,\)"),
    (dict(noise_variance=0.0), "noise_variance must be positive, got 0.0 at index 0"),
    (dict(noise_variance=[0.1, 0.2]), "hidden_variance must be given"),
    (dict(hidden_variance=-1.0), "hidden_variance must be positive"),
    (dict(lower=1.0), "lower must be below upper"),
    (dict(output_bias=np.nan), "output_bias must not be NaN"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_parameters(change, message):
    with pytest.raises(ValueError, match=message):
        tf.TruGTGGM(**(GOOD | change))


def test_bad_data():
    model = tf.TruGTGGM(**GOOD)
    X, y = np.zeros((4, 3)), np.zeros((4, 2))
    for call, message in (
        (lambda: model.predict(np.zeros((4, 2))), "X must have 3 columns, got 2"),
        (lambda: model.predict([[0, 1, np.inf]]), "X must be finite"),
        (lambda: model.elbo(X, y[:3]), "y must be a vector or matrix with a row for each of the 4"),
        (lambda: model.elbo(X, y[:, 0]), "y must have 2 columns, got 1"),
        (lambda: model.elbo(X, y, n_cycles=0), "n_cycles must be at least 1"),
        (lambda: model.log_likelihood(X, y, n_samples=1), "n_samples must be at least 2"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="X must hold real numbers"):
        model.predict([["a", "b", "c"]])
