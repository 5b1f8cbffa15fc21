"""Standard output that outlives its reader and prints in any encoding; the words of messages.

A training of hours must not end because ``head`` has read enough, a disk is full, or a terminal
does not know a letter in the name of a file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

# How messages of the library write what is a flag here: key='a', or skip_missing=True.
KEYWORD = r"\b(key|size|drop|skip_missing|target|length|mirror|alphabet)=('[^']*'|True|)"


def as_typed(words: str) -> str:
    """Return a message of the library in words of the command."""

    def flag(found: re.Match[str]) -> str:
        value = "" if found[2] == "True" else f" {found[2]}".replace("'", "")
        return f"--{found[1].replace('_', '-')}{value}"

    return re.sub(KEYWORD, flag, words)


class PatientOutput:
    """Passes text on to a stream until that takes no more; then drops it.

    ``lost`` says why, unless the reader had left.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self._taken = stream, True
        self.lost: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        """Return what the stream has."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text; return how much was given."""
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Write what is waiting."""
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
