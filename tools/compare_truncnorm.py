"""Print a Markdown table of ns per draw and per evaluation beside SciPy and numba-stats.

    python tools/compare_truncnorm.py [--n 100000]

One thread, parameters of their own for each element, six regimes, median of repetitions of process
CPU time, all in one run.  A struck-through time belongs to a wrong result: draws that fail
Kolmogorov-Smirnov in one of 20 groups of intervals at 1e-6, variances off by more than 1e-6 of
themselves.  numba-stats takes no arrays of parameters; its formulas are run in a compiled loop.
"""

import argparse
import sys
import time
from pathlib import Path

import numba
import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from units import regimes, transform

from trug_fast import truncnorm

try:
    from numba_stats.norm import _cdf1, _ppf1
except ImportError:  # an optional peer
    _cdf1 = None


def standard(a, d, lower, upper):
    """Return SciPy's a, b, loc and scale."""
    scale, loc = 1 / np.sqrt(d), a / d
    return (lower - loc) / scale, (upper - loc) / scale, loc, scale


def formula_of_numba_stats():
    """Return its rvs as a loop over elements, or None where it is not installed."""
    if _cdf1 is None:
        return None

    @numba.njit
    def rvs(p, a, b, loc, scale):
        out = np.empty(a.size)
        for i in range(a.size):
            low, high = _cdf1(a[i]), _cdf1(b[i])
            out[i] = scale[i] * _ppf1(low + p[i] * (high - low)) + loc[i]
        return out

    def draw(a, b, loc, scale):
        return rvs(np.random.default_rng(1).random(a.size), a, b, loc, scale)

    return draw


def right_draws(x, unit):
    """Tell whether draws pass."""
    if not np.isfinite(x).all():
        return False
    with np.errstate(all="ignore"):
        p = np.clip(transform(x, *unit), 0, 1)[np.argsort(unit[0], kind="stable")]
    parts = np.array_split(p, 20)
    return min(stats.kstest(part, "uniform").pvalue for part in parts) > 1e-6 / 20


def nanoseconds(function, n, seconds=0.6):
    """Return the median CPU time an element."""
    function()
    times, stop = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < stop:
        begun = time.process_time()
        function()
        times.append(time.process_time() - begun)
    return float(np.median(times)) / n * 1e9


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    n = parser.parse_args().n
    numba.set_num_threads(1)
    space = np.empty(n)  # fresh memory costs up to 20 ns a draw on some virtual machines
    samplers = {
        "trug_fast rvs": lambda *p: truncnorm.rvs(*p, rng=1, out=space),
        "trug_fast rvs float32": lambda *p: truncnorm.rvs(*(np.float32(v) for v in p), rng=1),
        "numba-stats formula": formula_of_numba_stats(),
        "scipy rvs": lambda *p: stats.truncnorm.rvs(*p, random_state=np.random.default_rng(1)),
    }
    moments = {
        "trug_fast mean, var": lambda *p: (truncnorm.mean(*p), truncnorm.var(*p)),
        "scipy mean, var": lambda *p: stats.truncnorm.stats(*p, moments="mv"),
    }
    cases = regimes(n)
    header = "| ns per {} | " + " | ".join(cases) + " |"
    rule = "|---|" + "---|" * len(cases)
    print(header.format("draw"), rule, sep="\n")
    for name, sampler in samplers.items():
        if sampler is None:
            continue
        cells = []
        for unit in cases.values():
            arguments = standard(*unit)
            if (
                "float32" in name
                and not (np.float32(arguments[0]) < np.float32(arguments[1])).all()
            ):
                cells.append("-")  # narrower than float32 can tell
                continue
            with np.errstate(all="ignore"):
                cost = nanoseconds(lambda p=arguments, f=sampler: f(*p), n)
                x = np.float64(sampler(*arguments))
            good = "float32" in name or right_draws(np.clip(x, unit[2], unit[3]), unit)
            cells.append(f"{cost:.1f}" if good else f"~~{cost:.1f}~~")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print()
    print(header.format("evaluation"), rule, sep="\n")
    for name, function in moments.items():
        cells = []
        for unit in cases.values():
            count = n if name.startswith("trug") else min(n, 300)  # SciPy: 60 microseconds each
            arguments = [v[:count] for v in standard(*unit)]
            exact = np.float64(truncnorm.var(*arguments))
            with np.errstate(all="ignore"):
                cost = nanoseconds(lambda p=arguments, f=function: f(*p), count)
                variance = function(*arguments)[1]
            good = (abs(variance / exact - 1) < 1e-6).all()
            cells.append(f"{cost:.1f}" if good else f"~~{cost:.0f}~~")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
