"""Print a Markdown table of whether trainings that failed say so, and others are quiet.

    python -m reproduction.scripts.calibrate_training [--data digits clusters-50 ...] [--seed 0]
        [--runs] [--directory DIR]

Each data set is trained on with the same two dozen settings, which name their batches, chains,
initial weights and rates, so that the table does not depend on defaults; today's defaults are one
more.  None records scores: only what a training watches by itself can stop it, and its
TrainingWarning is its verdict.

Whether it learned is judged apart from that: by the score that the verdict compares, of the same
rows, but over ten draws, and against a model that knows the means of the columns only.  Learned has
what gained a fifth of the best gain on that set, and nothing of columns that are independent.

--runs prints a line for each training as it ends.  Sets whose files DIR lacks are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import trug_fast as tf
from tools.training_sets import (
    FORMER,
    FORMER_RATES,
    Options,
    Rows,
    clusters,
    load,
    made,
    split,
    train,
)
from trug_fast.training.diagnosis import Columns, pull, spread
from trug_fast.training.rbm.parts import Filling
from trug_fast.training.rbm.watch import reconstruction

SHARE = 0.2  # of the best gain on a set: what has that has learned
DRAWS = 10  # of the pixels that a pseudo-log-likelihood is taken of
WIDE = 500  # columns, from which the long runs are of fewer epochs
STRUCTURELESS = "independent"
SETS = "digits bars steps clusters clusters-100 clusters-50 mixture yachts concrete wine factors"
SETS += " independent mnist-5000 silhouettes"
SAID = ("stopped", "warned", "quiet")  # of what had not learned, "quiet" went by unseen
HEAD = ["data", "rows x columns", "best gain", "learned", "of these warned"]
HEAD += ["had not", "stopped", "warned", "unseen"]


class Outcome(NamedTuple):
    """What a training came to: stopped by an error, warned of, or quiet."""

    setting: str
    said: str
    gain: float  # over the means alone, in the score's units; -inf without a model
    effect: float  # the largest of a parameter on a unit, in nats, which diagnosis.LIMIT bounds
    others: list[str]  # classes of warnings that are no verdict
    error: str
    seconds: float


def settings(rows: Rows) -> dict[str, Options]:
    """Return the options of each training; real numbers bear rates of a quarter."""
    few, many = 10, 20 if rows.train.shape[1] >= WIDE else 60
    start, end = FORMER_RATES[rows.real]
    base: Options = {"epochs": few, "learning_rate": (start, end), **FORMER}
    small = base | {"batch_size": 20, "n_chains": 20}
    long = base | {"batch_size": 10, "n_chains": 10, "epochs": many}
    fast = long | {"start_scale": 0.1, "learning_rate": (2.5 * start, end)}
    adaptive = small | {"optimizer": "rmsprop", "learning_rate": (1e-3, 1e-5)}
    bernoulli = {"hidden": "bernoulli"}
    return {
        "today's defaults": {"epochs": few},
        "today's defaults, Bernoulli units": {"epochs": few, **bernoulli},
        "former defaults": base,
        "initial weights of 0.1": base | {"start_scale": 0.1},
        **{
            f"a rate of {rate:g}": base | {"learning_rate": rate}
            for rate in (1e-4, 1.0, 3.0, 10.0, 30.0, 100.0)
        },
        "batches of 20": small,
        "batches of 20, a rate of 0.001": small | {"learning_rate": 1e-3},
        "batches of 20, relu": small | {"truncation": "relu"},
        "batches of 20, Bernoulli units": small | bernoulli,
        "batches of 20, learned precision": small | {"learn_precision": True},
        "batches of 20, RMSprop": adaptive,
        "batches of 20, Adam, a rate of 0.01": adaptive | {"optimizer": "adam"} | _rate(0.01),
        "batches of 20, Adam, a rate of 1": adaptive | {"optimizer": "adam"} | _rate(1.0),
        "long, weights of 0.01": long,
        "long": long | {"start_scale": 0.1},
        "long, fast": fast,
        "long, fast, Bernoulli units": fast | bernoulli,
        "long, tanh": long | {"start_scale": 0.1, "truncation": "tanh"},
        "long, CD": _without_chains(long) | {"start_scale": 0.1, "sampler": "cd"},
    }


def _rate(rate: float) -> Options:
    return {"learning_rate": rate}


def _without_chains(options: Options) -> Options:
    """Return options for CD, whose chains are the batch."""
    return {name: value for name, value in options.items() if name != "n_chains"}


def factors(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return 20 real columns that share five factors."""
    shared = rng.normal(size=(625, 5)) @ rng.normal(size=(5, 20))
    return np.asarray(shared + 0.5 * rng.normal(size=shared.shape))


def independent(count: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return 20 columns of bits that know nothing of each other."""
    shares = np.random.default_rng(99).random(20)
    return (rng.random((count, 20)) < shares).astype(np.uint8)


def rows_of(name: str, directory: Path) -> Rows:
    """Return a data set: one of training_sets.py, or one of those made for this table."""
    if name.startswith("clusters-"):
        return made(clusters, int(name.removeprefix("clusters-")), 30)
    if name == "factors":
        return split(factors(np.random.default_rng(0)), 10, real=True)
    if name == STRUCTURELESS:
        return made(independent, 1000, 30)
    return load(name, directory)


def means_only(rows: Rows) -> tf.BernoulliRBM:
    """Return the model that knows the mean of each column only; real ones have mean 0."""
    weights = np.zeros((rows.train.shape[1], 1))
    if rows.real:
        return tf.BernoulliRBM(weights, 0.0, 0.0, visible_precision=1.0)
    mean = (rows.train.sum(axis=0) + 0.5) / (len(rows.train) + 1)
    return tf.BernoulliRBM(weights, np.log(mean) - np.log1p(-mean), 0.0)


def score(model: tf.TruGRBM | tf.BernoulliRBM, rows: Rows) -> float:
    """Return the mean score of up to 1,000 training rows, by which verdicts go."""
    scored = spread(rows.train)
    if rows.real:
        return float(reconstruction(model, scored, 0, Filling()).mean())
    draws = [tf.pseudo_log_likelihood(model, scored, rng=seed).mean() for seed in range(DRAWS)]
    return float(np.mean(draws))


def effect(model: tf.TruGRBM | tf.BernoulliRBM, rows: Rows) -> float:
    """Return what the strongest parameter does to a unit, in nats, as training counts it."""
    scored = spread(rows.train)
    columns = Columns.of(scored, rows.real)
    scale = columns.scale(np.ones(len(columns.mean)) if rows.real else np.empty(0))
    width = np.ones(model.n_hidden)
    if isinstance(model, tf.TruGRBM):
        room = np.sqrt(np.maximum(model.precision, 1e-30))  # one standard deviation
        width = np.minimum(model.upper - model.lower, 1 / room)
    mean = model.hidden_moments(scored).mean.mean(axis=0)
    net = model.visible_bias + model.weights @ mean - (columns.mean if rows.real else 0.0)
    return float(max(pull(scale, model.weights, width).max(), np.abs(net * scale).max()))


def outcome(rows: Rows, setting: str, options: Options, seed: int) -> Outcome:
    """Train with a setting, and see what is said and what was gained."""
    begun = time.perf_counter()
    model, message = None, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = train(rows, seed, options)
        except FloatingPointError as error:
            said, message = "stopped", str(error)
        else:
            verdict = any(issubclass(w.category, tf.training.TrainingWarning) for w in caught)
            said = "warned" if verdict else "quiet"
    seconds = time.perf_counter() - begun
    gain, most = -np.inf, np.nan
    if model is not None:
        with np.errstate(all="ignore"):  # of models that ran away
            gain = score(model, rows) - score(means_only(rows), rows)
            most = effect(model, rows)
    kinds = [w.category for w in caught if not issubclass(w.category, tf.training.TrainingWarning)]
    others = [kind.__name__ for kind in kinds]
    return Outcome(setting, said, gain, most, others, message, seconds)


def learned(name: str, outcomes: list[Outcome]) -> list[bool]:
    """Return which trainings on a set learned."""
    best = max(each.gain for each in outcomes)
    bound = np.inf if name == STRUCTURELESS else max(SHARE * best, 0.0)
    return [each.gain > bound for each in outcomes]


def row(name: str, rows: Rows, outcomes: list[Outcome]) -> str:
    """Return a row of the table."""
    good, count = learned(name, outcomes), dict.fromkeys(SAID, 0)
    for each, well in zip(outcomes, good, strict=True):
        count[each.said] += not well
    false = sum(each.said == "warned" for each, well in zip(outcomes, good, strict=True) if well)
    best = max(each.gain for each in outcomes)
    cells = [f"{len(rows.train):,} x {rows.train.shape[1]}", f"{best:.2f}", sum(good), false]
    cells += [len(good) - sum(good), *count.values()]
    return f"| {name}{', real' if rows.real else ''} | {' | '.join(map(str, cells))} |"


def exceptions(name: str, outcomes: list[Outcome]) -> list[str]:
    """Return in words which verdicts were wrong."""
    best = max(each.gain for each in outcomes)
    wrong = {(True, "warned"): "learned, but warned", (False, "quiet"): "had not learned, unseen"}
    return [
        f"* {name}, {each.setting}: {wrong[well, each.said]}; {each.gain:+.2f} of {best:.2f}"
        for each, well in zip(outcomes, learned(name, outcomes), strict=True)
        if (well, each.said) in wrong
    ]


def line(each: Outcome) -> str:
    """Return what is printed of one training."""
    words = f"{each.setting:36}  {each.said:7}  {each.gain:+12.3f}  {each.effect:8.1f} nats"
    return f"{words}  {each.seconds:6.1f} s  {' '.join(each.others)} {each.error}".rstrip()


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=SETS.split(), metavar="SET")
    parser.add_argument("--directory", type=Path, default=Path("."))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", action="store_true", help="a line for each training, too")
    chosen = parser.parse_args()
    table: list[str] = []
    wrong: list[str] = []
    effects: list[float] = []
    others: Counter[str] = Counter()
    begun = time.perf_counter()
    for name in chosen.data:
        try:
            rows = rows_of(name, chosen.directory)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        outcomes = []
        for setting, options in settings(rows).items():
            found = outcome(rows, setting, options, chosen.seed)
            outcomes.append(found)
            others.update(found.others)
            if chosen.runs:
                print(f"{name:12}  {line(found)}", flush=True)
        well = learned(name, outcomes)
        effects += [each.effect for each, good in zip(outcomes, well, strict=True) if good]
        table.append(row(name, rows, outcomes))
        wrong += exceptions(name, outcomes)
    print(f"\n| {' | '.join(HEAD)} |\n{'| --- ' * len(HEAD)}|")
    print("\n".join([*table, "", *wrong, ""]))
    most, count = max(effects, default=0.0), len(effects)
    share = np.mean(np.array(effects) < 20) if effects else 1.0
    print(f"* largest effect on a unit in {count} trainings that learned: {most:.0f} nats")
    print(f"* below 20 nats in {share:.0%} of them")
    print(f"* other warnings: {dict(others) or 'none'}")
    print(f"* {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
