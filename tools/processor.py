"""Print in a line what times belong to: the processor, the width of its registers, its cores.

    python -m tools.processor

Tables of times begin with it; asv keeps it with its results when it is told so, see
notes/measurements.md.  NUMBA_CPU_NAME=haswell with NUMBA_CPU_FEATURES= (empty) compiles kernels for
another processor, one whose registers have 256 bits; that is said then.
"""

from __future__ import annotations

import os
import platform

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.caching import NullCache

from trug_fast._common.config import loaded, processor
from trug_fast.kernels.compiling import kernel

REGISTERS = {"zmm": 512, "ymm": 256}  # else 128, as on ARM


@kernel
def double(values, out):
    """Double numbers, as many at once as in any kernel."""
    for i in range(out.size):
        out[i] = values[i] + values[i]


def width() -> int:
    """Return the bits of the registers that kernels use."""
    double._cache = NullCache()  # Numba shows no code of what it has loaded from disk
    values = np.ones(2)
    double(values, np.empty(2))
    code = "".join(double.inspect_asm().values())
    return next((bits for name, bits in REGISTERS.items() if name in code), 128)


def describe() -> str:
    """Return the processor in a line."""
    return f"{processor()}, registers of {width()} bits, {os.cpu_count()} cores"


def load() -> str:
    """Return how busy the cores are with other work, by which all times are longer."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def versions() -> str:
    """Return the versions of what times depend on, and how busy the cores are, in a line."""
    blas = (f"{own.name} {own.version} ({own.kernels or 'any'})" for own in loaded())
    return (
        f"Python {platform.python_version()}, Numba {numba.__version__} with LLVM "
        f"{'.'.join(map(str, llvm.llvm_version_info))}, NumPy {np.__version__}, BLAS: "
        f"{', '.join(blas)}; load before {load()}"
    )


if __name__ == "__main__":
    print(describe())
