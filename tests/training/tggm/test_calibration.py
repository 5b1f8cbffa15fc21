"""The noise by rows that were not trained on."""

import numpy as np

import trug_fast as tf
from tests.support.regressions import regression, rows
from trug_fast.training.tggm.calibration import calibrated
from trug_fast.training.tggm.scaling import Examples


def test_it_is_the_noise_of_the_highest_likelihood():
    model = regression("separate")
    X, y = rows(model, 200)
    found = np.exp(calibrated(model, Examples(X, y, np.ones(len(X)))))

    def likelihood(noise):
        mean, std = model.predict(X, return_std=True)
        variance = std**2 - model.noise_variance + noise
        return -0.5 * (np.log(variance) + (y - mean) ** 2 / variance).mean(axis=0)

    for factor in (0.99, 1.01):
        assert (likelihood(found) > likelihood(factor * found)).all()


def test_it_covers_what_it_says():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=1000)
    covered = {}
    for calibrate in (True, False):
        fit = tf.train_tggm(
            X[:300],
            y[:300],
            30,
            epochs=300,
            validation=tf.HoldOut(0.3, refit=False, calibrate=calibrate),
            monitor=tf.Monitor("rmse", patience=300),
            progress=False,
            rng=0,
        )
        mean, std = fit.model.predict(X[300:], return_std=True)
        covered[calibrate] = np.mean(abs(mean - y[300:]) < 1.645 * std)
    assert abs(covered[True] - 0.9) < 0.05
    assert covered[True] >= covered[False]
