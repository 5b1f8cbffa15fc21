"""``trug-fast evaluate MODEL``: log-probabilities of a stored machine."""

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
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Estimate log Z and print the mean log-probabilities."""
    from ..likelihood import log_likelihood

    model = options.load_model(arguments.model)
    data = options.load_data(arguments)
    estimate = options.anneal(arguments, model, data)
    print(f"{model} on {data.name}, {estimate.path} path")
    print(f"log Z    {estimate.log_z:.3f} +- {estimate.std_error:.3f}", end="")
    print(f"  ({estimate.ess:.1f} effective of {arguments.chains} chains)")
    for name, rows in (("test", data.test), ("training", data.train)):
        value = log_likelihood(model, rows, estimate.log_z).mean()
        print(f"{name:8} {value:.3f} +- {estimate.std_error:.3f} nats per image")
