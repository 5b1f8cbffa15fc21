"""A regression's training that was stopped, at any epoch, ends as if it had never been stopped."""

import json
import signal

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same
from trug_fast._common import files
from trug_fast.training.tggm.learner import RegressionLearner

BASE = {"n_hidden": 5, "epochs": 4, "batch_size": 16, "rng": 0, "progress": False}
SHARED = tf.Truncation(-1.0, 1.0, learn="shared", learn_lower=True)
# epochs that are run: of each rate, and then those of the best one again
RNG = np.random.default_rng(2)
FRESH = RNG.normal(size=(20, 3)), RNG.normal(size=20)  # held out by the caller
PLAIN = tf.training.HoldOut(refit=False, calibrate=None)
# epochs that are run: of each rate, and then those of the best one again
OPTIONS = {
    "per unit": {},
    "search": {
        "learning_rate": tf.training.RateSearch([0.003, (0.01, 0.001)]),
        "truncation": SHARED,
        "optimizer": tf.training.Adam(truncation_rate=0.01),
    },
    "sgd": {
        "optimizer": tf.training.SGD(momentum=0.9),
        "objective": "moments",
        "noise": "separate",
    },
    "by input": {"noise": "by_input", "objective": "moments"},
    "rmsprop": {"optimizer": "rmsprop", "objective": "bp", "dtype": "float64"},
    "all rows": {"validation": None, "truncation": "relu"},
    "own rows": {"validation": FRESH, "learning_rate": tf.training.RateSearch([0.003, 0.01])},
    "patience": {
        "monitor": tf.training.Monitor("log_likelihood", patience=1),
        "learning_rate": tf.training.RateSearch([0.3, 0.01]),
    },
    "every": {
        "monitor": tf.training.Monitor("rmse", every=3),
        "learning_rate": lambda share: 0.01 * (1 - share),
    },
    "diverging": {"learning_rate": tf.training.RateSearch([1e30, 0.01]), "optimizer": "sgd"},
    "crossed": {"validation": tf.training.HoldOut(calibrate="cross_validation"), "epochs": 2},
    "crossed alone": {
        "validation": tf.training.HoldOut(refit=False, calibrate="cross_validation"),
        "epochs": 2,
    },
    "no refit": {"validation": PLAIN, "noise": tf.training.Noise(learn=False)},
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


def resumed(path, how=True):
    return tf.training.Checkpoint(path, resume=how)


def interrupt_in(monkeypatch, epoch):
    """Send this process Ctrl-C in the middle of one epoch, counted over all runs."""
    train, calls = RegressionLearner.update, []

    def counted(self, *args):
        calls.append(1)
        if len(calls) == epoch:
            signal.raise_signal(signal.SIGINT)
        train(self, *args)

    monkeypatch.setattr(RegressionLearner, "update", counted)


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
        assert_same(
            whole, tf.train_tggm(*data, **options, checkpoint=tf.training.Checkpoint(path, every=0))
        )
    assert len(left) > 4  # one an epoch
    for i, content in enumerate(left):
        path = tmp_path / f"{i}.npz"
        path.write_bytes(content)
        assert_same(whole, tf.train_tggm(*data, **options, checkpoint=resumed(path)))


def test_an_interrupted_run_continues(data, tmp_path, monkeypatch):
    options = BASE | OPTIONS["search"]
    whole = tf.train_tggm(*data, **options)
    for epoch in (1, 6, 9):  # with the first rate, the second, and all rows
        path = tmp_path / f"{epoch}.npz"
        with monkeypatch.context() as patch, pytest.warns(UserWarning, match="npz continues"):
            interrupt_in(patch, epoch)
            part = tf.train_tggm(*data, **options, checkpoint=path)
        assert part.interrupted
        assert_same(whole, tf.train_tggm(*data, **options, checkpoint=resumed(path, "auto")))


def test_a_finished_run_is_returned_without_training(data, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    whole = tf.train_tggm(*data, **BASE, checkpoint=path)
    monkeypatch.setattr(RegressionLearner, "update", None)
    before = path.read_bytes()
    again = tf.train_tggm(*data, **BASE, checkpoint=resumed(path))
    assert_same(whole, again)
    np.testing.assert_array_equal(whole.history["seconds"], again.history["seconds"])
    assert path.read_bytes() == before


def test_without_rng_the_seed_is_that_of_the_run(data, tmp_path):
    path, options = tmp_path / "run.npz", BASE | {"rng": None}
    whole = tf.train_tggm(*data, **options, checkpoint=path)
    assert_same(whole, tf.train_tggm(*data, **options, checkpoint=resumed(path)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epochs": 5}, "epochs is 4 there, 5 here"),
        ({"n_hidden": 4}, "n_hidden is 5 there, 4 here"),
        ({"objective": "bp"}, "objective is .MeanField.* there, ..bp.. here"),
        (
            {"optimizer": tf.training.Adam(0.5)},
            "optimizer is .Adam.momentum=0.9.*there, .*=0.5.* here",
        ),
        (
            {"learning_rate": 0.1},
            r"learning_rate is \[\[0.01, 0.0002\]\] there, \[\[0.1, 0.1\]\] here",
        ),
        ({"learning_rate": lambda share: 0.01 * (1 - share)}, "learning_rate is .* there"),
        (
            {"optimizer": tf.training.Adam(truncation_rate=0.1)},
            r"truncation_rate is 'None' there, \[0.1, 0.1\] here",
        ),
        ({"validation": 0.2}, "rows held back is 7 there, 14 here"),
        ({"validation": PLAIN}, "refit is True there, False here"),
        ({"monitor": "log_likelihood"}, "monitor is .*rmse.* there, .*log_likelihood.* here"),
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
        tf.train_tggm(**options | change, checkpoint=resumed(path))
    assert path.read_bytes() == before


def test_files_of_others_and_damaged_ones_are_refused(data, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError):
        tf.train_tggm(*data, **BASE, checkpoint=resumed(path))
    tf.train_rbm(np.eye(4, dtype=np.uint8), 3, epochs=1, monitor=None, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to another run"):
        tf.train_tggm(*data, **BASE, checkpoint=resumed(path))
    path.unlink()
    tf.train_tggm(*data, **BASE, checkpoint=path)
    with pytest.raises(FileExistsError, match="pass resume=True"):
        tf.train_tggm(*data, **BASE, checkpoint=path)
    names = ("place", "1.theta", "0.best.theta", "1.counters", "0.first")
    for name in names:
        content = files.read(path, "Training")
        assert json.loads(str(content["identity"]))["training"] == "regression"
        content[name] = content[name][:-1]
        files.write(tmp_path / "bad.npz", "Training", content)
        short = name.split(".")[-1]
        with pytest.raises(ValueError, match=f"bad.npz is damaged: {short} should be"):
            tf.train_tggm(*data, **BASE, checkpoint=resumed(tmp_path / "bad.npz"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("place", [2, 1]),
        ("place", [1, -1]),
        ("place", [1, 0]),
        ("place", [1, 3]),
        ("0.place", [5, 0, 1]),
        ("0.place", [3, 0, 0]),  # all rows, after a rate that has not ended
        ("0.counters", [4, 3]),
    ],
)
def test_places_that_no_training_comes_to_are_refused(data, tmp_path, name, values):
    path = tmp_path / "run.npz"
    tf.train_tggm(*data, **BASE, checkpoint=path)
    content = files.read(path, "Training")
    assert content[name].tolist() != values
    content[name] = np.array(values, np.int64)
    files.write(path, "Training", content)
    with pytest.raises(ValueError, match="run.npz is damaged: it says"):
        tf.train_tggm(*data, **BASE, checkpoint=resumed(path))


def test_training_that_diverges_says_so_again_when_resumed(data, tmp_path):
    path, options = tmp_path / "run.npz", BASE | {"optimizer": "sgd", "learning_rate": 1e30}
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        tf.train_tggm(*data, **options, checkpoint=path)
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        tf.train_tggm(*data, **options, checkpoint=resumed(path))
