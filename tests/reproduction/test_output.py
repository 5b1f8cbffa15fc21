"""The command of the tables where letters are few, results damaged, and the disk full."""

import errno
import io
import os
import subprocess
import sys

import pytest

from reproduction import results
from reproduction.__main__ import main
from tests.support.data import ROOT
from trug_fast._common import files

RESULTS = ROOT / "reproduction" / "results" / "table4.jsonl"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_takes_a_table(encoding, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["table4", "--show", f"--results={RESULTS}"]) == 0
    assert stream.errors == "strict"
    stream.flush()
    text = stream.buffer.getvalue().decode(encoding)
    assert ("+-" if encoding == "ascii" else "±") in text and "?" not in text


@pytest.mark.slow
def test_a_locale_of_ascii():
    few = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    show = ["-m", "reproduction", "table4", "--show", f"--results={RESULTS}"]
    run = subprocess.run([sys.executable, *show], capture_output=True, env=few, cwd=ROOT)
    assert run.returncode == 0 and b"+-" in run.stdout


def test_damaged_results_are_no_traceback(tmp_path, capsys):
    file = tmp_path / "results.jsonl"
    for line in ('{"table": "table4"}', '{"table": "table4", "cell": 3, "rmse": "x", "data": []}'):
        file.write_text(line + "\n")
        assert main(["table4", "--show", f"--results={file}"]) == 2
        assert "results of table4 are damaged: " in capsys.readouterr().err


def test_a_full_disk_is_told_by_the_file(tmp_path, monkeypatch, capsys):
    def no_space(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", no_space)
    with pytest.raises(OSError, match=r"No space left on device: '.*results.jsonl'"):
        results.append(tmp_path / "results.jsonl", {"cell": "one"})
    out = tmp_path / "table"
    assert main(["table4", "--quick", "--only=yacht/per-unit", f"--out={out}", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert f"'{out}" in said or f"checkpoint {out}" in said
