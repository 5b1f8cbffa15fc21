"""Places that take no files are told before the work, by name; a model is never lost for one."""

import errno
import subprocess

import numpy as np
import pytest

import trug_fast as tf
from reproduction import results
from reproduction.__main__ import main as reproduce
from tests.support.models import model_of
from trug_fast._common import files
from trug_fast.cli import main, training

TRAIN = ["train", "rbm", "--n-hidden=80", "--epochs=1", "--ais-n-temperatures=20", "--quiet"]
TRAIN += ["--ais-n-chains=10", "--no-baseline"]


def no_space(*_):
    """Stand for a disk that has become full."""
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 128 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(place, left):
    """Leave so many bytes."""
    with (place / "fill").open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(4096))
        except OSError:
            pass
        stream.truncate(stream.tell() - left)


@pytest.mark.parametrize("left", [0, 12288])  # for nothing; for a report, but for no model
def test_a_training_that_could_not_be_saved_is_not_begun(small_disk, left, monkeypatch, capsys):
    monkeypatch.setattr(training.TrainCommand, "_fit", None)
    fill(small_disk, left)
    assert main([*TRAIN, f"--out={small_disk / 'out'}"]) == 2
    said = capsys.readouterr()
    assert f"cannot write results to {small_disk / 'out'}: No space left on device" in said.err
    assert list((small_disk / "out").iterdir()) == [] and "training" not in said.out


@pytest.mark.parametrize("deeper", ["", "deeper"])
def test_a_file_in_the_place_of_the_folder_is_told_before_the_training(
    deeper, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(training.TrainCommand, "_fit", None)
    (tmp_path / "out").touch()
    assert main([*TRAIN, f"--out={tmp_path / 'out' / deeper}"]) == 2
    said = capsys.readouterr().err
    assert "Not a directory" in said and str(tmp_path / "out" / deeper) in said


@pytest.mark.parametrize("room_elsewhere", [True, False])
def test_a_disk_that_fills_while_it_trains_costs_no_model(
    tmp_path, monkeypatch, capsys, room_elsewhere
):
    other, out = tmp_path / "other", tmp_path / "out"
    other.mkdir()
    monkeypatch.setattr(training, "gettempdir", lambda: str(other))
    monkeypatch.setattr(training.Path, "home", lambda: tmp_path / "nowhere")
    fit, fsync = training.TrainCommand._fit, files.os.fsync

    def filling(self, *arguments):
        saved = []

        def once(handle):
            saved.append(handle)
            if len(saved) == 1 or not room_elsewhere:
                no_space()
            fsync(handle)

        monkeypatch.setattr(files.os, "fsync", once)
        return fit(self, *arguments)

    monkeypatch.setattr(training.TrainCommand, "_fit", filling)
    assert main([*TRAIN, f"--out={out}"]) == 2
    said = capsys.readouterr().err
    assert f"No space left on device: '{out / 'model.npz'}'; " in said
    assert not (out / "model.npz").exists()
    if not room_elsewhere:
        assert f"nor is there room for it in {other} or " in said
        return
    kept = said.partition("the model is in ")[2].strip()
    assert kept.startswith(f"{other}/out-") and tf.TruGRBM.load(kept).n_hidden == 80


def test_errors_of_writing_name_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(OSError, match=r"No space left on device: '.*model.npz'") as caught:
        model_of("[0,1]").save(tmp_path / "model.npz")
    assert caught.value.errno == errno.ENOSPC and not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match=r"'.*/none/model.npz'"):  # not of its part
        model_of("[0,1]").save(tmp_path / "none" / "model.npz")
    with pytest.raises(OSError, match=r"No space left on device: '.*results.jsonl'"):
        results.append(tmp_path / "results.jsonl", {"cell": "one"})
    with pytest.raises(OSError, match="cannot write x.npy: 5 requested and 0 written"):
        with files.naming("x.npy"):
            raise OSError("5 requested and 0 written")
    with pytest.raises(ConnectionError, match="^gone$"), files.naming("x.npy"):
        raise ConnectionError("gone")


@pytest.mark.parametrize("name", ["drawn.npz", "drawn.npy", "drawn.csv", "drawn.png"])
def test_commands_that_write_on_a_full_disk_name_the_file(small_disk, tmp_path, capsys, name):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    tf.BernoulliRBM(rng.normal(size=(64, 5)), 0.0, 0.0).save(tmp_path / "model.npz")
    fill(small_disk, 0)
    path = small_disk / name
    assert main(["sample", str(tmp_path / "model.npz"), "-n=400", f"--out={path}"]) == 2
    assert str(path) in capsys.readouterr().err


def test_reproduce_names_the_file_on_a_full_disk(small_disk, capsys):
    fill(small_disk, 4096)
    out = small_disk / "table"
    assert reproduce(["table4", "--quick", "--only=yacht", f"--out={out}", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert f"'{out}" in said or f"checkpoint {out}" in said
