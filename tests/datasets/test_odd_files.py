"""Files without an end, larger than they look, or claiming more than they hold: refused at once."""

import gzip
import os
import time
import zipfile

import numpy as np
import pytest

import trug_fast as tf
from tests.test_damage import bomb
from trug_fast._common import archives
from trug_fast.cli import main

HUGE = (10_000_000, 5_000_000)  # 364 TiB of float64
ENDLESS = [p for p in ("/dev/zero", "/dev/random") if os.path.exists(p)]


@pytest.fixture(params=["pipe", *ENDLESS])
def endless(request, tmp_path):
    """A path that is there, and is no file: by any name that is asked for."""

    def called(name):
        path = tmp_path / name
        if request.param != "pipe":
            path.symlink_to(request.param)
        elif hasattr(os, "mkfifo"):
            os.mkfifo(path)
        else:
            pytest.skip("no named pipes here")
        return path

    return called


def header_of(shape):
    """Return the header of an array in a file."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize("name", ["x.csv", "x.npy", "x.npz", "x.h5", "x.fasta", "x.fa.gz", "x"])
def test_what_is_no_file_is_no_data(endless, name, capsys):
    path = endless(name)
    with pytest.raises(ValueError, match=f"{path} is a pipe or a device: write what it gives"):
        tf.datasets.read(path)
    begun = time.process_time()
    assert main(["train", "rbm", str(path), "--quiet"]) == 2
    assert time.process_time() - begun < 5
    assert f"{path} is a pipe or a device" in capsys.readouterr().err


def test_what_is_no_file_is_no_model_and_no_checkpoint(endless, capsys):
    path = endless("model.npz")
    with pytest.raises(ValueError, match=f"{path} is no trug_fast file.* a pipe or a device"):
        tf.TruGRBM.load(path)
    assert main(["evaluate", str(path), "digits"]) == 2
    assert f"trug-fast: {path} is no trug_fast file" in capsys.readouterr().err
    X = np.zeros((20, 3))
    with pytest.raises(ValueError, match="a pipe or a device"):
        tf.train_rbm(X, 2, checkpoint=tf.training.Checkpoint(path, resume=True))
    pytest.importorskip("h5py")
    with pytest.raises(ValueError, match="is a pipe or a device, no file of HDF5"):
        tf.models.load_rbms(path)


def test_arrays_that_claim_more_than_their_file_holds(tmp_path, capsys):
    plain, packed = tmp_path / "x.npy", tmp_path / "x.npz"
    plain.write_bytes(header_of(HUGE) + bytes(800))
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", plain.read_bytes())
    for path, words in ((plain, "mmap length"), (packed, "Unable to allocate")):
        with pytest.raises(ValueError, match=rf"{path} is damaged.*{words}"):
            tf.datasets.read(path).rows()
    assert main(["train", "rbm", str(plain), "--quiet"]) == 2
    assert f"{plain} is damaged" in capsys.readouterr().err
    # A few bytes too many hurt nobody, and are NumPy's affair.
    whole = np.arange(6.0).reshape(3, 2)
    np.save(plain, whole)
    plain.write_bytes(plain.read_bytes() + b"more")
    np.testing.assert_array_equal(tf.datasets.read(plain).rows(), whole)


def test_small_archives_of_large_arrays_are_refused_unread(tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.npz"
    path.write_bytes(bomb(24))
    monkeypatch.setattr(archives, "ROOM", 2**23)
    monkeypatch.setattr(archives, "read", None)
    with pytest.raises(ValueError, match=rf"{path} holds 0.0 GiB in a file of 0.1 MiB; if that"):
        tf.datasets.read(path)
    assert main(["train", "rbm", str(path), "--quiet"]) == 2
    assert f"{path} holds " in capsys.readouterr().err


def test_archives_that_pack_well_are_read(tmp_path, monkeypatch):
    path, X = tmp_path / "x.npz", np.zeros((2000, 300))
    np.savez_compressed(path, X=X)
    assert path.stat().st_size * archives.PACKED < X.nbytes < archives.ROOM
    assert tf.datasets.read(path).rows().shape == X.shape
    X = (np.random.default_rng(0).random(X.shape) < 0.2) * 1.0  # zeros and ones: 1 in 40
    np.savez_compressed(path, X=X)
    monkeypatch.setattr(archives, "ROOM", 2**20)
    np.testing.assert_array_equal(tf.datasets.read(path).rows(), X)


def test_hdf5_and_packed_sequences_are_measured_too(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "ROOM", 2**20)
    path = tmp_path / "x.fasta.gz"
    path.write_bytes(gzip.compress(b">one\n" + b"A" * 2**22))
    with pytest.raises(ValueError, match=f"{path} holds 0.0 GiB in a file"):
        tf.datasets.read(path)
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", HUGE, "f8", chunks=(1000, 1000))
    with pytest.raises(ValueError, match=rf"{path} holds 372529.0 GiB in a file"):
        tf.datasets.read(path).rows()


def test_a_file_of_data_may_begin_with_a_dash(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-x.csv").write_text("a,b\n1,2\n3,x\n")
    assert main(["train", "rbm", "--", "-x.csv"]) == 2
    assert "-x.csv: column 'b' holds the text 'x' in row 1" in capsys.readouterr().err
