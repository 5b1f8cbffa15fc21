"""Training of a temporal RBM that failed says so: it diverged, or learned nothing."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import same, spoil
from trug_fast.training.trbm.learner import TRBMLearner


@pytest.fixture(scope="module")
def videos():
    return tf.datasets.bouncing_balls(8, 20, size=8, rng=0)


def test_divergence(videos):
    with pytest.raises(FloatingPointError, match="diverged in epoch 1: .*it began at 1e"):
        tf.train_trbm(videos, 10, epochs=3, learning_rate=1e38, rng=0)
    real = 1000 * np.cumsum(np.random.default_rng(0).normal(size=(20, 30, 3)), axis=1)
    with pytest.raises(FloatingPointError, match="standardise the columns of sequences"):
        tf.train_trbm(real, 10, visible="gaussian", epochs=3, learning_rate=1.0, rng=0)


@pytest.mark.parametrize(
    "name",
    ["hidden_to_hidden", "visible_to_hidden", "visible_to_visible", "weights"]
    + ["initial_hidden_bias", "initial_visible_bias", "visible_bias", "visible_precision"],
)
def test_all_that_is_learned_is_watched(name, monkeypatch):
    data = np.random.default_rng(0).normal(size=(4, 6, 3))
    visible = tf.GaussianUnits(learn_precision=True)
    options = {"visible": visible, "epochs": 1, "monitor": None}
    spoil(monkeypatch, TRBMLearner, name)
    with pytest.raises(FloatingPointError, match=f"diverged in epoch 1: {name} (is|are) no"):
        tf.train_trbm(data, 8, **options, rng=0)


def test_nothing_learned(videos):
    options = {"epochs": 5, "monitor": None, "rng": 0}
    words = "score of forecasts.*the linear forecast at which training begins"
    with pytest.warns(tf.training.TrainingWarning, match=words):
        tf.train_trbm(videos, 10, **options, learning_rate=1e-6)
    tf.train_trbm(videos, 10, **options | {"epochs": 30}, learning_rate=0.03)


def test_sequences_that_only_come_nearer_to_ignorance():
    # It starts at -8e8, and ends at -2e8: as much as 76 times the variance.
    waves = np.sin(np.arange(60)[:, None] / [3, 5, 7, 4] + np.arange(20)[:, None, None])
    with pytest.warns(
        tf.training.TrainingWarning, match="above that of ignorance.*standardise the"
    ):
        tf.train_trbm(1000 * waves, 40, visible="gaussian", epochs=10, rng=0)


def test_sequences_without_a_past_are_refused(videos):
    single = np.round(np.random.default_rng(0).random((10, 1, 5)))
    words = "must hold a sequence of two frames or more, got one frame in each"
    with pytest.raises(ValueError, match=f"^sequences {words}"):
        tf.train_trbm(single, 5, epochs=2, rng=0)
    with pytest.raises(ValueError, match=f"^validation {words}"):
        tf.train_trbm(videos, 5, epochs=2, validation=videos[:, :1], rng=0)


def test_after_a_divergence_the_last_sound_model_is_returned(videos, monkeypatch):
    update, models = TRBMLearner.update, {}

    def sick(self, data, batches, paces):
        update(self, data, batches, paces)
        if self.updates > 20 * self.n_batches(data.shape[0]):
            self.learned["weights"][:] = np.nan

    def keep(event):
        models[event.epoch] = event.model

    monkeypatch.setattr(TRBMLearner, "update", sick)
    options = {"epochs": 30, "monitor": None, "rng": 0, "learning_rate": 0.03}
    with pytest.warns(
        tf.training.TrainingWarning, match="diverged in epoch 21: .* that of epoch 20, which"
    ):
        fit = tf.train_trbm(videos, 10, **options, callbacks=[keep])
    assert fit.interrupted and same(fit.model, models[20])
    with pytest.raises(FloatingPointError, match="diverged in epoch 21"):
        tf.train_trbm(videos, 10, **options | {"learning_rate": 1e-6})
