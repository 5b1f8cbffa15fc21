"""Predictive densities of single regressions and of ensembles."""

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal, norm

import trug_fast as tf
from tests.support.regressions import regression, rows
from trug_fast._common import files
from trug_fast.models.stored import load

TAILS = np.array([[0.1, 0.5], [0.4, 1.0], [2.5, 1.5]])


def ensemble(outputs=1, size=3, tails=False, **more):
    return tf.TGGMEnsemble(
        [regression("separate", outputs=outputs, seed=k, **more) for k in range(size)],
        noise_factors=TAILS[:, :outputs] if tails else None,
    )


@pytest.mark.parametrize("outputs", [1, 2])
def test_heavy_tails_are_models_of_other_noise(outputs):
    mixed = ensemble(outputs, tails=True)
    plain = [
        tf.TruGTGGM(**model.arrays() | {"noise_variance": model.noise_variance * factor})
        for model in mixed
        for factor in TAILS[:, :outputs]
    ]
    same = tf.TGGMEnsemble(plain)
    X, y = rows(mixed[0], 20)
    for found, expected in zip(mixed.mixture(X), same.mixture(X), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(mixed.log_density(X, y), same.log_density(X, y), rtol=1e-12)
    for name in ("predict", "predictive_covariance"):
        found, expected = (getattr(model, name)(X) for model in (mixed, same))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(mixed.sample(X, rng=1), same.sample(X, rng=1))
    np.testing.assert_allclose(
        mixed.predict_interval(X, 0.9), same.predict_interval(X, 0.9), rtol=1e-10
    )


@pytest.mark.parametrize("outputs", [1, 2])
def test_one_model_predicts_a_normal(outputs):
    model = regression("mixed", outputs=outputs)
    X, y = rows(model, 30)
    mean, std = model.predict(X, return_std=True)
    low, high = model.predict_interval(X, 0.9)
    np.testing.assert_allclose(low, mean + norm.ppf(0.05) * std, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(high, mean + norm.ppf(0.95) * std, rtol=1e-12, atol=1e-12)
    three = model.predict_quantiles(X, [0.05, 0.5, 0.95])
    assert three.shape == (3, *mean.shape)
    np.testing.assert_array_equal(three[0], low)
    np.testing.assert_array_equal(three[1], model.predict_quantiles(X, 0.5))
    cov = model.predictive_covariance(X)
    means = mean.reshape(30, -1)
    expected = [multivariate_normal.logpdf(a, m, c) for a, m, c in zip(y, means, cov, strict=True)]
    np.testing.assert_allclose(model.log_density(X, y), expected, rtol=1e-10)


@pytest.mark.parametrize("outputs", [1, 2])
def test_an_ensemble_is_the_mixture_of_its_models(outputs):
    mixed = ensemble(outputs)
    X, y = rows(mixed[0], 30)
    each = np.stack([np.exp(model.log_density(X, y)) for model in mixed])
    np.testing.assert_allclose(mixed.log_density(X, y), np.log(each.mean(axis=0)), rtol=1e-12)
    mean, std = mixed.predict(X, return_std=True)
    np.testing.assert_array_equal(mixed.predict(X), mean)
    np.testing.assert_allclose(mean, np.mean([m.predict(X) for m in mixed], axis=0))
    cov = mixed.predictive_covariance(X)
    diagonal = np.sqrt(np.diagonal(cov, axis1=1, axis2=2))
    np.testing.assert_allclose(std.reshape(diagonal.shape), diagonal, rtol=1e-12)
    low, high = mixed.predict_interval(X, 0.8)
    inside = mixed.mixture(X).cdf(high.reshape(30, -1)) - mixed.mixture(X).cdf(low.reshape(30, -1))
    np.testing.assert_allclose(inside, 0.8, rtol=1e-12)


def test_an_ensemble_of_the_same_model_is_that_model():
    model = regression("mixed", outputs=1)
    mixed = tf.TGGMEnsemble([model, model])
    X, y = rows(model, 10)
    np.testing.assert_allclose(mixed.predict(X), model.predict(X), rtol=1e-14)
    np.testing.assert_allclose(mixed.log_density(X, y), model.log_density(X, y), rtol=1e-13)
    q = [0.01, 0.6]
    np.testing.assert_allclose(
        mixed.predict_quantiles(X, q), model.predict_quantiles(X, q), rtol=1e-13
    )


def test_draws_come_from_the_mixture():
    # Exact draws are of the models' own densities; with narrow units these are nearly normal.
    mixed = tf.TGGMEnsemble(
        [tf.TruGTGGM([[0.0]], 0.0, [[0.01]], b, 0.2, 0.0, 1.0) for b in (0.0, 3.0)]
    )
    X = np.zeros((4000, 1))
    drawn = mixed.sample(X, rng=0)
    assert kstest(mixed.mixture(X[:1]).cdf(drawn[:, None]), "uniform").pvalue > 1e-3
    np.testing.assert_array_equal(drawn, mixed.sample(X, rng=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_keep_every_bit(dtype, tmp_path):
    path = tmp_path / "models.npz"
    models = [regression("separate", dtype, hidden=h) for h in (3, 5)]
    mixed = tf.TGGMEnsemble(models, noise_factors=TAILS)
    mixed.with_columns(["a", "b", "c"]).save(path)
    again = load(path)
    assert (
        repr(again) == f"TGGMEnsemble(n_models=2, n_inputs=3, n_outputs=2, dtype={dtype.__name__})"
    )
    assert again.columns == ("a", "b", "c") and len(again) == 2
    np.testing.assert_array_equal(again.noise_factors, TAILS)
    for one, other in zip(mixed, again, strict=True):
        assert one.names == other.names
        for name in one.names:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_files_that_hold_no_ensemble_are_refused(tmp_path):
    path = tmp_path / "models.npz"
    ensemble().save(path)
    content = files.read(path, "TGGMEnsemble")
    for change in (
        {"n_models": np.array(4)},
        {"n_models": np.array(10**9)},
        {"n_models": np.array(2)},
        {"n_models": np.array([3])},
        {"more": np.array(1)},
        {"1.more": np.array(1)},
        {"1.lower": np.full(5, 9.0)},
        {"noise_factors": np.array([[0.0]])},
    ):
        files.write(path, "TGGMEnsemble", content | change)
        with pytest.raises(ValueError, match=r"models\.npz is damaged"):
            tf.TGGMEnsemble.load(path)
    del content["n_models"]
    files.write(path, "TGGMEnsemble", content)
    with pytest.raises(ValueError, match="lacks n_models"):
        tf.TGGMEnsemble.load(path)


def test_bad_arguments():
    one, other = regression("separate", outputs=1), regression("separate", outputs=2)
    with pytest.raises(ValueError, match="models must hold at least one"):
        tf.TGGMEnsemble([])
    with pytest.raises(TypeError, match="models must be a sequence"):
        tf.TGGMEnsemble(one)
    with pytest.raises(TypeError, match="model 2 of models must be a TruGTGGM, got int"):
        tf.TGGMEnsemble([one, 3])
    with pytest.raises(ValueError, match="agree in n_outputs: the first has 1, model 2 has 2"):
        tf.TGGMEnsemble([one, other])
    for factors in ([1.0], [[1.0, 2.0]], [[0.0]], [[np.inf]], np.ones((0, 1))):
        with pytest.raises(ValueError, match="noise_factors must"):
            tf.TGGMEnsemble([one], noise_factors=factors)
    X = np.zeros((2, 3))
    for model in (one, ensemble()):
        for q in (0.0, 1.0, [0.5, np.nan], []):
            with pytest.raises(ValueError, match="q must"):
                model.predict_quantiles(X, q)
        with pytest.raises(ValueError, match="level must be below 1"):
            model.predict_interval(X, 1.0)
        with pytest.raises(ValueError, match="y must"):
            model.log_density(X, [1.0])
        with pytest.raises(ValueError, match="X must"):
            model.predict_quantiles(np.zeros((2, 4)), 0.5)
