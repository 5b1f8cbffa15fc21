"""``trug-fast evaluate MODEL``: log-probabilities of a stored model."""

from __future__ import annotations

import argparse
from typing import Any

from . import options


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("evaluate", help="log-probability of data under a model")
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help="a file that training wrote")
    options.add_data(parser)
    options.add_annealing(parser, temperatures=10_000)
    parser.add_argument(
        "--direction",
        choices=("both", "forward", "reverse"),
        default="both",
        help="of annealing: forward bounds log Z from below, reverse from above (default both)",
    )
    parser.add_argument("--schedule", choices=("uniform", "adaptive"), default="uniform")
    parser.add_argument("--weights-on", choices=("visible", "hidden"), default="visible")
    parser.add_argument(
        "--paper",
        action="store_true",
        help="the paper's setting: 500,000 equally spaced temperatures on its path, 100 chains",
    )
    parser.add_argument(
        "--checkpoint", metavar="FILE", help="write the run here, and go on with it if it exists"
    )
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Estimate log Z and print the mean log-probabilities."""
    from trug_fast._common.checkpoints import Checkpoint
    from trug_fast.evaluation.likelihood import log_likelihood
    from trug_fast.evaluation.partition import PAPER

    if arguments.paper:
        arguments.chains, arguments.temperatures = PAPER["n_chains"], PAPER["n_temperatures"]
        arguments.path, arguments.schedule = PAPER["path"], PAPER["schedule"]
    model = options.load_model(arguments.model)
    data = options.load_data(arguments)
    options.require_pixels(arguments, model, data)
    path = arguments.checkpoint
    estimate = options.anneal(
        arguments,
        model,
        data,
        direction=arguments.direction,
        schedule=arguments.schedule,
        weights_on=arguments.weights_on,
        checkpoint=None if path is None else Checkpoint(path, resume="auto"),
    )
    sides = [side for side in (estimate.forward, estimate.reverse) if side is not None]
    print(f"{model} on {data.name}, {estimate.path} path, {estimate.direction}")
    for side in (*sides, estimate):
        low, high = side.interval
        print(f"log Z    {side.log_z:.3f} +- {side.std_error:.3f}", end="")
        print(f"  95 % interval {low:.3f} to {high:.3f}", end="")
        print(f"  {WORDS[side.direction]}, {side.ess:.1f} of {arguments.chains} chains effective")
    print(f"log Z    {estimate.mean_field:.3f} at least, by mean field")
    for name, rows in (("test", data.test), ("training", data.train)):
        value = log_likelihood(model, rows, estimate).mean()
        print(f"{name:8} {value:.3f} +- {estimate.std_error:.3f} nats per image", end="")
        bounds = [log_likelihood(model, rows, side).mean() for side in sides]
        print(f", between {bounds[1]:.3f} and {bounds[0]:.3f}" if bounds else "")
    for reason in estimate.warnings:
        print(f"do not trust this: {reason}")


WORDS = {
    "forward": "forward, low on average",
    "reverse": "reverse, high on average",
    "both": "both together",
}
