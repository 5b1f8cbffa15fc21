"""Measure the unit functions on fresh random arguments against 300 digits; print the worst.

    python tools/accuracy.py [--n 100000] [--seed SEED] [--chunk 1000]

Prints, for each output and regime, the worst relative error and the arguments that attain it, after
every chunk that brought a new worst, and all of them at the end.  100,000 arguments take about
5 minutes on one core.  Errors are relative; of the mean, to the larger of itself and the finite
ends; of logarithms, to the larger of themselves and 1; of the third central moment, to the larger
of itself and 1 % of the cubed standard deviation.
"""

import argparse
import secrets
import sys
import time
from pathlib import Path

import mpmath as mp
import numpy as np
from numba import njit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import oracle
from units import random_units

from trug_fast.kernels import distribution
from trug_fast.kernels.unit import NARROW_TAU, NARROW_WIDTH, evaluate, whiten

NAMES = ["log_norm", "offset", "mean", "variance", "third", "log_low", "log_high", "entropy"]


@njit(error_model="numpy", fastmath={"contract"})
def evaluate_all(a, d, lower, upper, out, frame):
    """Write every output, and u, width, tau of the whitened unit."""
    for i in range(a.size):
        log_norm, offset, mean, variance, third, low, high, _ = evaluate(
            a[i], d[i], lower[i], upper[i]
        )
        out[0, i], out[1, i], out[2, i], out[3, i] = log_norm, offset, mean, variance
        out[4, i], out[5, i], out[6, i] = third, low, high
    for i in range(a.size):
        out[7, i] = distribution.entropy(a[i], d[i], lower[i], upper[i])
        _, _, frame[0, i], _, frame[1, i], frame[2, i], _ = whiten(a[i], d[i], lower[i], upper[i])


def regime(u, width, tau):
    """Return the name of the formula that unit.py takes."""
    if width < NARROW_WIDTH and tau <= NARROW_TAU:
        return "narrow"
    return "centre" if u < 0 else "tail"


def error(name, got, want, ends, spread):
    """Return the error of one output as defined above."""
    if mp.isinf(want):
        return 0.0 if got == float(want) else float("inf")
    scale = abs(want)
    if name == "mean":
        scale = max(scale, *(abs(e) for e in ends if np.isfinite(e)), 0)
    elif name.startswith("log") or name == "entropy":
        scale = max(scale, 1)
    elif name == "third":
        scale = max(scale, spread**3 / 100)
    with mp.workdps(60):
        miss = abs(mp.mpf(float(got)) - want)
        return float(miss / scale) if scale else float(miss)


def check(args, worst):
    """Compare a chunk; update ``worst`` and return whether it changed."""
    out, frame = np.empty((len(NAMES), args[0].size)), np.empty((3, args[0].size))
    evaluate_all(*args, out, frame)
    changed = False
    for i, unit in enumerate(zip(*(map(float, x) for x in args), strict=True)):
        want = oracle.unit(*unit)
        with mp.workdps(oracle.DIGITS):
            a, d = mp.mpf(unit[0]), mp.mpf(unit[1])
            second = want["variance"] + want["mean"] ** 2
            want["entropy"] = want["log_norm"] - a * want["mean"] + d * second / 2
        where = regime(*frame[:, i])
        for name, got in zip(NAMES, out[:, i], strict=True):
            miss = error(name, got, want[name], unit[2:], mp.sqrt(want["variance"]))
            if not miss <= worst.get((name, where), (-1.0,))[0]:
                worst[name, where] = (miss, unit)
                changed = True
    return changed


def report(worst):
    """Print the table."""
    print(f"{'output':9s} {'regime':7s} {'error':>8s}  a, d, lower, upper")
    for name in NAMES:
        for where in ("narrow", "centre", "tail"):
            if (name, where) in worst:
                miss, unit = worst[name, where]
                print(f"{name:9s} {where:7s} {miss:8.1e}  {', '.join(map(repr, unit))}")


def main():
    """Run in chunks until n arguments are done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--chunk", type=int, default=1000)
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.n} arguments, {oracle.DIGITS} digits", flush=True)
    rng, worst, done, begun = np.random.default_rng(seed), {}, 0, time.time()
    while done < options.n:
        args = tuple(x[: options.n - done] for x in random_units(rng, options.chunk))
        changed = check(args, worst)
        done += args[0].size
        if changed:
            print(f"after {done} ({time.time() - begun:.0f} s): new worst", flush=True)
    report(worst)


if __name__ == "__main__":
    main()
