"""One threading runtime at a time."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from itertools import product
from typing import Any, NamedTuple

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


class _Blas(NamedTuple):
    """How many threads a BLAS library takes."""

    get: Callable[[], int]
    set: Callable[[int], object]
    own: bool  # each thread of the program has a number of its own, else it is the process's


def _as_blas(library: Any) -> _Blas:
    """Return a library's own functions, since threadpoolctl 3.8 does not call them everywhere.

    There OpenBLAS's threads can be set by the first Python thread that did so, in others that does
    nothing, in silence; and MKL's are set for the calling thread, where kernels call it in others.
    Functions that are not found, as in other libraries, are threadpoolctl's.
    """
    kind, own = library.internal_api, False
    pairs = [("MKL_Get_Max_Threads", "MKL_Set_Num_Threads")] if kind == "mkl" else []
    if kind == "openblas":
        own = library.threading_layer == "openmp"
        affixes = product(("", "scipy_"), ("", "64_", "_64"))
        names = [f"{before}openblas_%s_num_threads{after}" for before, after in affixes]
        pairs = [(name % "get", name % "set") for name in names]
        if own:  # whose own function is wrong before 0.3.34
            pairs = [("omp_get_max_threads", "omp_set_num_threads")]
    for pair in pairs:
        get, set_ = (getattr(library.dynlib, name, None) for name in pair)
        if get is not None and set_ is not None:
            return _Blas(get, set_, own)
    return _Blas(library.get_num_threads, library.set_num_threads, own)


@cache
def _blas() -> tuple[list[_Blas], list[_Blas]]:
    """Return libraries whose number of threads is the process's, and those with numbers of each."""
    # The BLAS that compiled kernels call must be there to be found.  Here, since draws need none
    # and importing it takes 0.15 s.
    importlib.import_module("scipy.linalg.cython_blas")
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    every = [_as_blas(library) for library in libraries]
    return [one for one in every if not one.own], [one for one in every if one.own]


def _hold(libraries: list[_Blas]) -> list[int]:
    """Set each library to one thread; return what it had."""
    before = [library.get() for library in libraries]
    _give_back(libraries, before, 1)
    return before


def _give_back(libraries: list[_Blas], before: list[int], count: int = 0) -> None:
    """Set each library to a number of threads, by default what it had, if that was not one."""
    for library, number in zip(libraries, before, strict=True):
        if number != 1:
            library.set(count or number)


class _OneThread:
    """Holds BLAS to one thread while any thread of the program is inside.

    The limit is the process's, so of several threads the first sets it and the last lifts it;
    were each to restore what it found, BLAS could be left with one thread for good.
    """

    def __init__(self) -> None:
        # One that its owner may take again: a handler of signals may come between, and fork.
        self.lock = threading.RLock()
        self.inside: dict[int, int] = {}  # by thread: how often
        self._before: list[int] = []
        self._own: dict[int, list[int]] = {}  # what threads with numbers of their own had

    def __enter__(self) -> None:
        me, (shared, own) = threading.get_ident(), _blas()
        with self.lock:
            depth = self.inside.get(me, 0)
            self.inside[me] = depth + 1
            if depth:
                return
            if len(self.inside) == 1 and not self._before:
                self._before = _hold(shared)
            if own:
                self._own[me] = _hold(own)

    def __exit__(self, *error: object) -> None:
        me = threading.get_ident()
        with self.lock:
            depth = self.inside.pop(me) - 1
            if depth:
                self.inside[me] = depth
                return
            if me in self._own:
                _give_back(_blas()[1], self._own.pop(me))
            if not self.inside:
                before, self._before = self._before, []
                _give_back(_blas()[0], before)

    def after_fork(self) -> None:
        """Forget the threads that a forked process lacks; it begins without any lock.

        If they alone were inside, the next to leave gives BLAS back what it had.  Here it would
        start BLAS's threads, for a child that most likely calls another program.
        """
        me = threading.get_ident()
        self.lock = threading.RLock()
        self.inside = {me: self.inside[me]} if me in self.inside else {}
        self._own = {me: self._own[me]} if me in self._own else {}


_ONE_THREAD = _OneThread()
_turn = threading.RLock()
_forked = False


def _after_fork() -> None:
    """Note in a forked process that OpenMP was at work before; locks may be held by no one now."""
    global _turn, _forked
    _turn = threading.RLock()
    _ONE_THREAD.after_fork()
    gnu = sys.platform.startswith("linux")  # elsewhere it survives
    _forked = _forked or (gnu and _layer() == "omp")


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    # A fork ends OpenBLAS's threads.  It waits, for microseconds, while one of ours sets their
    # number, which starts them; products on one thread do not need them and go on.
    os.register_at_fork(
        before=lambda: _ONE_THREAD.lock.acquire() and None,
        after_in_parent=lambda: _ONE_THREAD.lock.release(),
        after_in_child=_after_fork,
    )


def _layer() -> str | None:
    """Return Numba's threading layer, None before the first parallel kernel."""
    try:
        return str(numba.threading_layer())  # type: ignore[attr-defined]
    except ValueError:
        return None


def _started() -> int:
    """Start the threading layer, if nobody has; return how many threads this one may use.

    Numba does so when it loads a parallel kernel from disk, but not one that only calls such
    kernels: that dies without it.
    """
    try:
        return int(numba.get_num_threads())
    except ValueError as error:
        raise ValueError(
            f"NUMBA_THREADING_LAYER is {numba.config.THREADING_LAYER!r}, which Numba does not have "  # type: ignore[attr-defined]
            "here ('omp' needs the library libgomp, 'tbb' the package tbb); leave it unset, and "
            "Numba takes the first of tbb, omp and workqueue that there is"
        ) from error


def require_spawned() -> None:
    """Raise RuntimeError in a process that was forked after OpenMP had started."""
    if _forked:
        raise RuntimeError(
            "processes must be spawned: this one was forked from one that had computed on "
            "several threads, which GNU OpenMP does not survive; use "
            "multiprocessing.get_context('spawn') or 'forkserver', or set "
            "NUMBA_THREADING_LAYER=workqueue before the first import"
        )


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
    ValueError
        If Numba lacks the threading layer that ``NUMBA_THREADING_LAYER`` names.

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
        require_spawned()
        threads = _started()
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
