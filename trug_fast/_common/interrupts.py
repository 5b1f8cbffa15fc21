"""Signals that arrive in the middle of an update wait for its end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(BaseException):
    """The process was told to end by a signal that nobody else handles."""


class Interrupts:
    """Within this context, signals are held back while :meth:`held` is open.

    So Ctrl-C finds a run between two updates, where it can be saved and continued.  A second
    signal of the kind does not wait, since the first update may be compiling for a minute.
    SIGTERM is left alone unless ``terminate`` is set; then it raises :class:`Terminated` where
    there is no other handler.  Outside the main thread, which gets all signals, nothing is done.
    """

    def __init__(self, *, terminate: bool) -> None:
        self._signals = (signal.SIGINT, signal.SIGTERM) if terminate else (signal.SIGINT,)
        self._previous: dict[int, signal._HANDLER] = {}
        self._held = False
        self._waiting: int | None = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                previous = signal.getsignal(number)
                if previous is not None and previous is not signal.SIG_IGN:
                    self._previous[number] = previous
                    signal.signal(number, self._receive)
        return self

    def __exit__(self, *error: object) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, previous)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold signals back until the end of this context, which delivers one that came."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            number, self._waiting = self._waiting, None
            if number is not None:
                self._deliver(number, None)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._held and self._waiting != number:
            self._waiting = number
        else:
            self._waiting = None
            self._deliver(number, frame)

    def _deliver(self, number: int, frame: FrameType | None) -> None:
        previous = self._previous[number]
        if callable(previous):
            previous(number, frame)
        else:
            raise Terminated(number)
