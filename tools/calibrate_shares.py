"""Print a Markdown table of whether trainings that lost the shares of phases say so.

    python -m tools.calibrate_shares [--data magnet-8-2.2 ...] [--seed 0] [--runs] [--unturned]
        [--directory DIR]

Magnets (below, near and above their critical temperature), clusters of unequal size, Gaussian
mixtures, digits and silhouettes are trained on with both kinds of hidden units, at good rates and
bad ones.  What a model really lacks is known by long annealing (2,000 temperatures) from the rows
of each phase, by the sign of the magnetisation or the cluster that a row was drawn from; where
phases are not known, from those of the parts that training looks at.  Lost has what lacks more
than 5 nats and a quarter of those of a row, or is 20 below the true log-probability of the rows;
kept has what lacks less than 2.  Early are those that were told while training went.  With
``--unturned`` chains of magnets are not turned over, as is so of data whose phases are not each
other turned: few trainings are ruined else.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import trug_fast as tf
from tools.magnets import log_probability, magnet
from tools.training_sets import load
from trug_fast.training.rbm import shares
from trug_fast.training.rbm.defaults import ByData

LOST, KEPT = (5.0, 0.25), 2.0  # nats, and of them for each nat of a row
FAR = 20.0  # nats below the truth, where that is known: even long annealing may miss a phase
LONG = 2000  # temperatures
PHRASES = ("shares of phases", "mass where there are no data")  # of the warnings
MAGNETS = "magnet-8-2.0 magnet-8-2.2 magnet-8-2.7 magnet-12-2.2 magnet-16-2.2 magnet-16-2.7"
SETS = f"{MAGNETS} clusters mixture digits silhouettes"


class Rows(NamedTuple):
    """Data, the phase of each row, hidden units, options of all trainings, the true score."""

    rows: NDArray[Any]
    phase: NDArray[Any] | None
    n_hidden: int
    options: dict[str, Any]
    truth: float = np.nan


@contextmanager
def unturned() -> Iterator[None]:
    """Have no chains turned over."""
    with mock.patch.object(ByData, "turns", lambda self, runs: None):
        yield


def rows_of(name: str, directory: Path) -> Rows:
    """Return a data set."""
    rng = np.random.default_rng(0)
    if name.startswith("magnet"):
        _, side, temperature = name.split("-")
        rows = magnet(int(side), float(temperature), 5000, 5, 0)
        truth = float(log_probability(rows, float(temperature)).mean())
        phase, units = rows.sum(axis=1) > 0, int(side) ** 2 // 4
        return Rows(rows, phase, units, {"visible": "spin"}, truth)
    if name == "clusters":
        patterns, phase = rng.random((4, 40)) < 0.5, rng.choice(4, 5000, p=(0.5, 0.3, 0.15, 0.05))
        flips = rng.random((5000, 40)) < 0.05
        return Rows((patterns[phase] ^ flips).astype(np.uint8), phase, 20, {})
    if name == "mixture":
        phase = rng.choice(3, 5000, p=(0.5, 0.3, 0.2))
        real = rng.normal(size=(3, 10))[phase] + 0.4 * rng.normal(size=(5000, 10))
        real = (real - real.mean(axis=0)) / real.std(axis=0)
        return Rows(real, phase, 20, {"visible": "gaussian"})
    found = load(name, directory)
    return Rows(np.asarray(found.train, np.uint8), None, found.n_hidden, {"epochs": 10})


def settings(rows: Rows) -> dict[str, dict[str, Any]]:
    """Return the options of each training: rates of Gaussian units are a quarter."""
    less = 0.25 if rows.options.get("visible") == "gaussian" else 1.0
    return {
        "defaults": {},
        "0.01 to 0.001": {"learning_rate": (0.01, 0.001)},
        "a rate of 0.05": {"learning_rate": 0.05 * less},
        "a rate of 0.5": {"learning_rate": 0.5 * less},
        "ten sweeps": {"sampler": tf.training.PCD(n_gibbs=10)},
        "CD": {"sampler": "cd"},
        "1,000 chains, slow": {
            "sampler": tf.training.PCD(n_chains=1000),
            "learning_rate": (0.003, 0.0003),
        },
    }


class Outcome(NamedTuple):
    """What a training lacks by long annealing, whether it was told, and its score."""

    words: str
    lack: float
    warned: bool  # of anything, at the end
    told: bool  # of shares, or of mass elsewhere
    early: bool  # of shares while training went
    nats: float  # of a row, about
    score: float
    seconds: float


def outcome(rows: Rows, words: str, options: dict[str, Any], seed: int) -> Outcome | None:
    """Train and judge; None where training ended in an error."""
    begun = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = tf.train_rbm(
                rows.rows,
                rows.n_hidden,
                **{"epochs": 20, "monitor": None} | rows.options | options,
                progress=False,
                rng=seed,
            )
        except FloatingPointError:
            return None
    seconds = time.process_time() - begun
    said = [str(w.message) for w in caught if issubclass(w.category, tf.training.TrainingWarning)]
    early = [each for each in said if each.startswith("after epoch")]
    said = [each for each in said if each not in early]
    model, told = fit.model, any(phrase in each for each in said for phrase in PHRASES)
    some = np.asarray(model.visible_units.columns(rows.rows[:2000]), np.float64)
    share = np.full(len(some), 1 / len(some))
    if rows.phase is None:
        parts = shares.parts_of(some, share)
    else:
        own = rows.phase[:2000]
        parts = [np.flatnonzero(own == k) for k in np.unique(own)]
    lacking, log_z = shares.lack(model, some, share, parts, seed, LONG)
    nats = max(0.0, float(model.column_energy(some).mean()) + log_z)
    score = np.nan
    if not np.isnan(rows.truth):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            log_z = tf.log_partition(model, base=rows.rows, n_temperatures=1000, rng=seed).log_z
        score = float((-model.column_energy(some) - log_z).mean()) - rows.truth
    return Outcome(words, lacking, bool(said), told, bool(early), nats, score, seconds)


def counted(outcomes: list[Outcome]) -> list[int]:
    """Return how many lost shares, of these were not told and were early; how many kept, too."""
    lost = [x for x in outcomes if x.lack > LOST[0] + LOST[1] * x.nats or x.score < -FAR]
    kept = [each for each in outcomes if each.lack < KEPT and each not in lost]
    missed, false = sum(not x.warned for x in lost), sum(x.told for x in kept)
    early = [sum(x.early for x in group) for group in (lost, kept)]
    return [len(lost), missed, early[0], len(kept), false, early[1]]


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=SETS.split(), metavar="SET")
    parser.add_argument("--directory", type=Path, default=Path("."))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unturned", action="store_true", help="chains are not turned over")
    parser.add_argument("--runs", action="store_true", help="a line for each training, too")
    chosen = parser.parse_args()
    table = ["| data | trainings | stopped | lost | missed | early | kept | false alarms | early |"]
    table.append("| --- " * 9 + "|")
    for name in chosen.data:
        rows, outcomes, errors = rows_of(name, chosen.directory), [], 0
        for hidden in ("trug", "bernoulli"):
            for words, options in settings(rows).items():
                own = {"hidden": hidden} | options
                with unturned() if chosen.unturned else nullcontext():
                    found = outcome(rows, f"{hidden}, {words}", own, chosen.seed)
                errors += found is None
                if found is not None:
                    outcomes.append(found)
                    if chosen.runs:
                        print(name, *found, sep="  ", flush=True)
        cells = [len(outcomes) + errors, errors, *counted(outcomes)]
        table.append(f"| {name} | {' | '.join(map(str, cells))} |")
    print("\n".join(table))


if __name__ == "__main__":
    main()
