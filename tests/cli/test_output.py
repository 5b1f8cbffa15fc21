"""The command line where nobody listens, where the disk is full, and where letters are few."""

import errno
import io
import os
import subprocess
import sys
import time

import numba
import numpy as np
import pytest

import trug_fast as tf
from trug_fast.cli import as_typed, main

TRAIN = ["train", "rbm", "digits", "--n-hidden=8", "--epochs=1", "--quiet"]
COMMAND = [sys.executable, "-c", "import sys; from trug_fast.cli import main; sys.exit(main())"]


class Closed(io.StringIO):
    """Takes one line, and then fails."""

    number = errno.EPIPE

    def write(self, text):
        if "\n" in self.getvalue():
            raise OSError(self.number, os.strerror(self.number))  # a BrokenPipeError for a pipe
        return super().write(text)


class Full(Closed):
    number = errno.ENOSPC


def test_a_reader_who_leaves_does_not_end_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", Closed())
    assert main([*TRAIN, f"--out={tmp_path / 'm.npz'}"]) == 0
    assert sys.stdout.getvalue() == "training on 1437 rows of digits\n"
    assert isinstance(tf.TruGRBM.load(tmp_path / "m.npz"), tf.TruGRBM)
    assert capsys.readouterr().err == ""


def test_a_full_disk_behind_the_output_does_not_end_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", Full())
    assert main([*TRAIN, f"--out={tmp_path / 'm.npz'}"]) == 2
    assert (tmp_path / "m.npz").exists()
    assert "cannot write to standard output: " in capsys.readouterr().err


def test_output_and_threads_are_what_they_were_before(tmp_path):
    before, threads = sys.stdout, numba.get_num_threads()
    assert main(["evaluate", "none.npz", "digits", "--threads=1"]) == 2
    assert sys.stdout is before and numba.get_num_threads() == threads


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_that_lacks_a_letter_ends_nothing(encoding, tmp_path, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main([*TRAIN, f"--out={tmp_path / 'größe-数.npz'}"]) == 0
    assert stream.errors == "strict"
    stream.flush()
    assert b"e-?.npz" in stream.buffer.getvalue()


@pytest.mark.slow
def test_a_pipe_and_a_locale_of_ascii(tmp_path):
    few = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    out = tmp_path / "m.npz"
    for _ in range(2):  # the second time there is a former model to lose
        command = [*COMMAND, *TRAIN, f"--out={out}"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=few
        ) as run:
            assert run.stdout.readline()
            run.stdout.close()
            assert run.stderr.read() == b""
        assert run.returncode == 0 and tf.TruGRBM.load(out).n_hidden == 8


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_it_goes_on(tmp_path):
    words = ["train", "rbm", "digits", "--n-hidden=30", "--epochs=20", "--quiet", "--threads=1"]
    (tmp_path / "c.json").write_text(
        '{"checkpoint": {"Checkpoint": {"path": "run.npz", "every": 0.1}}}'
    )
    run = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}}
    whole = [*COMMAND, *words, "--out=whole.npz"]
    subprocess.run(whole, check=True, **run)
    part = [*COMMAND, *words, "--out=part.npz", "--config=c.json"]
    killed = 0
    for _ in range(3):
        with subprocess.Popen(part, **run) as process:
            written = tmp_path / "run.npz"
            before = written.stat().st_mtime_ns if written.exists() else 0
            while process.poll() is None:
                time.sleep(0.01)
                if written.exists() and written.stat().st_mtime_ns > before:
                    process.kill()
        killed += process.returncode == -9
    subprocess.run(part, check=True, **run)
    assert killed == 3
    models = [tf.TruGRBM.load(tmp_path / f"{name}.npz") for name in ("whole", "part")]
    for name in models[0].names:
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))


def test_messages_of_the_library_come_in_words_of_the_command():
    said = "choose one with key='a b', drop='x' or skip_missing=True; alphabet='rna', size=5x5 no"
    expected = (
        "choose one with --key a b, --drop x or --skip-missing; --alphabet rna, --size 5x5 no"
    )
    assert as_typed(said) == expected


@pytest.mark.parametrize("word", ["-1,1", "-.5,.5", "-inf,0"])
def test_negative_numbers_are_no_options(word, tmp_path, capsys):
    found = []
    for typed in (["--truncation", word], [f"--truncation={word}"]):
        # It stops at the units, which come after the truncation has been read.
        words = [*TRAIN, *typed, "--learning-rate=-1", f"--out={tmp_path / 'm.npz'}"]
        assert main(words) == 2
        found.append(capsys.readouterr().err)
    assert found[0] == found[1] == "trug-fast: learning_rate must be at least 0.0, got -1.0\n"
