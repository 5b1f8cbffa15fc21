"""Numba, which has compiled something: processes are forked off one that has imported this."""

import numba.parfors.parfor_lowering  # noqa: F401
import numpy as np
from numba import njit


@njit
def fill(out):
    """Have Numba load what compilation needs; a parallel loop would start threads."""
    for i in range(out.size):
        out[i] = 2.0


fill(np.empty(3))
