"""What this computer computes with: processor, BLAS and the kernels that it took, threads."""

from __future__ import annotations

import importlib
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from threadpoolctl import threadpool_info

from trug_fast.kernels import caching

from . import threads

PACKAGES = ("trug-fast", "numba", "llvmlite", "numpy", "scipy", "threadpoolctl")
SYSCTL = ["sysctl", "-n", "machdep.cpu.brand_string"]
# Bits of the registers, by features of a processor and by names that OpenBLAS, BLIS and MKL give to
# kernels.  What is not here, as all of ARM, is not judged.
FEATURES = {"avx512f": 512, "avx": 256}  # else 128
KERNELS = {
    512: "skylakex cooperlake sapphirerapids skx knl zen4 zen5 avx512",
    256: "haswell zen zen2 zen3 sandybridge bulldozer piledriver steamroller excavator avx avx2",
    128: "prescott core2 penryn dunnington nehalem atom nano athlon opteron opteron_sse3 barcelona "
    "bobcat generic sse4_2",
}
BITS = {name: bits for bits, names in KERNELS.items() for name in names.split()}
USUAL = {512: "SkylakeX", 256: "Haswell"}  # kernels of OpenBLAS that all such processors run
# By which a user, or somebody for him, chooses the kernels of a BLAS.
CHOOSES = {
    "openblas": "OPENBLAS_CORETYPE",
    "blis": "BLIS_ARCH_TYPE",
    "mkl": "MKL_ENABLE_INSTRUCTIONS",
}
KERNELS_OWNER = "SciPy and of kernels"
TOLD = ("OPENBLAS_", "BLIS_", "MKL_", "VECLIB_", "NUMBA_", "OMP_")  # variables that matter


class Library(NamedTuple):
    """A BLAS that is loaded, whose it is ("" if anybody's), and the kernels that it took."""

    owner: str
    name: str
    version: str
    kernels: str
    threads: str

    @property
    def bits(self) -> int | None:
        """The width of the registers that its kernels use, as far as it is known."""
        return BITS.get(self.kernels.lower())

    def __str__(self) -> str:
        bits = f" ({self.bits} bits)" if self.bits else ""
        return f"{self.name} {self.version}, kernels {self.kernels or 'unknown'}{bits}, " + (
            self.threads
        )


def show_config() -> None:
    """Print processor, BLAS and its kernels, threads, versions, and what makes them slow.

    Half of the time of a training or an annealing goes into matrix products.  A BLAS whose kernels
    use half of the processor's registers takes up to twice the time for them: then there is a line
    of advice.

    See Also
    --------
    numpy.show_config : what NumPy was built with.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.show_config()  # doctest: +SKIP
    versions: trug-fast 0.1.0, Python 3.12.8, numba 0.68.1, llvmlite 0.46.0, numpy 2.4.6, ...
    processor: AMD EPYC (family 26, model 2, stepping 1, znver5), registers of 512 bits, 2 cores
    BLAS of SciPy and of kernels: openblas 0.3.30, kernels SkylakeX (512 bits), 2 threads (pthreads)
    BLAS of NumPy: openblas 0.3.31, kernels SkylakeX (512 bits), 2 threads (pthreads)
    threads: 2, threading layer omp
    compiled kernels: kept in /home/me/.local/lib/python3.12/site-packages/trug_fast/kernels/...
    """
    for name, words in config():
        print(f"{name}: {words}")


def config() -> Iterable[tuple[str, str]]:
    """Yield what `show_config` prints, line by line."""
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES[1:])
    own = f"{PACKAGES[0]} {version(PACKAGES[0])}, Python {platform.python_version()}"
    yield "versions", f"{own}, {found}"
    bits, libraries = width(), loaded()
    yield "processor", f"{processor()}, registers of {bits} bits, {os.cpu_count()} cores"
    if not any(library.owner != "NumPy" for library in libraries):  # one that nobody looks into
        import scipy

        known = (scipy.show_config(mode="dicts") or {}).get("Build Dependencies", {})
        name = known.get("blas", {}).get("name") or "unknown"
        yield f"BLAS of {KERNELS_OWNER}", f"{name}, whose kernels are not told"
    for library in libraries:
        yield f"BLAS of {library.owner}" if library.owner else "BLAS", str(library)
    layer = threads._layer() or "not yet chosen, which the first parallel kernel does"
    yield "threads", f"{threads.available()}, threading layer {layer}"
    kept = f"kept in {caching.HOME}" if caching.HOME else "kept nowhere: set NUMBA_CACHE_DIR"
    others = [str(path) for path in caching.READ if path != caching.HOME]
    yield "compiled kernels", kept + (f", looked for in {', '.join(others)} too" if others else "")
    variables = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith(TOLD)]
    yield "set in the environment", ", ".join(variables) or "nothing of BLAS, Numba or OpenMP"
    for words in advice(libraries, bits, os.environ):
        yield "ADVICE", words


def advice(
    libraries: Iterable[Library], bits: int, environment: Mapping[str, str]
) -> Iterable[str]:
    """Yield what to do about each BLAS that leaves a part of the processor's registers unused."""
    # On one Zen 5 the five products of an update of 100x784x500 took 3.66 ms by kernels of 256
    # bits, 2.01 by such of 512; a temporal update 53.7 and 34.8.
    found: dict[tuple[int, str], list[str]] = {}
    for library in libraries:
        if library.bits is None or library.bits >= bits:
            continue
        variable = CHOOSES.get(library.name, "")
        if variable in environment:
            remedy = f"unset {variable}, which is {environment[variable]}, before Python starts"
        elif library.name == "openblas":
            remedy = (
                "take a newer OpenBLAS (pip install --upgrade numpy scipy), or see whether "
                f"{variable}={USUAL[bits]}, set before Python starts, is faster"
            )
        else:
            remedy = "see whether NumPy and SciPy with OpenBLAS, as pip installs them, are faster"
        owner = f"the BLAS of {library.owner}" if library.owner else "BLAS"
        found.setdefault((library.bits, remedy), []).append(owner)
    for (narrow, remedy), owners in found.items():
        yield (
            f"{' and '.join(owners)} use registers of {narrow} bits, this processor has {bits}: "
            f"matrix products may take twice as long as they need; {remedy}"
        )


def loaded() -> list[Library]:
    """Return each BLAS of this process that can be asked: NumPy's and SciPy's, which may be one."""
    importlib.import_module("scipy.linalg.cython_blas")  # the BLAS that compiled kernels call
    found = [_library(own) for own in threadpool_info() if own["user_api"] == "blas"]
    return sorted(found, key=lambda library: (library.owner != KERNELS_OWNER, library.owner))


def _library(own: Mapping[str, Any]) -> Library:
    # Wheels bring a BLAS each, in folders named numpy.libs or numpy/.dylibs.
    folders = {part.partition(".")[0] for part in Path(own.get("filepath", "")).parts[:-1]}
    owner = KERNELS_OWNER if "scipy" in folders else "NumPy" if "numpy" in folders else ""
    name = str(own["internal_api"])
    limit = os.environ.get(CHOOSES["mkl"], "") if name == "mkl" else ""  # MKL tells no more
    kernels = own.get("architecture") or limit
    count, layer = own.get("num_threads"), own.get("threading_layer")
    words = f"{count} thread{'s' * (count != 1)}" + (f" ({layer})" if layer else "")
    return Library(owner, name, str(own.get("version") or "unknown"), str(kernels), words)


def width() -> int:
    """Return the bits of the processor's registers, as LLVM knows it."""
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM cannot tell on some systems
        features = {}
    return next((bits for name, bits in FEATURES.items() if features.get(name)), 128)


def processor() -> str:
    """Return the processor's own name with its family and model, since many are "AMD EPYC"."""
    own, chosen = llvm.get_host_cpu_name(), os.environ.get("NUMBA_CPU_NAME")
    target = f"{own}, kernels for {chosen}" if chosen else str(own)
    name, told = platform.processor(), []
    try:
        if sys.platform == "darwin":
            name = subprocess.check_output(SYSCTL, text=True).strip()
        first = Path("/proc/cpuinfo").read_text("utf-8").partition("\n\n")[0]
        found = dict(re.findall(r"^([^\t:]+)\s*: *(.*)$", first, re.MULTILINE))
        numbers = {"family": "cpu family", "model": "model", "stepping": "stepping"}
        told = [f"{word} {found[key]}" for word, key in numbers.items() if key in found]
        name = found.get("model name", name)
    except (OSError, subprocess.SubprocessError):  # no such file or command
        pass
    return f"{name or platform.machine()} ({', '.join([*told, target])})"
