"""One threading runtime at a time."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numba
from threadpoolctl import ThreadpoolController

# A GNU OpenMP thread that waits spins for milliseconds before it sleeps.  Where another process
# wants a core, the spinning uses up this process's time slices: an update of 3.5 ms took 84 with
# one core of two busy.  Spinning for microseconds instead costs nothing alone (3.5) and 10 there.
# Takes effect if set before the first parallel kernel; a user's own setting wins.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")


# Multiply-adds between two meetings of the threads from which more than one thread pays: see the
# measurements in docs/installation.md, made by tools/measure_threads.py.
WORTH_THREADS = 2e6
UNIT = 256  # multiply-adds that take as long as a unit's moments or its draw
# Where other processes want the cores, each meeting of threads waits for one that is not running:
# updates of 100x784x500 on two threads took 1.4 to 1.8 times as long as on one.
GAIN = 1.1  # processor time over time that several threads must reach, else one takes over
SETTLE, TRIAL = 0.04, 0.05  # seconds: threads that wake may share one core for 0.03, then we judge
PAUSE, PAUSES = 0.5, 8.0  # seconds from a trial that failed to the next: at first, at most
SHARE = 20  # such a pause is so many times as long as the trial, at least


def work(rows: int, n_visible: int, n_hidden: int) -> float:
    """Return the work of a half step of this size, in multiply-adds."""
    return float(rows) * n_hidden * (n_visible + UNIT)


@cache
def _blas() -> list[Any]:
    # The BLAS that compiled kernels call must be there to be found.  Here, since draws need none
    # and importing it takes 0.15 s.
    importlib.import_module("scipy.linalg.cython_blas")
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _OneThread:
    """Holds BLAS to one thread while any thread of the program is inside.

    The limit is the process's, so of several threads the first sets it and the last lifts it;
    were each to restore what it found, BLAS could be left with one thread for good.
    """

    def __init__(self) -> None:
        self.lock, self._inside = threading.Lock(), 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self.lock:
            if self._inside == 0:
                self._before = [library.get_num_threads() for library in _blas()]
                self._set([1] * len(self._before))
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self._inside -= 1
            if self._inside == 0:
                self._set(self._before)

    def _set(self, counts: list[int]) -> None:
        for library, count, before in zip(_blas(), counts, self._before, strict=True):
            if before != 1:
                library.set_num_threads(count)


_ONE_THREAD = _OneThread()
_turn = threading.RLock()
_forked = False


def _after_fork() -> None:
    """Note in a forked process that OpenMP was at work before; locks may be held by no one now."""
    global _turn, _forked
    _turn, _ONE_THREAD.lock = threading.RLock(), threading.Lock()
    gnu = sys.platform.startswith("linux")  # elsewhere it survives
    _forked = _forked or (gnu and _layer() == "omp")


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


def _layer() -> str | None:
    """Return Numba's threading layer, None before the first parallel kernel."""
    try:
        return str(numba.threading_layer())  # type: ignore[attr-defined]
    except ValueError:
        return None


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS runs in the calling thread only.

    The kernels call BLAS from inside their own threads; OpenBLAS threads waiting beside Numba's
    cost 8 to 16 ms where 1.7 ms are needed.  Holding BLAS to one thread also fixes the order of
    its sums, so results do not depend on the machine's thread count.
    """
    return _ONE_THREAD


def available() -> int:
    """Return how many threads this thread of the program may use, without starting them."""
    started = _layer() is not None
    return int(numba.get_num_threads() if started else numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


class _Watch:
    """Whether several threads get processors of their own, judged by the time that they get."""

    def __init__(self) -> None:
        self._until, self._pause = 0.0, PAUSE
        self._wall, self._processors = -SETTLE, 0.0

    def crowded(self) -> bool:
        """Tell whether a trial has failed not long ago."""
        return time.perf_counter() < self._until

    def note(self, wall: float, processors: float) -> None:
        """Take account of seconds that several threads have computed, and of processor time."""
        self._wall += wall
        if self._wall <= 0.0:
            return
        self._processors += processors * min(1.0, self._wall / wall)  # without its settling
        if self._wall < TRIAL:
            return
        if self._processors < GAIN * self._wall:
            self._until = time.perf_counter() + max(self._pause, SHARE * self._wall)
            self._pause, self._wall = min(2 * self._pause, PAUSES), -SETTLE
        else:
            self._pause, self._wall = PAUSE, 0.0
        self._processors = 0.0


_watch = _Watch()


class computing:
    """A context for every call of a parallel kernel: on as many threads as pay, BLAS on one.

    One thread where there is little work, and for a while where several have hardly been faster:
    results do not depend on it.  Calls take turns where Numba's threading layer bears one caller
    at a time.

    Parameters
    ----------
    work : float
        Multiply-adds between two meetings of the threads.  Below 2 million the calling thread does
        all.

    Raises
    ------
    RuntimeError
        On entry, in a process that was forked after OpenMP had started: it would die or hang.

    Examples
    --------
    A parallel kernel of your own, beside other threads that call this package:

    >>> import trug_fast as tf
    >>> with tf.computing(1e9):
    ...     total = sum(range(3))  # your kernel
    """

    __slots__ = ("_begun", "_lock", "_restored", "_several", "_work")

    def __init__(self, work: float) -> None:
        self._work = work

    def __enter__(self) -> None:
        if _forked:
            raise RuntimeError(
                "processes must be spawned: this one was forked from one that had computed on "
                "several threads, which GNU OpenMP does not survive; use "
                "multiprocessing.get_context('spawn') or 'forkserver', or set "
                "NUMBA_THREADING_LAYER=workqueue before the first import"
            )
        # This starts the threading layer, if nobody has.  Numba does so when it loads a parallel
        # kernel from disk, but not one that only calls such kernels: that dies without it.
        threads = numba.get_num_threads()
        self._lock = None if _layer() in ("omp", "tbb") else _turn
        if self._lock is not None:
            self._lock.acquire()
        _ONE_THREAD.__enter__()
        pays = self._work >= WORTH_THREADS and not (threads > 1 and _watch.crowded())
        self._restored = threads if threads > 1 and not pays else 0
        if self._restored:
            numba.set_num_threads(1)
        self._several = threads > 1 and pays
        self._begun = (time.perf_counter(), time.process_time()) if self._several else (0.0, 0.0)

    def __exit__(self, *error: object) -> None:
        if self._several:
            wall, processors = self._begun
            _watch.note(time.perf_counter() - wall, time.process_time() - processors)
        if self._restored:
            numba.set_num_threads(self._restored)
        _ONE_THREAD.__exit__()
        if self._lock is not None:
            self._lock.release()
