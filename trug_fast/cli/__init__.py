"""The command line: ``trug-fast train``, ``evaluate``, ``sample``, ``plot`` and others.

Each subcommand has a file of its own; here is what they share: the parser's frame and how errors
reach the user.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numba

from trug_fast import __version__
from trug_fast._common import files
from trug_fast._common.config import show_config
from trug_fast._common.workers import WorkersError
from trug_fast.kernels.announcing import announced
from trug_fast.training.diagnosis import TrainingWarning

from . import datasets, evaluate, options, plot, predict, sample, train, warm
from .output import as_typed, patient

# What is told in a sentence; anything else is a mistake of ours.
TOLD = (OSError, ValueError, TypeError, ImportError, FloatingPointError, MemoryError, WorkersError)
# What follows an option and is a value for sure, though it begins like one: -1,1 or -inf,0.
NEGATIVE = re.compile(r"-(\d|\.\d|inf\b)")


def _show_config(commands: Any) -> None:
    words = "processor, BLAS and its kernels, threads, versions, and what makes them slow"
    shown = commands.add_parser("show-config", help=words, description=f"Print {words}.")
    shown.set_defaults(run=lambda _: show_config(), threads=None, quiet=True)


COMMANDS = (
    *(each.add for each in (train, evaluate, predict, sample, plot, datasets, warm)),
    _show_config,
)


def main(
    argv: Sequence[str] | None = None,
    program: str = "trug-fast",
    description: str = "Stochastic networks of truncated Gaussian units.",
    commands: Sequence[Callable[[Any], None]] = COMMANDS,
) -> int:
    """Run one command line; return the exit code: 0, 2 after an error, 130 after Ctrl-C.

    Other programs have commands of their own, each a function that adds it to subparsers.
    """
    with patient() as output:
        parser = _parser(program, description, commands)
        code = _run(parser.parse_args(_joined(sys.argv[1:] if argv is None else argv)))
    if output.lost is not None:
        print(f"trug-fast: cannot write to standard output: {output.lost}", file=sys.stderr)
    return code or (0 if output.lost is None else 2)


def _run(arguments: argparse.Namespace) -> int:
    try:
        options.check(arguments)
        silence = announced("", False) if arguments.quiet else nullcontext()
        named = files.naming(getattr(arguments, "out", None))
        with warnings.catch_warnings(), _threads(arguments.threads), silence, named:
            warnings.simplefilter("ignore", UserWarning)  # commands say in words what they would
            warnings.simplefilter("always", TrainingWarning)  # but for what training itself says
            warnings.showwarning = _say
            arguments.run(arguments)
    except KeyboardInterrupt as stop:
        print(f"trug-fast: interrupted{stop}", file=sys.stderr)
        return 130
    except TOLD as error:
        print(f"trug-fast: {as_typed(str(error)) or 'not enough memory'}", file=sys.stderr)
        return 2
    return 0


def _joined(words: Sequence[str]) -> list[str]:
    """Join to the options before them values that the parser would take for options.

    These are negative numbers, and files of data whose names begin with a dash.
    """
    joined: list[str] = []
    for word in words:
        option = joined[-1] if joined else ""
        file = option == "--data" and word.startswith("-") and Path(word).exists()
        if (file or NEGATIVE.match(word)) and option.startswith("--") and "=" not in option:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as commands print errors, without the line of code."""
    print(f"trug-fast: warning: {message}", file=sys.stderr)


@contextmanager
def _threads(threads: int | None) -> Iterator[None]:
    """Run a command with so many threads; whatever it chooses ends with it."""
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if threads is not None and not 1 <= threads <= most:
        raise ValueError(f"--threads must be from 1 to {most}, got {threads}")
    before = numba.get_num_threads()
    numba.set_num_threads(threads or before)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _parser(
    program: str, description: str, commands: Sequence[Callable[[Any], None]]
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--version", action="version", version=f"trug-fast {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in commands:
        add(subparsers)
    return parser
