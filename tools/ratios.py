"""Print as Markdown all speeds that the project holds itself to, on this processor.

    python -m tools.ratios [--threads 1 2] [--rounds 8] [--compile]

Everything is timed in turns in one run with what it is compared to; medians.  Floors are the
fastest products that the processor can do, by whichever kernels of BLAS: see floors.py.  Single
parts, with more beside them, are printed by compare_training.py, compare_truncnorm.py and
compilations.py.
``--compile`` adds first calls with nothing compiled before, which takes minutes.

To see what other processors would do, compile kernels as if for them:
``NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES=`` (empty) takes registers of 256 bits.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial

import numba
import numpy as np

from asv_benchmarks.benchmarks import imports
from asv_benchmarks.benchmarks.truncnorm import N, UnitFunctions
from tests.support.units import regimes
from tools import compare_temporal, compilations, floors
from tools import compare_training as training
from tools.compare_truncnorm import costs_of, nanoseconds
from tools.measure_threads import update
from tools.processor import describe, versions
from trug_fast import truncnorm

Line = tuple[str, str]  # what is measured, and a figure
SMALL = (20, 64, 100)  # rows, visible and hidden units: the digits
STRETCH = 50  # updates in a call: a training has as many as 0.1 s takes, hundreds of small ones
TRIALS = 3  # of each kind of kernels, before the best are timed in turns with ours
BUDGET = 0.5  # seconds for each number of nanoseconds
TIMED = "import time; begun = time.perf_counter(); {}; print(time.perf_counter() - begun)"


def rows(best: Mapping[tuple[str, int], floors.Elsewhere], threads: int) -> training.Rows:
    """Return what is timed: models of the usual size, and small ones over scikit-learn's.

    Products by the best kernels are the floor; those by the kernels of this process follow them.
    """
    own = training.updates(threads) | training.annealing(threads) | training.sweeps(threads)
    own |= compare_temporal.ours(threads)
    found: training.Rows = {}
    for name, row in own.items():
        if name in floors.NAMES:
            found[name] = row._replace(elsewhere=partial(best[name, threads].seconds, name))
            name = f"{name.removesuffix(' (floor)')}, kernels {floors.kernels()} as here"
        found[name] = row
    if importlib.util.find_spec("sklearn"):
        peer = training.Row(training.scikit_learn(*SMALL), ours=False)
        found["20x64x100, scikit-learn (floor)"] = peer
        for units in ("trug", "bernoulli"):
            name = f"update of 20x64x100, {units} units"
            found[name] = training.Row(update(*SMALL, units)[0])
            many = update(*SMALL, units, count=STRETCH)[0]
            found[f"{name}, {STRETCH} a call as in training"] = training.Row(many, STRETCH)
    return found


def span(numbers: list[float]) -> str:
    """Return the least and the largest."""
    return f"{min(numbers):.1f} to {max(numbers):.1f}"


def units() -> Iterator[Line]:
    """Yield nanoseconds of draws in all regimes, and of the moments of a unit."""
    faces = {"float64": "truncnorm.rvs", "float32": "truncnorm.rvs, float32"}
    found = [costs_of(unit, faces.values(), N, BUDGET)[1] for unit in regimes(N).values()]
    for dtype, name in faces.items():
        costs = [own[name] for own in found if name in own]
        yield f"truncnorm.rvs, {dtype}, {len(costs)} regimes, ns a draw", span(costs)
        yield f"truncnorm.rvs of one interval, {dtype}, ns a draw", span(one_interval(dtype))
    for dtype in faces:
        moments = UnitFunctions()
        moments.setup(dtype, "mean_variance")
        call = partial(moments.time_units, dtype, "mean_variance")
        (cost,) = nanoseconds([call], [N], BUDGET)
        yield f"mean and variance of a unit, {dtype}, ns", f"{cost:.1f}"


def one_interval(dtype: str) -> list[float]:
    """Return nanoseconds of draws that all have the same interval, of several intervals."""
    out, shift, scale = np.empty(N, dtype), np.zeros(1, dtype), np.ones(1, dtype)
    calls = []
    for ends in ((0, 1), (-3, 3), (0, np.inf), (5, np.inf)):
        a, b = np.array(ends, dtype).reshape(2, 1)
        calls.append(partial(truncnorm.rvs, a, b, shift, scale, size=N, rng=0, out=out))
    return nanoseconds(calls, [N] * len(calls), BUDGET)


def starts(rounds: int) -> Iterator[Line]:
    """Yield what a new process takes to import the package, and for a first update."""
    statements = [imports.timeraw_import_numba(), imports.timeraw_import_trug_fast()]
    found: list[list[float]] = []
    for _ in range(rounds):
        commands = ([sys.executable, "-c", TIMED.format(words)] for words in statements)
        found.append([float(subprocess.check_output(command)) for command in commands])
    base, whole = np.median(found, axis=0)
    yield "import numba, s", f"{base:.2f}"
    yield "import trug_fast and train_rbm above it, s", f"{whole - base:.2f}"
    first = imports.track_first_update_in_a_new_process()
    yield "import and first update, compiled before, s", f"{first:.2f}"


def first_calls() -> Iterator[Line]:
    """Yield CPU seconds of processes for which nothing is compiled."""
    for case in compilations.CASES:
        seconds = compilations.first_call(case).seconds
        yield f"{case}, nothing compiled, CPU s of the process", f"{seconds:.1f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    most = numba.config.NUMBA_NUM_THREADS
    parser.add_argument("--threads", type=int, nargs="*", default=sorted({1, min(2, most)}))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--compile", action="store_true", help="first calls, in minutes")
    options = parser.parse_args()
    print(f"**{describe()}**; {versions()}.\n")
    processes = floors.elsewhere()
    times = floors.contest(processes, floors.NAMES, options.threads, TRIALS)
    print(*floors.told(times), sep="\n\n", end="\n\n", flush=True)
    by = {each.kernels: each for each in processes}
    best = {floor: by[next(iter(found))] for floor, found in times.items()}
    training.show(training.measure(partial(rows, best), options.threads, options.rounds))
    for each in processes:
        each.close()
    print("\n| what | |\n| --- | --- |", flush=True)
    training.use_threads(1)
    parts = [units(), starts(options.rounds)]
    for part in [*parts, first_calls()] if options.compile else parts:
        for what, figure in part:
            print(f"| {what} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
