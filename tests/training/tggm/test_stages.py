"""The stages of the regression's training: what is tried, chosen, and trained on in the end."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import YACHT
from trug_fast.training.tggm.data import Scales
from trug_fast.training.tggm.learner import RegressionLearner

QUICK = dict(n_hidden=20, epochs=60, progress=False)
ROWS = len(YACHT.X_train)


def assert_same(model, other):
    for name in model.names:
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), name)


class TestHoldOut:
    def test_without_it_the_last_epoch_counts(self):
        options = QUICK | dict(epochs=4)
        fit = tf.train_tggm(*YACHT[:2], **options, validation=None, rng=0)
        assert fit.best_epoch == 4 and "validation_rmse" not in fit.history

    def test_patience_ends_a_run(self):
        noise = np.random.default_rng(0).normal(size=277)  # nothing to learn: the first is best
        with pytest.warns(tf.training.TrainingWarning, match="no better than the mean"):
            fit = tf.train_tggm(
                YACHT.X_train,
                noise,
                **QUICK,
                monitor=tf.training.Monitor("rmse", patience=5),
                rng=0,
            )
        assert len(fit.history["epoch"]) == fit.best_epoch + 5 < 60

    def test_the_refit_is_a_run_on_all_rows(self):
        refit, not_refit = (
            tf.training.HoldOut(refit=refit, calibrate=None) for refit in (True, False)
        )
        fit = tf.train_tggm(*YACHT[:2], **QUICK, validation=refit, rng=0)
        part = tf.train_tggm(*YACHT[:2], **QUICK, validation=not_refit, rng=0)
        assert fit.best_epoch == part.best_epoch
        assert (fit.model.upper != part.model.upper).all()
        # As long as the best epoch says, at rates that go over the whole plan.
        start, end = 0.01, 0.0002
        end = start * (end / start) ** (fit.best_epoch / 60)
        options = QUICK | dict(epochs=fit.best_epoch, learning_rate=(start, end))
        alone = tf.train_tggm(*YACHT[:2], **options, validation=None, rng=0)
        np.testing.assert_allclose(alone.model.upper, fit.model.upper, rtol=1e-3)

    def test_scores_every_few_epochs(self):
        options = QUICK | dict(epochs=7, monitor=tf.training.Monitor("log_likelihood", every=3))
        fit = tf.train_tggm(*YACHT[:2], **options, rng=0)
        scores = fit.history["validation_log_likelihood"]
        assert np.isfinite(scores).tolist() == [False, False, True, False, False, True, True]
        np.testing.assert_array_equal(scores, fit.history["validation_score"])
        assert fit.best_epoch == 1 + np.nanargmax(scores)

    def test_without_a_monitor_the_last_epoch_counts_and_the_noise_is_calibrated(self):
        options = QUICK | dict(epochs=4, monitor=None)
        fit = tf.train_tggm(
            *YACHT[:2], **options, validation=tf.training.HoldOut(refit=False), rng=0
        )
        plain = tf.training.HoldOut(refit=False, calibrate=None)
        raw = tf.train_tggm(*YACHT[:2], **options, validation=plain, rng=0)
        assert fit.best_epoch == 4 and "validation_rmse" not in fit.history
        np.testing.assert_array_equal(fit.model.upper, raw.model.upper)
        assert fit.model.noise_variance != raw.model.noise_variance


class TestRowsOfOnesOwn:
    own = YACHT.X_test, YACHT.y_test

    def test_the_model_is_that_of_the_best_epoch_on_all_rows(self):
        fit = tf.train_tggm(*YACHT[:2], **QUICK, validation=self.own, rng=0)
        error = fit.history["validation_rmse"]
        assert fit.best_epoch == 1 + np.argmin(error)
        mean = fit.model.predict(YACHT.X_test)
        rmse = np.sqrt(np.mean((mean - YACHT.y_test) ** 2)) / YACHT.y_train.std()
        assert error.min() == pytest.approx(rmse, rel=1e-4)
        # Trained on every row in its own scale: as without validation, at the same rates.
        alone = tf.train_tggm(*YACHT[:2], **QUICK, validation=None, rng=0)
        np.testing.assert_array_equal(alone.history["objective"], fit.history["objective"])

    def test_the_noise_is_calibrated_on_them(self):
        far = YACHT.y_test + np.random.default_rng(0).normal(0, 30, len(YACHT.y_test))
        near, fit = (
            tf.train_tggm(*YACHT[:2], **QUICK, validation=(YACHT.X_test, y), rng=0).model
            for y in (YACHT.y_test, far)
        )
        assert np.sqrt(fit.noise_variance) > 15 > np.sqrt(near.noise_variance)

    def test_other_rows_are_another_run(self, tmp_path):
        options = QUICK | dict(epochs=2, rng=0)
        path = tmp_path / "run.npz"
        tf.train_tggm(*YACHT[:2], **options, validation=self.own, checkpoint=path)
        other = YACHT.X_test, YACHT.y_test + 1
        with pytest.raises(ValueError, match="y of validation is .* there"):
            tf.train_tggm(
                *YACHT[:2],
                **options,
                validation=other,
                checkpoint=tf.training.Checkpoint(path, resume=True),
            )

    def test_a_search_chooses_by_them(self):
        options = QUICK | dict(
            validation=self.own, learning_rate=tf.training.RateSearch([1e-5, (1e-2, 2e-4)])
        )
        fit = tf.train_tggm(*YACHT[:2], **options, rng=0)
        assert fit.learning_rate == (1e-2, 2e-4)
        alone = tf.train_tggm(*YACHT[:2], **QUICK, validation=self.own, rng=0)
        assert_same(fit.model, alone.model)


class TestSearch:
    def test_the_best_rate_is_taken(self):
        fit = tf.train_tggm(
            *YACHT[:2], **QUICK, learning_rate=tf.training.RateSearch((1e-5, 1e-2)), rng=0
        )
        alone = tf.train_tggm(*YACHT[:2], **QUICK, learning_rate=1e-2, rng=0)
        assert fit.learning_rate == 1e-2
        assert_same(fit.model, alone.model)
        np.testing.assert_array_equal(fit.history["objective"], alone.history["objective"])

    def test_rates_of_every_kind(self):
        def falls(share):
            return 0.02 * (1 - share) + 1e-4

        rates = [1e-6, (1e-6, 1e-7), falls]
        fit = tf.train_tggm(*YACHT[:2], **QUICK, learning_rate=tf.training.RateSearch(rates), rng=0)
        assert fit.learning_rate is falls
        np.testing.assert_allclose(fit.history["learning_rate"][:2], [0.0201, falls(1 / 60)])

    def test_a_rate_that_diverges_is_left_out(self):
        options = QUICK | dict(optimizer="sgd", epochs=3)
        fit = tf.train_tggm(
            *YACHT[:2], **options, learning_rate=tf.training.RateSearch((1e30, 1e-3)), rng=0
        )
        assert fit.learning_rate == 1e-3
        with pytest.raises(FloatingPointError, match="use a lower learning_rate"):
            tf.train_tggm(*YACHT[:2], **options, learning_rate=1e30, rng=0)
        with pytest.raises(FloatingPointError, match="lower learning_rate .it began at 1e.31"):
            tf.train_tggm(
                *YACHT[:2], **options, learning_rate=tf.training.RateSearch([1e30, 1e31]), rng=0
            )


class TestCallbacks:
    def test_they_see_every_run(self):
        seen = []
        options = QUICK | dict(epochs=3, learning_rate=tf.training.RateSearch([0.001, 0.01]))
        fit = tf.train_tggm(
            *YACHT[:2],
            **options,
            callbacks=[lambda e: seen.append((e.epoch, "validation_rmse" in e.history))],
            rng=0,
        )
        ours = [(1, True), (2, True), (3, True)]
        refit = [(epoch + 1, False) for epoch in range(fit.best_epoch)]
        assert seen == ours + ours + refit

    def test_their_model_is_the_current_one_in_original_units(self):
        models = []
        tf.train_tggm(
            *YACHT[:2],
            **QUICK | dict(epochs=2, validation=None),
            callbacks=[lambda event: models.append(event.model)],
            rng=0,
        )
        last = tf.train_tggm(*YACHT[:2], **QUICK | dict(epochs=2, validation=None), rng=0).model
        assert_same(models[1], last)
        assert (models[0].upper != last.upper).all()

    def test_true_ends_a_run(self):
        fit = tf.train_tggm(
            *YACHT[:2],
            **QUICK,
            validation=tf.training.HoldOut(refit=False),
            callbacks=[lambda event: event.epoch == 4],
            rng=0,
        )
        assert len(fit.history["epoch"]) == 4 and not fit.interrupted


def test_interruption_gives_the_fit_so_far(monkeypatch):
    update = RegressionLearner.update

    def stopped(self, *args):
        if self.updates == 3:
            raise KeyboardInterrupt
        update(self, *args)

    monkeypatch.setattr(RegressionLearner, "update", stopped)
    with pytest.warns(UserWarning, match="training was interrupted"):
        fit = tf.train_tggm(*YACHT[:2], **QUICK, rng=0)
    assert fit.interrupted and len(fit.history["epoch"]) == 3
    assert np.isfinite(fit.model.predict(YACHT.X_test)).all()


def test_a_refit_that_diverges_leaves_the_model_before_it(monkeypatch):
    found = RegressionLearner.fault

    def sick(self):
        every = self.taken == self.updates * -(-ROWS // 50)  # else rows are held back
        return "input_weights are no longer finite" if every else found(self)

    monkeypatch.setattr(RegressionLearner, "fault", sick)
    options = QUICK | dict(epochs=5, learning_rate=0.05)
    with pytest.warns(
        tf.training.TrainingWarning, match="on all rows diverged in epoch 1; the model"
    ):
        fit = tf.train_tggm(*YACHT[:2], **options, rng=0)
    part = tf.train_tggm(*YACHT[:2], **options, validation=tf.training.HoldOut(refit=False), rng=0)
    assert_same(fit.model, part.model)


def test_scales_are_those_of_the_training_rows():
    X, y = np.arange(6.0).reshape(3, 2), np.array([[1.0], [3.0], [5.0]])
    scales = Scales.of(X, y)
    fresh = scales.apply(X + 2, y - 2, np.dtype(float))
    np.testing.assert_allclose(fresh.inputs.mean(axis=0), 2 / X.std(axis=0))
    np.testing.assert_allclose(fresh.targets.mean(), -2 / y.std())
