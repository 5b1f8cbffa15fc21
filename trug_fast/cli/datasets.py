"""``trug-fast datasets list`` and ``fetch``: which data sets there are, and getting their files.

Tested in tests/datasets/test_downloads.py.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from trug_fast.datasets import downloads
from trug_fast.datasets.readers import ENVIRONMENT_VARIABLE, FETCHED

from . import options
from .training import rows_of


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    words = "the data sets that can be fetched"
    which = commands.add_parser("datasets", help=words).add_subparsers(
        required=True, metavar="WHAT"
    )
    shown = which.add_parser("list", help=words)
    shown.set_defaults(run=show, quiet=False, threads=None)
    get = which.add_parser("fetch", help="fetch their files, each known by its check sum")
    get.set_defaults(run=run)
    get.add_argument("names", metavar="NAME", nargs="+", choices=tuple(downloads.SETS))
    get.add_argument(
        "--data-dir",
        metavar="DIR",
        help=f"where to put them (default {ENVIRONMENT_VARIABLE}, or {FETCHED})",
    )
    get.add_argument(
        "--mirror",
        metavar="URL",
        help=f"a server that has them as URL/FOLDER/FILE (or set {downloads.MIRROR})",
    )
    options.add_running(get)


def show(arguments: argparse.Namespace) -> None:
    """Print the data sets, their files and sizes."""
    rows = [
        [name, f"{file.folder}/{file.name}", f"{file.size / 1e6:.2f} MB", file.home and "known"]
        for name, files in downloads.SETS.items()
        for file in files
    ]
    header = ["", "file", "size", "address"]
    print(*rows_of(header, [[str(cell or "mirror") for cell in row] for row in rows]), sep="\n")
    known = os.environ.get(ENVIRONMENT_VARIABLE, "not set")
    print(f"{ENVIRONMENT_VARIABLE} is {known}; digits, yacht and balls are part of the package")


def run(arguments: argparse.Namespace) -> None:
    """Fetch, and say where the files are."""
    for name in arguments.names:
        folder = downloads.fetch(
            name,
            arguments.data_dir,
            mirror=arguments.mirror,
            progress=options.progress(arguments),
        )
        print(f"{name} is in {folder}")
