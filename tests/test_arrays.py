"""Kernels of whole arrays: loops that vectorise, whatever the lengths."""

import re

import numpy as np
import pytest
from numba import njit
from test_unit import has_wide_vectors

from trug_fast.kernels import arrays, compiling

OF_POINTS = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"]
OF_INTERVALS = ["mean", "var", "entropy", "log_mass"]
FAST = {np.float64: ("pd", "sd"), np.float32: ("ps", "ss")}  # packed, one at a time


def arguments(name, n=1, dtype=np.float64):
    values = [0.0, 1.0, 0.0, 1.0]  # a, b, loc, scale
    if name in OF_POINTS:
        values = [0.5, *values]
    first = (1, 0) if name == "rvs" else ()
    return (*first, *(np.full(n, v, dtype) for v in values))


def machine_code(name, dtype):
    """Return the assembly of a kernel; compiled anew, since code from the cache has none."""
    kernel = njit(**compiling._OPTIONS | {"cache": False})(getattr(arrays, name).py_func)
    kernel(*arguments(name, dtype=dtype), np.empty(3, dtype))
    return next(iter(kernel.inspect_asm().values()))


@pytest.mark.skipif(not has_wide_vectors(), reason="x86-64 with AVX2 only")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*OF_POINTS, *OF_INTERVALS, "rvs"])
def test_every_loop_vectorises(name, dtype):
    code = machine_code(name, dtype)
    packed, single = FAST[dtype]
    wide = re.findall(rf"^\s+vfn?m\w+{packed}\s.*%[yz]mm", code, re.MULTILINE)
    alone = re.findall(rf"^\s+vfn?m\w+{single}\s", code, re.MULTILINE)
    print(
        name,
        dtype.__name__,
        len(wide),
        len(alone),
        len(re.findall(rf"^\s+vdiv{packed}\s.*%[yz]mm", code, re.MULTILINE)),
        len(re.findall(rf"^\s+vdiv{single}\s", code, re.MULTILINE)),
        sorted(set(re.findall(r"^\s+callq?\s+(.*)$", code, re.MULTILINE)))[:5],
        len(code),
    )
    assert not re.search(r"call\w*\s+\**_?(exp|log|erf)", code)
