"""The command line: ``trug-fast train``, ``evaluate``, ``sample``, ``plot`` and ``reproduce``.

Each subcommand has a file of its own; here is what they share: the parser's frame and how errors
reach the user.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..diagnosis import TrainingWarning


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; return the exit code: 0, 2 after an error, 130 after Ctrl-C."""
    arguments = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings(), _threads(arguments.threads):
            warnings.simplefilter("ignore", UserWarning)  # commands say in words what they would
            warnings.simplefilter("always", TrainingWarning)  # but for what training itself says
            warnings.showwarning = _say
            arguments.run(arguments)
    except KeyboardInterrupt as stop:
        print(f"trug-fast: interrupted{stop}", file=sys.stderr)
        return 130
    except (OSError, ValueError, TypeError, ImportError, FloatingPointError) as error:
        print(f"trug-fast: {error}", file=sys.stderr)
        return 2
    return 0


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as commands print errors, without the line of code."""
    print(f"trug-fast: warning: {message}", file=sys.stderr)


@contextmanager
def _threads(threads: int | None) -> Iterator[None]:
    """Run a command with so many threads; whatever it chooses ends with it."""
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if threads is not None and not 1 <= threads <= most:
        raise ValueError(f"--threads must be from 1 to {most}, got {threads}")
    before = numba.get_num_threads()
    numba.set_num_threads(threads or before)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _parser() -> argparse.ArgumentParser:
    # Each command adds its options and names its function; none imports the kernels before it
    # runs, so that --help answers at once.
    from . import evaluate, plot, reproduce, sample, train

    parser = argparse.ArgumentParser(
        prog="trug-fast", description="Stochastic networks of truncated Gaussian units."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (train, evaluate, sample, plot, reproduce):
        command.add(commands)
    return parser
