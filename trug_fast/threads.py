"""One threading runtime at a time."""

from __future__ import annotations

import os
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


def one_blas_thread() -> Any:
    """Return a context in which BLAS runs in the calling thread only.

    The kernels call BLAS from inside their own threads; OpenBLAS threads waiting beside Numba's
    cost 8 to 16 ms where 1.7 ms are needed.  Holding BLAS to one thread also fixes the order of
    its sums, so results do not depend on the machine's thread count.
    """
    return _controller().limit(limits=1, user_api="blas")
