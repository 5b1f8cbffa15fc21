"""``trug-fast evaluate MODEL``: how good a stored model is on data.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
from typing import Any

from trug_fast.evaluation.forecasts import forecast_errors
from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.evaluation.partition import PAPER
from trug_fast.evaluation.prediction import prediction_error
from trug_fast.evaluation.regression import regression_scores
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load_model
from trug_fast.models.tggm import TruGTGGM
from trug_fast.models.trbm import TRBM

from . import options, own_data, predict
from .choices import chosen, option

CHOICES = (*options.AIS, "direction", "schedule", "weights_on")
APART = ("paper", "checkpoint", "resume", "test", "test_share", "size", "binarize", "data_dir")
WORDS = {
    "forward": "forward, low on average",
    "reverse": "reverse, high on average",
    "both": "both together",
}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate",
        help="how good a model is on data",
        description="Of an RBM the log-probability of data, by annealing; of a temporal model the "
        "error of its forecasts; of a regression that of its predictions, and their intervals.",
    )
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    options.add_data(parser, "length", "target")
    predict.add_level(parser, "of a regression's intervals")
    options.add_annealing(parser, direction="both")
    parser.add_argument(
        "--paper",
        action="store_true",
        help="the paper's setting: 500,000 equally spaced temperatures on its path, 100 chains",
    )
    options.add_checkpoint(parser)
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print how good the model is."""
    model = load_model(arguments.model)
    choices = chosen(arguments, CHOICES)
    if isinstance(model, TruGRBM | BernoulliRBM):
        for name in ("length", "target", "level"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"--{name} has no effect on a {type(model).__name__}")
        _run_annealing(arguments, model, choices)
        return
    given = [*choices, *(name for name in APART if getattr(arguments, name))]
    if given:
        raise ValueError(f"{option(given[0])} has no effect on a {type(model).__name__}")
    if isinstance(model, TruGTGGM | TGGMEnsemble):
        _evaluate_regression(arguments, model)
    else:
        if arguments.level is not None:
            raise ValueError(f"--level has no effect on a {type(model).__name__}")
        _evaluate_forecasts(arguments, model)


def _evaluate_regression(arguments: argparse.Namespace, model: TruGTGGM | TGGMEnsemble) -> None:
    if arguments.target is None:
        raise ValueError("--target must name the column that the model predicts")
    level = predict.level_of(arguments)
    X, y = predict.rows_for(arguments, model)
    found = regression_scores(model, X, y, levels=level)
    print(f"{model} on {own_data.stem(arguments.data)}, {len(X)} rows")
    print(f"RMSE            {found.rmse:.4g} +- {found.rmse_error:.2g}")
    print(f"log-likelihood  {found.log_likelihood:.3f}", end="")
    print(f" +- {found.log_likelihood_error:.2g} nats per row")
    print(f"CRPS            {found.crps:.4g} +- {found.crps_error:.2g}")
    print(f"{100 * level:g} % interval   {100 * found.coverage[level]:.0f} % of the rows inside")


def _evaluate_forecasts(arguments: argparse.Namespace, model: TRBM) -> None:
    sequences = own_data.sequences_for(arguments, model)
    error = prediction_error(model, sequences, rng=arguments.seed).mean()
    copy = forecast_errors(sequences, sequences, orders=())["copy last"].mean()
    of = "" if model.scaling is None else " of standardised columns"
    print(f"{model} on {own_data.stem(arguments.data)}, {len(sequences)} sequences")
    print(f"error of its forecasts      {error:.3f}{of}, squared, summed over a frame")
    print(f"repeating the frame before  {copy:.3f}")


def _run_annealing(
    arguments: argparse.Namespace, model: TruGRBM | BernoulliRBM, choices: dict[str, Any]
) -> None:
    """Estimate log Z and print the mean log-probabilities."""
    if arguments.paper:
        if given := [name for name in PAPER if name in choices]:
            raise ValueError(f"{option(given[0])} has no effect with --paper")
        choices |= PAPER
    data = options.rows_for(arguments, model)
    choices = {"direction": "both"} | choices
    checkpoint = options.checkpoint_of(arguments)
    estimate = options.anneal(arguments, model, data.train, checkpoint=checkpoint, **choices)
    sides = [side for side in (estimate.forward, estimate.reverse) if side is not None]
    print(f"{model} on {data.name}, {estimate.path} path, {estimate.direction}")
    if data.left_out:
        print(data.left_out)
    for side in (*sides, estimate):
        low, high = side.interval
        print(f"log Z    {side.log_z:.3f} +- {side.std_error:.3f}", end="")
        print(f"  95 % interval {low:.3f} to {high:.3f}", end="")
        print(f"  {WORDS[side.direction]}, {side.ess:.1f} chains effective")
    print(f"log Z    {estimate.mean_field:.3f} at least, by mean field")
    for name, rows in (("test", data.test), ("training", data.train)):
        value = log_likelihood(model, rows, estimate).mean()
        print(f"{name:8} {value:.3f} +- {estimate.std_error:.3f} nats per {data.of}", end="")
        bounds = [log_likelihood(model, rows, side).mean() for side in sides]
        print(f", between {bounds[1]:.3f} and {bounds[0]:.3f}" if bounds else "")
    for reason in estimate.warnings:
        print(f"do not trust this: {reason}")
