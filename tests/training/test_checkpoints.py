"""A run that was stopped, in any way and at any moment, ends as if it had never been stopped."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import files
from trug_fast._common.interrupts import Interrupts
from trug_fast.training.rbm.learner import Learner

ROWS = 130  # batches of 20: six whole ones and a half
BASE = {"n_hidden": 9, "epochs": 3, "batch_size": 20, "score": None, "rng": 0}
BOTH = tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)
LOWER = tf.Truncation(-1.0, 1.0, learn="shared", learn_lower=True, learn_upper=False)
OPTIONS = {
    "per unit": {},
    "shared": {"truncation": "c-learn", "truncation_rate": 0.1},
    "both ends": {"truncation": BOTH, "truncation_rate": 0.1},
    "lower end": {"truncation": LOWER, "truncation_rate": 0.1},
    "fixed": {"truncation": "relu", "dtype": "float64"},
    "bernoulli": {"hidden": "bernoulli"},
    "gaussian": {"visible": "gaussian", "truncation": "relu"},
    "momentum": {"momentum": 0.9, "weight_decay": 1e-3},
    "rmsprop": {"optimizer": "rmsprop", "k": 2},
    "adam": {"optimizer": "adam", "centred": False},
    "cd": {"method": "cd", "k": (1, 4)},
    "tempering": {"method": "pt", "betas": 5, "n_chains": 8, "k": (1, 2)},
    "rising": {"average": 0.5, "k": (1, 3)},
    "no average": {"average": 0},
    "precision": {"truncation": "sigmoid", "learn_precision": True, "precision_rate": 5.0},
    "chains": {"n_chains": 7, "score": "pseudo", "score_every": 2},
}


@pytest.fixture(scope="module")
def data():
    return tf.datasets.load_digits(binarize="threshold").train[:ROWS]


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
    assert fit.interrupted == other.interrupted


def interrupt_after(monkeypatch, updates, number=signal.SIGINT):
    """Send this process a signal in the middle of one update."""
    step, calls = Learner._step, []

    def counted(self, *args):
        calls.append(1)
        if len(calls) == updates:
            signal.raise_signal(number)
        step(self, *args)

    monkeypatch.setattr(Learner, "_step", counted)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_interrupted_run_continues_to_the_same_bits(name, data, tmp_path, monkeypatch):
    options = BASE | OPTIONS[name]
    whole = tf.train_rbm(data, **options, checkpoint=tmp_path / "whole.npz")
    assert_same(whole, tf.train_rbm(data, **options))
    for updates in (1, 7, 11):  # the first, the last of an epoch, and one in the midst of one
        path = tmp_path / f"{updates}.npz"
        with monkeypatch.context() as patch, pytest.warns(UserWarning, match="npz continues"):
            interrupt_after(patch, updates)
            part = tf.train_rbm(data, **options, checkpoint=path)
        assert part.interrupted and len(part.history.get("epoch", ())) == updates // 8
        assert_same(whole, tf.train_rbm(data, **options, checkpoint=path, resume=True))


def test_resampled_data_continue_with_the_same_images(tmp_path, monkeypatch):
    sampler = tf.datasets.resampler(tf.datasets.load_digits().train[:ROWS], rng=3)
    whole = tf.train_rbm(sampler, **BASE)
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 10)
        tf.train_rbm(sampler, **BASE, checkpoint=tmp_path / "run.npz")
    resumed = tf.train_rbm(sampler, **BASE, checkpoint=tmp_path / "run.npz", resume=True)
    assert_same(whole, resumed)


@pytest.mark.filterwarnings("ignore::trug_fast.TrainingWarning")
def test_the_best_model_so_far_is_kept(data, tmp_path, monkeypatch):
    options = BASE | {"score": "pseudo", "validation": data, "patience": 9, "learning_rate": 2.0}
    options |= {"epochs": 5, "average": 0}  # at such a rate the score rises and falls
    whole = tf.train_rbm(data, **options)
    best = int(np.argmax(whole.history["validation_score"]))
    assert best < 4
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 7 * (best + 1) + 3)
        part = tf.train_rbm(data, **options, checkpoint=tmp_path / "run.npz")
    resumed = tf.train_rbm(data, **options, checkpoint=tmp_path / "run.npz", resume=True)
    assert_same(whole, resumed)
    np.testing.assert_array_equal(part.model.weights, whole.model.weights)


def test_a_finished_run_is_returned_without_training(data, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    whole = tf.train_rbm(data, **BASE, checkpoint=path)
    seconds = whole.history["seconds"]
    monkeypatch.setattr(Learner, "update", None)
    before = path.read_bytes()
    again = tf.train_rbm(data, **BASE, checkpoint=path, resume="auto")
    assert_same(whole, again)
    np.testing.assert_array_equal(again.history["seconds"], seconds)
    assert path.read_bytes() == before


def test_a_run_that_a_callback_ended_stays_ended(data, tmp_path):
    path = tmp_path / "run.npz"
    short = tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[lambda end: end.epoch == 2])
    assert_same(short, tf.train_rbm(data, **BASE, checkpoint=path, resume=True))
    assert short.history["epoch"].tolist() == [1, 2]


def test_interrupts_at_the_end_of_an_epoch(data, tmp_path):
    def interrupt(end):
        if end.epoch == 2:
            raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    with pytest.warns(UserWarning, match="interrupted"):
        tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[interrupt])
    resumed = tf.train_rbm(data, **BASE, checkpoint=path, resume=True)
    assert_same(tf.train_rbm(data, **BASE), resumed)


def test_an_error_in_a_callback_loses_nothing(data, tmp_path):
    def fail(end):
        raise RuntimeError("mine")

    path = tmp_path / "run.npz"
    with pytest.raises(RuntimeError, match="mine"):
        tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[fail])
    resumed = tf.train_rbm(data, **BASE, checkpoint=path, resume=True)
    assert_same(tf.train_rbm(data, **BASE), resumed)


def test_without_rng_the_seed_is_that_of_the_run(data, tmp_path, monkeypatch):
    options, path = BASE | {"rng": None}, tmp_path / "run.npz"
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 5)
        tf.train_rbm(data, **options, checkpoint=path)
    copy = tmp_path / "copy.npz"
    copy.write_bytes(path.read_bytes())
    first = tf.train_rbm(data, **options, checkpoint=path, resume=True)
    assert_same(first, tf.train_rbm(data, **options, checkpoint=copy, resume=True))


def test_seconds_go_on(data, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 10)
        part = tf.train_rbm(data, **BASE, checkpoint=path)
    seconds = tf.train_rbm(data, **BASE, checkpoint=path, resume=True).history["seconds"]
    assert seconds[0] == part.history["seconds"][0]
    assert (np.diff(seconds) > 0).all()


DIFFERENCES = [
    ({"epochs": 4}, "epochs is 3 there, 4 here"),
    ({"n_hidden": 8}, "n_hidden is 9 there, 8 here"),
    ({"hidden": "bernoulli"}, "bernoulli is False there, True here"),
    ({"truncation": (0.0, 2.0)}, "truncation is .*4.0.* there, .*2.0.* here"),
    ({"learning_rate": 0.1}, "learning_rate is .*0.01.* there"),
    ({"dtype": "float64"}, "dtype is 'float32' there, 'float64' here"),
    ({"rng": 1}, "seed from rng is"),
    ({"X": "other"}, r"X is '\(130, 64\) uint8 SHA-256 .* there"),
    ({"validation": "other"}, "validation is None there"),
    ({"patience": 2, "epochs": 2}, "epochs is 3 there, 2 here; .*patience is None there, 2 here"),
    ({"k": (1, 3)}, r"k is {'start': 1.0, 'end': 1.0} there, {'start': 1.0, 'end': 3.0} here"),
]


@pytest.mark.parametrize(("change", "words"), DIFFERENCES)
def test_a_run_with_other_settings_is_refused_in_words(data, tmp_path, change, words):
    path = tmp_path / "run.npz"
    tf.train_rbm(data, **BASE, checkpoint=path)
    before = path.read_bytes()
    change = {k: 1 - data if v == "other" else v for k, v in change.items()}
    if "patience" in change:
        change |= {"validation": data, "score": "pseudo"}
    options = {"X": data} | BASE | change
    with pytest.raises(ValueError, match=f"belongs to another run: .*{words}"):
        tf.train_rbm(**options, checkpoint=path, resume=True)
    assert path.read_bytes() == before


def test_the_file_must_exist_or_must_not(data, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError, match="run.npz"):
        tf.train_rbm(data, **BASE, checkpoint=path, resume=True)
    tf.train_rbm(data, **BASE, checkpoint=path, resume="auto")
    with pytest.raises(FileExistsError, match="pass resume=True to continue its run"):
        tf.train_rbm(data, **BASE, checkpoint=path)


def damaged(path, how):
    """Spoil a file in one way."""
    whole = path.read_bytes()
    if how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "foreign":
        np.savez(path, weights=np.zeros(3))
    elif how == "version":
        np.savez(path, **dict(np.load(path)) | {"format_version": np.array(99)})
    elif how == "model":
        tf.BernoulliRBM([[1.0]], 0, 0).save(path)
    elif how == "flipped":  # one bit in the middle of the largest array
        path.write_bytes(
            whole[: len(whole) // 2]
            + bytes([whole[len(whole) // 2] ^ 1])
            + whole[len(whole) // 2 + 1 :]
        )
    else:
        content = files.read(path, "RBMTraining")
        if how == "old":
            identity = json.loads(str(content["identity"]))
            content["identity"] = np.array(json.dumps(identity | {"version": 0}))
        elif how == "missing":
            del content["chains"]
        elif how == "shape":
            content["weights"] = content["weights"][:-1]
        elif how == "type":
            content["weights"] = content["weights"].astype(float)
        files.write(path, "RBMTraining", content)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut", "is no trug_fast file or is damaged"),
        ("empty", "is no trug_fast file or is damaged"),
        ("flipped", "is no trug_fast file or is damaged"),
        ("foreign", "does not say what it holds"),
        ("model", "holds a BernoulliRBM, expected a RBMTraining"),
        ("version", "has format version 99"),
        ("old", "version is 0 there, 1 here"),
        ("missing", "damaged: chains should be .* is nothing"),
        ("shape", r"damaged: weights should be \(64, 9\) float32, is \(63, 9\) float32"),
        ("type", r"damaged: weights .* is \(64, 9\) float64"),
    ],
)
def test_damaged_files_are_named(data, tmp_path, how, words):
    path = tmp_path / "run.npz"
    tf.train_rbm(data, **(BASE | {"epochs": 1}), checkpoint=path)
    damaged(path, how)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=words) as caught:
        tf.train_rbm(data, **(BASE | {"epochs": 1}), checkpoint=path, resume=True)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_place_that_takes_no_file_is_known_before_training(data, tmp_path, monkeypatch):
    monkeypatch.setattr(Learner, "update", None)
    with pytest.raises(OSError, match="cannot write checkpoint .*none.run.npz"):
        tf.train_rbm(data, **BASE, checkpoint=tmp_path / "none" / "run.npz")
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="cannot write checkpoint .*No space left"):
        tf.train_rbm(data, **BASE, checkpoint=tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


def full(handle):
    """Stand for a disk that has become full."""
    raise OSError(28, "No space left on device")


def test_a_disk_that_gets_full_does_not_end_training(data, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.MonkeyPatch.context() as patch, pytest.warns(UserWarning, match="No space left"):

        def fill(end):
            patch.setattr(files.os, "fsync", full)

        fit = tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[fill], checkpoint_every=0)
    assert_same(tf.train_rbm(data, **BASE), fit)
    # The last good file is still there and still good.
    assert_same(fit, tf.train_rbm(data, **BASE, checkpoint=path, resume=True))
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_checkpoints_are_written_as_often_as_asked(data, tmp_path, monkeypatch):
    writes = []
    write = files.write
    monkeypatch.setattr(files, "write", lambda *args: (writes.append(1), write(*args)))
    counts = []
    for every in (0, 3600):
        writes.clear()
        tf.train_rbm(data, **BASE, checkpoint=tmp_path / f"{every}.npz", checkpoint_every=every)
        counts.append(len(writes))
    assert counts == [1 + 3 * 7 + 1, 2]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"checkpoint_every": -1}, ValueError, "every must be at least 0"),
        ({"checkpoint_every": "often"}, TypeError, "every must be a number"),
        ({"resume": "maybe"}, ValueError, "resume must be True, False or 'auto', got 'maybe'"),
        ({"progress": 3}, TypeError, "progress must be"),
    ],
)
def test_bad_options_write_nothing(data, tmp_path, options, kind, words):
    with pytest.raises(kind, match=words):
        tf.train_rbm(data, **BASE, checkpoint=tmp_path / "run.npz", **options)
    assert list(tmp_path.iterdir()) == []


def test_signals_wait_for_the_end_and_handlers_come_back():
    seen = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with Interrupts(terminate=True) as interrupts:
            with interrupts.held():
                signal.raise_signal(signal.SIGTERM)
                assert seen == []
            assert seen == [signal.SIGTERM]
            signal.raise_signal(signal.SIGTERM)
            assert len(seen) == 2
            with pytest.raises(KeyboardInterrupt), interrupts.held():
                signal.raise_signal(signal.SIGINT)
                with pytest.raises(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)  # the second does not wait
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGTERM, former)


def test_training_in_another_thread(data, tmp_path):
    fits = []
    options = BASE | {"checkpoint": tmp_path / "run.npz"}
    thread = threading.Thread(target=lambda: fits.append(tf.train_rbm(data, **options)))
    thread.start()
    thread.join()
    assert_same(tf.train_rbm(data, **BASE), fits[0])


LONG = {"n_hidden": 200, "epochs": 12, "batch_size": 5, "score": None, "rng": 0}
CHILD = """
import sys, trug_fast as tf
from trug_fast import Truncation
data = tf.datasets.load_digits(binarize="threshold").train[:130]
options = {options!r}
tf.train_rbm(data, **options, checkpoint=sys.argv[1], checkpoint_every=0, resume="auto")
"""


def child(path, options):
    """Start a process that trains, and wait until it has begun."""
    code = CHILD.format(options=options)
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stderr=subprocess.PIPE)
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    while process.poll() is None and not (path.exists() and path.stat().st_mtime_ns > stamp):
        time.sleep(0.001)
    return process


def place(path):
    """How many updates a checkpoint has behind it."""
    with np.load(path) as content:
        return int(content["counters"][0])


def kill_and_resume(data, path, options, delays):
    """Kill a run again and again, then let it end."""
    whole = tf.train_rbm(data, **options)
    killed = 0
    for delay in delays:
        process = child(path, options)
        time.sleep(delay)
        process.kill()
        _, errors = process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0), errors.decode()
        killed += process.returncode != 0
        assert zipfile.is_zipfile(path)  # whole, at every moment
    assert killed > len(delays) // 2 and place(path) > 0  # else this tests nothing
    resumed = tf.train_rbm(data, **options, checkpoint=path, resume=True)
    assert_same(whole, resumed)
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # and no leftovers


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_run_continues_to_the_same_bits(data, tmp_path):
    kill_and_resume(data, tmp_path / "run.npz", LONG, [0.0, 0.37])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["per unit", "both ends", "bernoulli", "momentum", "adam", "cd"])
def test_killed_twenty_times(name, data, tmp_path):
    # In the first update or after hundreds; where a kill falls differs from run to run.
    delays = np.random.default_rng(5).exponential(0.2, 20)
    kill_and_resume(data, tmp_path / "run.npz", LONG | {"epochs": 60} | OPTIONS[name], delays)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGTERM")
def test_a_terminated_run_saves_and_dies(data, tmp_path):
    path = tmp_path / "run.npz"
    options = LONG | {"epochs": 200}
    code = CHILD.format(options=options).replace("checkpoint_every=0", "checkpoint_every=3600")
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    while not path.exists():
        time.sleep(0.001)
    time.sleep(0.3)
    process.terminate()
    assert process.wait() == -signal.SIGTERM
    assert place(path) > 0  # more than the first, empty one
