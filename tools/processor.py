"""Print in a line what times belong to: the processor, the width of its registers, its cores.

    python -m tools.processor

Tables of times begin with it; asv keeps it with its results when it is told so, see
docs/measurements.md.  NUMBA_CPU_NAME=haswell with NUMBA_CPU_FEATURES= (empty) compiles kernels for
another processor, one whose registers have 256 bits; that is said then.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  (the BLAS that compiled kernels call)
from numba.core.caching import NullCache
from threadpoolctl import threadpool_info

from trug_fast.kernels.compiling import kernel

SYSCTL = ["sysctl", "-n", "machdep.cpu.brand_string"]
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


def model() -> str:
    """Return the processor's own name with its family and model, since many are "AMD EPYC"."""
    table = Path("/proc/cpuinfo")
    if table.exists():
        first = table.read_text().partition("\n\n")[0]
        found = dict(re.findall(r"^([^\t:]+)\s*: *(.*)$", first, re.MULTILINE))
        numbers = {"family": "cpu family", "model": "model", "stepping": "stepping"}
        told = [f"{word} {found[key]}" for word, key in numbers.items() if key in found]
        return f"{found.get('model name', platform.machine())} ({', '.join([*told, llvm_name()])})"
    name = platform.processor()
    if sys.platform == "darwin":
        name = subprocess.check_output(SYSCTL, text=True).strip()
    return f"{name or platform.machine()} ({llvm_name()})"


def llvm_name() -> str:
    """Return what LLVM calls the processor, and for which other one kernels are compiled."""
    own, chosen = llvm.get_host_cpu_name(), os.environ.get("NUMBA_CPU_NAME")
    return f"{own}, kernels for {chosen}" if chosen else str(own)


def describe() -> str:
    """Return the processor in a line."""
    return f"{model()}, registers of {width()} bits, {os.cpu_count()} cores"


def load() -> str:
    """Return how busy the cores are with other work, by which all times are longer."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def versions() -> str:
    """Return the versions of what times depend on, and how busy the cores are, in a line."""
    blas = sorted(
        f"{own['internal_api']} {own['version']} ({own.get('architecture', 'any')})"
        for own in threadpool_info()
        if own["user_api"] == "blas"
    )
    return (
        f"Python {platform.python_version()}, Numba {numba.__version__} with LLVM "
        f"{'.'.join(map(str, llvm.llvm_version_info))}, NumPy {np.__version__}, BLAS: "
        f"{', '.join(blas)}; load before {load()}"
    )


if __name__ == "__main__":
    print(describe())
