"""The fastest matrix products that this processor can do, by whichever kernels of BLAS: floors.

OpenBLAS takes its kernels when it is loaded: by a variable, else by what it knows of the processor.
The five products of an update took 3.66 ms by those called Haswell on one Zen 5, 2.01 by SkylakeX.
So kinds of kernels are timed in processes of their own, which answer lines "THREADS NAME":

    echo 1 five products (floor) | OPENBLAS_CORETYPE=Haswell python -m tools.floors
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace

import llvmlite.binding as llvm
import numpy as np

from asv_benchmarks.benchmarks import temporal
from asv_benchmarks.benchmarks.common import Products, random_pixels
from tools.compare_training import Row, seconds_of
from trug_fast._common.config import loaded

OPENBLAS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # what the environment chooses
CORES = {"SkylakeX": "avx512vl", "Haswell": "fma", "Zen": "fma"}  # and what each needs
PIXELS = 900  # of a frame of a temporal update
FIVE, TWO = "five products (floor)", "two products (floor)"
LAGS = {f"products of a temporal update, {n} (floor)": int(n[0]) for n in ("1 lag", "3 lags")}
NAMES = (FIVE, TWO, *LAGS)


def products(name: str, threads: int) -> Callable[[], object]:
    """Return what does the products of a floor."""
    if name in LAGS:
        frames = random_pixels(temporal.VIDEOS * temporal.TIMES, PIXELS, "float32")
        data = SimpleNamespace(frames=frames, shape=frames.shape)
        return temporal.SequenceProducts(data, LAGS[name]).of_update
    own = Products(threads)
    return own.of_update if name == FIVE else own.of_temperature


def kernels() -> str:
    """Return the kernels that NumPy's BLAS took here."""
    return next((own.kernels for own in loaded() if own.owner in ("NumPy", "")), "") or "unknown"


class Elsewhere:
    """A process that times products by kernels of its own."""

    def __init__(self, core: str | None) -> None:
        environment = {k: v for k, v in os.environ.items() if k not in OPENBLAS}
        environment |= {OPENBLAS[0]: core} if core else {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.floors"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.kernels = self._read()

    def _read(self) -> str:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of tools.floors ended with {self._process.wait()}")
        return line.strip()

    def seconds(self, name: str, threads: int) -> float:
        """Return how long the products of a floor take there."""
        print(threads, name, file=self._process.stdin, flush=True)
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        with self._process:  # which closes its pipes and waits for it
            pass


def elsewhere() -> list[Elsewhere]:
    """Return a process for each kind of kernels, that of OpenBLAS's own choice first."""
    there = llvm.get_host_cpu_features() if platform.machine() in ("x86_64", "AMD64") else {}
    found: list[Elsewhere] = []
    for core in (None, *(core for core, feature in CORES.items() if there.get(feature))):
        own = Elsewhere(core)
        if own.kernels in (other.kernels for other in found):
            own.close()
        else:
            found.append(own)
    return found


Times = dict[str, float]  # by kernels


def contest(
    processes: Sequence[Elsewhere], names: Iterable[str], threads: Iterable[int], rounds: int
) -> dict[tuple[str, int], Times]:
    """Return for each floor the median seconds by each kind of kernels, in turns, fastest first."""
    found = {}
    for name, count in [(name, count) for name in names for count in threads]:
        taken = [[own.seconds(name, count) for own in processes] for _ in range(rounds)]
        times = zip(np.median(taken, axis=0).tolist(), processes, strict=True)
        found[name, count] = {own.kernels: t for t, own in sorted(times, key=lambda each: each[0])}
    return found


def told(found: Mapping[tuple[str, int], Times]) -> Iterable[str]:
    """Yield a line for each floor: the kernels that made it, and the others."""
    for (name, threads), times in found.items():
        words = ", ".join(f"{kernels} {1e3 * t:.3g}" for kernels, t in times.items())
        yield f"{name.removesuffix(' (floor)')}, {threads} thread{'s' * (threads > 1)}, ms: {words}"


def main() -> None:
    """Say which kernels were taken, then time what is asked for, line by line."""
    print(kernels(), flush=True)
    calls: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        if line not in calls:
            count, name = line.rstrip("\n").split(" ", 1)
            calls[line] = products(name, int(count))
        print(seconds_of(int(line.split()[0]), Row(calls[line], ours=False)), flush=True)


if __name__ == "__main__":
    main()
