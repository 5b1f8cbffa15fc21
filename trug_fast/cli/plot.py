"""``trug-fast plot``: figures of stored machines and of the units themselves."""

from __future__ import annotations

import argparse
from typing import Any

from . import options


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("plot", help="draw a figure")
    figures = parser.add_subparsers(required=True, metavar="FIGURE")
    family = figures.add_parser("family", help="units of four intervals")
    family.add_argument("out", metavar="OUT.png")
    family.set_defaults(run=draw_family)
    units = figures.add_parser("units", help="a model's nonlinearities")
    units.add_argument("model", metavar="MODEL")
    units.add_argument("out", metavar="OUT.png")
    units.set_defaults(run=draw_units)
    for each in (family, units):
        options.add_common(each)


def draw_family(arguments: argparse.Namespace) -> None:
    """Draw the nonlinearities that fixed intervals give."""
    from .. import plots

    plots.family().savefig(arguments.out)
    print(f"written to {arguments.out}")


def draw_units(arguments: argparse.Namespace) -> None:
    """Draw what a model's units have become."""
    from .. import plots

    plots.save(plots.nonlinearities(options.load_model(arguments.model)), arguments.out)
    print(f"written to {arguments.out}")
