"""Measure the scalar kernels on random arguments against 60 digits; print the worst by regime.

    python -m tools.accuracy [--n 100000] [--seed SEED] [--processes 2] [--keep errors.jsonl]

Units of any real d: a third ordinary with d > 0 (tails to 1e8 standard deviations, widths from
1e-12 to infinity), a third with d <= 0, a third of any size (widths from 1e-100 to 1e100).  100,000
arguments take about 15 minutes on one core; the results so far are printed after every tenth, and
with ``--keep`` a run that was stopped goes on where it was.  Probabilities asked for are 1e-200 or
more.

What is measured: tests/support/accuracy.py.
"""

import argparse
import json
import math
import secrets
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.support import sixty
from tests.support.accuracy import CHUNK, NAMES, REGIMES, check


def merge(worst, counts, found):
    """Take a chunk's results into those of the run."""
    for key, (miss, arguments) in found[1].items():
        if not miss <= worst.get(key, (-1.0,))[0]:
            worst[key] = (miss, arguments)
    for key, count in found[2].items():
        counts[key] = counts.get(key, 0) + count


def report(worst, counts, arguments):
    """Print the table, and the arguments of the worst if asked for."""
    print(" " * 9 + "".join(f"{where:>10s}" for where in REGIMES))
    print(f"{'units':9s}" + "".join(f"{counts.get(where, 0):10d}" for where in REGIMES))
    for name in NAMES:
        row = [worst.get(f"{name} {where}", (math.nan,))[0] for where in REGIMES]
        print(f"{name:9s}" + "".join(f"{miss:10.1e}" for miss in row))
    if arguments:
        for key, (miss, values) in sorted(worst.items(), key=lambda item: -item[1][0]):
            print(
                f"{key:20s} {miss:8.1e}  x, p, a, d, lower, upper = {', '.join(map(repr, values))}"
            )
    sys.stdout.flush()


def main():
    """Run in chunks until n arguments are done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=None, help="results of chunks, to go on from")
    parser.add_argument("--arguments", action="store_true", help="print those of the worst errors")
    options = parser.parse_args()
    seed = secrets.randbits(32) if options.seed is None else options.seed
    chunks = -(-options.n // CHUNK)
    print(f"seed {seed}, {chunks * CHUNK} arguments, {sixty.DIGITS} digits", flush=True)
    worst, counts, done, begun = {}, {}, set(), time.time()
    if options.keep is not None and options.keep.exists():
        for line in options.keep.read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            merge(worst, counts, found)
            done.add(found[0])
    todo = [number for number in range(chunks) if number not in done]
    with ProcessPoolExecutor(options.processes) as pool:
        for found in pool.map(partial(check, seed), todo):
            merge(worst, counts, found)
            done.add(found[0])
            if options.keep is not None:
                with options.keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")
            if len(done) % max(1, chunks // 10) == 0:
                print(f"after {len(done) * CHUNK} ({time.time() - begun:.0f} s)", flush=True)
                report(worst, counts, False)
    report(worst, counts, options.arguments)


if __name__ == "__main__":
    main()
