"""Print Markdown tables of how far estimates of log Z are off, and whether they say so.

    python -m reproduction.scripts.calibrate_partition FOLDER [--models 200] [--seed 0] [--table]

Trained models (calibration_models.py) are enumerated and annealed: 100 chains; 300, 1,000 and
(unless there are 784 pixels) 3,000 temperatures; with and without base; forward, reverse and both.
An estimate is bad if it is off by more than three of its standard errors and 0.001 nats, which
rounding may leave; an alarm is any warning.  FOLDER gets a file for each model, and a run that was
interrupted goes on with the models that lack one; --table prints what is there.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import trug_fast as tf
from reproduction.scripts.calibration_models import trained

CHAINS, TEMPERATURES, MANY_PIXELS = 100, (300, 1000, 3000), 100
ERRORS, ROUNDING = 3.0, 1e-3
SHARES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)  # of effective chains

Line = dict[str, Any]


def estimates(index: int, seed: int) -> Iterator[Line]:
    """Give one line for each estimate of a model's log Z."""
    known = trained(index, seed)
    large = known.model.n_visible > MANY_PIXELS
    for temperatures in TEMPERATURES[:2] if large else TEMPERATURES:
        for base in (None, known.data):
            both = tf.log_partition(
                known.model,
                n_chains=CHAINS,
                n_temperatures=temperatures,
                base=base,
                direction="both",
                rng=index,
                progress=False,
            )
            # The sides are to the bit what a call in one direction gives.
            for found in (both, both.forward, both.reverse):
                assert found is not None
                yield {
                    "model": index,
                    "words": known.words,
                    "temperatures": temperatures,
                    "base": base is not None,
                    "direction": found.direction,
                    "error": found.log_z - known.log_z,
                    "std_error": found.std_error,
                    "ess": found.ess,
                    "warnings": found.warnings,
                }


def collect(folder: Path, indices: range, seed: int) -> None:
    """Write the lines of each model that has no file yet."""
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    for index in indices:
        path = folder / f"seed-{seed}-model-{index:03}.json"
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tf.evaluation.PartitionWarning)
            lines = list(estimates(index, seed))
        part = path.with_suffix(".part")
        part.write_text(json.dumps(lines))
        part.replace(path)
        silent = sum(bad(line) and not line["warnings"] for line in lines)
        print(
            f"{time.perf_counter() - begun:6.0f} s  {index:3}  {lines[0]['words']}"
            f"  {sum(map(bad, lines))} bad, {silent} of them silent",
            flush=True,
        )


def bad(line: Line) -> bool:
    """Return whether an estimate is off by more than it says."""
    return abs(line["error"]) > ERRORS * line["std_error"] + ROUNDING


def row(name: str, lines: list[Line]) -> str:
    """Return a row of the table of alarms."""
    wrong = np.array([bad(line) for line in lines], bool)
    alarm = np.array([bool(line["warnings"]) for line in lines], bool)
    silent, false = wrong & ~alarm, alarm & ~wrong
    share, false_share = silent.sum() / max(1, len(lines)), false.sum() / max(1, (~wrong).sum())
    return (
        f"| {name} | {len(lines)} | {wrong.sum()} | {(wrong & alarm).sum()} | {silent.sum()} "
        f"({100 * share:.2f} %) | {100 * false_share:.1f} % |"
    )


def tables(lines: list[Line]) -> str:
    """Return the tables of alarms, of errors by effective chains, and the silent ones."""
    text = ["| estimates | number | bad | with an alarm | without | alarms on good ones |"]
    text += ["| --- | --- | --- | --- | --- | --- |"]
    groups: dict[str, Callable[[Line], bool]] = {
        f"{direction}, {'with' if base else 'no'} base": (
            lambda line, d=direction, b=base: line["direction"] == d and line["base"] == b
        )
        for direction in ("forward", "reverse", "both")
        for base in (False, True)
    }
    for units in ("bernoulli", "[0,1]", "[-1,1]", "[0,4]", "[0,inf)"):
        groups[f"units {units}"] = lambda line, u=units: f" {u} " in line["words"]
    groups["all"] = lambda line: True
    for name, belongs in groups.items():
        text.append(row(name, [line for line in lines if belongs(line)]))
    text += ["", "| effective chains | number | bad | root mean square of error / std_error |"]
    text += ["| --- | --- | --- | --- |"]
    for low, high in zip(SHARES[:-1], SHARES[1:], strict=True):
        part = [line for line in lines if low <= line["ess"] / CHAINS < high]
        if part:
            z = [line["error"] / max(line["std_error"], ROUNDING) for line in part]
            root = np.sqrt(np.mean(np.clip(z, -5, 5) ** 2))
            text.append(
                f"| {low:.0%} to {min(high, 1):.0%} | {len(part)} | {sum(map(bad, part))} "
                f"| {root:.2f} |"
            )
    silent = [line for line in lines if bad(line) and not line["warnings"]]
    text += ["", "Bad without an alarm:", ""]
    text += [
        f"* model {line['model']}, {line['words']}: {line['direction']}, "
        f"{'with' if line['base'] else 'no'} base, {line['temperatures']} temperatures, "
        f"{line['error']:+.3f} +- {line['std_error']:.3f}, {line['ess']:.0f} effective"
        for line in silent
    ]
    return "\n".join(text)


def main() -> None:
    """Collect what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="where to start, to share the work")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="print what is there, compute nothing")
    arguments = parser.parse_args()
    if not arguments.table:
        collect(arguments.folder, range(arguments.first, arguments.models), arguments.seed)
    files = sorted(arguments.folder.glob(f"seed-{arguments.seed}-model-*.json"))
    lines = [line for file in files for line in json.loads(file.read_text())]
    print(f"{len(files)} models, {len(lines)} estimates\n\n{tables(lines)}")


if __name__ == "__main__":
    main()
