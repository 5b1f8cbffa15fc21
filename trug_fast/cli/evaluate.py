"""``trug-fast evaluate MODEL``: log-probabilities of a stored model.

Tested in tests/cli/test_cli.py.
"""

from __future__ import annotations

import argparse
from typing import Any

from trug_fast.evaluation.likelihood import log_likelihood
from trug_fast.evaluation.partition import PAPER
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.models.stored import load_model

from . import options
from .choices import chosen, option

CHOICES = (*options.AIS, "direction", "schedule", "weights_on")
WORDS = {
    "forward": "forward, low on average",
    "reverse": "reverse, high on average",
    "both": "both together",
}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("evaluate", help="log-probability of data under a model")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    options.add_data(parser)
    options.add_annealing(parser, direction="both")
    parser.add_argument(
        "--paper",
        action="store_true",
        help="the paper's setting: 500,000 equally spaced temperatures on its path, 100 chains",
    )
    options.add_checkpoint(parser)
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Estimate log Z and print the mean log-probabilities."""
    choices = chosen(arguments, CHOICES)
    if arguments.paper:
        if given := [name for name in PAPER if name in choices]:
            raise ValueError(f"{option(given[0])} has no effect with --paper")
        choices |= PAPER
    model = load_model(arguments.model, TruGRBM, BernoulliRBM)
    data = options.load_data(arguments)
    options.require_pixels(arguments, model, data)
    choices = {"direction": "both"} | choices
    checkpoint = options.checkpoint_of(arguments)
    estimate = options.anneal(arguments, model, data.train, checkpoint=checkpoint, **choices)
    sides = [side for side in (estimate.forward, estimate.reverse) if side is not None]
    print(f"{model} on {data.name}, {estimate.path} path, {estimate.direction}")
    for side in (*sides, estimate):
        low, high = side.interval
        print(f"log Z    {side.log_z:.3f} +- {side.std_error:.3f}", end="")
        print(f"  95 % interval {low:.3f} to {high:.3f}", end="")
        print(f"  {WORDS[side.direction]}, {side.ess:.1f} chains effective")
    print(f"log Z    {estimate.mean_field:.3f} at least, by mean field")
    for name, rows in (("test", data.test), ("training", data.train)):
        value = log_likelihood(model, rows, estimate).mean()
        print(f"{name:8} {value:.3f} +- {estimate.std_error:.3f} nats per image", end="")
        bounds = [log_likelihood(model, rows, side).mean() for side in sides]
        print(f", between {bounds[1]:.3f} and {bounds[0]:.3f}" if bounds else "")
    for reason in estimate.warnings:
        print(f"do not trust this: {reason}")
