"""``trug-fast reproduce table1``: the paper's tables, trained and evaluated anew."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import options

if TYPE_CHECKING:
    from ..reproduce.runner import Table

TABLES = {"table1": "test log-probability of RBMs on MNIST and CalTech 101 Silhouettes"}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("reproduce", help="the paper's tables and figures")
    which = parser.add_subparsers(required=True, metavar="WHAT")
    for name, what in TABLES.items():
        table = which.add_parser(name, help=what)
        table.set_defaults(run=run, table=name)
        add_run(table, name)
        table.add_argument(
            "--results", metavar="FILE", help="append results here too, e.g. a file under git"
        )
        table.add_argument(
            "--show", action="store_true", help="only print the results in --results or --out"
        )
        table.add_argument(
            "--print-config", action="store_true", help="only print the configuration, to edit it"
        )


def add_run(parser: argparse.ArgumentParser, name: str) -> None:
    """Add what tables and figures share."""
    parser.add_argument("--config", metavar="FILE", help="configuration (default: the shipped one)")
    parser.add_argument("--out", metavar="DIR", help="folder of checkpoints, models and results")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="CELL",
        help="a data set or a cell of it, e.g. mnist or mnist/per-unit; may be repeated",
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run of some minutes")
    parser.add_argument("--data-dir", help="where the data sets lie (or set TRUG_FAST_DATA)")
    options.add_common(parser)


def run(arguments: argparse.Namespace) -> None:
    """Compute what is missing of a table and print it."""
    from ..reproduce import protocol, results, runner

    name = arguments.table
    if arguments.print_config:
        print(protocol.text(name, arguments.config), end="")
        return
    table: Table = import_module(f"..reproduce.{name}", __package__).TABLE
    out = Path(arguments.out or (f"{name}-quick" if arguments.quick else name))
    also = Path(arguments.results) if arguments.results else None
    if arguments.show:
        path = also or out / runner.RESULTS
        if not path.exists():
            raise FileNotFoundError(f"no results in {path}")
        lines = results.read(path)
    else:
        cells = table.cells(arguments.config, arguments.only, quick=arguments.quick)
        session = runner.Session(
            out, arguments.seed, arguments.data_dir, options.progress(arguments)
        )
        lines = runner.run(table, cells, session, also)
    print(runner.show(table, lines))
