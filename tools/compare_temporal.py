"""Print a Markdown table of the time of an update of a temporal RBM beside torch and its products.

    python -m tools.compare_temporal [--threads 1 2] [--rounds 4]

Four videos of 100 frames, 900 visible and 400 hidden units, CD-3, Adam, float32; the full gradient.
All rows in turns in one run; medians.  The floor is NumPy's matrix products alone.  torch's row,
where it is installed, is an ordinary TRBM written plainly, with the paper's gradient: half of the
work is left out.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from asv_benchmarks.benchmarks import temporal
from tools.compare_training import Row, Rows, arguments, measure, show
from tools.processor import describe, versions


def rows(threads: int) -> Rows:
    """Return what is timed."""
    found: Rows = {}
    for units in ("trug", "bernoulli"):
        start = temporal.Start()
        start.setup(units, threads)
        if not found:
            found["products (floor)"] = Row(start.products.of_update, ours=False)
        found[f"update, {units} units"] = Row(start.update)
    if importlib.util.find_spec("torch"):
        import torch

        frames = start.data.frames[: temporal.VIDEOS * temporal.TIMES]
        plain = temporal.TorchUpdate(torch, frames)
        found["update, torch, Bernoulli units"] = Row(plain.update, ours=False)
    return found


def main() -> None:
    """Measure and print."""
    options = arguments(__doc__.splitlines()[0], rounds=4)
    print(f"{describe()}; {versions()}\n")
    results = measure(rows, options.threads, options.rounds)
    show(results)
    frames = temporal.VIDEOS * temporal.TIMES
    for threads, times in results.items():
        for name, seconds in times.items():
            rate = frames / np.median(seconds)
            print(f"{name}, {threads} threads: {rate:,.0f} frames a second")


if __name__ == "__main__":
    main()
