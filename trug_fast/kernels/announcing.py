"""Says that kernels are being compiled, to whoever would wait for it in silence.

Numba tells listeners of each function that it compiles.  Nothing is said of what comes from the
disk, nor of what takes less than two seconds.  All of it happens in the thread that compiles: there
is no other thread, which a fork would lose and the end of a process would have to wait for.

Tested in tests/kernels/test_announcing.py.
"""

import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core import event as events

from .caching import HOME, OURS

QUIET = "TRUG_FAST_QUIET"  # the environment variable that silences, looked up each time
PATIENCE = 2.0  # seconds of compiling before anything is said
GAP = 1.0  # seconds without compiling that part one unnamed burst from the next
REFRESH = 0.2  # seconds between two states of a line

compiled: list[str] = []  # names of all kernels that this process has compiled


class Burst:
    """Kernels that are compiled one after the other, and the line that tells of them.

    Parameters
    ----------
    call : str, optional
        The public function that needs them.
    silent : bool
    """

    def __init__(self, call: str = "", *, silent: bool = False) -> None:
        self.call, self.silent = call, silent
        self.count = 0
        self._seconds, self._changed = 0.0, 0.0  # of compiling, up to when that began or stopped
        self._running = False
        self.said = False
        self._width = 0  # of a line that is updated in place
        self._drawn = 0.0  # when

    def begin(self) -> None:
        """Note that compiling begins."""
        self._changed, self._running = time.perf_counter(), True
        self.tick()

    def pause(self) -> None:
        """Note that compiling stops, for now or for good."""
        self._seconds, self._running = self._spent(), False
        self._changed = time.perf_counter()
        if self._width:
            _write("\r" + " " * self._width + "\r")
            self._width = 0

    def over(self) -> bool:
        """Tell whether what is compiled next is another burst."""
        return not self._running and time.perf_counter() > self._changed + GAP

    def tick(self) -> None:
        """Say how far it is, if it is time to."""
        now = time.perf_counter()
        if self.silent or self._spent() < PATIENCE or now < self._drawn + REFRESH:
            return
        if os.environ.get(QUIET):
            return
        where = "for this process" if HOME is None else "once on this computer"
        what = f" for {self.call}" * bool(self.call)
        figures = f"{self.count} kernels so far, in {self._spent():.0f} s"
        words = f"trug_fast: compiling{what}, {where}: {figures}"
        if _in_place():
            words = words[: shutil.get_terminal_size().columns - 1]
            _write("\r" + words.ljust(self._width))
            self._width = len(words)
        elif not self.said:
            _write(words + "\n")
        self._drawn, self.said = now, True

    def end(self) -> None:
        """Say that all is compiled, where lines stay."""
        kept = "" if HOME is None else f", kept in {HOME}"
        if self.said and not _in_place():
            _write(f"trug_fast: compiled {self.count} kernels in {self._seconds:.0f} s{kept}\n")

    def _spent(self) -> float:
        """Return the seconds of compiling so far."""
        return self._seconds + self._running * (time.perf_counter() - self._changed)


def _write(text: str) -> None:
    if sys.stderr is not None:  # as in programs without a console
        with suppress(OSError, ValueError):  # a stream that is closed
            print(text, end="", file=sys.stderr, flush=True)


def _in_place() -> bool:
    """Tell whether a person sees a line change: not in a file, nor from one process of many."""
    if sys.stderr is None or multiprocessing.current_process().name != "MainProcess":
        return False
    if type(sys.stderr).__module__.startswith("ipykernel."):
        return True
    with suppress(ValueError):  # a stream that is closed
        return sys.stderr.isatty()
    return False


class _Here(threading.local):
    """What the calling thread compiles."""

    def __init__(self) -> None:
        self.burst, self.named = Burst(), False
        self.depth = 0  # kernels whose compilation has begun and not ended


_here = _Here()


@contextmanager
def announced(call: str, show: bool | None) -> Iterator[None]:
    """Announce what is compiled within as one burst; within another such context, do nothing.

    Parameters
    ----------
    call : str
        Name of the public function.
    show : bool, optional
        False: say nothing.
    """
    if _here.named:
        yield
        return
    _here.named, _here.burst = True, Burst(call, silent=show is False)
    try:
        yield
    finally:
        burst, _here.named, _here.burst = _here.burst, False, Burst()
        burst.end()


def settle() -> None:
    """End a burst that seems to be over; for work that goes on long after it."""
    burst = _here.burst
    if burst.said and burst.over():
        burst.end()
        _here.burst = Burst(burst.call, silent=burst.silent)


class _Kernels(events.Listener):
    """Hears of each kernel of ours that is compiled."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] not in OURS:
            return
        _here.depth += 1
        if _here.depth == 1:
            if not _here.named and _here.burst.over():
                _here.burst = Burst()
            _here.burst.begin()

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] not in OURS:
            return
        _here.depth -= 1
        _here.burst.count += 1
        compiled.append(event.data["dispatcher"].py_func.__qualname__)
        if _here.depth == 0:
            _here.burst.pause()


class _Steps(events.Listener):
    """Hears of the steps of each compilation, of which hardly one takes a second."""

    def on_start(self, event: Any) -> None:
        if _here.depth:
            _here.burst.tick()

    on_end = on_start


_register: Callable[[str, events.Listener], None] = events.register
_register("numba:compile", _Kernels())
_register("numba:run_pass", _Steps())
_register("numba:llvm_lock", _Steps())
