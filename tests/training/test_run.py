"""A run that was stopped, in any way and at any moment, ends as if it had never been stopped."""

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
from tests.support.fits import assert_same, interrupt_after, with_interrupts
from tests.support.rbm_runs import BASE, OPTIONS, digits
from trug_fast.training.rbm.learner import RBMLearner

interruptible = pytest.fixture(autouse=True)(with_interrupts)
data = pytest.fixture(scope="module")(digits)


def resumed_from(path):
    """Return the checkpoint that goes on from a file."""
    return tf.training.Checkpoint(path, resume=True)


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
        assert_same(whole, tf.train_rbm(data, **options, checkpoint=resumed_from(path)))


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_the_best_model_so_far_is_kept(data, tmp_path, monkeypatch):
    options = BASE | {"monitor": tf.training.Monitor("pseudo", patience=9), "validation": data}
    # At such a rate the score rises and falls.
    options |= {"epochs": 5, "learning_rate": 2.0, "optimizer": tf.training.SGD(average=0)}
    whole = tf.train_rbm(data, **options)
    best = int(np.argmax(whole.history["validation_score"]))
    assert best < 4
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 7 * (best + 1) + 3)
        part = tf.train_rbm(data, **options, checkpoint=tmp_path / "run.npz")
    resumed = tf.train_rbm(data, **options, checkpoint=resumed_from(tmp_path / "run.npz"))
    assert_same(whole, resumed)
    np.testing.assert_array_equal(part.model.weights, whole.model.weights)


def test_a_finished_run_is_returned_without_training(data, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    whole = tf.train_rbm(data, **BASE, checkpoint=path)
    seconds = whole.history["seconds"]
    monkeypatch.setattr(RBMLearner, "update", None)
    before = path.read_bytes()
    again = tf.train_rbm(data, **BASE, checkpoint=tf.training.Checkpoint(path, resume="auto"))
    assert_same(whole, again)
    np.testing.assert_array_equal(again.history["seconds"], seconds)
    assert path.read_bytes() == before


def test_a_run_that_a_callback_ended_stays_ended(data, tmp_path):
    path = tmp_path / "run.npz"
    short = tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[lambda end: end.epoch == 2])
    assert_same(short, tf.train_rbm(data, **BASE, checkpoint=resumed_from(path)))
    assert short.history["epoch"].tolist() == [1, 2]


def test_interrupts_at_the_end_of_an_epoch(data, tmp_path):
    def interrupt(end):
        if end.epoch == 2:
            raise KeyboardInterrupt

    path = tmp_path / "run.npz"
    with pytest.warns(UserWarning, match="interrupted"):
        tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[interrupt])
    resumed = tf.train_rbm(data, **BASE, checkpoint=resumed_from(path))
    assert_same(tf.train_rbm(data, **BASE), resumed)


def test_an_error_in_a_callback_loses_nothing(data, tmp_path):
    def fail(end):
        raise RuntimeError("mine")

    path = tmp_path / "run.npz"
    with pytest.raises(RuntimeError, match="mine"):
        tf.train_rbm(data, **BASE, checkpoint=path, callbacks=[fail])
    resumed = tf.train_rbm(data, **BASE, checkpoint=resumed_from(path))
    assert_same(tf.train_rbm(data, **BASE), resumed)


def test_without_rng_the_seed_is_that_of_the_run(data, tmp_path, monkeypatch):
    options, path = BASE | {"rng": None}, tmp_path / "run.npz"
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 5)
        tf.train_rbm(data, **options, checkpoint=path)
    copy = tmp_path / "copy.npz"
    copy.write_bytes(path.read_bytes())
    first = tf.train_rbm(data, **options, checkpoint=resumed_from(path))
    assert_same(first, tf.train_rbm(data, **options, checkpoint=resumed_from(copy)))


def test_seconds_go_on(data, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="interrupted"):
        interrupt_after(patch, 10)
        part = tf.train_rbm(data, **BASE, checkpoint=path)
    seconds = tf.train_rbm(data, **BASE, checkpoint=resumed_from(path)).history["seconds"]
    assert seconds[0] == part.history["seconds"][0]
    assert (np.diff(seconds) > 0).all()


def test_training_in_another_thread(data, tmp_path):
    fits = []
    options = BASE | {"checkpoint": tmp_path / "run.npz"}
    thread = threading.Thread(target=lambda: fits.append(tf.train_rbm(data, **options)))
    thread.start()
    thread.join()
    assert_same(tf.train_rbm(data, **BASE), fits[0])


LONG = {"n_hidden": 200, "epochs": 12, "batch_size": 5, "monitor": None, "rng": 0}
CHILD = """
import sys, trug_fast as tf
from trug_fast import Truncation
from trug_fast.training import CD, PCD, SGD
data = tf.datasets.load_digits(binarize="threshold").train[:130]
options = {options!r}
checkpoint = tf.training.Checkpoint(sys.argv[1], every=0, resume="auto")
tf.train_rbm(data, **options, checkpoint=checkpoint)
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
    resumed = tf.train_rbm(data, **options, checkpoint=resumed_from(path))
    assert_same(whole, resumed)
    assert [p.name for p in path.parent.iterdir()] == [path.name]  # and no leftovers


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_run_continues_to_the_same_bits(data, tmp_path):
    kill_and_resume(data, tmp_path / "run.npz", LONG, [0.0, 0.37])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["per unit", "both ends", "bernoulli", "momentum", "adam", "cd"])
def test_killed_seven_times(name, data, tmp_path):
    # In the first update or after hundreds; where a kill falls differs from run to run.  What
    # writes a file is the same for all kinds: 42 kills in all.
    delays = np.random.default_rng(5).exponential(0.2, 7)
    kill_and_resume(data, tmp_path / "run.npz", LONG | {"epochs": 60} | OPTIONS[name], delays)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGTERM")
def test_a_terminated_run_saves_and_dies(data, tmp_path):
    path = tmp_path / "run.npz"
    options = LONG | {"epochs": 200}
    code = CHILD.format(options=options).replace("every=0", "every=3600")
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    while not path.exists():
        time.sleep(0.001)
    time.sleep(0.3)
    process.terminate()
    assert process.wait() == -signal.SIGTERM
    assert place(path) > 0  # more than the first, empty one
