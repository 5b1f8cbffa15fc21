"""``trug-fast warm``: compile all that models need, before anybody waits for it.

Tested in tests/test_warming.py.
"""

from __future__ import annotations

import argparse
from typing import Any

from trug_fast import warming

from . import options

ALL = "all"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    words = "compile what models need, once on each computer"
    parser = commands.add_parser(
        "warm",
        help=words,
        description=f"{words.capitalize()}: training with its defaults, sampling, evaluation. What "
        "is there already is not compiled again. Kernels are kept in the first folder that can be "
        "written: NUMBA_CACHE_DIR, that of the installed package, the user's cache.",
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "models",
        metavar="MODEL",
        nargs="*",
        choices=(*warming.MODELS, ALL),
        default=ALL,
        help=f"{', '.join(warming.MODELS)} or {ALL} (the default)",
    )
    options.add_running(parser)


def run(arguments: argparse.Namespace) -> None:
    """Compile, and say what was done."""
    models = () if ALL in arguments.models else arguments.models
    warmed = warming.warm(*models, progress=options.progress(arguments))
    if not arguments.quiet:
        seconds = f"{warmed.seconds:.1f} s"
        done = f"compiled {warmed.compiled} kernels in {seconds}"
        if not warmed.compiled:
            done = f"all kernels were there ({seconds})"
        print(f"{done}, kept in {warmed.folder}")
