"""A regression's training that was stopped, at any epoch, ends as if it had never been stopped."""

import json
import signal

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import files
from trug_fast.training.tggm.learner import Learner

BASE = {"n_hidden": 5, "epochs": 4, "batch_size": 16, "rng": 0, "progress": False}
SHARED = tf.Truncation(-1.0, 1.0, learn="shared", learn_lower=True)
# epochs that are run: of each rate, and then those of the best one again
OPTIONS = {
    "per unit": {},
    "rates": {"learning_rate": [0.003, 0.01], "truncation": SHARED},
    "sgd": {"optimizer": "sgd", "momentum": 0.9, "method": "moments", "noise": "separate"},
    "rmsprop": {"optimizer": "rmsprop", "method": "bp", "dtype": "float64"},
    "all rows": {"validation_fraction": 0.0, "truncation": "relu"},
    "patience": {"patience": 1, "learning_rate": [0.3, 0.01], "score": "log_likelihood"},
    "no refit": {"refit": False, "learn_noise": False, "calibrate": False},
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=70)


@pytest.fixture(autouse=True)
def interruptible():
    """Let Ctrl-C raise KeyboardInterrupt: shells have background jobs ignore it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def assert_same(fit, other):
    """Assert that two fits agree in every bit but their times."""
    for name in fit.model.names:
        np.testing.assert_array_equal(getattr(fit.model, name), getattr(other.model, name), name)
    assert list(fit.history) == list(other.history)
    for name in fit.history.keys() - {"seconds"}:
        np.testing.assert_array_equal(fit.history[name], other.history[name], name)
    assert fit[2:] == other[2:]


def interrupt_in(monkeypatch, epoch):
    """Send this process Ctrl-C in the middle of one epoch, counted over all runs."""
    train, calls = Learner.run_epoch, []

    def counted(self, *args):
        calls.append(1)
        if len(calls) == epoch:
            signal.raise_signal(signal.SIGINT)
        return train(self, *args)

    monkeypatch.setattr(Learner, "run_epoch", counted)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_run_continues_from_every_file_it_writes(name, data, tmp_path, monkeypatch):
    """Whatever moment a process is killed at, one of these files is what it leaves."""
    options = BASE | OPTIONS[name]
    whole = tf.train_tggm(*data, **options)
    left, write = [], files.write

    def keep(path, *args):
        write(path, *args)
        left.append(path.read_bytes())

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", keep)
        path = tmp_path / "run.npz"
        assert_same(whole, tf.train_tggm(*data, **options, checkpoint=path, checkpoint_every=0))
    assert len(left) > 4  # one an epoch
    for i, content in enumerate(left):
        path = tmp_path / f"{i}.npz"
        path.write_bytes(content)
        assert_same(whole, tf.train_tggm(*data, **options, checkpoint=path, resume=True))


def test_an_interrupted_run_continues(data, tmp_path, monkeypatch):
    options = BASE | OPTIONS["rates"]
    whole = tf.train_tggm(*data, **options)
    for epoch in (1, 6, 10):  # with the first rate, the second, and all rows
        path = tmp_path / f"{epoch}.npz"
        with monkeypatch.context() as patch, pytest.warns(UserWarning, match="npz continues"):
            interrupt_in(patch, epoch)
            part = tf.train_tggm(*data, **options, checkpoint=path)
        assert part.interrupted
        assert_same(whole, tf.train_tggm(*data, **options, checkpoint=path, resume="auto"))


def test_a_finished_run_is_returned_without_training(data, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    whole = tf.train_tggm(*data, **BASE, checkpoint=path)
    monkeypatch.setattr(Learner, "run_epoch", None)
    before = path.read_bytes()
    again = tf.train_tggm(*data, **BASE, checkpoint=path, resume=True)
    assert_same(whole, again)
    np.testing.assert_array_equal(whole.history["seconds"], again.history["seconds"])
    assert path.read_bytes() == before


def test_without_rng_the_seed_is_that_of_the_run(data, tmp_path):
    path, options = tmp_path / "run.npz", BASE | {"rng": None}
    whole = tf.train_tggm(*data, **options, checkpoint=path)
    assert_same(whole, tf.train_tggm(*data, **options, checkpoint=path, resume=True))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epochs": 5}, "epochs is 4 there, 5 here"),
        ({"n_hidden": 4}, "n_hidden is 5 there, 4 here"),
        ({"method": "bp"}, "method is 'ml' there, 'bp' here"),
        ({"learning_rate": 0.1}, r"rates is \[0.01\] there, \[0.1\] here"),
        ({"validation_fraction": 0.2}, "rows held back is 7 there, 14 here"),
        ({"rng": 1}, "seed from rng is"),
        ({"y": 0.0}, "y is .* there"),
    ],
)
def test_a_run_with_other_settings_is_refused_in_words(data, tmp_path, change, words):
    path = tmp_path / "run.npz"
    options = {"X": data[0], "y": data[1], **BASE}
    tf.train_tggm(**options, checkpoint=path)
    before = path.read_bytes()
    if "y" in change:
        change = {"y": data[1] + 1}
    with pytest.raises(ValueError, match=f"belongs to another run: .*{words}"):
        tf.train_tggm(**options | change, checkpoint=path, resume=True)
    assert path.read_bytes() == before


def test_files_of_others_and_damaged_ones_are_refused(data, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError):
        tf.train_tggm(*data, **BASE, checkpoint=path, resume=True)
    tf.train_rbm(np.eye(4, dtype=np.uint8), 3, epochs=1, score=None, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to another run"):
        tf.train_tggm(*data, **BASE, checkpoint=path, resume=True)
    path.unlink()
    tf.train_tggm(*data, **BASE, checkpoint=path)
    with pytest.raises(FileExistsError, match="pass resume=True"):
        tf.train_tggm(*data, **BASE, checkpoint=path)
    for name in ("place", "run.theta", "chosen.best_theta"):
        content = files.read(path, "RBMTraining")
        assert json.loads(str(content["identity"]))["machine"] == "regression"
        content[name] = content[name][:-1]
        files.write(tmp_path / "bad.npz", "RBMTraining", content)
        with pytest.raises(ValueError, match=f"bad.npz is damaged: {name} should be"):
            tf.train_tggm(*data, **BASE, checkpoint=tmp_path / "bad.npz", resume=True)


def test_training_that_diverges_says_so_again_when_resumed(data, tmp_path):
    path, options = tmp_path / "run.npz", BASE | {"optimizer": "sgd", "learning_rate": 1e30}
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        tf.train_tggm(*data, **options, checkpoint=path)
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        tf.train_tggm(*data, **options, checkpoint=path, resume=True)
