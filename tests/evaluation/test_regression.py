"""Scores of predictions: of normals, of single models and of ensembles."""

import numpy as np
import pytest
from scipy.stats import norm

import trug_fast as tf
from tests.support.regressions import regression, rows


@pytest.mark.parametrize("outputs", [1, 2])
def test_scores_of_an_ensemble_are_their_definitions(outputs):
    models = [regression("separate", outputs=outputs, seed=k) for k in range(3)]
    mixed = tf.TGGMEnsemble(models)
    X, y = rows(models[0], 200)
    found = tf.regression_scores(mixed, X, y, levels=(0.5, 0.8))
    mean = mixed.predict(X).reshape(200, -1)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((mean - y) ** 2)))
    logs = mixed.log_density(X, y)
    assert found.log_likelihood == pytest.approx(logs.mean())
    assert found.log_likelihood_error == pytest.approx(logs.std(ddof=1) / np.sqrt(200))
    low, high = (end.reshape(200, -1) for end in mixed.predict_interval(X, 0.8))
    assert found.coverage[0.8] == np.mean((low <= y) & (y <= high)) > found.coverage[0.5]
    # E|Y - y| - E|Y - Y'|/2 over draws of the normals.
    rng, mixture = np.random.default_rng(0), mixed.mixture(X)
    which = rng.integers(3, size=(2, 4000, 1))
    drawn = (
        mixture.mean[which, np.arange(200)]
        + rng.normal(size=(2, 4000, 200, outputs)) * mixture.deviation[which, np.arange(200)]
    )
    by_draws = abs(drawn[0] - y).mean() - abs(drawn[0] - drawn[1]).mean() / 2
    assert found.crps == pytest.approx(by_draws, abs=0.005)
    assert found.n_rows == 200 and 0 < found.crps_error < found.rmse_error < 0.2


def test_scores_of_one_model_are_those_of_its_normal():
    model = regression("mixed", outputs=1)
    X, y = rows(model, 50)
    found = tf.regression_scores(model, X, y[:, 0])
    mean, std = model.predict(X, return_std=True)
    off = y[:, 0] - mean
    assert found.rmse == pytest.approx(np.sqrt(np.mean(off**2)), rel=1e-12)
    assert found.log_likelihood == pytest.approx(norm.logpdf(off, 0, std).mean(), rel=1e-12)
    assert found.coverage[0.9] == np.mean(abs(off) <= norm.ppf(0.95) * std)


def test_bad_arguments_of_scores():
    model = regression("mixed", outputs=1)
    X, y = rows(model, 4)
    with pytest.raises(TypeError, match="model must be a TruGTGGM or TGGMEnsemble, got int"):
        tf.regression_scores(3, X, y)
    with pytest.raises(ValueError, match="levels must be below 1"):
        tf.regression_scores(model, X, y, levels=[0.5, 1.0])
    with pytest.raises(TypeError, match="levels must be a number, got '0.9'"):
        tf.regression_scores(model, X, y, levels="0.9")
    with pytest.raises(TypeError, match="levels must be a number, got array"):
        tf.regression_scores(model, X, y, levels=np.array(0.9))
    with pytest.raises(ValueError, match="y must"):
        tf.regression_scores(model, X, y[:3])
