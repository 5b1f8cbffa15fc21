"""The file of a run: it belongs to one run, is whole at every moment, and says what is wrong."""

import json

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same
from tests.support.rbm_runs import BASE, digits
from trug_fast._common import files
from trug_fast.training.rbm.learner import RBMLearner

data = pytest.fixture(scope="module")(digits)

DIFFERENCES = [
    ({"epochs": 2}, "epochs is 3 there, 2 here"),
    ({"n_hidden": 8}, "n_hidden is 9 there, 8 here"),
    ({"hidden": "bernoulli"}, "hidden is .TruGUnits.* there, .Bernoulli. here"),
    ({"truncation": (0.0, 2.0)}, "truncation is .*4.0.* there, .*2.0.* here"),
    ({"learning_rate": 0.1}, "learning_rate is .*0.01.* there"),
    ({"dtype": "float64"}, "dtype is 'float32' there, 'float64' here"),
    ({"rng": 1}, "seed from rng is"),
    ({"X": "other"}, r"X is '\(130, 64\) uint8 SHA-256 .* there"),
    ({"validation": "other", "monitor": "pseudo"}, "validation is None there"),
    (
        {"monitor": tf.training.Monitor("pseudo", patience=2), "epochs": 2},
        "epochs is 3 there, 2 here; monitor is 'None' there, .*patience=2.* here",
    ),
    (
        {"sampler": tf.training.PCD(n_gibbs=(1, 3))},
        "sampler is 'PCD.n_gibbs=1,.* there, .*n_gibbs=.1, 3.",
    ),
    ({"sampler": "cd"}, "sampler is 'PCD.* there, 'CD.* here; n_chains is 100 there, 20 here"),
    ({"optimizer": "adam"}, "optimizer is 'SGD.* there, 'Adam.* here"),
    (
        {"start": tf.training.RandomWeights(0.5)},
        "start is 'RandomWeights.scale=0.12.' there, .*0.5.* here",
    ),
    ({"learning_rate": lambda share: 1 - share}, r"there, \['function', 1.0, 0.9, .*\] here"),
    ({"learning_rate": [1, 0.5, 0.25]}, r"there, \['each epoch', 1.0, 0.5, 0.25\] here"),
    (
        {"sampler": tf.training.PCD(lambda share: 1 + round(3 * share))},
        r"n_gibbs is \[1.0, 1.0\] there, \['each epoch', 1, 2, 3\] here",
    ),
]


@pytest.mark.parametrize(("change", "words"), DIFFERENCES)
def test_a_run_with_other_settings_is_refused_in_words(data, tmp_path, change, words):
    path = tmp_path / "run.npz"
    tf.train_rbm(data, **BASE, checkpoint=path)
    before = path.read_bytes()
    change = {k: 1 - data if v == "other" else v for k, v in change.items()}
    if "monitor" in change:
        change = {"validation": data} | change
    options = {"X": data} | BASE | change
    with pytest.raises(ValueError, match=f"belongs to another run: .*{words}"):
        tf.train_rbm(**options, checkpoint=tf.training.Checkpoint(path, resume=True))
    assert path.read_bytes() == before


def test_the_file_must_exist_or_must_not(data, tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError, match="run.npz"):
        tf.train_rbm(data, **BASE, checkpoint=tf.training.Checkpoint(path, resume=True))
    tf.train_rbm(data, **BASE, checkpoint=tf.training.Checkpoint(path, resume="auto"))
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
        content = files.read(path, "Training")
        if how == "old":
            identity = json.loads(str(content["identity"]))
            content["identity"] = np.array(json.dumps(identity | {"version": 0}))
        elif how == "missing":
            del content["chains"]
        elif how == "shape":
            content["weights"] = content["weights"][:-1]
        elif how == "type":
            content["weights"] = content["weights"].astype(float)
        files.write(path, "Training", content)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut", "is no trug_fast file or is damaged"),
        ("empty", "is no trug_fast file or is damaged"),
        ("flipped", "is no trug_fast file or is damaged"),
        ("foreign", "does not say what it holds"),
        ("model", "holds a BernoulliRBM, expected a Training"),
        ("version", "has format version 99"),
        ("old", "version is 0 there, 4 here"),
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
        tf.train_rbm(
            data, **(BASE | {"epochs": 1}), checkpoint=tf.training.Checkpoint(path, resume=True)
        )
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_place_that_takes_no_file_is_known_before_training(data, tmp_path, monkeypatch):
    monkeypatch.setattr(RBMLearner, "update", None)
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

        checkpoint = tf.training.Checkpoint(path, every=0)
        fit = tf.train_rbm(data, **BASE, checkpoint=checkpoint, callbacks=[fill])
    assert_same(tf.train_rbm(data, **BASE), fit)
    # The last good file is still there and still good.
    assert_same(
        fit, tf.train_rbm(data, **BASE, checkpoint=tf.training.Checkpoint(path, resume=True))
    )
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_checkpoints_are_written_as_often_as_asked(data, tmp_path, monkeypatch):
    writes = []
    write = files.write
    monkeypatch.setattr(files, "write", lambda *args: (writes.append(1), write(*args)))
    counts = []
    for every in (0, 3600):
        writes.clear()
        checkpoint = tf.training.Checkpoint(tmp_path / f"{every}.npz", every=every)
        tf.train_rbm(data, **BASE, checkpoint=checkpoint)
        counts.append(len(writes))
    assert counts == [1 + 3 * 7 + 1, 2]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"every": -1}, ValueError, "every must be at least 0"),
        ({"every": "often"}, TypeError, "every must be a number"),
        ({"resume": "maybe"}, ValueError, "resume must be True, False or 'auto', got 'maybe'"),
        ({"progress": 3}, TypeError, "progress must be"),
        ({"callbacks": 3}, TypeError, "callbacks must be a list"),
        (
            {"truncation": "sigmoid", "optimizer": tf.training.SGD(truncation_rate=0.1)},
            ValueError,
            "has no effect",
        ),
    ],
)
def test_bad_options_write_nothing(data, tmp_path, options, kind, words):
    own = {name: options[name] for name in ("every", "resume") if name in options}
    others = {name: options[name] for name in options.keys() - own.keys()}
    with pytest.raises(kind, match=words):
        tf.train_rbm(
            data, **BASE, checkpoint=tf.training.Checkpoint(tmp_path / "run.npz", **own), **others
        )
    assert list(tmp_path.iterdir()) == []
