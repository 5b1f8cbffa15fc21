"""The notice of compiling."""

import io
import os
import subprocess
import sys
import threading

import pytest
from numba import types
from numba.core.errors import TypingError

from trug_fast._common.progress import Progress
from trug_fast.kernels import announcing
from trug_fast.kernels.compiling import kernel

HEAD = "trug_fast: compiling, once on this computer: "
FOR_CALL = "trug_fast: compiling for call, once on this computer: "


class Terminal(io.StringIO):
    """A stream at which a person looks."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def talkative(monkeypatch):
    """Have the notice at once, by a clock that stands still."""
    clock = [100.0]
    monkeypatch.delenv(announcing.QUIET, raising=False)
    monkeypatch.setattr(announcing, "_here", announcing._Here())
    monkeypatch.setattr(announcing.time, "perf_counter", lambda: clock[0])
    return clock


def compiling(clock, burst, kernels, seconds=2.5):
    """Let so many kernels be compiled one after the other."""
    burst.begin()
    for _ in range(kernels):
        clock[0] += seconds
        burst.tick()
        burst.count += 1
    burst.pause()


def test_short_compiling_is_not_worth_a_word(talkative, capsys):
    burst = announcing.Burst()
    compiling(talkative, burst, 2, seconds=0.9)
    burst.end()
    assert capsys.readouterr().err == ""


def test_a_file_gets_two_lines(talkative, capsys):
    burst = announcing.Burst("call")
    compiling(talkative, burst, 4)
    burst.end()
    first, second = capsys.readouterr().err.splitlines()
    assert first == FOR_CALL + "0 kernels so far, in 2 s"
    assert second.startswith("trug_fast: compiled 4 kernels in 10 s, kept in ")


def test_seconds_of_several_compilations_add_up(talkative, capsys):
    burst = announcing.Burst()
    compiling(talkative, burst, 1, seconds=1.5)
    talkative[0] += 0.5  # computing
    compiling(talkative, burst, 1, seconds=1.5)
    assert capsys.readouterr().err == HEAD + "1 kernels so far, in 3 s\n"


def test_a_terminal_sees_one_line_change_and_go(talkative, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "75")
    burst = announcing.Burst("call")
    compiling(talkative, burst, 4)
    burst.end()
    text = terminal.getvalue()
    assert "\n" not in text
    states = text.split("\r")
    assert max(map(len, states)) == 74  # a terminal would wrap what is longer
    assert states[1].startswith(FOR_CALL + "0 kernels so ")
    assert states[-3].startswith(FOR_CALL + "3 kernels so ")
    assert states[-1] == "" and states[-2].isspace() and len(states[-2]) == 74  # wiped


def test_one_process_of_many_prints_plain_lines(talkative, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    one = announcing.multiprocessing.Process(name="LokyProcess-1")
    monkeypatch.setattr(announcing.multiprocessing, "current_process", lambda: one)
    compiling(talkative, announcing.Burst(), 2)
    assert terminal.getvalue() == HEAD + "0 kernels so far, in 2 s\n"


def test_silence_can_be_had(talkative, capsys, monkeypatch):
    with announcing.announced("call", False), announcing.announced("inner", None):
        compiling(talkative, announcing._here.burst, 2)
    monkeypatch.setenv(announcing.QUIET, "1")
    with announcing.announced("call", True):
        compiling(talkative, announcing._here.burst, 2)
    assert capsys.readouterr().err == ""


def test_the_outermost_call_gives_the_name(talkative, capsys):
    with announcing.announced("call", None):
        with announcing.announced("another", False):
            compiling(talkative, announcing._here.burst, 2)
        assert capsys.readouterr().err.startswith(FOR_CALL + "0 kernels")
    assert "compiled 2 kernels" in capsys.readouterr().err


def test_the_end_is_said_when_work_goes_on(talkative, capsys):
    with announcing.announced("call", None), Progress(9, "training", False) as bar:
        compiling(talkative, announcing._here.burst, 2)
        bar.advance(1)
        assert "compiled" not in capsys.readouterr().err
        talkative[0] += 2 * announcing.GAP
        bar.advance(1)
        assert "compiled 2 kernels" in capsys.readouterr().err
        bar.advance(1)
        compiling(talkative, announcing._here.burst, 1)  # much later
        assert capsys.readouterr().err == FOR_CALL + "0 kernels so far, in 2 s\n"
    assert "compiled 1 kernels" in capsys.readouterr().err


@pytest.mark.parametrize("stream", ["closed", None])
def test_nobody_need_listen(stream, talkative, monkeypatch):
    if stream == "closed":
        stream = Terminal()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    burst = announcing.Burst()
    compiling(talkative, burst, 2)
    burst.end()


def fresh(result):
    """Make a kernel that no earlier run has left on disk, nor this one will."""

    @kernel
    def plus(x):
        return x + result

    plus._cache._files.clear()
    plus._cache._save_overload = lambda sig, data: None
    return plus


def test_kernels_are_counted_when_they_are_compiled(talkative):
    before = len(announcing.compiled)
    fresh(1.0).compile((types.float64,))
    assert announcing.compiled[before:] == ["fresh.<locals>.plus"]
    fresh(2.0).compile((types.float32,))
    assert announcing._here.burst.count == 2
    talkative[0] += 2 * announcing.GAP
    fresh(3.0).compile((types.float32,))
    assert announcing._here.burst.count == 1  # another burst


def test_what_fails_to_compile_ends_too():
    kernel = fresh(1.0)
    with pytest.raises(TypingError):
        kernel.compile((types.unicode_type,))
    assert announcing._here.depth == 0


def test_threads_have_bursts_of_their_own():
    first, second = fresh(1.0), fresh(2.0)
    here, found = announcing._here, []

    def other():
        second.compile((types.float64,))
        found.append((here.burst.call, here.burst.count))

    with announcing.announced("call", None):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        first.compile((types.float64,))
        found.append((here.burst.call, here.burst.count))
    assert found == [("", 1), ("call", 1)]


def test_functions_of_others_are_not_announced():
    import numba

    numba.njit(lambda x: x + 1.0)(2.0)
    assert announcing._here.burst.count == 0


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
    assert compiled > 0 and said.startswith(HEAD) and said.count("\n") == 1
    assert once() == (0, "")
