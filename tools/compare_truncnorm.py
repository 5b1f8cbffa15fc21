"""Print a Markdown table of ns per draw and per evaluation beside SciPy and numba-stats.

    python -m tools.compare_truncnorm [--n 100000] [--seconds 0.6]

One thread, parameters of their own for each element, six regimes, median of repetitions of process
CPU time, all in one run, the rows in turns.  A struck-through time belongs to a
wrong result: draws that fail Kolmogorov-Smirnov in one of 20 groups of intervals at 1e-6, variances
off by more than 1e-6 of themselves.  ``pip install numba-stats`` adds its row.
"""

import argparse
import time

import numba
import numpy as np
from scipy import stats

from asv_benchmarks.benchmarks.peers import SAMPLERS, standard
from tests.support.units import regimes, transform
from tools.processor import describe, versions
from trug_fast import truncnorm

ROUNDS = 3
MOMENTS = {
    "truncnorm.mean, .var": lambda *p: (truncnorm.mean(*p), truncnorm.var(*p)),
    "scipy.stats.truncnorm.stats": lambda *p: stats.truncnorm.stats(*p, moments="mv"),
}


def right_draws(x, unit):
    """Tell whether draws pass."""
    if not np.isfinite(x).all():
        return False
    x = np.clip(x, unit[2], unit[3])  # what rounding of loc + scale*z did is forgiven
    with np.errstate(all="ignore"):
        p = np.clip(transform(x, *unit), 0, 1)[np.argsort(unit[0], kind="stable")]
    parts = np.array_split(p, 20)
    return min(stats.kstest(part, "uniform").pvalue for part in parts) > 1e-6 / 20


def nanoseconds(functions, sizes, budget):
    """Return the median CPU time an element of each function; they take turns."""
    times = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(ROUNDS):
        for function, own in zip(functions, times, strict=True):
            stop, least = time.perf_counter() + budget / ROUNDS, len(own) + 1
            while len(own) < least or time.perf_counter() < stop:
                begun = time.process_time()
                function()
                own.append(time.process_time() - begun)
    return [float(np.median(own)) / n * 1e9 for own, n in zip(times, sizes, strict=True)]


def table(what, rows):
    """Print the rows, each a name and its cells."""
    print(f"| ns per {what} | " + " | ".join(regimes(1)) + " |")
    print("|---|" + "---|" * len(regimes(1)))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
    print(flush=True)


def costs_of(unit, names, n, budget):
    """Return the samplers that can draw this unit, and the nanoseconds each takes for a draw."""
    prepared = {name: SAMPLERS[name](unit) for name in names}
    there = {name: draw for name, draw in prepared.items() if draw is not None}
    costs = nanoseconds(there.values(), [n] * len(there), budget)
    return there, dict(zip(there, costs, strict=True))


def draws(cases, n, budget):
    """Time and check the samplers."""
    rows = {}
    for unit in cases.values():
        there, costs = costs_of(unit, SAMPLERS, n, budget)
        for name in SAMPLERS:
            cell = "-"
            if name in there:
                good = "float32" in name or right_draws(there[name](), unit)
                cell = f"{costs[name]:.1f}" if good else f"~~{costs[name]:.1f}~~"
            rows.setdefault(name, []).append(cell)
    return {name: cells for name, cells in rows.items() if set(cells) != {"-"}}


def moments(cases, n, budget):
    """Time and check mean and variance."""
    rows = {name: [] for name in MOMENTS}
    sizes = [n if name.startswith("truncnorm") else min(n, 300) for name in MOMENTS]  # SciPy: slow
    for unit in cases.values():
        arguments = standard(*unit)
        calls = [
            lambda f=function, p=[v[:size] for v in arguments]: f(*p)
            for function, size in zip(MOMENTS.values(), sizes, strict=True)
        ]
        exact = truncnorm.var(*arguments)  # of 3.5e-15 relative error, see tools/accuracy.py
        costs = nanoseconds(calls, sizes, budget)
        for name, call, size, cost in zip(MOMENTS, calls, sizes, costs, strict=True):
            good = (abs(call()[1] / exact[:size] - 1) < 1e-6).all()
            rows[name].append(f"{cost:.1f}" if good else f"~~{cost:.1f}~~")
    return rows


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=0.6, help="for each number")
    options = parser.parse_args()
    numba.set_num_threads(1)
    print(f"{describe()}; {versions()}\n")
    cases = regimes(options.n)
    with np.errstate(all="ignore"):
        table("draw", draws(cases, options.n, options.seconds))
        table("evaluation", moments(cases, options.n, options.seconds))


if __name__ == "__main__":
    main()
