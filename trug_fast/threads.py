"""One threading runtime at a time."""

from __future__ import annotations

from functools import cache
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  (the BLAS that compiled kernels call; load it first)
from threadpoolctl import ThreadpoolController


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
