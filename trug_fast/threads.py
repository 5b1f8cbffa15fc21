"""One threading runtime at a time."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  (the BLAS that compiled kernels call; load it first)
from threadpoolctl import ThreadpoolController

# A GNU OpenMP thread that waits spins for milliseconds before it sleeps.  Where another process
# wants a core, the spinning uses up this process's time slices: an update of 3.5 ms took 84 with
# one core of two busy.  Spinning for microseconds instead costs nothing alone (3.5) and 10 there.
# Takes effect if set before the first parallel kernel; a user's own setting wins.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _OneThread:
    """Holds BLAS to one thread while any thread of the program is inside.

    The limit is the process's, so of several threads the first sets it and the last lifts it;
    were each to restore what it found, BLAS could be left with one thread for good.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS runs in the calling thread only.

    The kernels call BLAS from inside their own threads; OpenBLAS threads waiting beside Numba's
    cost 8 to 16 ms where 1.7 ms are needed.  Holding BLAS to one thread also fixes the order of
    its sums, so results do not depend on the machine's thread count.
    """
    return _ONE_THREAD
