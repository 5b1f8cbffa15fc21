"""Train on magnets, whose true log-likelihood is known, and see whether all phases are kept.

    python -m tools.magnets [--magnets 16@2.2 12@2.15 ...] [--hidden trug bernoulli]
        [--units 64 256] [--seeds 0 1 2] [--change n_chains=1000 ...] [--results FILE] [--test]

A magnet "16@2.2" has 16 x 16 spins that prefer to be as their neighbours, at temperature 2.2.
Below 2.27 nearly all spins of a row agree, and half of the rows are turned over: two phases, which
chains of Gibbs sampling hardly ever leave.  Kaufman's formula (Phys. Rev. 76 (1949), 1232) gives
log Z of the finite lattice, so the best mean log-probability of any rows is known exactly.

Prints a line for each training: how far held-out rows (with ``--test`` rows for testing) are below
the truth, by annealing forward and back; the share of rows that point up in the data, in chains
after 1,000 sweeps from data and from noise, with how many standard errors the former are off; the
log-odds of these rows in the data and in the model, with their error; magnetisation, energy and
correlations of draws and of the data, with the standard error of the difference.  With
``--results`` lines are kept as JSON, and those that are there are not computed again.
"""

from __future__ import annotations

import argparse
import ast
import math
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

import trug_fast as tf
from reproduction.choices import arguments_of
from reproduction.results import append, plain, read, source
from tools.processor import describe

Array = NDArray[Any]
ROWS, OTHERS = 10_000, 2_000  # to train on; held out, and to test
SWEEPS, APART = 5, 50  # of Metropolis's chain between two rows; of rows that are not trained on
WARM = 200  # rows that are left out at the beginning
DRAWS = 1_000
TEMPERATURES = 2_000


def log_z(side: int, temperature: float) -> float:
    """Return log Z of a square lattice on a torus by Kaufman's formula."""
    coupling, n = 1 / temperature, side
    angles = np.pi * np.arange(2 * n) / n
    gamma = np.arccosh(np.cosh(2 * coupling) / np.tanh(2 * coupling) - np.cos(angles))
    gamma[0] = 2 * coupling + math.log(math.tanh(coupling))  # which changes its sign at T_c
    terms, signs = [], []
    for half in (gamma[1::2] * n / 2, gamma[::2] * n / 2):
        size = np.abs(half)
        terms += [(size + np.log1p(np.exp(-2 * size))).sum()]
        terms += [(size + np.log(-np.expm1(-2 * size))).sum()]
        signs += [1.0, float(np.sign(half).prod())]
    top = max(terms)
    total = sum(s * math.exp(t - top) for s, t in zip(signs, terms, strict=True))
    return n * n / 2 * math.log(2 * math.sinh(2 * coupling)) - math.log(2) + top + math.log(total)


@njit
def _metropolis(spins: Array, temperature: float, between: int, rng: Any, out: Array) -> None:
    n = spins.shape[0]
    for r in range(-WARM, out.shape[0]):
        for _ in range(between * n * n):
            i, j = int(rng.random() * n), int(rng.random() * n)
            around = spins[i - 1, j] + spins[(i + 1) % n, j]
            around += spins[i, j - 1] + spins[i, (j + 1) % n]
            cost = 2.0 * spins[i, j] * around
            if cost <= 0 or rng.random() < math.exp(-cost / temperature):
                spins[i, j] = -spins[i, j]
        if r >= 0:
            out[r] = spins.ravel()


def magnet(side: int, temperature: float, rows: int, between: int, seed: int) -> Array:
    """Return rows of a chain of Metropolis's, half of them, at random, turned over."""
    rng = np.random.default_rng(seed)
    out = np.empty((rows, side * side), np.int8)
    _metropolis(np.ones((side, side), np.int8), temperature, between, rng, out)
    out *= np.where(rng.permutation(rows) % 2, 1, -1)[:, None]
    return out


def energy(rows: Array) -> Array:
    """Return the energy of each row."""
    side = math.isqrt(rows.shape[1])
    spins = rows.reshape(-1, side, side).astype(np.float64)
    return -sum((spins * np.roll(spins, 1, axis)).sum(axis=(1, 2)) for axis in (1, 2))


def log_probability(rows: Array, temperature: float) -> Array:
    """Return the true log-probability of each row."""
    return -energy(rows) / temperature - log_z(math.isqrt(rows.shape[1]), temperature)


def correlation(rows: Array, distance: int) -> Array:
    """Return the correlation at a distance, by each row."""
    side = math.isqrt(rows.shape[1])
    spins = rows.reshape(-1, side, side).astype(np.float64)
    turned = [spins * np.roll(spins, distance, axis) for axis in (1, 2)]
    return sum(turned).mean(axis=(1, 2)) / 2


def log_odds(model: Any, data: Array, seed: int) -> tuple[float, float]:
    """Return the model's log-odds of rows that point up, with its standard error.

    Chains that begin at data of a phase are turned over: Bennett's ratio of the phases.
    """
    some = data[:: len(data) // 500]
    some = np.where(some.sum(axis=1) < 0, -1, 1)[:, None] * some
    gains = []
    for sign in (1, -1):
        rows = model.sample(start=sign * some, n_gibbs=50, rng=seed)
        rows = rows[rows.sum(axis=1) * sign > 0]
        if len(rows) < 20:  # the model has lost this phase
            return -sign * math.inf, 0.0
        gains.append(model.free_energy(rows) - model.free_energy(-rows))
    up, down = gains[0], gains[1]
    odds = float(
        brentq(lambda odds: expit(down - odds).mean() - expit(up + odds).mean(), -1e4, 1e4)
    )
    shares = (expit(down - odds), expit(up + odds))
    error = math.sqrt(sum(each.var() / each.mean() ** 2 / len(each) for each in shares))
    return odds, error


def judged(model: Any, train: Array, rows: Array, truth: float, seed: int) -> dict[str, Any]:
    """Return what is known of a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = tf.log_partition(
            model,
            n_temperatures=TEMPERATURES,
            base=train,
            direction="both",
            start=train[:: ROWS // 100],
            n_gibbs=100,
            rng=seed,
            progress=False,
        )
    below = {
        name: round(truth - float(tf.log_likelihood(model, rows, value).mean()), 2)
        for name, value in (
            ("below", found.log_z),
            ("below_forward", found.forward.log_z),
            ("below_reverse", found.reverse.log_z),
        )
    }
    drawn = model.sample(start=train[:: ROWS // DRAWS], rng=seed)
    odds, error = log_odds(model, train, seed)
    theirs = _up(train)
    result = below | {
        "up": [
            round(theirs, 3),
            round(_up(drawn), 3),
            round(_up(model.sample(DRAWS, rng=seed)), 3),
        ],
        "up_z": round((_up(drawn) - theirs) / (0.5 / math.sqrt(DRAWS)), 1),
        "log_odds": [round(math.log(theirs / (1 - theirs)), 2), round(odds, 2), round(error, 2)],
        "magnetisation": _pair(np.abs(drawn.mean(axis=1)), np.abs(rows.mean(axis=1))),
        "energy": _pair(energy(drawn), energy(rows)),
    }
    for distance in (1, min(8, math.isqrt(rows.shape[1]) // 2)):
        name = f"correlation_{distance}"
        result[name] = _pair(correlation(drawn, distance), correlation(rows, distance))
    return result


def _up(rows: Array) -> float:
    """Return the share of rows that point up."""
    return float(((rows.sum(axis=1) > 0) + 0.5 * (rows.sum(axis=1) == 0)).mean())


def _pair(ours: Array, theirs: Array) -> list[float]:
    """Return the mean of draws, of data, and the standard error of both."""
    error = math.sqrt(ours.var() / len(ours) + theirs.var() / len(theirs))
    return [float(f"{value:.4g}") for value in (ours.mean(), theirs.mean(), error)]


def cell(name: str, hidden: str, units: int, seed: int, changes: dict[str, Any], test: bool) -> Any:
    """Train on a magnet; return what came of it."""
    side, temperature = name.split("@")
    args = int(side), float(temperature)
    train = magnet(*args, ROWS, SWEEPS, 1)
    rows = magnet(*args, OTHERS, APART, 3 if test else 2)
    truth = float((-energy(rows) / args[1]).mean() - log_z(*args))
    options = arguments_of(
        tf.train_rbm, {"hidden": hidden, "score": "none", "visible": "spin"} | changes
    )
    begun = time.process_time(), time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = tf.train_rbm(train, units, **options, progress=False, rng=seed)
        except FloatingPointError as error:
            return {"truth": truth, "stopped": str(error)}
    seconds = time.process_time() - begun[0], time.perf_counter() - begun[1]
    found = {"truth": round(truth, 2)} | judged(fit.model, train, rows, truth, seed)
    found["warnings"] = sorted({str(each.message)[:80] for each in caught})
    return found | {"cpu_seconds": round(seconds[0], 1), "seconds": round(seconds[1], 1)}


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    magnets = "16@2.2 16@2.27 16@3.0 12@2.15"
    parser.add_argument("--magnets", nargs="+", default=magnets.split())
    parser.add_argument("--hidden", nargs="+", default=["trug", "bernoulli"])
    parser.add_argument("--units", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--change", nargs="+", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--test", action="store_true", help="rows that no default was chosen by")
    options = parser.parse_args()
    pairs = (change.split("=") for change in options.change)
    changes = {name: ast.literal_eval(value) for name, value in pairs}
    known = [] if options.results is None else read(options.results)
    about = {"commit": source(), "processor": describe()}
    for name in options.magnets:
        for hidden in options.hidden:
            for units in options.units:
                for seed in options.seeds:
                    own = {"magnet": name, "hidden": hidden, "units": units, "seed": seed}
                    own |= {"changes": plain(changes), "rows": "test" if options.test else "held"}
                    own["commit"] = about["commit"]
                    if any(own.items() <= line.items() for line in known):
                        continue
                    found = cell(name, hidden, units, seed, changes, options.test)
                    line = own | found | about
                    if options.results is not None:
                        append(options.results, line)
                    shown = {k: v for k, v in line.items() if k not in about}
                    print(*(f"{k}={v}" for k, v in shown.items()), flush=True)


if __name__ == "__main__":
    main()
