"""Compiling ahead: in processes that tell what they do, of which none need be asked twice."""

import os
import subprocess
import sys

import pytest

import trug_fast as tf
from trug_fast import cli, warming
from trug_fast.kernels import caching

ONE = """
import sys
sys.path.append(sys.argv[1])
from trug_fast import warming
from trug_fast.kernels.random import stream
warming.CALLS["tggm"] = lambda: stream._stream(0, 0, 0, 0)
warming.make(sys.argv[2:])
"""


@pytest.fixture
def said(monkeypatch):
    """Have processes that only say something."""

    def set_script(text):
        monkeypatch.setattr(warming, "SCRIPT", text)
        monkeypatch.setattr(warming, "_is_done", lambda name: False)

    return set_script


def test_what_is_there_is_not_compiled_again(said, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    said(ONE)
    first, second = tf.warm("tggm"), tf.warm("tggm")
    assert first.compiled > 0 and second.compiled == 0
    assert any(tmp_path.rglob("*.nbc"))
    assert first.folder == caching.HOME
    assert first.seconds > 0.0


def test_each_call_is_made_once_in_the_order_of_its_chain(said, tmp_path):
    said(f"import sys; open(r'{tmp_path}/' + '-'.join(sys.argv[2:]), 'x')")
    assert tf.warm().compiled == 0
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == [
        "annealing",
        "doubles-vectors",
        "rbm-trbm",
        "singles",
        "tggm",
    ]
    assert "-".join(made).count("-") == len(warming.CALLS) - 1


@pytest.mark.parametrize(
    "models, made",
    [
        (["rbm"], {"annealing", "rbm"}),
        (["trbm"], {"trbm"}),
        (["tggm", "rbm", "tggm"], {"annealing", "rbm", "tggm"}),
        (["truncnorm"], {"doubles", "singles"}),
        (["truncmvn"], {"vectors"}),
    ],
)
def test_a_model_needs_its_own_calls(models, made, said, tmp_path):
    said(f"import sys; open(r'{tmp_path}/' + '-'.join(sys.argv[2:]), 'x')")
    tf.warm(*models)
    assert {path.name for path in tmp_path.iterdir()} == made


def test_calls_that_were_made_need_no_process(monkeypatch, tmp_path):
    monkeypatch.setattr(caching, "HOME", tmp_path)
    monkeypatch.setattr(caching, "READ", [tmp_path])
    monkeypatch.setattr(warming, "SCRIPT", "raise OSError('I was asked')")
    monkeypatch.setitem(warming.CALLS, "tggm", lambda: None)
    with pytest.raises(OSError, match="I was asked"):
        tf.warm("tggm")
    warming.make(["tggm"])
    assert tf.warm("tggm") == (0, pytest.approx(0, abs=5), tmp_path)
    monkeypatch.setattr(caching, "STAMP", b"of edited kernels")
    with pytest.raises(OSError, match="I was asked"):
        tf.warm("tggm")


def test_marks_of_any_folder_that_is_read_count(monkeypatch, tmp_path):
    monkeypatch.setattr(caching, "READ", [tmp_path / "read_only", tmp_path])
    assert not warming._is_done("tggm")
    warming._mark(tmp_path, "tggm").touch()
    assert warming._is_done("tggm") and not warming._is_done("rbm")


def test_processes_tell_of_kernels(said):
    said("print('compiled: 3')\nprint('something else')")
    assert tf.warm("rbm").compiled == 6  # two processes


def test_the_bar_is_shown_if_wanted(said, capsys):
    said("print('compiled: 3')")
    tf.warm("rbm", progress=True)
    assert "compiling" in capsys.readouterr().err


def test_a_process_that_fails_is_quoted(said):
    said("raise OSError('all memory is gone')")
    with pytest.raises(ChildProcessError, match="(?s)failed:.*all memory is gone"):
        tf.warm("tggm")


def test_a_folder_that_takes_nothing_is_said(said, monkeypatch):
    said(f"import warnings; warnings.warn('{warming.CANNOT_KEEP}: it is full')")
    with pytest.raises(OSError, match="it is full"):
        tf.warm("tggm")
    monkeypatch.setattr(caching, "HOME", None)
    with pytest.raises(OSError, match="cannot be kept: none of .* can be written"):
        tf.warm("tggm")


def test_the_words_of_the_cache_are_known(monkeypatch):
    monkeypatch.setattr(caching, "_warned", False)
    with pytest.warns(RuntimeWarning, match=f"^{warming.CANNOT_KEEP}"):
        caching._warn_once("it is full")


@pytest.mark.parametrize("bad", ["dbm", "", 3, None, ["rbm"]])
def test_models_have_names(bad):
    with pytest.raises(
        ValueError, match="models must be among rbm, trbm, tggm, truncnorm, truncmvn, got"
    ):
        tf.warm("rbm", bad)


def test_progress_is_checked():
    with pytest.raises(TypeError, match="progress must be"):
        tf.warm("rbm", progress="yes")


@pytest.mark.parametrize(
    "words, models",
    [([], ()), (["all"], ()), (["rbm", "tggm"], ("rbm", "tggm")), (["rbm", "all"], ())],
)
def test_the_command_names_models(words, models, monkeypatch, capsys, tmp_path):
    calls = []

    def warm(*given, progress):
        calls.append((given, progress))
        return warming.Warmed(3 * (len(calls) == 1), 4.25, tmp_path)

    monkeypatch.setattr(warming, "warm", warm)
    assert cli.main(["warm", *words]) == 0
    assert capsys.readouterr().out == f"compiled 3 kernels in 4.2 s, kept in {tmp_path}\n"
    assert cli.main(["warm", *words]) == 0
    assert capsys.readouterr().out == f"all kernels were there (4.2 s), kept in {tmp_path}\n"
    assert cli.main(["warm", *words, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert calls == [(models, None), (models, None), (models, False)]


def test_the_command_says_what_went_wrong(monkeypatch, said, capsys):
    said("raise OSError('all memory is gone')")
    assert cli.main(["warm", "tggm"]) == 2
    assert "all memory is gone" in capsys.readouterr().err
    monkeypatch.setattr(caching, "HOME", None)
    assert cli.main(["warm", "tggm"]) == 2
    assert capsys.readouterr().err.startswith("trug-fast: compiled kernels cannot be kept")


CHECK = """
import numba
from trug_fast import warming
from trug_fast.kernels import announcing
for call in warming.CALLS.values():
    call()
print(*announcing.compiled, end="")
"""


@pytest.mark.slow
def test_after_it_nothing_is_compiled(tmp_path):
    several = os.environ | {"NUMBA_NUM_THREADS": "2", "NUMBA_CACHE_DIR": str(tmp_path)}

    def said(script):  # where this process keeps its own kernels does not matter there
        command = [sys.executable, "-W", "ignore", "-c", script]
        done = subprocess.run(command, env=several, capture_output=True, text=True, check=True)
        return done.stdout

    script = "import trug_fast as tf\nprint(tf.warm().compiled, tf.warm().compiled)"
    first, second = map(int, said(script).split())
    assert first > 200 and second == 0
    assert said(CHECK) == ""
