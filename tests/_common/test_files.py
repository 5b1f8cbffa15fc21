"""Files that are written: whole or not at all, wherever they go, and nothing left beside them."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import trug_fast as tf
from tests.support import damage_targets as targets
from tests.support.data import ROOT
from trug_fast._common import files

KILLED = """
import sys
import numpy as np
from trug_fast._common import files
path = sys.argv[1]
arrays = {"numbers": np.zeros(20_000_000)}
print("ready", flush=True)
while True:
    files.write(path, "something", arrays)
"""
SMALL = {"numbers": np.arange(3.0)}


def killed_while_writing(path):
    """Kill a process (-9) in the midst of writing; return whether it has left a part of a file."""
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as run:
        assert run.stdout.readline()
        until = time.monotonic() + 60
        while not list(path.parent.glob("*.part")) and time.monotonic() < until:
            time.sleep(1e-4)
        run.send_signal(signal.SIGKILL)
    return bool(list(path.parent.glob("*.part")))


def test_the_next_writing_removes_what_a_killed_one_left(tmp_path):
    path = tmp_path / "run.npz"
    assert any(killed_while_writing(path) for _ in range(10))
    files.write(path, "something", SMALL)
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]
    assert files.read(path, "something")["numbers"].tolist() == [0, 1, 2]


def test_leftovers_of_other_files_stay(tmp_path):
    others = [
        ".run.npz.0123abcd.part.txt",
        ".other.npz.0123abcd.part",
        ".run.npz.a.part",
        "x.part",
    ]
    for name in [*others, ".run[1].npz.0123abcd.part", ".run.npz.0123abcd.part"]:
        (tmp_path / name).touch()
    files.write(tmp_path / "run.npz", "something", SMALL)
    files.write(tmp_path / "run[1].npz", "something", SMALL)
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {*others, "run.npz", "run[1].npz"}


def test_those_who_write_the_same_file_do_not_disturb_each_other(tmp_path):
    path, errors = tmp_path / "run.npz", []

    def write(number):
        try:
            for _ in range(30):
                files.write(path, "something", {"numbers": np.full(5000, number)})
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and [each.name for each in tmp_path.iterdir()] == ["run.npz"]
    assert len(set(files.read(path, "something")["numbers"].tolist())) == 1


LIMITED = """
import resource, sys, warnings
import trug_fast as tf
sys.path.insert(0, sys.argv[2])
from tests.support import damage_targets as targets
path = sys.argv[1]
def fill(event):
    if event.epoch == 1:  # no file may be larger than this: a disk without room
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fit = targets.rbm(checkpoint=tf.training.Checkpoint(path, every=0), callbacks=[fill])
assert fit.history["epoch"].tolist() == [1, 2] and not fit.interrupted
assert any("training goes on" in str(each.message) for each in caught)
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of a process")
def test_a_disk_without_room_does_not_end_training(tmp_path):
    path = tmp_path / "run.npz"
    command = [sys.executable, "-c", LIMITED, str(path), str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]
    whole = targets.rbm()  # what could be written is the state of the first epoch
    again = targets.rbm(checkpoint=tf.training.Checkpoint(path, resume=True))
    np.testing.assert_array_equal(again.model.weights, whole.model.weights)


MODEL = targets.model("rbm")
PATHS = [
    ("", "must name a file, got ''"),
    (".", "must name a file, got '.'"),
    ("a\0b", "must name a file"),
    (b"run.npz", "must be a path, got bytes"),
    (3, "must be a path, got int"),
    (None, "must be a path, got NoneType"),
]


@pytest.mark.parametrize(("path", "words"), PATHS)
def test_paths_that_name_no_file(path, words):
    calls = {"path": MODEL.save, "path ": tf.TruGRBM.load}
    if path is not None:
        calls |= {
            "checkpoint": lambda p: targets.rbm(checkpoint=p),
            "checkpoint ": lambda p: targets.tggm(checkpoint=p),
            "checkpoint  ": lambda p: targets.trbm(checkpoint=p),
            "checkpoint   ": lambda p: tf.log_partition(MODEL, checkpoint=p, **targets.ANNEAL),
        }
    for name, call in calls.items():
        with pytest.raises((TypeError, ValueError), match=f"^{name.strip()} {words}"):
            call(path)


def test_files_that_may_not_be_read_are_not_called_damaged(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    MODEL.save(path)

    def refuse(*args):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(PermissionError, match="Permission denied"):
        tf.TruGRBM.load(path)
