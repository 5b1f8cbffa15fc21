"""The notice of compiling."""

import io
import os
import subprocess
import sys
import threading

import pytest
from numba import types
from numba.core.errors import TypingError

from trug_fast.kernels import announcing
from trug_fast.kernels.compiling import kernel

LINE = "trug_fast: compiling kernels, once on this computer\n"
FOR_CALL = "trug_fast: compiling kernels for call, once on this computer\n"


class Terminal(io.StringIO):
    """A stream at which a person looks."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Stand still, but for what is compiled."""
    clock = [100.0]
    monkeypatch.delenv(announcing.QUIET, raising=False)
    monkeypatch.setattr(announcing, "_here", announcing._Here())
    monkeypatch.setattr(announcing.time, "perf_counter", lambda: clock[0])
    return clock


@pytest.fixture
def compiling(clock):
    """Let so many kernels be compiled, each in so many seconds."""

    class Event:
        data = {"dispatcher": next(iter(announcing.OURS))}

    def run(kernels, seconds=2.5):
        listener, steps = announcing._Kernels(), announcing._Steps()
        for _ in range(kernels):
            listener.on_start(Event)
            clock[0] += seconds
            steps.on_start(Event)
            listener.on_end(Event)

    return run


def test_short_compiling_is_not_worth_a_word(compiling, capsys):
    compiling(2, seconds=0.9)
    assert capsys.readouterr().err == ""


def test_one_line_is_said_once(compiling, capsys):
    with announcing.announced("call", None):
        compiling(4)
        compiling(4)
    assert capsys.readouterr().err == FOR_CALL
    with announcing.announced("call", None):
        compiling(1)
    assert capsys.readouterr().err == FOR_CALL
    compiling(1)
    compiling(1)
    assert capsys.readouterr().err == LINE


def test_seconds_of_several_compilations_add_up(clock, compiling, capsys):
    compiling(1, seconds=1.5)
    clock[0] += 50.0  # computing
    assert capsys.readouterr().err == ""
    compiling(1, seconds=1.5)
    assert capsys.readouterr().err == LINE


def test_kernels_for_this_process_alone_are_said_to_be(compiling, monkeypatch, capsys):
    monkeypatch.setattr(announcing, "HOME", None)
    compiling(1)
    assert capsys.readouterr().err == "trug_fast: compiling kernels, for this process alone\n"


def test_a_bar_on_a_terminal_is_written_over(compiling, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "75")
    compiling(2)
    assert terminal.getvalue() == "\r" + LINE.strip().ljust(74) + "\n"


def test_silence_can_be_had(compiling, capsys, monkeypatch):
    with announcing.announced("", False), announcing.announced("inner", None):
        compiling(2)
    monkeypatch.setenv(announcing.QUIET, "1")
    with announcing.announced("call", True):
        compiling(2)
    assert capsys.readouterr().err == ""


def test_the_outermost_call_gives_the_name(compiling, capsys):
    with announcing.announced("call", None), announcing.announced("another", False):
        compiling(2)
    assert capsys.readouterr().err == FOR_CALL


@pytest.mark.parametrize("stream", ["closed", None])
def test_nobody_need_listen(stream, compiling, monkeypatch):
    if stream == "closed":
        stream = Terminal()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    compiling(2)


def fresh(result):
    """Make a kernel that no earlier run has left on disk, nor this one will."""

    @kernel
    def plus(x):
        return x + result

    plus._cache._files.clear()
    plus._cache._save_overload = lambda sig, data: None
    return plus


def test_kernels_are_counted_when_they_are_compiled():
    before = len(announcing.compiled)
    fresh(1.0).compile((types.float64,))
    assert announcing.compiled[before:] == ["fresh.<locals>.plus"]
    fresh(2.0).compile((types.float32,))
    assert len(announcing.compiled) == before + 2


def test_what_fails_to_compile_ends_too():
    kernel = fresh(1.0)
    with pytest.raises(TypingError):
        kernel.compile((types.unicode_type,))
    assert announcing._here.depth == 0


def test_threads_have_notices_of_their_own(compiling, capsys):
    with announcing.announced("call", False):
        thread = threading.Thread(target=compiling, args=(1,))
        thread.start()
        thread.join()
        assert capsys.readouterr().err == LINE
        compiling(1)
    assert capsys.readouterr().err == ""


def test_functions_of_others_are_not_announced(monkeypatch, capsys):
    import numba

    monkeypatch.setattr(announcing, "PATIENCE", 0.0)
    numba.njit(lambda x: x + 1.0)(2.0)
    assert capsys.readouterr().err == ""
    fresh(3.0).compile((types.float64,))
    assert capsys.readouterr().err == LINE


SCRIPT = """
import sys
from trug_fast.kernels import announcing
from trug_fast.kernels.random import stream
announcing.PATIENCE = 0.0
stream._stream(0, 0, 0, 0)
print(len(announcing.compiled))
"""


def test_what_comes_from_disk_is_not_announced(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop(announcing.QUIET, None)

    def once():
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(done.stdout), done.stderr

    compiled, said = once()
    assert compiled > 0 and said == LINE
    assert once() == (0, "")
