"""The loop over epochs: callbacks, scores, patience, and the model that is returned."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import same
from trug_fast.training.rbm.watch import RBMWatch
from trug_fast.training.run import Loop

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

ARGUMENTS = {"n_hidden": 12, "epochs": 3, "batch_size": 20, "monitor": None, "rng": 0}


@pytest.fixture(scope="module")
def digits():
    return tf.datasets.load_digits(binarize="threshold")


def test_scores_and_callbacks_do_not_disturb_training(digits):
    plain = tf.train_rbm(digits.train, **ARGUMENTS).model
    seen = []
    watched = tf.train_rbm(
        digits.train,
        **(ARGUMENTS | {"monitor": "pseudo", "validation": digits.test}),
        callbacks=[lambda end: seen.append((end.epoch, end.model.n_hidden))],
    )
    assert same(plain, watched.model)
    assert seen == [(1, 12), (2, 12), (3, 12)]


def test_a_callback_can_stop(digits):
    fit = tf.train_rbm(digits.train, **ARGUMENTS, callbacks=[lambda end: end.epoch == 2])
    assert fit.history["epoch"].tolist() == [1, 2]
    assert not fit.interrupted


def test_an_interrupt_returns_the_fit_so_far(digits):
    def interrupt(end):
        if end.epoch == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        fit = tf.train_rbm(digits.train, **ARGUMENTS, callbacks=[interrupt])
    assert fit.interrupted and len(fit.history["epoch"]) == 2
    assert np.isfinite(fit.model.weights).all()


def scripted(monkeypatch, values):
    """Let validation scores be these, epoch by epoch."""

    script = iter(values)

    def measure(self, model, sets):
        return {"score": -20.0, "validation_score": next(script)}

    monkeypatch.setattr(RBMWatch, "measure", measure)


@pytest.mark.parametrize(
    ("values", "patience", "best", "end"),
    [
        ([1, 3, 2, 2.5, 4, 5], 2, 2, 4),
        ([1, 3, 2, 4, 3, 3.5, 3.9], 3, 4, 7),
        ([1, np.nan, 3, np.nan, 2, np.nan, 2, 9], 2, 3, 7),
        ([5, 4, 3], 9, 1, 3),
        ([1, 2, 2, 1, 1, 3], 2, 3, 5),
    ],
)
def test_patience_ends_training_and_returns_the_best(
    digits, tmp_path, monkeypatch, values, patience, best, end
):
    data, options = digits.train[:100], ARGUMENTS | {"epochs": len(values)}
    options |= {"monitor": tf.training.Monitor("pseudo", patience=patience), "validation": data}
    models = []
    scripted(monkeypatch, values)
    fit = tf.train_rbm(
        data,
        **options,
        callbacks=[lambda event: models.append(event.model)],
        checkpoint=tmp_path / "run.npz",
    )
    assert len(fit.history["epoch"]) == len(models) == end
    assert same(fit.model, models[best - 1])
    again = tf.train_rbm(
        data,
        **options,
        checkpoint=tf.training.Checkpoint(tmp_path / "run.npz", resume=True),
    )
    assert same(fit.model, again.model)


def test_a_function_of_one_s_own_scores_and_chooses(digits, tmp_path):
    data, path = digits.train[:100], tmp_path / "run.npz"

    def even(model, X):  # best at the second epoch
        assert X.shape == (100, 64) and isinstance(model, tf.TruGRBM)
        seen.append(model)
        return -abs((len(seen) - 1) // 2 - 1)

    seen = []
    monitor = tf.training.Monitor(even, patience=2)
    options = ARGUMENTS | {"epochs": 6, "monitor": monitor, "validation": data}
    fit = tf.train_rbm(data, **options, checkpoint=path)
    assert fit.history["validation_score"].tolist() == [-1, 0, -1, -2]
    assert same(fit.model, seen[3])
    again = tf.train_rbm(data, **options, checkpoint=tf.training.Checkpoint(path, resume=True))
    assert same(fit.model, again.model) and len(seen) == 8

    def other(model, X):
        return 0.0

    options["monitor"] = tf.training.Monitor(other, patience=2)
    with pytest.raises(ValueError, match="monitor is .*even.* there, .*other.* here"):
        tf.train_rbm(data, **options, checkpoint=tf.training.Checkpoint(path, resume=True))


def test_a_function_scores_sequences():
    videos = np.random.default_rng(0).integers(0, 2, (3, 5, 4))
    seen = []

    def score(model, sequences):
        seen.append(sequences)
        return float(np.mean(tf.prediction_error(model, sequences, method="mean_field")))

    fit = tf.train_trbm(videos, 3, epochs=2, monitor=tf.training.Monitor(score, every=2), rng=0)
    assert np.isnan(fit.history["score"][0]) and fit.history["score"][1] > 0
    np.testing.assert_array_equal(seen[0], videos)


@pytest.mark.parametrize("value", ["high", None, np.nan])
def test_a_score_must_be_a_number(digits, value):
    monitor = tf.training.Monitor(lambda model, X: value)
    with pytest.raises((TypeError, ValueError), match="score must be"):
        tf.train_rbm(digits.train[:50], **ARGUMENTS | {"monitor": monitor})
    with pytest.raises(TypeError, match="monitor must score by one of rmse, log_likelihood"):
        tf.train_tggm(digits.train[:50], digits.train[:50, 0], 3, monitor=monitor)


def test_what_was_sound_is_not_written_over(digits, monkeypatch):
    kept, keep = [], Loop._keep_sound

    def looking(self, *args):
        keep(self, *args)
        kept.append((self.sound, {name: own.copy() for name, own in self.sound.items()}))

    monkeypatch.setattr(Loop, "_keep_sound", looking)
    tf.train_rbm(digits.train, 5, epochs=4, monitor=None, rng=0)
    assert len(kept) == 4  # another thread may be writing one to a file
    for sound, then in kept:
        for name, own in sound.items():
            np.testing.assert_array_equal(own, then[name])
