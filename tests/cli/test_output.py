"""The command line where nobody listens, where the disk is full, and where letters are few."""

import errno
import io
import os
import subprocess
import sys

import pytest

import trug_fast as tf
from reproduction.__main__ import main as reproduce
from tests.support.data import ROOT
from trug_fast.cli import main

RESULTS = ROOT / "reproduction" / "results" / "table4.jsonl"
TRAIN = [
    "train",
    "rbm",
    "--n-hidden=8",
    "--epochs=1",
    "--ais-n-temperatures=5",
    "--ais-n-chains=5",
    "--quiet",
]
TRAIN += ["--no-baseline"]
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
    assert main([*TRAIN, f"--out={tmp_path / 'out'}"]) == 0
    assert sys.stdout.getvalue() == "digits: 1437 training and 360 test images\n"
    assert isinstance(tf.TruGRBM.load(tmp_path / "out" / "model.npz"), tf.TruGRBM)
    assert capsys.readouterr().err == ""


def test_a_full_disk_behind_the_output_does_not_end_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", Full())
    assert main([*TRAIN, f"--out={tmp_path / 'out'}"]) == 2
    assert (tmp_path / "out" / "model.npz").exists()
    assert "cannot write to standard output: " in capsys.readouterr().err


def test_output_goes_where_it_went_before():
    before = sys.stdout
    assert main(["evaluate", "none.npz"]) == 2
    assert sys.stdout is before


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_takes_a_table(encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    results = f"--results={RESULTS}"
    assert reproduce(["table4", "--show", results]) == 0
    assert stream.errors == "strict"
    stream.flush()
    text = stream.buffer.getvalue().decode(encoding)
    assert ("+-" if encoding == "ascii" else "±") in text and "?" not in text


@pytest.mark.slow
def test_a_pipe_and_a_locale_of_ascii(tmp_path):
    few = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    out = tmp_path / "out"
    command = [*COMMAND, *TRAIN, f"--out={out}"]
    for _ in range(2):  # the second time there is a former model to lose
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=few
        ) as run:
            assert run.stdout.readline()
            run.stdout.close()
            assert run.stderr.read() == b""
        assert run.returncode == 0 and (out / "model.npz").exists()
    show = ["-m", "reproduction", "table4", "--show", f"--results={RESULTS}"]
    run = subprocess.run([sys.executable, *show], capture_output=True, env=few, cwd=ROOT)
    assert run.returncode == 0 and b"+-" in run.stdout


def test_damaged_results_are_no_traceback(tmp_path, capsys):
    file = tmp_path / "results.jsonl"
    for line in ('{"table": "table4"}', '{"table": "table4", "cell": 3, "rmse": "x", "data": []}'):
        file.write_text(line + "\n")
        assert reproduce(["table4", "--show", f"--results={file}"]) == 2
        assert "results of table4 are damaged: " in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"trug-fast {tf.__version__}\n"


@pytest.mark.parametrize("word", ["-1,1", "-.5,.5", "-inf,0"])
def test_negative_numbers_are_no_options(word, tmp_path, capsys):
    spaced, joined = ["--truncation", word], [f"--truncation={word}"]
    found = []
    for arguments in (spaced, joined):
        # It stops at the units, which come after the truncation has been read.
        assert main([*TRAIN, *arguments, "--learning-rate=-1", f"--out={tmp_path / 'x'}"]) == 2
        found.append(capsys.readouterr().err)
    assert found[0] == found[1] == "trug-fast: learning_rate must be at least 0.0, got -1.0\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "rbm", "--checkpoint="], "--checkpoint must not be empty"),
        (["train", "tggm", "--checkpoint", "."], "--checkpoint must name a file, got '.'"),
        (["train", "trbm", "--out="], "--out must not be empty"),
        (["train", "rbm", "--epochs=0"], "--epochs must be at least 1, got 0"),
        (["train", "rbm", "--seed=-1"], "--seed must be at least 0, got -1"),
        (["train", "rbm", "--batch-size=0"], "--batch-size must be at least 1, got 0"),
        (["train", "trbm", "--test-videos=0"], "--test-videos must be at least 1, got 0"),
        (["sample", "none.npz", "-n", "-5"], "-n must be at least 1, got -5"),
        (["train", "rbm", "--ais-n-chains=1"], "--ais-n-chains must be at least 2, got 1"),
    ],
)
def test_wrong_options_are_named_as_they_were_typed(arguments, words, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"trug-fast: {words}")
