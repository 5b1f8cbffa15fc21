"""Places that take no files are told before the work, by name; a model is never lost for one."""

import errno
import inspect
import os
import subprocess

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of
from trug_fast._common import files
from trug_fast.cli import main, train

TRAIN = ["train", "rbm", "digits", "--n-hidden=80", "--epochs=1", "--quiet"]


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


@pytest.fixture
def untrained(monkeypatch):
    """No training is begun: it could not be called."""
    monkeypatch.setitem(train.TRAINS, "rbm", (uncallable := Uncallable(), ()))
    return uncallable


class Uncallable:
    __signature__ = inspect.signature(tf.train_rbm)

    def __call__(self, *_, **__):
        raise AssertionError("training was begun")


@pytest.mark.parametrize("left", [0, 12288])  # for nothing; for less than a model
def test_a_training_that_could_not_be_saved_is_not_begun(small_disk, left, untrained, capsys):
    fill(small_disk, left)
    assert main([*TRAIN, f"--out={small_disk / 'm.npz'}"]) == 2
    said = capsys.readouterr()
    assert said.err == f"trug-fast: cannot write {small_disk / 'm.npz'}: No space left on device\n"
    assert [path.name for path in small_disk.iterdir()] == ["fill"] and "training" not in said.out


def test_nor_is_one_in_a_folder_that_is_none(tmp_path, untrained, capsys):
    (tmp_path / "file").touch()
    for place, words in (("file", "Not a directory"), ("none", "No such file or directory")):
        out = tmp_path / place / "m.npz"
        assert main([*TRAIN, f"--out={out}"]) == 2
        assert capsys.readouterr().err == f"trug-fast: cannot write {out}: {words}\n"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no rights of this kind")
def test_nor_is_one_in_a_folder_that_may_only_be_read(tmp_path, untrained, capsys, monkeypatch):
    out = tmp_path / "m.npz"

    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    if os.geteuid() == 0:  # who may write everywhere
        monkeypatch.setattr(train, "NamedTemporaryFile", refused)
    else:
        tmp_path.chmod(0o500)
    assert main([*TRAIN, f"--out={out}"]) == 2
    assert capsys.readouterr().err == f"trug-fast: cannot write {out}: Permission denied\n"


@pytest.mark.parametrize("room_elsewhere", [True, False])
def test_a_disk_that_fills_while_it_trains_costs_no_model(
    tmp_path, monkeypatch, capsys, room_elsewhere
):
    other, out = tmp_path / "other", tmp_path / "m.npz"
    other.mkdir()
    monkeypatch.setattr(train, "gettempdir", lambda: str(other))
    monkeypatch.setattr(train.Path, "home", lambda: tmp_path / "nowhere")
    fsync, saved = files.os.fsync, []

    def filling(handle):
        saved.append(handle)
        if len(saved) == 1 or not room_elsewhere:
            no_space()
        fsync(handle)

    monkeypatch.setattr(files.os, "fsync", filling)
    assert main([*TRAIN, f"--out={out}"]) == 2
    said = capsys.readouterr().err
    assert f"No space left on device: '{out}'; " in said and not out.exists()
    if not room_elsewhere:
        assert f"nor is there room for it in {other} or " in said
        return
    kept = said.partition("the model is in ")[2].strip()
    assert kept.startswith(f"{other}/m-") and tf.TruGRBM.load(kept).n_hidden == 80


def test_errors_of_writing_name_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(OSError, match=r"No space left on device: '.*model.npz'") as caught:
        model_of("[0,1]").save(tmp_path / "model.npz")
    assert caught.value.errno == errno.ENOSPC and not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError, match=r"'.*/none/model.npz'"):  # not of its part
        model_of("[0,1]").save(tmp_path / "none" / "model.npz")
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
