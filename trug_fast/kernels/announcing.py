"""Says that kernels are being compiled, to whoever would wait for it in silence.

Numba tells listeners of each function that it compiles.  Nothing is said of what comes from the
disk, nor of what takes less than two seconds.  All of it happens in the thread that compiles: there
is no other thread, which a fork would lose and the end of a process would have to wait for.
"""

from __future__ import annotations

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
from .first_calls import Kernel, Left, kernel_of

QUIET = "TRUG_FAST_QUIET"  # the environment variable that silences, looked up each time
PATIENCE = 2.0  # seconds of compiling before anything is said
GAP = 1.0  # seconds without compiling that part one unnamed burst from the next
REFRESH = 0.2  # seconds between two states of a line


class Burst:
    """Kernels that are compiled one after the other, and the line that tells of them.

    Parameters
    ----------
    call : str, optional
        The public function that needs them, by which their number is known.
    silent : bool
    """

    def __init__(self, call: str | None = None, *, silent: bool = False) -> None:
        self.call, self.silent = call, silent
        self._compiled: list[Kernel] = []
        self._seconds, self._changed = 0.0, 0.0  # of compiling, up to when that began or stopped
        self._running = False
        self._left: Left | None = None  # known once something is said
        self.said = False
        self._line: Any = None  # one that is updated in place
        self._drawn = 0.0  # when
        self._saying = False  # looking for what is left takes the compiler's lock, which ticks

    def name(self, call: str) -> None:
        """Note the kernel that is called, where no public function has given its name."""
        self.call, self._left = call, None

    def begin(self) -> None:
        """Note that compiling begins."""
        self._changed, self._running = time.perf_counter(), True
        self.tick()

    def pause(self) -> None:
        """Note that compiling stops, for now or for good."""
        self._seconds, self._running = self._spent(), False
        self._changed = time.perf_counter()
        self._take_line_away()

    def over(self) -> bool:
        """Tell whether what is compiled next is another burst."""
        return not self._running and time.perf_counter() > self._changed + GAP

    def count(self, kernel: Kernel) -> None:
        """Note that a kernel has been compiled."""
        self._compiled.append(kernel)
        if self._left is not None:
            self._left.take(kernel, self._spent())

    def tick(self) -> None:
        """Say how far it is, if it is time to."""
        now = time.perf_counter()
        if self.silent or self._spent() < PATIENCE or now < self._drawn + REFRESH:
            return
        if self._saying or os.environ.get(QUIET):
            return
        self._drawn, self._saying = now, True
        try:
            with suppress(OSError, ValueError):  # a stream that is closed
                self._say()
        finally:
            self._saying = False

    def end(self) -> None:
        """Say that all is compiled, where lines stay."""
        kept = "" if HOME is None else f", kept in {HOME}"
        words = f"compiled {len(self._compiled)} kernels in {self._seconds:.0f} s{kept}"
        with suppress(OSError, ValueError):
            if self.said and not _in_place():
                _print(f"trug_fast: {words}")

    def _spent(self) -> float:
        """Return the seconds of compiling so far."""
        return self._seconds + self._running * (time.perf_counter() - self._changed)

    def _say(self) -> None:
        if self._left is None:
            self._left = Left(self.call, self._compiled, self._spent())
        if _in_place():
            if self._line is None:
                from tqdm import tqdm  # takes as long as all of truncnorm's modules

                size = shutil.get_terminal_size()  # tqdm shows nothing on one that tells none
                self._line = tqdm(
                    bar_format="{desc}", leave=False, ncols=size.columns - 1, nrows=size.lines
                )
            self._line.set_description_str(self._words())
        elif not self.said:
            _print(self._words())
        self.said = True

    def _words(self) -> str:
        assert self._left is not None
        where = "for this process" if HOME is None else "once on this computer"
        done, spent = len(self._compiled), self._spent()
        figures = self._left.words(done, spent) or f"{done} so far, in {spent:.0f} s"
        return f"trug_fast: compiling, {where}: {figures}"

    def _take_line_away(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            with suppress(OSError, ValueError):
                line.close()


def _print(words: str) -> None:
    if sys.stderr is not None:  # as in programs without a console
        print(words, file=sys.stderr, flush=True)


def _in_place() -> bool:
    """Tell whether a person sees a line change: not in a file, nor from one process of many."""
    if sys.stderr is None or multiprocessing.current_process().name != "MainProcess":
        return False
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


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
        if not is_ours(event):
            return
        _here.depth += 1
        if _here.depth == 1:
            if not _here.named:
                if _here.burst.over():
                    _here.burst = Burst()
                _here.burst.name(kernel_of(event.data["dispatcher"], event.data["args"]).name)
            _here.burst.begin()

    def on_end(self, event: Any) -> None:
        if not is_ours(event):
            return
        _here.depth -= 1
        _here.burst.count(kernel_of(event.data["dispatcher"], event.data["args"]))
        if _here.depth == 0:
            _here.burst.pause()


class _Hearer(events.Listener):
    """Passes on what kernels are compiled."""

    def __init__(self, told: Callable[[Kernel], object]) -> None:
        self._told = told

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        if is_ours(event):
            self._told(kernel_of(event.data["dispatcher"], event.data["args"]))


def hear(told: Callable[[Kernel], object]) -> None:
    """Have a function called with each kernel that is compiled from now on."""
    _register("numba:compile", _Hearer(told))


class _Steps(events.Listener):
    """Hears of the steps of each compilation, of which hardly one takes a second."""

    def on_start(self, event: Any) -> None:
        if _here.depth:
            _here.burst.tick()

    on_end = on_start


def current_call() -> str | None:
    """Return the call for which kernels are being compiled."""
    return _here.burst.call


def is_ours(event: Any) -> bool:
    """Tell whether what is compiled is a kernel of this package."""
    return event.data["dispatcher"] in OURS


_register: Callable[[str, events.Listener], None] = events.register
_register("numba:compile", _Kernels())
_register("numba:run_pass", _Steps())
_register("numba:llvm_lock", _Steps())
