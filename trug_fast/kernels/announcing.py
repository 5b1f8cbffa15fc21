"""Says in a line that kernels are being compiled, to whoever would wait for it in silence.

Numba tells listeners of each function that it compiles, and of the steps of that.  Nothing is said
of what comes from the disk, nor of what takes less than two seconds; nor how long it will take,
which no one knows of another computer.  All of it happens in the thread that compiles: there is no
other thread, which a fork would lose and the end of a process would have to wait for.

Tested in tests/kernels/test_announcing.py.
"""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from numba.core import event as events

from .caching import HOME, OURS

QUIET = "TRUG_FAST_QUIET"  # the environment variable that silences, looked up each time
PATIENCE = 2.0  # seconds of compiling before anything is said

compiled: list[str] = []  # names of all kernels that this process has compiled


@dataclass
class _Notice:
    call: str | None = None  # the public function that needs the kernels
    silent: bool = False  # unwanted, or said already
    seconds: float = 0.0  # of compiling, but for what is compiled now


class _Here(threading.local):
    """What the calling thread compiles."""

    def __init__(self) -> None:
        self.notice = _Notice()
        self.depth = 0  # kernels whose compilation has begun and not ended
        self.begun = 0.0  # when the first of these did


_here = _Here()


@contextmanager
def announced(call: str, show: bool | None) -> Iterator[None]:
    """Announce what is compiled within, once; within another such context, do nothing.

    Parameters
    ----------
    call : str
        Name of the public function.
    show : bool, optional
        False: say nothing.
    """
    outer = _here.notice
    if outer.call is None:
        _here.notice = _Notice(call, show is False)
    try:
        yield
    finally:
        _here.notice = outer


def _tick() -> None:
    notice = _here.notice
    if notice.silent or notice.seconds + time.perf_counter() - _here.begun < PATIENCE:
        return
    if os.environ.get(QUIET):
        return
    notice.silent = True
    what = f" for {notice.call}" * bool(notice.call)
    where = "for this process alone" if HOME is None else "once on this computer"
    line = f"trug_fast: compiling kernels{what}, {where}"
    with suppress(AttributeError, OSError, ValueError):  # no console, or a stream that is closed
        if sys.stderr.isatty():  # a bar may stand there
            line = "\r" + line.ljust(shutil.get_terminal_size().columns - 1)
        print(line, file=sys.stderr, flush=True)


class _Kernels(events.Listener):
    """Hears of each kernel of ours that is compiled."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] in OURS:
            if _here.depth == 0:
                _here.begun = time.perf_counter()
            _here.depth += 1

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] in OURS:
            _here.depth -= 1
            compiled.append(event.data["dispatcher"].py_func.__qualname__)
            if _here.depth == 0:
                _here.notice.seconds += time.perf_counter() - _here.begun


class _Steps(events.Listener):
    """Hears of the steps of each compilation, of which hardly one takes a second."""

    def on_start(self, event: Any) -> None:
        if _here.depth:
            _tick()

    on_end = on_start


_register: Callable[[str, events.Listener], None] = events.register
_register("numba:compile", _Kernels())
_register("numba:run_pass", _Steps())
_register("numba:llvm_lock", _Steps())
