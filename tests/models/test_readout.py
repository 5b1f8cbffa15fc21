"""The posterior of a regression's readout: exact where units are linear, and in all predictions."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import trug_fast as tf
from tests.support.regressions import regression, rows
from trug_fast.models.readout import most_evident, posterior_covariance

RNG = np.random.default_rng(0)


def linear(hidden=3, inputs=2, noise=0.3):
    """Return a model whose hidden units are their net inputs, to 1e-12."""
    return tf.TruGTGGM(
        RNG.normal(size=(hidden, inputs)),
        RNG.normal(size=hidden),
        RNG.normal(size=(1, hidden)),
        0.5,
        noise,
        -100.0,
        100.0,
        hidden_variance=1e-13,
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_linear_units_give_bayesian_linear_regression(weighted):
    model = linear()
    X, fresh = RNG.normal(size=(40, 2)), RNG.normal(size=(5, 2))
    weights = RNG.uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    features, new = (
        np.c_[x @ model.input_weights.T + model.input_bias, np.ones(len(x))] for x in (X, fresh)
    )
    counts = weights / weights.mean() / 0.3
    precision = (counts[:, None] * features).T @ features + np.diag([2.0, 2.0, 2.0, 0.0])
    exact = np.linalg.inv(precision)
    given = {"sample_weight": weights} if weighted else {}
    found = model.with_readout_posterior(X, prior_precision=2.0, **given)
    np.testing.assert_allclose(found.readout_covariance[0], exact, rtol=1e-9, atol=1e-12)
    mean, deviation = found.predict(fresh, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(fresh))
    expected = 0.3 + np.einsum("ri,ij,rj->r", new, exact, new)
    np.testing.assert_allclose(deviation**2, expected, rtol=1e-9)


def test_the_prior_is_that_of_the_highest_evidence():
    features, weights = RNG.normal(size=(30, 6)), RNG.normal(size=6)
    counts = RNG.uniform(1, 3, 30)
    apart = features - counts @ features / counts.sum()  # the bias has a flat prior
    gram = (counts[:, None] * apart).T @ apart

    def loss(log_a):  # minus the log evidence at weights of highest posterior density
        spread = np.linalg.slogdet(gram + np.exp(log_a) * np.eye(6))[1]
        return 0.5 * (np.exp(log_a) * weights @ weights + spread - 6 * log_a)

    best = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
    found = most_evident(np.linalg.eigvalsh(gram), weights @ weights)
    assert abs(np.log(found) - best.x) < 1e-6
    chosen = posterior_covariance(features, counts, weights, None)
    np.testing.assert_allclose(chosen, posterior_covariance(features, counts, weights, found))


def test_units_that_say_nothing():
    assert most_evident(np.zeros(4), 2.0) == 2.0  # the weights' own mean square
    silent = posterior_covariance(RNG.normal(size=(9, 2)), np.ones(9), np.zeros(2), None)
    np.testing.assert_allclose(silent, np.diag([0, 0, 1 / 9]), atol=1e-15)  # the bias alone


@pytest.mark.parametrize("kind", ["[0,1]", "separate", "by_input"])
def test_all_predictions_have_the_same_doubt(kind, tmp_path):
    model = regression(kind)
    X, y = rows(model, 12)
    doubtful = model.with_readout_posterior(X[:8])
    mean, deviation = doubtful.predict(X, return_std=True)
    covariance = doubtful.predictive_covariance(X)
    np.testing.assert_allclose(np.diagonal(covariance, axis1=1, axis2=2), deviation**2)
    more = covariance - model.predictive_covariance(X)
    assert (np.diagonal(more, axis1=1, axis2=2) > 0).all()
    np.testing.assert_allclose(more[:, 0, 1], 0, atol=1e-15)
    np.testing.assert_allclose(doubtful.mixture(X).deviation[0], deviation)
    np.testing.assert_array_equal(doubtful.predict_noise(X), model.predict_noise(X))
    doubtful.save(tmp_path / "model.npz")
    loaded = tf.TruGTGGM.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.log_density(X, y), doubtful.log_density(X, y))
    both = tf.TGGMEnsemble([doubtful, doubtful], noise_factors=np.ones((1, 2)))
    np.testing.assert_allclose(both.predict(X, return_std=True)[1], deviation)
    for call in (doubtful.elbo, doubtful.posterior, doubtful.log_likelihood):
        with pytest.raises(ValueError, match="readout_covariance has no mean field"):
            call(X, y)


def test_draws_have_it():
    model = regression("separate", outputs=1)
    X = rows(model, 8)[0]
    doubtful = model.with_readout_posterior(X[:6])
    deviation = doubtful.predict(X[:1], return_std=True)[1]
    assert deviation > 1.1 * model.predict(X[:1], return_std=True)[1]
    draws = doubtful.sample(np.repeat(X[:1], 20_000, axis=0), rng=1)
    assert abs(draws.std() / deviation - 1) < 4 * np.sqrt(0.5 / 20_000) * 1.5


def test_float32_follows_float64():
    double, single = regression("separate"), regression("separate", np.float32)
    X = rows(double, 30)[0]
    found = single.with_readout_posterior(X)
    assert found.dtype == np.float32 and found.readout_covariance.dtype == np.float32
    expected = double.with_readout_posterior(X).predict(X, return_std=True)[1]
    np.testing.assert_allclose(found.predict(X, return_std=True)[1], expected, rtol=1e-4)


def test_bad_values_are_refused():
    model = regression("separate")
    X = rows(model, 5)[0]
    own = model.arrays()
    good = np.stack([np.eye(6)] * 2)
    for wrong, words in (
        (good[:1], r"readout_covariance must have shape \(2, 6, 6\), got \(1, 6, 6\)"),
        (good * np.nan, "readout_covariance must be finite"),
        (-good, "no eigenvalue below 0, got -1"),
        (good + np.triu(np.ones((6, 6)), 1), "must be symmetric"),
    ):
        with pytest.raises(ValueError, match=words):
            tf.TruGTGGM(**own, readout_covariance=wrong)
    with pytest.raises(ValueError, match="prior_precision must be positive"):
        model.with_readout_posterior(X, prior_precision=0.0)
    with pytest.raises(ValueError, match="sample_weight must have a weight for each row"):
        model.with_readout_posterior(X, sample_weight=[1.0, 2.0])


class TestTraining:
    X = RNG.normal(size=(80, 2))
    Y = 3.0 + 2.0 * np.sin(X[:, 0]) + 0.3 * RNG.normal(size=80)
    BASE = {"n_hidden": 4, "epochs": 60, "noise": "separate", "progress": False, "rng": 0}

    def train(self, **how):
        how = tf.training.HoldOut(**how)
        return tf.train_tggm(self.X, self.Y, **self.BASE, validation=how).model

    def test_the_readout_is_as_uncertain_as_all_rows_leave_it(self):
        found = self.train(laplace=True, calibrate=None)
        plain = self.train(calibrate=None)
        np.testing.assert_array_equal(plain.predict(self.X), found.predict(self.X))
        expected = plain.with_readout_posterior(self.X).readout_covariance
        np.testing.assert_allclose(found.readout_covariance, expected, rtol=2e-3, atol=1e-5)

    @pytest.mark.parametrize("calibrate", ["held_back", "cross_validation"])
    def test_noise_and_doubt_are_calibrated_together(self, calibrate):
        found, plain = (self.train(laplace=own, calibrate=calibrate) for own in (True, False))
        assert found.noise_variance < plain.noise_variance
        assert found.predict(self.X, True)[1].mean() < 1.2 * plain.predict(self.X, True)[1].mean()

    def test_models_of_an_ensemble_have_it(self):
        how = tf.training.HoldOut(laplace=True)
        fit = tf.train_ensemble(self.X, self.Y, 2, **self.BASE, validation=how)
        assert all(model.readout_covariance is not None for model in fit.model)
        assert fit.fits[0].model.readout_covariance is not None

    def test_a_probit_readout_has_none(self):
        with pytest.raises(ValueError, match="laplace=True has no effect on objective='probit'"):
            tf.train_tggm(
                self.X,
                np.sign(self.Y - 3),
                objective="probit",
                validation=tf.training.HoldOut(laplace=True),
            )
