"""What callbacks see, and the log of epochs: whole, without repeats, of one run."""

import csv
import errno
import json
from pathlib import Path

import numpy as np
import pytest

import trug_fast as tf

# What these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

ROWS = (np.random.default_rng(0).random((60, 6)) < 0.5).astype(np.uint8)
OPTIONS = {"n_hidden": 3, "epochs": 5, "monitor": tf.training.Monitor("pseudo", every=2), "rng": 0}


def lines(path):
    """Return the rows of a log without the times."""
    with open(path, encoding="utf-8") as file:
        found = list(csv.DictReader(file)) if path.suffix == ".csv" else map(json.loads, file)
        return [{k: v for k, v in row.items() if k != "seconds"} for row in found]


def log_of(path, **more):
    log = tf.training.EpochLog(path)
    fit = tf.train_rbm(ROWS, **OPTIONS | more, callbacks=[*more.get("callbacks", ()), log])
    return fit, lines(path)


def test_a_line_of_json_is_an_epoch_of_the_history(tmp_path):
    fit, rows = log_of(tmp_path / "run.jsonl")
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4, 5]
    for name in ("learning_rate", "score"):
        expected = [None if np.isnan(value) else value for value in fit.history[name]]
        assert [row[name] for row in rows] == expected


def test_a_table_holds_the_same(tmp_path):
    fit, rows = log_of(tmp_path / "run.csv")
    found = [float(row["score"] or "nan") for row in rows]
    np.testing.assert_array_equal(found, fit.history["score"])


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("behind", [False, True])
def test_a_run_that_was_stopped_leaves_the_log_of_one_that_was_not(tmp_path, ending, behind):
    _, expected = log_of(tmp_path / f"whole.{ending}")
    path, file = tmp_path / f"run.{ending}", tmp_path / "run.npz"

    def interrupt(event):
        if event.epoch == 3:
            raise KeyboardInterrupt

    callbacks = [tf.training.EpochLog(path), interrupt]
    with pytest.warns(UserWarning, match="interrupted"):
        tf.train_rbm(ROWS, **OPTIONS, callbacks=callbacks, checkpoint=file)
    assert len(lines(path)) == 3
    if behind:  # killed: the log is further than the checkpoint, and its last line half written
        whole = (tmp_path / f"whole.{ending}").read_text().splitlines(keepends=True)
        path.write_text("".join(whole[:5]) + whole[5 - (ending == "jsonl")][:7])
    checkpoint = tf.training.Checkpoint(file, resume=True)
    tf.train_rbm(ROWS, **OPTIONS, callbacks=[tf.training.EpochLog(path)], checkpoint=checkpoint)
    assert lines(path) == expected
    assert not list(tmp_path.glob("*.new"))


def test_another_run_is_not_overwritten(tmp_path):
    path = tmp_path / "run.jsonl"
    log_of(path)
    log_of(path)  # the same run, anew
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="run.jsonl holds another run"):
        log_of(path, rng=1)
    assert path.read_bytes() == before
    (tmp_path / "other.csv").write_text("a,b\n1,2,3\n")
    (tmp_path / "other.jsonl").write_text("words\n")
    for ending in ("csv", "jsonl"):
        with pytest.raises(FileExistsError, match=f"other.{ending} is no log of a training"):
            log_of(tmp_path / f"other.{ending}")


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_stages_of_the_regression(tmp_path, ending):
    stages, path = [], tmp_path / f"run.{ending}"
    data = tf.datasets.load_yacht()
    options = {
        "n_hidden": 3,
        "epochs": 3,
        "learning_rate": tf.training.RateSearch([0.01, 0.02]),
        "rng": 0,
    }

    def train(checkpoint, *callbacks):
        callbacks = [tf.training.EpochLog(path), *callbacks]
        return tf.train_tggm(data.X, data.y, **options, callbacks=callbacks, checkpoint=checkpoint)

    train(None, lambda event: stages.append((event.stage, event.epoch)))
    expected = lines(path)
    assert [(row["stage"], int(row["epoch"])) for row in expected] == stages
    assert list(dict.fromkeys(stage for stage, _ in stages)) == [
        "rate 1 of 2",
        "rate 2 of 2",
        "all rows",
    ]
    path.unlink()

    def interrupt(event):
        if (event.stage, event.epoch) == ("rate 2 of 2", 2):
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        train(tmp_path / "run.npz", interrupt)
    train(tf.training.Checkpoint(tmp_path / "run.npz", resume=True))
    assert lines(path) == expected


def test_a_full_disk_is_a_warning_and_the_line_follows(tmp_path, monkeypatch):
    path, opened = tmp_path / "run.jsonl", Path.open

    def full(self, mode="r", **more):
        if self == path and mode == "a" and len(lines(path)) == 2:
            monkeypatch.setattr(Path, "open", opened)
            raise OSError(errno.ENOSPC, "no space left")
        return opened(self, mode, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.warns(UserWarning, match="cannot write .*run.jsonl, training goes on"):
        _, rows = log_of(path)
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4, 5]


def test_callbacks_see_the_model_as_it_is():
    models = []
    fit = tf.train_rbm(ROWS, **OPTIONS, callbacks=[lambda event: models.append(event.model)])
    np.testing.assert_array_equal(models[-1].weights, fit.model.weights)
    assert not np.array_equal(models[0].weights, fit.model.weights)


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("run.txt", ValueError, r"path must end in .jsonl or .csv, got 'run.txt'"),
        ("nowhere/run.csv", FileNotFoundError, "path must be in a folder that exists"),
        (3, TypeError, "path must be a path, got int"),
    ],
)
def test_bad_paths(path, kind, words):
    with pytest.raises(kind, match=words):
        tf.training.EpochLog(path)
