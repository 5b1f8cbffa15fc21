"""The command line: ``trug-fast train``, ``evaluate``, ``sample``, ``plot`` and others.

Here is how a command is run, and how its errors reach the user.  Modules that compute are imported
by the command that needs them, so that help is there at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from typing import Any

from . import flags

# What is told in a sentence; anything else is a mistake of ours.
TOLD = (OSError, ValueError, TypeError, ImportError, FloatingPointError, MemoryError)
# What follows an option and is a value for sure, though it begins like one: -1,1 or -inf,0.
NEGATIVE = re.compile(r"-(\d|\.\d|inf\b)")
INTERRUPTED = "training was interrupted"  # a warning that the command says in other words
# How messages of the library write what is a flag here: key='a'.
KEYWORD = r"\b(key|size|drop|target|length|mirror|alphabet)=(?:'([^']*)')?"


def main(argv: Sequence[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    """Run one command line; return the exit code: 0, 2 after an error, 130 after Ctrl-C.

    Other programs have parsers of their own, whose commands set ``run``, ``threads``, ``quiet``.
    """
    with patient() as output:
        typed = _joined(sys.argv[1:] if argv is None else argv)
        if typed == ["--version"]:  # which takes a while to find
            from trug_fast import __version__

            print(f"trug-fast {__version__}")
            return 0
        code = _run((parser or flags.parser()).parse_args(typed))
    if output.lost is not None:
        print(f"trug-fast: cannot write to standard output: {output.lost}", file=sys.stderr)
    return code or (0 if output.lost is None else 2)


def _run(arguments: argparse.Namespace) -> int:
    try:
        with _surroundings(arguments):
            arguments.run(arguments)
    except KeyboardInterrupt as stop:
        print(f"trug-fast: interrupted{stop}", file=sys.stderr)
        return 130
    except (*TOLD, RuntimeError) as error:
        # Of what is not told, WorkersError is; its module would take Numba along.
        if not isinstance(error, TOLD) and type(error).__name__ != "WorkersError":
            raise
        print(f"trug-fast: {as_typed(str(error)) or 'not enough memory'}", file=sys.stderr)
        return 2
    return 0


@contextmanager
def _surroundings(arguments: argparse.Namespace) -> Iterator[None]:
    """Set threads and notices as they are asked for; name the file in errors of writing it."""
    import numba

    from trug_fast._common import files
    from trug_fast.kernels.announcing import announced

    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    threads, before = arguments.threads, numba.get_num_threads()
    if threads is not None and not 1 <= threads <= most:
        raise ValueError(f"--threads must be from 1 to {most}, got {threads}")
    numba.set_num_threads(threads or before)
    silence = announced("", False) if arguments.quiet else nullcontext()
    try:
        with warnings.catch_warnings(), silence, files.naming(getattr(arguments, "out", None)):
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _say
            yield
    finally:
        numba.set_num_threads(before)


def _joined(words: Sequence[str]) -> list[str]:
    """Join negative numbers to the options before them; the parser would take them for options."""
    joined: list[str] = []
    for word in words:
        option = joined[-1] if joined else ""
        if NEGATIVE.match(word) and option.startswith("--") and "=" not in option:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _say(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as commands print errors, without the line of code."""
    if not str(message).startswith(INTERRUPTED):
        print(f"trug-fast: warning: {as_typed(str(message))}", file=sys.stderr)


def as_typed(words: str) -> str:
    """Return a message of the library in words of the command."""
    return re.sub(KEYWORD, r"--\1 \2", words.replace("skip_missing=True", "--skip-missing"))


class PatientOutput:
    """Passes text on to a stream until that takes no more; then drops it.

    ``lost`` says why, unless the reader had left.  A training of hours must not end because
    ``head`` has read enough, a disk is full, or a terminal does not know a letter of a file's name.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self._taken = stream, True
        self.lost: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, action: Callable[..., object], *arguments: str) -> None:
        if not self._taken:
            return
        try:
            action(*arguments)
        except OSError as error:
            self._taken = False
            if not isinstance(error, BrokenPipeError):
                self.lost = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            with suppress(OSError, ValueError):  # what waits in the stream must go somewhere
                os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


@contextmanager
def patient() -> Iterator[PatientOutput]:
    """Make standard output patient for a while."""
    stream: Any = sys.stdout
    former = getattr(stream, "errors", None)
    if former == "strict":
        stream.reconfigure(errors="replace")
    output: Any = PatientOutput(stream)
    try:
        with redirect_stdout(output):
            yield output
    finally:
        output.flush()
        if former == "strict":
            with suppress(ValueError):  # closed meanwhile
                stream.reconfigure(errors=former)
