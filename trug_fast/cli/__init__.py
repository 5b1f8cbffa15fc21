"""The command line: ``trug-fast train rbm``, ``evaluate``, ``sample`` and ``plot``.

Each subcommand has a file of its own; here is what they share: the parser's frame and how errors
reach the user.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; return the exit code: 0, 2 after an error, 130 after Ctrl-C."""
    arguments = _parser().parse_args(argv)
    warnings.simplefilter("ignore", UserWarning)  # commands say in words what warnings would
    try:
        _set_threads(arguments.threads)
        arguments.run(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except (OSError, ValueError, TypeError, ImportError) as error:
        print(f"trug-fast: {error}", file=sys.stderr)
        return 2
    return 0


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    import numba

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if not 1 <= threads <= most:
        raise ValueError(f"--threads must be from 1 to {most}, got {threads}")
    numba.set_num_threads(threads)


def _parser() -> argparse.ArgumentParser:
    # Each command adds its options and names its function; none imports the kernels before it
    # runs, so that --help answers at once.
    from . import evaluate, plot, sample, train

    parser = argparse.ArgumentParser(
        prog="trug-fast", description="Stochastic networks of truncated Gaussian units."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (train, evaluate, sample, plot):
        command.add(commands)
    return parser
