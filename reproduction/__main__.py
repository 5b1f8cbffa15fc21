"""``python -m reproduction table1``: the paper's tables, trained and evaluated anew.

Tested in tests/reproduction/test_runner.py.
"""

from __future__ import annotations

import argparse
import codecs
import logging
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from reproduction import (
    figures,
    motion,
    proteins,
    protocol,
    results,
    runner,
    table1,
    table2,
    table3,
    table4,
    table4_views,
)
from reproduction.datasets import downloads
from trug_fast import cli
from trug_fast._common import checks
from trug_fast._common.workers import WorkersError

TABLES = {module.TABLE.name: module for module in (table1, table2, table3, table4, proteins)}
NONLINEARITIES = "nonlinearities"
LEAST = {"n_seeds": 1, "seed": 0}


def add(which: Any) -> None:
    """Add a command for each table to the parser."""
    for name, each in TABLES.items():
        table = which.add_parser(name, help=each.TABLE.summary)
        table.set_defaults(run=run, table=name)
        add_run(table)
        table.add_argument(
            "--results", metavar="FILE", help="append results here too, e.g. a file under git"
        )
        table.add_argument(
            "--n-seeds",
            type=int,
            default=1,
            metavar="N",
            help="so many runs of each cell, with seeds from --seed on (default 1)",
        )
        table.add_argument(
            "--scheduler",
            metavar="ADDRESS",
            help="of a Dask cluster whose workers compute the cells; they see --out and the data",
        )
        table.add_argument(
            "--show", action="store_true", help="only print the results in --results or --out"
        )
    drawn = which.add_parser(figures.NAME, help="figures of the models of table1")
    drawn.set_defaults(run=run_figures, table=figures.NAME)
    add_run(drawn)
    units = which.add_parser(NONLINEARITIES, help="what the regressions of table4 have learned")
    units.set_defaults(run=run_nonlinearities)
    units.add_argument("--out", metavar="DIR", default="table4", help="folder of table4")
    add_common(units)
    add_common(motion.add(which))
    get = which.add_parser("fetch", help="fetch the files of a data set, known by their check sums")
    get.add_argument("names", metavar="NAME", nargs="+", choices=tuple(downloads.SETS))
    get.add_argument("--data-dir", metavar="DIR", help="where to (default TRUG_FAST_DATA)")
    get.add_argument("--mirror", metavar="URL", help="a server that has them as URL/FOLDER/FILE")
    get.set_defaults(run=run_fetch)
    add_common(get)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add what tables and figures share."""
    parser.add_argument("--config", metavar="FILE", help="configuration (default: the shipped one)")
    parser.add_argument(
        "--print-config", action="store_true", help="only print the configuration, to edit it"
    )
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
    add_common(parser)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what everything takes that draws."""
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    parser.add_argument("--threads", type=int, default=None, help="threads (default all cores)")
    parser.add_argument("--quiet", action="store_true", help="no bars, no notices")


def check(arguments: argparse.Namespace) -> None:
    """Refuse numbers that are too small and names that are empty, by the names of their options."""
    for name, value in vars(arguments).items():
        option = f"--{name.replace('_', '-')}"
        if value == "":
            raise ValueError(f"{option} must not be empty, got ''")
        if name in LEAST:
            checks.count(option, value, LEAST[name])


def progress(arguments: argparse.Namespace) -> bool | None:
    """Return whether to show bars: never if quiet, else where a person is looking."""
    return False if arguments.quiet else None


def folder(arguments: argparse.Namespace, table: str) -> Path:
    """Return the folder of a table; a smoke run has its own."""
    return Path(arguments.out or (f"{table}-quick" if arguments.quick else table))


def run(arguments: argparse.Namespace) -> None:
    """Compute what is missing of a table and print it."""
    check(arguments)
    name = arguments.table
    if arguments.print_config:
        print(protocol.text(name, arguments.config), end="")
        return
    table = TABLES[name].TABLE
    out = folder(arguments, name)
    also = Path(arguments.results) if arguments.results else None
    failures: list[str] = []
    if arguments.show:
        if arguments.n_seeds != 1 or arguments.scheduler:
            raise ValueError("--n-seeds and --scheduler have no effect with --show")
        path = also or out / runner.RESULTS
        if not path.exists():
            raise FileNotFoundError(f"no results in {path}")
        lines = results.read(path)
    else:
        cells = table.cells(arguments.config, arguments.only, quick=arguments.quick)
        session = runner.Session(
            out.absolute() if arguments.scheduler else out,
            arguments.seed,
            arguments.data_dir,
            progress(arguments),
        )
        sessions = session.seeds(arguments.n_seeds)
        with cluster(arguments.scheduler) as executor:
            lines, failures = runner.run(table, cells, sessions, also, executor)
    print(runner.show(table, lines))
    if failures:
        raise FloatingPointError("; ".join(failures))


@contextmanager
def cluster(address: str | None) -> Iterator[Executor | None]:
    """Give the workers of a Dask cluster as an executor, or none where there is no address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            'install dask for --scheduler, or: pip install "trug_fast[distributed]"'
        ) from error
    try:
        client = Client(address, timeout=30)
    except (OSError, ValueError) as error:
        raise ValueError(f"--scheduler: no Dask cluster at {address}: {error}") from error
    log = logging.getLogger("distributed.client")
    before = log.level
    try:
        with client, client.get_executor(pure=False) as executor:
            try:
                yield executor
            except WorkersError:
                # A client without a scheduler logs its trials to reach one, with all their frames.
                log.setLevel(logging.CRITICAL)
                raise
    finally:
        log.setLevel(before)


def run_figures(arguments: argparse.Namespace) -> None:
    """Draw what the finished models of Table 1 give."""
    check(arguments)
    if arguments.print_config:
        print(protocol.text(figures.NAME, arguments.config), end="")
        return
    session = runner.Session(
        folder(arguments, "table1"),
        arguments.seed,
        arguments.data_dir,
        progress(arguments),
    )
    settings = figures.settings(arguments.config, quick=arguments.quick)
    for path in figures.draw(session, settings, arguments.only):
        print(f"written to {path}")


def run_nonlinearities(arguments: argparse.Namespace) -> None:
    """Draw the nonlinearities that the finished regressions of Table 4 have learned in common."""
    session = runner.Session(Path(arguments.out), arguments.seed, None, progress(arguments))
    print(f"written to {table4_views.draw(session)}")


def run_fetch(arguments: argparse.Namespace) -> None:
    """Fetch data sets, and say where their files are."""
    for name in arguments.names:
        given = {"mirror": arguments.mirror, "progress": progress(arguments)}
        print(f"{name} is in {downloads.fetch(name, arguments.data_dir, **given)}")


PLAIN = {"±": "+-", "−": "-", "–": "-", "×": "x", "∞": "inf", "…": "..."}
HANDLER = "reproduction.plain"  # of characters that an encoding lacks


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(PLAIN.get(character, "?") for character in unknown), error.end


codecs.register_error(HANDLER, _plain)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction", description="The paper's tables and figures."
    )
    add(parser.add_subparsers(required=True, metavar="COMMAND"))
    stream: Any = sys.stdout
    former = getattr(stream, "errors", None)
    if former not in ("strict", "surrogateescape"):  # which a locale of ASCII has
        return cli.main(argv, parser)
    stream.reconfigure(errors=HANDLER)
    try:
        return cli.main(argv, parser)
    finally:
        stream.reconfigure(errors=former)


if __name__ == "__main__":
    sys.exit(main())
