"""Print a Markdown table of what training reaches with former defaults and with today's.

    python -m tools.compare_defaults [--data digits clusters ...] [--units trug relu ...]
        [--epochs 30] [--seeds 0 1] [--directory DIR] [--change n_chains=10 ...]

Mean log-probability of held-out rows in nats, by forward annealing with 3,000 temperatures; (!)
where the estimate warns, and nan where training diverged.  Held out are rows that are not for
testing: defaults are chosen by such tables.  Sets that are made, the digits and the yachts need no
files.
"""

from __future__ import annotations

import argparse
import ast
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import trug_fast as tf
from tools.training_sets import FORMER, FORMER_RATES, Rows, load, train

UNITS: dict[str, dict[str, Any]] = {
    "trug": {},
    "sigmoid": {"truncation": "sigmoid"},
    "tanh": {"truncation": "tanh"},
    "relu": {"truncation": "relu"},
    "bernoulli": {"hidden": "bernoulli"},
}


def independent(rows: Rows) -> float:
    """Return the mean log-probability of held-out rows under independent columns."""
    if rows.real:
        return float((-0.5 * (np.log(2 * np.pi) + rows.held_out**2)).sum(axis=1).mean())
    mean = (rows.train.sum(axis=0) + 0.5) / (len(rows.train) + 1)
    held = rows.held_out
    return float((held * np.log(mean) + (1 - held) * np.log1p(-mean)).sum(axis=1).mean())


def reached(rows: Rows, units: str, seed: int, options: dict[str, Any]) -> tuple[str, float]:
    """Train; return the log-probability of held-out rows in words, and the seconds of training."""
    begun = time.perf_counter()
    try:
        model = train(rows, seed, UNITS[units] | options)
    except FloatingPointError:
        return "nan", time.perf_counter() - begun
    seconds = time.perf_counter() - begun
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        log_z = tf.log_partition(model, n_temperatures=3000, base=rows.train, rng=0, progress=False)
        score = tf.log_likelihood(model, rows.held_out, log_z).mean()
    return f"{score:.2f}{' (!)' if log_z.warnings else ''}", seconds


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sets = "clusters steps bars digits mixture yachts"
    parser.add_argument("--data", nargs="+", default=sets.split())
    parser.add_argument("--units", nargs="+", default=["trug"], choices=tuple(UNITS))
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--optimizer", default="sgd")
    parser.add_argument(
        "--change", nargs="+", default=[], metavar="OPTION=VALUE", help="of today's defaults"
    )
    parser.add_argument("--directory", type=Path, default=Path("."))
    options = parser.parse_args()
    pairs = (change.split("=") for change in options.change)
    changes = {name: ast.literal_eval(value) for name, value in pairs}
    print("| data | rows x columns | hidden | independent columns | former | today's | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in options.data:
        rows = load(name, options.directory)
        for units in options.units:
            shared = {"epochs": options.epochs, "optimizer": options.optimizer}
            former = FORMER | shared
            if options.optimizer == "sgd":
                former["learning_rate"] = FORMER_RATES[rows.real]
            else:
                former["learning_rate"] = (1e-3, 1e-5)
            cells, times = [], []
            for choice in (former, shared | changes):
                found = [reached(rows, units, seed, choice) for seed in options.seeds]
                cells.append(", ".join(score for score, _ in found))
                times.append(f"{found[-1][1]:.1f}")
            count, columns = rows.train.shape
            print(
                f"| {name} | {count:,} x {columns} | {rows.n_hidden} {units} "
                f"| {independent(rows):.2f} | {' | '.join(cells)} | {' to '.join(times)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
