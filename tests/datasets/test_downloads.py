"""Fetching data sets from a server: right files, wrong ones, and none."""

import hashlib
import sys
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import reproduction.__main__
import trug_fast as tf
from tests.datasets.test_images import write_idx
from trug_fast.cli import main
from trug_fast.datasets import downloads
from trug_fast.datasets.downloads import RemoteFile

pytest.importorskip("pooch")
MNIST = downloads.SETS["mnist"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        self.server.asked.append(self.path)


@contextmanager
def serving(folder):
    """Serve a folder; yield the address, and the list of what was asked for."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", server.asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A server's folder with a data set of two files that the package knows."""
    for name in ("TRUG_FAST_DATA", "TRUG_FAST_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    folder = tmp_path / "server"
    (folder / "small").mkdir(parents=True)
    files = []
    for name, content in (("a.bin", b"first" * 100), ("b.bin", b"second")):
        (folder / "small" / name).write_bytes(content)
        sha = hashlib.sha256(content).hexdigest()
        files.append(RemoteFile("small", name, len(content), sha))
    monkeypatch.setattr(downloads, "SETS", {"small": tuple(files)})
    return folder


def test_files_are_fetched_once(place, tmp_path, capsys):
    with serving(place) as (address, asked):
        for count in (2, 2):  # the second time they are there
            found = tf.datasets.fetch("small", tmp_path / "data", mirror=f"{address}/")
            assert found == tmp_path / "data" / "small" and len(asked) == count
        assert (found / "a.bin").read_bytes() == b"first" * 100
        assert main(["datasets", "fetch", "small", f"--data-dir={tmp_path}"]) == 2
        assert "no address is known of small/a.bin" in capsys.readouterr().err
        words = ["datasets", "fetch", "small", "--quiet", f"--mirror={address}"]
        assert main(words) == 0
        assert (tmp_path / "home" / ".cache" / "trug_fast" / "small" / "b.bin").exists()
        assert "small is in" in capsys.readouterr().out and len(asked) == 4


def test_what_comes_must_be_the_file(place, tmp_path):
    (place / "small" / "b.bin").write_bytes(b"another")
    with serving(place) as (address, _):
        with pytest.raises(ValueError, match="b.bin. does not match the known hash"):
            tf.datasets.fetch("small", tmp_path, mirror=address)
        assert [path.name for path in (tmp_path / "small").iterdir()] == ["a.bin"]
        (tmp_path / "small" / "a.bin").write_bytes(b"mine")
        with pytest.raises(ValueError, match="a.bin is not the file .* move it away"):
            tf.datasets.fetch("small", tmp_path, mirror=address)
        assert (tmp_path / "small" / "a.bin").read_bytes() == b"mine"


def test_a_server_without_the_file_and_no_server(place, tmp_path, monkeypatch):
    (place / "small" / "a.bin").unlink()
    with serving(place) as (address, _):
        monkeypatch.setenv("TRUG_FAST_MIRROR", address)
        with pytest.raises(OSError, match="cannot fetch .*a.bin: 404 ") as error:
            tf.datasets.fetch("small", tmp_path)
    assert f"put it into {tmp_path / 'small'} yourself" in str(error.value)
    with pytest.raises(OSError, match="cannot fetch .* without a network"):
        tf.datasets.fetch("small", tmp_path)
    assert not list((tmp_path / "small").glob("*"))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"name": "large"}, ValueError, "name must be one of 'small'"),
        ({"mirror": "file:///data"}, ValueError, "mirror must be an address, http"),
        ({"directory": 3}, TypeError, "directory must be a path"),
        ({"progress": "yes"}, TypeError, "progress must be"),
    ],
)
def test_wrong_arguments(given, error, words, place):
    with pytest.raises(error, match=words):
        tf.datasets.fetch(**{"name": "small"} | given)


def test_without_pooch(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r'pip install "trug-fast\[datasets\]"'):
        tf.datasets.fetch("small", mirror="http://127.0.0.1:9")


def test_fetched_files_are_found_by_what_loads_them(place, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"or fetch them with datasets.fetch\('mnist'\)"):
        tf.datasets.load_mnist()
    (place / "mnist").mkdir()
    files = []
    for file in MNIST:
        path = place / "mnist" / file.name
        shape = (4, 28, 28) if "images" in file.name else (4,)
        write_idx(path, np.arange(np.prod(shape)).reshape(shape))
        sha = hashlib.sha256(path.read_bytes()).hexdigest()
        files.append(RemoteFile("mnist", path.name, path.stat().st_size, sha))
    monkeypatch.setattr(downloads, "SETS", {"mnist": tuple(files)})
    with serving(place) as (address, _):
        tf.datasets.fetch("mnist", mirror=address)
    assert tf.datasets.load_mnist().train.shape == (4, 784)


def test_sets_of_the_tables_are_fetched_by_their_own_command(place, tmp_path, monkeypatch, capsys):
    own = reproduction.datasets.downloads
    files = [file for files in own.SETS.values() for file in files]
    assert len({file.sha256 for file in files}) == len(files)
    assert all(len(file.sha256) == 64 and int(file.sha256, 16) for file in files)
    monkeypatch.setattr(own, "SETS", downloads.SETS)
    words = ["fetch", "small", f"--data-dir={tmp_path}", "--quiet"]
    with serving(place) as (address, asked):
        assert reproduction.__main__.main([*words, f"--mirror={address}"]) == 0
        assert f"small is in {tmp_path / 'small'}" in capsys.readouterr().out
        assert len(asked) == 2


def test_the_list_of_data_sets(capsys):
    assert main(["datasets", "list"]) == 0
    printed = capsys.readouterr().out
    assert "mnist/train-images-idx3-ubyte.gz" in printed and "9.91 MB" in printed
    files = [file for files in downloads.SETS.values() for file in files]
    assert len({file.sha256 for file in files}) == len(files)
    assert all(len(file.sha256) == 64 and int(file.sha256, 16) for file in files)
