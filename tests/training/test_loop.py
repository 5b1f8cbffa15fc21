"""The loop over epochs: callbacks, scores, patience, and the model that is returned."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import same
from trug_fast.training.rbm.watch import RBMWatch

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.TrainingWarning")

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
    options |= {"monitor": tf.Monitor("pseudo", patience=patience), "validation": data}
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
        checkpoint=tf.Checkpoint(tmp_path / "run.npz", resume=True),
    )
    assert same(fit.model, again.model)
