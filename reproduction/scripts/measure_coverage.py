"""How many targets of a known model lie inside intervals, less the share inside its own.

    python -m reproduction.scripts.measure_coverage --seeds 20

Each seed draws a model (3 inputs, 6 units on [0, 1.5], noise variance 0.15) and rows of it; single
regressions and ensembles of ten are trained on 3,000 (20 units by "moments", 100 epochs) and judged
on 20,000 others.  Table of notes/tggm.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import trug_fast as tf
from reproduction.results import markdown
from tools.processor import describe

LEVELS = (0.5, 0.9, 0.95)
OPTIONS: Any = {"objective": "moments", "progress": False}


def known_model(seed: int, rows: int) -> tuple[tf.TruGTGGM, Any, Any]:
    """Return a model, and rows drawn from it."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 1, (6, 3)), rng.normal(0.5, 0.5, 6), rng.normal(0, 1, (1, 6))
    model = tf.TruGTGGM(*weights, 0.0, 0.15, 0.0, 1.5)
    X = rng.normal(size=(rows, 3))
    return model, X, model.sample(X, rng=seed)


def trained(
    X: Any, y: Any, seed: int, n_models: int, epochs: int
) -> Iterator[tuple[str, tf.TruGTGGM | tf.TGGMEnsemble]]:
    """Yield what was trained on rows, by how its noise is calibrated."""
    own = OPTIONS | {"epochs": epochs, "rng": seed}
    yield "one model, a tenth held back", tf.train_tggm(X, y, 20, **own).model
    crossed = tf.training.HoldOut(calibrate="cross_validation")
    yield "one model, cross-validation", tf.train_tggm(X, y, 20, validation=crossed, **own).model
    several = tf.train_ensemble(X, y, n_models, 20, **own)
    alone = tf.TGGMEnsemble([fit.model for fit in several.fits])
    yield f"{n_models} models, each with its own noise", alone
    yield f"{n_models} models, one noise of the mixture", several.model


def measured(seed: int, rows: int, judged: int, n_models: int, epochs: int) -> dict[str, Any]:
    """Return, for each calibration, shares inside and log-density, less the true model's."""
    true, X, y = known_model(seed, rows + judged)
    best = tf.regression_scores(true, X[rows:], y[rows:], levels=LEVELS)
    found = {}
    for name, model in trained(X[:rows], y[:rows], seed, n_models, epochs):
        scores = tf.regression_scores(model, X[rows:], y[rows:], levels=LEVELS)
        inside = [scores.coverage[level] - best.coverage[level] for level in LEVELS]
        found[name] = [*inside, scores.log_likelihood - best.log_likelihood]
    return found


def table(found: Sequence[dict[str, Any]]) -> str:
    """Return means and deviations over seeds."""
    header = ["noise by", *(f"inside {100 * level:g} %" for level in LEVELS), "log-density"]
    lines = []
    for name in found[0]:
        values = np.array([each[name] for each in found])
        mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1 if len(found) > 1 else 0)
        shares = [f"{100 * m:+.1f} ± {100 * s:.1f} %" for m, s in zip(mean, spread, strict=True)]
        lines.append([name, *shares[:-1], f"{mean[-1]:+.3f} ± {spread[-1]:.3f}"])
    return markdown(header, lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--judged", type=int, default=20_000)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=100)
    own = parser.parse_args(arguments)
    sizes = own.rows, own.judged, own.models, own.epochs
    print(table([measured(seed, *sizes) for seed in range(own.seeds)]))
    print(f"{own.seeds} seeds, {describe()}")


if __name__ == "__main__":
    main()
