"""Print a Markdown table of the time of an update of a temporal RBM beside torch and its products.

    python -m tools.compare_temporal [--threads 1 2] [--rounds 4]

Four videos of 100 frames, 900 visible and 400 hidden units, CD-3, Adam, float32; the full gradient;
models that look back one frame and three.
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
    return ours(threads) | of_torch(threads)


def ours(threads: int) -> Rows:
    """Return our updates of models that look back one frame and three, after their floors."""
    found: Rows = {}
    for n_lags, kind in ((1, temporal.Start), (3, temporal.UpdateOfThreeLags)):
        name = f"{n_lags} lag{'s' * (n_lags > 1)}"
        for units in ("trug", "bernoulli"):
            start = kind()
            start.setup(units, threads)
            floor = f"products of a temporal update, {name} (floor)"
            found.setdefault(floor, Row(start.products.of_update, ours=False))
            found[f"temporal update, {name}, {units} units"] = Row(start.update)
    return found


def of_torch(threads: int) -> Rows:
    """Return the update by torch, where that is installed, after the floor of one lag."""
    if not importlib.util.find_spec("torch"):
        return {}
    import torch

    start = temporal.Start()
    start.setup("bernoulli", threads)
    frames = start.data.frames[: temporal.VIDEOS * temporal.TIMES]
    plain = temporal.TorchUpdate(torch, frames)
    return {
        "products, once more (floor)": Row(start.products.of_update, ours=False),
        "update, torch, Bernoulli units": Row(plain.update, ours=False),
    }


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
