"""Test the samplers by their exact probability transform, overall and in 20 groups by distance.

    python -m tools.draw_tests [--n 10000000] [--seed SEED] [--sampler rvs draw_robert draw_chopin]

For each of the six regimes: Kolmogorov-Smirnov of all draws, the least p-value of 20 groups of
draws ordered by how far out the interval lies, times 20, and the number of draws outside.  One
p-value below 1e-3 in a table of this size is chance, two or one below 1e-5 are not.
"""

import argparse
import secrets

import numpy as np
from numba import njit
from scipy import stats

from tests.support.units import regimes, transform
from trug_fast import kernels
from trug_fast.kernels.compiling import kernel
from trug_fast.kernels.random.philox import USER, uniform_row
from trug_fast.kernels.unit.quantile import quantile

PART = 1 << 20


@kernel
def rvs(seed, chain, a, d, lower, upper, out):
    """Draw as truncnorm.rvs does, from units given by a and d."""
    uniform = np.empty(1024)
    for start in range(0, out.size, 1024):
        stop = min(start + 1024, out.size)
        uniform_row(seed, USER, chain, start // 1024, 0, uniform)
        for i in range(start, stop):
            out[i] = quantile(uniform[i - start], a[i], d[i], lower[i], upper[i])


@njit
def draw_robert(seed, chain, a, d, lower, upper, out):
    """Draw by Robert's proposals."""
    rng = kernels.stream(seed, chain)
    for i in range(out.size):
        out[i] = kernels.draw_robert(rng, a[i], d[i], lower[i], upper[i])


@njit
def draw_chopin(seed, chain, a, d, lower, upper, out):
    """Draw by Chopin's cells."""
    rng = kernels.stream(seed, chain)
    for i in range(out.size):
        out[i] = kernels.draw_chopin(rng, a[i], d[i], lower[i], upper[i])


SAMPLERS = {"rvs": rvs, "draw_robert": draw_robert, "draw_chopin": draw_chopin}


def uniform_p(p):
    """Return the p-value of a Kolmogorov-Smirnov test, asymptotic: exact enough and fast."""
    p = np.sort(p)
    n = p.size
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - p).max(), (p - steps[:-1]).max())
    return float(stats.kstwobign.sf(distance * np.sqrt(n)))


def main():
    """Print one line a regime and sampler."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--sampler", nargs="*", default=list(SAMPLERS), choices=list(SAMPLERS))
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.n} draws a regime")
    print(f"{'sampler':12s} {'regime':15s} {'p overall':>10s} {'20 min p':>9s} {'outside':>8s}")
    for number, (regime, (a, d, lower, upper)) in enumerate(regimes(options.n).items()):
        distance = np.argsort(a, kind="stable")  # the intervals of a regime differ in a alone
        for name in options.sampler:
            h = np.empty(options.n)
            p = np.empty(options.n)
            for chain, start in enumerate(range(0, options.n, PART)):
                cut = slice(start, start + PART)
                unit = a[cut], d[cut], lower[cut], upper[cut]
                SAMPLERS[name](seed + number, chain, *unit, h[cut])
                p[cut] = transform(h[cut], *unit)
            outside = int((~((lower <= h) & (h <= upper))).sum())
            worst = min(uniform_p(part) for part in np.array_split(p[distance], 20))
            group = min(1.0, 20 * worst)
            overall = uniform_p(p)
            print(f"{name:12s} {regime:15s} {overall:10.2g} {group:9.2g} {outside:8d}", flush=True)


if __name__ == "__main__":
    main()
