"""``trug-fast evaluate`` and ``predict``: how good a stored model is on data, and what it says.

Tested in tests/cli/test_evaluate.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from trug_fast._common.checkpoints import Checkpoint
from trug_fast.evaluation.bridges import log_partition
from trug_fast.evaluation.forecasts import forecast_errors, prediction_error
from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.evaluation.regression import regression_scores
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load
from trug_fast.models.tggm import TruGTGGM

from . import config, data
from .flags import NAMED, refuse

LEVEL = 0.9
WORDS = {
    "forward": "forward, low on average",
    "reverse": "reverse, high on average",
    "both": "both together",
}
# Flags that mean something to models of some kinds only.
OF_RBM = {"n_chains", "n_temperatures", "path", "direction", "checkpoint", "config", "size"}
OF_RBM |= {"binarize"}
OF_REGRESSION = {"target", "level", "y"}


def evaluate(arguments: argparse.Namespace) -> None:
    """Print how good the model is."""
    model = load(arguments.model)
    static = isinstance(model, TruGRBM | BernoulliRBM)
    regression = isinstance(model, TruGTGGM | TGGMEnsemble)
    idle = {"length"} if static or regression else set()
    idle |= (set() if static else OF_RBM) | (set() if regression else OF_REGRESSION)
    refuse(arguments, sorted(idle), f"has no effect on a {type(model).__name__}")
    settings = config.chosen(log_partition, arguments, config.read(arguments.config))
    arguments.seed = settings["rng"]
    if static:
        found = data.of_model(arguments, "rbm", model)
        named = arguments.data in NAMED["rbm"]
        rows = {"test": found.test, "training": found.train} if named else {"data": found.train}
        print_annealed(arguments, model, found.train, rows, settings)
    elif regression:
        _print_regression(arguments, model)
    else:
        sequences = data.of_model(arguments, "trbm", model).train
        error = prediction_error(model, sequences, rng=arguments.seed).mean()
        copy = forecast_errors(sequences, sequences, orders=())["copy last"].mean()
        of = "" if model.scaling is None else " of standardised columns"
        print(f"{model} on {arguments.data}, {len(sequences)} sequences")
        print(f"error of its forecasts      {error:.3f}{of}, squared, summed over a frame")
        print(f"repeating the frame before  {copy:.3f}")


def print_annealed(
    arguments: argparse.Namespace,
    model: Any,
    base: Any,
    parts: Mapping[str, Any],
    settings: dict[str, Any],
) -> None:
    """Estimate log Z and print the mean log-probabilities of some rows."""
    settings = {"direction": "both", "rng": arguments.seed} | settings
    if settings.get("checkpoint") is not None:
        settings["checkpoint"] = Checkpoint(settings["checkpoint"], resume="auto")
    rows = base if isinstance(base, np.ndarray) else next(iter(parts.values()))
    progress = False if arguments.quiet else None
    estimate = log_partition(model, base=rows, progress=progress, **settings)
    sides = [side for side in (estimate.forward, estimate.reverse) if side is not None]
    print(f"{model} on {arguments.data}, {estimate.path} path, {estimate.direction}")
    for side in (*sides, estimate):
        error, (low, high) = f"{side.log_z:.3f} +- {side.std_error:.3f}", side.interval
        print(f"log Z    {error}  95 % interval {low:.3f} to {high:.3f}  {WORDS[side.direction]}, "
              f"{side.ess:.1f} chains effective")  # fmt: skip
    print(f"log Z    {estimate.mean_field:.3f} at least, by mean field")
    of = "row" if model.scaling is None else "row of standardised columns"
    for name, rows in parts.items():
        value = log_likelihood(model, rows, estimate).mean()
        print(f"{name:8} {value:.3f} +- {estimate.std_error:.3f} nats per {of}", end="")
        bounds = [log_likelihood(model, rows, side).mean() for side in sides]
        print(f", between {bounds[1]:.3f} and {bounds[0]:.3f}" if bounds else "")


def _print_regression(arguments: argparse.Namespace, model: TruGTGGM | TGGMEnsemble) -> None:
    found, level = data.regression(arguments, model), arguments.level or LEVEL
    scores = regression_scores(model, found.train, found.y, levels=level)
    print(f"{model} on {arguments.data}, {len(found.train)} rows")
    print(f"RMSE            {scores.rmse:.4g} +- {scores.rmse_error:.2g}")
    print(f"log-likelihood  {scores.log_likelihood:.3f}", end="")
    print(f" +- {scores.log_likelihood_error:.2g} nats per row")
    print(f"CRPS            {scores.crps:.4g} +- {scores.crps_error:.2g}")
    print(f"{100 * level:g} % interval   {100 * scores.coverage[level]:.0f} % of the rows inside")


def predict(arguments: argparse.Namespace) -> None:
    """Write means, standard deviations, intervals and quantiles as a table; targets if known."""
    model = load(arguments.model, TruGTGGM, TGGMEnsemble)
    name = f"{Path(arguments.data).stem}-predictions.csv"
    target = Path(arguments.out or Path(arguments.model).with_name(name))
    if target.suffix != ".csv":
        raise ValueError(f"--out must end in .csv, got {target}")
    if model.n_outputs > 1:
        raise ValueError(f"{arguments.model} has {model.n_outputs} outputs; predict is for one")
    found = data.regression(arguments, model, needs_y=False)
    mean, std = model.predict(found.train, return_std=True)
    level = LEVEL if arguments.level is None else arguments.level
    lower, upper = model.predict_interval(found.train, level)
    columns = {} if found.y is None else {"observed": found.y}
    columns |= {"mean": mean, "std": std, "lower": lower, "upper": upper}
    if arguments.quantiles is not None:
        shares = np.atleast_1d(arguments.quantiles)
        drawn = model.predict_quantiles(found.train, shares)
        columns |= {f"q{q}": each for q, each in zip(shares.tolist(), drawn, strict=True)}
    target.parent.mkdir(parents=True, exist_ok=True)
    table = np.column_stack(list(columns.values()))
    np.savetxt(target, table, delimiter=",", fmt="%.9g", header=",".join(columns), comments="")
    print(f"{len(table)} predictions written to {target}")
