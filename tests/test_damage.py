"""Damaged and tampered files: refused in words, never read wrong, whatever they claim to hold."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import trug_fast as tf
from reproduction.datasets import stored
from tests.support import damage
from tests.support import damage_targets as targets
from tests.support.data import ROOT
from trug_fast._common import archives, files
from trug_fast.datasets import published

ROWS = targets.ROWS
FEW = ("train_rbm", "idx.gz", "npz", "mat", "asf", "results")


@pytest.mark.parametrize("name", FEW)
def test_a_few_files_of_each_kind(name):
    counts, wrong = damage.run(1, 0, (name,))
    assert wrong == [] and sum(counts.values()) >= len(damage.BYTES)


@pytest.mark.slow
def test_thousands_of_damaged_files():
    # In a process of its own, so that a crash, a hang or hunger for memory is seen.
    program = [sys.executable, "-m", damage.__name__, "16", "1"]
    run = subprocess.run(program, capture_output=True, text=True, timeout=3600, cwd=ROOT)
    assert run.returncode == 0, run.stderr[-2000:]
    report = json.loads(run.stdout)
    assert report["wrong"] == []
    assert sum(report["counts"].values()) > 5_000


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "model.npz"
    targets.model("rbm").save(target)
    return target


def rewritten(path, **changes):
    """Change arrays of a file of ours and make its digest right again."""
    kind = str(np.load(path)["kind"])
    files.write(path, kind, files.read(path, kind) | changes)


def raw(path, **changes):
    """Change arrays of a file without a word to its digest."""
    arrays = dict(np.load(path)) | changes
    with path.open("wb") as stream:
        archives.write(stream, arrays)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("format_version", np.arange(2), "format_version should be a whole number"),
        ("format_version", np.array("two"), "format_version should be a whole number"),
        ("format_version", np.array(1), "has format version 1; this version of trug_fast reads 2"),
        ("kind", np.array(3), "kind should be a text"),
        ("digest", np.array(3), "digest should be a text"),
        ("lower", np.zeros(4), "its arrays are not those that were written"),
    ],
)
def test_tampered_models(path, name, value, words):
    raw(path, **{name: value})
    with pytest.raises(ValueError, match=rf"model\.npz .*{words}"):
        tf.TruGRBM.load(path)


def test_exchanged_arrays_are_noticed(path):
    arrays = dict(np.load(path))
    raw(path, lower=arrays["hidden_bias"], hidden_bias=arrays["lower"])
    with pytest.raises(ValueError, match="not those that were written"):
        tf.TruGRBM.load(path)


def test_a_model_that_cannot_be_is_refused_in_the_file_s_name(path):
    for bad in (np.full(4, np.nan), np.array(["a"] * 4), np.full(4, 99.0), np.zeros(3)):
        rewritten(path, lower=bad)
        with pytest.raises(ValueError, match=r"model\.npz is damaged: .*lower"):
            tf.TruGRBM.load(path)


LIES = {
    "a petabyte": b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 1000000), }",
    "less than nothing": b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -5), }",
    "objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "brackets": b"(" * 5000,
    "minus signs": b"-" * 9000,
}


@pytest.mark.parametrize("lie", LIES)
def test_headers_that_lie(path, lie):
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    text = LIES[lie] + b"\n"
    members["weights.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(ValueError, match=r"model\.npz is no trug_fast file or is damaged"):
        tf.TruGRBM.load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_packed_is_no_file_of_ours(path, method):
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", method) as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(ValueError, match="is compressed"):
        tf.TruGRBM.load(path)


def bomb(megabytes):
    """Return an archive whose one array of zeros takes so much, and its file a thousandth."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("data.npy", "w") as member:
            shape = (megabytes << 17,)
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(member, header)
            for _ in range(megabytes):
                member.write(bytes(1 << 20))
    return stream.getvalue()


def test_small_files_do_not_become_large_arrays(tmp_path, monkeypatch):
    path = tmp_path / "set.npz"
    path.write_bytes(bomb(24))
    assert path.stat().st_size < 1 << 18
    # Not a byte of it is unpacked.
    monkeypatch.setattr(zipfile.ZipExtFile, "read", None)
    with pytest.raises(ValueError, match=r"set\.npz is damaged or cut short: .* at most 1848576"):
        stored.read_npz(path, ["data"], 100_000)


def test_packed_matlab_files_are_measured_before_they_are_read(tmp_path, monkeypatch):
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "set.mat"
    scipy_io.savemat(path, {"data": np.zeros(3 << 20)}, do_compression=True)
    monkeypatch.setattr(scipy_io, "loadmat", None)
    with pytest.raises(ValueError, match=r"set\.mat .*larger than it may be"):
        stored.read_mat(path, ["data"], 1000)
    scipy_io.savemat(path, {"data": np.zeros(1001, object)}, do_compression=True)
    with pytest.raises(ValueError, match=r"data should hold at most 1000 numbers, is \(1, 1001\)"):
        stored.read_mat(path, ["data"], 1000)


def test_gzip_is_unpacked_as_far_as_it_may_go(tmp_path):
    import gzip

    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 9]) + bytes(1 << 24)))
    with pytest.raises(ValueError, match=r"says \(9,\), of 18 bytes"):
        published.read_idx(path, (9,))


PLACES = [[5, 0, 0], [-1, 0, 0], [1, 4, 0], [1, 0, 2], [0, 0, 0], [2, 0, -1]]


@pytest.mark.parametrize("place", PLACES)
def test_places_that_no_run_comes_to(tmp_path, place):
    # From some of them, such as epoch 5 of 2, training would not end.
    path = tmp_path / "run.npz"
    targets.stopped(targets.rbm)(path)
    assert files.read(path, "Training")["place"].tolist() == [1, 0, 0]
    rewritten(path, place=np.array(place))
    with pytest.raises(ValueError, match=r"run\.npz is damaged: it says epoch"):
        targets.rbm(checkpoint=tf.training.Checkpoint(path, resume=True))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("identity", np.array(5), "identity should be a text"),
        ("identity", np.array("[1]"), "does not say which run it belongs to"),
        ("identity", np.array("{"), "does not say which run it belongs to"),
        ("identity", np.array("[" * 100_000), "does not say which run it belongs to"),
        ("counters", np.array([3, 2**62, 3]), r"it says 3 steps, \d+ sweeps of 3 updates"),
        ("counters", np.array([4, 3, 3]), "it says 3 steps, 3 sweeps of 4 updates"),
        ("history.epoch", np.arange(7.0), "it says epoch"),
        ("history.epoch", np.zeros((1, 1)), "it says epoch"),
        ("best.weights", np.zeros((5, 3), np.float32), "should be"),
        ("best.colour", np.zeros(3), "parameters"),
    ],
)
def test_tampered_checkpoints(tmp_path, name, value, words):
    path = tmp_path / "run.npz"
    targets.stopped(targets.patient_rbm)(path)
    rewritten(path, **{name: value})
    if name == "best.weights":
        rewritten(path, **{name: value[:1]})
    with pytest.raises(ValueError, match=rf"run\.npz .*damaged: .*{words}"):
        targets.patient_rbm(checkpoint=tf.training.Checkpoint(path, resume=True))


def test_the_seed_of_a_checkpoint_is_a_number(tmp_path):
    path = tmp_path / "run.npz"
    targets.stopped(targets.rbm)(path)
    for bad in (np.array("1"), np.arange(2), np.array(-1), np.array(0.5)):
        rewritten(path, seed=bad)
        with pytest.raises(ValueError, match=r"run\.npz is damaged: seed should be"):
            targets.rbm(checkpoint=tf.training.Checkpoint(path, resume=True), rng=None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("place", [9, 0]),
        ("place", [-1, 0]),
        ("place", [1, 7]),
        ("2.place", [7, 0, 0]),
        ("2.counters", [2, 2]),
        ("2.history.epoch", [1.0, 2.0, 3.0]),
        ("0.place", [5, 0, 1]),
    ],
)
def test_tampered_checkpoints_of_regressions(tmp_path, name, value):
    path = tmp_path / "run.npz"
    targets.tggm(checkpoint=path)
    rewritten(path, **{name: np.array(value)})
    with pytest.raises(ValueError, match=r"run\.npz is damaged: it"):
        targets.tggm(checkpoint=tf.training.Checkpoint(path, resume=True))


def test_interrupted_after_the_last_epoch_a_run_has_none_left(tmp_path):
    path = tmp_path / "run.npz"

    def stop(event):
        if event.epoch == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        first = targets.rbm(checkpoint=path, callbacks=[stop])
    again = targets.rbm(checkpoint=tf.training.Checkpoint(path, resume=True))
    assert again.history["epoch"].tolist() == [1, 2] and not again.interrupted
    np.testing.assert_array_equal(again.model.weights, first.model.weights)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("forward_step", np.arange(3)),
        ("forward_step", np.array(21)),
        ("forward_values", np.zeros((1, 5))),
        ("forward_log_weight", np.zeros(1)),
        ("temperatures", np.linspace(0, 1, 5)),
        ("identity", np.array("[]")),
    ],
)
def test_tampered_checkpoints_of_estimates(tmp_path, name, value):
    path = tmp_path / "run.npz"
    targets.log_partition(path)
    rewritten(path, **{name: value})
    with pytest.raises(ValueError, match=r"run\.npz is damaged"):
        targets.log_partition(path)
