"""The noise by rows that were not trained on."""

import numpy as np

import trug_fast as tf
from tests.support.regressions import regression, rows
from trug_fast.training.tggm.calibration import (
    FOLDS,
    CrossedResiduals,
    LeftOut,
    Residuals,
    calibrated,
    calibrated_mixture,
    calibrated_together,
)
from trug_fast.training.tggm.data import Examples


def test_it_is_the_noise_of_the_highest_likelihood():
    model = regression("separate")
    X, y = rows(model, 200)
    given = Examples(X, y, np.ones(len(X)))
    found = np.exp(calibrated([Residuals.of(model, given)], given))

    def likelihood(noise):
        mean, std = model.predict(X, return_std=True)
        variance = std**2 - model.noise_variance + noise
        return -0.5 * (np.log(variance) + (y - mean) ** 2 / variance).mean(axis=0)

    for factor in (0.99, 1.01):
        assert (likelihood(found) > likelihood(factor * found)).all()


def test_that_of_several_models_is_of_the_highest_likelihood_of_their_mixture():
    models = [regression("separate", outputs=1, seed=k) for k in range(3)]
    X, y = rows(models[0], 200)
    given = Examples(X, y, np.ones(len(X)))
    found = np.exp(calibrated([Residuals.of(model, given) for model in models], given))

    def likelihood(noise):
        own = [tf.TruGTGGM(**model.arrays() | {"noise_variance": noise}) for model in models]
        return tf.TGGMEnsemble(own).log_density(X, y).mean()

    for factor in (0.99, 1.01):
        assert likelihood(found) > likelihood(factor * found)


def test_rows_are_predicted_by_the_models_that_left_them_out():
    true = regression("separate", outputs=2)
    biases = true.output_bias + np.array([[0.0], [0.1], [-0.1]])
    models = [tf.TruGTGGM(**true.arrays() | {"output_bias": bias}) for bias in biases]
    X = np.random.default_rng(1).normal(size=(120, true.n_inputs))
    y = true.sample(X, rng=0)
    weights = np.linspace(0.5, 1.5, 120)
    given = Examples(X, y, weights)
    # Laplace noise of its own, heavier than a normal's, on the second output alone.
    y[:, 1] += np.random.default_rng(0).laplace(0, 2, 120) * (np.arange(120) % 4 == 0)
    places = [np.arange(0, 80), np.arange(40, 110), np.arange(90, 110)]
    left = [
        LeftOut(own, Residuals.of(model, given.at(own)))
        for own, model in zip(places, models, strict=True)
    ]
    noise = calibrated_mixture(left, given)
    assert (noise.factors[:, 0] == 1).all() and noise.factors[-1, 1] > 3 * noise.factors[0, 1]
    np.testing.assert_allclose(noise.factors.mean(axis=0), 1.0, rtol=1e-12)

    def likelihood(log_noise, factors):
        arrays = {"noise_variance": np.exp(log_noise), "hidden_variance": models[0].hidden_variance}
        total = 0.0
        for k in range(110):
            own = [
                tf.TruGTGGM(**model.arrays() | arrays)
                for model, held in zip(models, places, strict=True)
                if k in held
            ]
            mixture = tf.TGGMEnsemble(own, noise_factors=factors).mixture(X[k : k + 1])
            total += weights[k] * mixture.log_density(y[k : k + 1])[0]
        return total

    best = likelihood(noise.log_noise, noise.factors)
    np.testing.assert_allclose(noise.log_density, best / weights[:110].sum(), rtol=1e-10)
    errors = []
    for k in range(110):
        own = [m.predict(X[[k]])[0] for m, held in zip(models, places, strict=True) if k in held]
        errors.append(np.mean(own, axis=0) - y[k])
    expected = np.average(np.square(errors), axis=0, weights=weights[:110])
    np.testing.assert_allclose(noise.square_error, expected, rtol=1e-10)
    for step in (-0.02, 0.02):
        assert (likelihood(noise.log_noise + step, noise.factors) < best).all()
        powers = noise.factors ** (1 + 2 * step)
        assert likelihood(noise.log_noise, powers / powers.mean(axis=0))[1] < best[1]
    assert best[1] > likelihood(noise.log_noise, None)[1] + 1


def test_it_covers_what_it_says():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=1000)
    covered = {}
    for calibrate in ("held_back", None):
        fit = tf.train_tggm(
            X[:300],
            y[:300],
            30,
            epochs=300,
            validation=tf.training.HoldOut(0.3, refit=False, calibrate=calibrate),
            monitor=tf.training.Monitor("rmse", patience=300),
            progress=False,
            rng=0,
        )
        mean, std = fit.model.predict(X[300:], return_std=True)
        covered[calibrate] = np.mean(abs(mean - y[300:]) < 1.645 * std)
    assert abs(covered["held_back"] - 0.9) < 0.05
    assert covered["held_back"] >= covered[None]


def test_cross_validation_covers_as_the_model_that_data_are_of():
    # With 300 of 3,000 rows held back deviations come out 5 % off, and coverage 1.6 %.
    rng = np.random.default_rng(0)
    weights = rng.normal(0, 1, (6, 3)), rng.normal(0.5, 0.5, 6), rng.normal(0, 1, (1, 6))
    true = tf.TruGTGGM(*weights, 0.0, 0.15, 0.0, 1.5)
    X = rng.normal(size=(23000, 3))
    y = true.sample(X, rng=0)
    how = tf.training.HoldOut(calibrate="cross_validation")
    options = {"epochs": 100, "objective": "moments", "validation": how, "rng": 0}
    fit = tf.train_tggm(X[:3000], y[:3000], 20, **options, progress=False)
    found, best = (
        tf.regression_scores(model, X[3000:], y[3000:]).coverage for model in (fit.model, true)
    )
    assert abs(found[0.9] - best[0.9]) < 0.01
    assert abs(found[0.5] - best[0.5]) < 0.01


def test_parts_hold_each_row_once():
    model = regression("separate")
    given = Examples(*rows(model, 23), np.ones(23))
    crossed = CrossedResiduals(given, seed=3)
    assert calibrated_together(crossed) is None
    for fold in range(FOLDS):
        left = crossed.trained(fold)
        assert len(left.inputs) in (18, 19)
        assert not {*map(tuple, left.inputs)} >= {*map(tuple, given.inputs)}
        crossed.note(fold, model)
    once = Residuals.of(model, given)
    for found, expected in zip(crossed.found, once, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(calibrated_together(crossed), calibrated([once], given), rtol=1e-9)
