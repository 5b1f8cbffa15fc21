"""The notice of compiling, and what it knows of what is left."""

import importlib
import io
import os
import subprocess
import sys
import threading

import pytest
from numba import types
from numba.core.errors import TypingError

from trug_fast._common.progress import Progress
from trug_fast.kernels import announcing, first_calls
from trug_fast.kernels.compiling import kernel
from trug_fast.kernels.first_calls import Kernel

HEAD = "trug_fast: compiling, once on this computer: "
A, B, C = (Kernel(f"some.kernel_{letter}", "f8") for letter in "abc")
D = Kernel(C.name, "f4")
NEEDS = {A: 1.0, B: 2.0, C: 3.0, D: 3.0}


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


@pytest.fixture
def known(monkeypatch):
    """Have a call of which is known what it needs."""
    monkeypatch.setattr(first_calls, "needs", lambda call: NEEDS if call == "call" else {})


def compiling(clock, burst, *kernels, seconds=2.5):
    """Let kernels be compiled one after the other."""
    burst.begin()
    for one in kernels:
        clock[0] += seconds
        burst.tick()
        burst.count(one)
    burst.pause()


def test_short_compiling_is_not_worth_a_word(talkative, capsys):
    burst = announcing.Burst()
    compiling(talkative, burst, A, B, seconds=0.9)
    burst.end()
    assert capsys.readouterr().err == ""


def test_a_file_gets_two_lines(talkative, known, capsys):
    burst = announcing.Burst("call")
    compiling(talkative, burst, A, B, C, C)
    burst.end()
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(HEAD + "0 of about 4, about ")
    assert second.startswith("trug_fast: compiled 4 kernels in 10 s, kept in ")


def test_saying_takes_its_time(talkative, known, monkeypatch, capsys):
    """On a busy computer: looking for what is left ticks, longer than a state is shown."""
    burst = announcing.Burst("call")

    def slow(name):
        talkative[0] += 2 * announcing.REFRESH
        burst.tick()
        return set()

    monkeypatch.setattr(first_calls, "_known", slow)
    compiling(talkative, burst, A, B)
    assert capsys.readouterr().err.count(HEAD) == 1


def test_seconds_of_several_compilations_add_up(talkative, capsys):
    burst = announcing.Burst()
    compiling(talkative, burst, A, seconds=1.5)
    talkative[0] += 0.5  # computing
    compiling(talkative, burst, B, seconds=1.5)
    assert capsys.readouterr().err == HEAD + "1 so far, in 3 s\n"


def test_time_left_follows_the_speed_so_far(known, monkeypatch):
    monkeypatch.setattr(first_calls, "_known", lambda name: {"f8"} if name == A.name else set())
    left = first_calls.Left("call", [A], 2.0)  # took 2 seconds, not 1: half as fast
    assert left.words(1, 2.0) == "1 of about 4, about 16 s left"
    assert left.words(1, 7.0) == "1 of about 4, about 11 s left"
    left.take(B, 7.0)  # 3 seconds' worth in 7
    assert left.words(2, 7.0) == "2 of about 4, about 14 s left"
    left.take(Kernel(C.name, "f2"), 10.0)  # written otherwise
    left.take(C, 14.0)
    assert left.words(4, 14.0) == "4 of about 4, about 1 s left"
    left.take(C, 15.0)  # more than was foreseen
    assert left.words(5, 15.0) == "5 of about 5, about 1 s left"
    assert first_calls.Left("another", [A], 2.0).words(1, 2.0) is None


def test_what_is_compiled_or_kept_is_not_left(known, monkeypatch):
    monkeypatch.setattr(first_calls, "_known", lambda name: {"f8"} if name != A.name else set())
    assert first_calls.Left("call", [], 2.0).words(0, 2.0).startswith("0 of about 2,")
    assert first_calls.missing(NEEDS) == {A, D}


def test_a_terminal_sees_one_line_change_and_go(talkative, known, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    burst = announcing.Burst("call")
    compiling(talkative, burst, A, B, C, C)
    burst.end()
    text = terminal.getvalue()
    assert "\n" not in text
    states = [state.strip() for state in text.split("\r")]
    assert any(f"{HEAD}0 of about 4" in state for state in states)
    assert any(f"{HEAD}3 of about 4" in state for state in states)
    assert states[-1] == "" == states[-2]  # wiped


def test_one_process_of_many_prints_plain_lines(talkative, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    one = announcing.multiprocessing.Process(name="LokyProcess-1")
    monkeypatch.setattr(announcing.multiprocessing, "current_process", lambda: one)
    compiling(talkative, announcing.Burst(), A, B)
    assert terminal.getvalue() == HEAD + "0 so far, in 2 s\n"


def test_silence_can_be_had(talkative, capsys, monkeypatch):
    with announcing.announced("call", False), announcing.announced("inner", None):
        compiling(talkative, announcing._here.burst, A, B)
    monkeypatch.setenv(announcing.QUIET, "1")
    with announcing.announced("call", True):
        compiling(talkative, announcing._here.burst, A, B)
    assert capsys.readouterr().err == ""


def test_the_outermost_call_gives_the_name(talkative, known, capsys):
    with announcing.announced("call", None):
        with announcing.announced("another", False):
            compiling(talkative, announcing._here.burst, A, B)
        assert capsys.readouterr().err.startswith(HEAD + "0 of about 4")
    assert "compiled 2 kernels" in capsys.readouterr().err


def test_the_end_is_said_when_work_goes_on(talkative, capsys):
    with announcing.announced("call", None), Progress(9, "training", False) as bar:
        compiling(talkative, announcing._here.burst, A, B)
        bar.advance(1)
        assert "compiled" not in capsys.readouterr().err
        talkative[0] += 2 * announcing.GAP
        bar.advance(1)
        assert "compiled 2 kernels" in capsys.readouterr().err
        bar.advance(1)
        compiling(talkative, announcing._here.burst, C, seconds=2.5)  # much later
        assert capsys.readouterr().err == HEAD + "0 so far, in 2 s\n"
    assert "compiled 1 kernels" in capsys.readouterr().err


@pytest.mark.parametrize("stream", ["closed", None])
def test_nobody_need_listen(stream, talkative, monkeypatch):
    if stream == "closed":
        stream = Terminal()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    burst = announcing.Burst()
    compiling(talkative, burst, A, B)
    burst.end()


def fresh(result):
    """Make a kernel that no earlier run has left on disk, nor this one will."""

    @kernel
    def plus(x):
        return x + result

    plus._cache._files.clear()
    plus._cache._save_overload = lambda sig, data: None
    return plus


NAME = f"{__name__}.fresh.<locals>.plus"


def test_kernels_are_heard_of_while_they_are_compiled(talkative):
    one, another = fresh(1.0), fresh(2.0)
    here, names = announcing._here, []
    announcing.hear(lambda kernel: names.append((kernel.name, here.depth)))
    one.compile((types.float64,))
    assert names == [(NAME, 0)]
    assert here.burst.call == NAME
    assert len(here.burst._compiled) == 1
    another.compile((types.float32,))
    double, single = here.burst._compiled
    assert double.types != single.types


def test_what_fails_to_compile_ends_too():
    kernel = fresh(1.0)
    with pytest.raises(TypingError):
        kernel.compile((types.unicode_type,))
    assert announcing._here.depth == 0


def test_threads_have_bursts_of_their_own():
    first, second = fresh(1.0), fresh(2.0)
    here, calls = announcing._here, []

    def other():
        second.compile((types.float64,))
        calls.append(here.burst.call)

    with announcing.announced("call", None):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        first.compile((types.float64,))
        calls.append(here.burst.call)
    assert calls == [NAME, "call"]


def test_functions_of_others_are_not_announced():
    import numba

    numba.njit(lambda x: x + 1.0)(2.0)
    assert announcing._here.burst._compiled == []


def test_the_table_names_kernels_that_there_are():
    """Else: python -m tools.count_first_calls."""
    calls, *kernels = first_calls.table()
    assert {"train_rbm", "train_trbm", "train_tggm", "log_partition", "arrays.rvs"} <= set(calls)
    for line in kernels:
        place, _, name = line[0].rpartition(".")
        assert hasattr(importlib.import_module(f"trug_fast.kernels.{place}"), name), line
    for call in calls:
        needs = first_calls.needs(call)
        assert len(needs) > 5 and sum(needs.values()) > 0.1


SCRIPT = """
import sys
from trug_fast.kernels import announcing, first_calls
from trug_fast.kernels.random import stream
announcing.PATIENCE = 0.0
print(len(first_calls._known("random.stream._stream")))
stream._stream(0, 0, 0, 0)
"""


def test_what_comes_from_disk_is_not_announced(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop(announcing.QUIET, None)

    def once():
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(done.stdout), done.stderr

    kept, said = once()
    assert kept == 0 and said.startswith(HEAD) and said.count("\n") == 1
    assert once() == (1, "")
