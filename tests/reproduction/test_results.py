"""Files of results."""

import json
import subprocess

import pytest

import trug_fast as tf
from reproduction import results


def test_half_a_line_is_passed_over(tmp_path):
    path = tmp_path / "r.jsonl"
    results.append(path, {"a": 1, "b": float("inf")})
    with path.open("a") as stream:
        stream.write('{"a": 2, "b"')
    assert results.read(path) == [{"a": 1, "b": "inf"}]
    results.append(path, {"a": 3})
    results.append(path, {"a": 3})
    assert results.read(path) == [{"a": 1, "b": "inf"}, {"a": 3}]


def test_the_source_is_a_commit_only_in_a_checkout(tmp_path, monkeypatch):
    module = tmp_path / "reproduction" / "results.py"
    module.parent.mkdir(parents=True)
    module.write_text("# one\n")
    monkeypatch.setattr(results, "__file__", str(module))
    assert results.source() == f"version {tf.__version__}"

    def git(*words):
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        run = subprocess.run(["git", *names, *words], cwd=tmp_path, capture_output=True, check=True)
        return run.stdout.decode().strip()

    try:
        git("init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    (tmp_path / "other").write_text("x")
    git("add", "other")
    git("commit", "-m", "a")
    assert results.source() == f"version {tf.__version__}"  # lies in a checkout of something else
    git("add", ".")
    git("commit", "-m", "b")
    assert results.source() == git("rev-parse", "HEAD")
    (tmp_path / "other").write_text("y")  # not of the package
    assert results.source() == git("rev-parse", "HEAD")
    module.write_text("# two\n")
    assert results.source() == git("rev-parse", "HEAD") + ", with changes"


def test_lines_are_json_for_everybody(done):
    for text in (done / "results.jsonl").read_text().splitlines():
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
