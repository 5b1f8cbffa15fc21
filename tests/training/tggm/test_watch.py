"""Trainings of the regression that fail, and say so."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.tggm.learner import RegressionLearner

YACHT = tf.datasets.load_yacht().split(0)


class TestDivergence:
    @pytest.mark.parametrize("validation", [0.1, None, (YACHT.X_test, YACHT.y_test)])
    @pytest.mark.parametrize("rate", [1.0, 100.0])
    def test_an_error_far_above_that_at_the_start(self, validation, rate):
        # Root mean square errors are 120 and 400,000 standard deviations.
        with pytest.raises(FloatingPointError, match="times the targets' standard deviation"):
            tf.train_tggm(*YACHT[:2], epochs=3, learning_rate=rate, validation=validation, rng=0)

    def test_after_the_best_epoch(self, monkeypatch):
        # The best model stays good; the warning says that it is not the last.
        found, calls = RegressionLearner.fault, []

        def third(self):
            calls.append(1)
            self.sick = len(calls) == 3 or getattr(self, "sick", False)
            return "input_weights are no longer finite" if self.sick else found(self)

        monkeypatch.setattr(RegressionLearner, "fault", third)
        options = {"n_hidden": 10, "epochs": 5, "learning_rate": (0.1, 0.002), "rng": 0}
        with pytest.warns(
            tf.training.TrainingWarning, match="diverged in epoch 3; the model is .* epoch 2"
        ):
            fit = tf.train_tggm(*YACHT[:2], **options)
        assert fit.best_epoch == 2 and len(fit.history["epoch"]) == 2
        calls.clear()
        # Without scores too: the third look is that at the end of the third epoch.
        with pytest.warns(
            tf.training.TrainingWarning, match="diverged in epoch 3; the model is .* epoch 2"
        ):
            last = tf.train_tggm(*YACHT[:2], **options, validation=None)
        assert fit.interrupted and last.interrupted and last.best_epoch == 2
        assert np.isfinite(last.model.predict(YACHT.X_test)).all()
        calls.clear()
        with pytest.raises(FloatingPointError, match="diverged in epoch 3: input_weights"):
            tf.train_tggm(*YACHT[:2], **options | {"learning_rate": 1e-6}, validation=None)

    def test_the_advice_names_the_rates_that_were_given(self):
        options = {"epochs": 3, "learning_rate": 100.0, "rng": 0}
        with pytest.raises(FloatingPointError, match=r"it began at 100\)$"):
            tf.train_tggm(*YACHT[:2], **options)
        with pytest.raises(FloatingPointError, match=r"at 100\), or a lower truncation_rate$"):
            tf.train_tggm(*YACHT[:2], **options, optimizer=tf.training.Adam(truncation_rate=0.1))


def test_a_training_that_learned_nothing():
    options = {"n_hidden": 10, "epochs": 5, "rng": 0}
    with pytest.warns(tf.training.TrainingWarning, match="no better than the mean.*25 updates"):
        tf.train_tggm(*YACHT[:2], **options, learning_rate=1e-5)
    tf.train_tggm(*YACHT[:2], **options, learning_rate=(0.1, 0.002))


class TestConstants:
    @pytest.mark.parametrize("value", [1.0, 0.0, -3e7, 1e-9])
    @pytest.mark.parametrize("noise", ["shared", "separate"])
    def test_a_constant_target_is_predicted(self, value, noise):
        X, aims = YACHT.X_train, np.full(len(YACHT.X_train), value)
        fit = tf.train_tggm(X, aims, n_hidden=10, epochs=5, noise=noise, rng=0)
        mean, std = fit.model.predict(X, return_std=True)
        np.testing.assert_allclose(mean, value, rtol=1e-7, atol=1e-7 if value == 0 else 0)
        assert (std > 0).all() and (std < 1e-6 * (abs(value) or 1)).all()
        # Begun at a model that says otherwise, too.
        other = tf.train_tggm(*YACHT[:2], n_hidden=10, epochs=5, noise=noise, rng=0).model
        fit = tf.train_tggm(X, aims, n_hidden=10, epochs=2, noise=noise, start=other, rng=0)
        np.testing.assert_allclose(fit.model.predict(X), value, rtol=1e-7, atol=1e-7)

    def test_beside_one_that_varies(self):
        y = np.stack([YACHT.y_train, np.full(len(YACHT.y_train), 5.0)], axis=1)
        options = {"n_hidden": 10, "epochs": 30, "learning_rate": (0.03, 0.0006)}
        fit = tf.train_tggm(YACHT.X_train, y, **options, rng=0)
        found = fit.model.predict(YACHT.X_train)
        np.testing.assert_allclose(found[:, 1], 5.0, rtol=1e-7)
        assert (found[:, 0] - y[:, 0]).std() < 0.5 * y[:, 0].std()
