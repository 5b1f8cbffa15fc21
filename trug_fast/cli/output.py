"""Standard output that outlives its reader and prints in any encoding; the words of messages.

A training of hours must not end because ``head`` has read enough, a disk is full, or a terminal
knows no plus-minus sign.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

PLAIN = {"±": "+-", "−": "-", "–": "-", "×": "x", "∞": "inf", "…": "..."}
# Arguments of the library in its messages, and how they are typed: key='X' is --key X.
TYPED = {
    r"\bskip_missing=True": "--skip-missing",
    r"\b(key|size|drop|target|length|mirror|alphabet)='([^']*)'": r"--\1 \2",
    r"\b(key|size|drop|target|length|mirror|alphabet)=": r"--\1 ",
    r"the argument directory\b": "--data-dir",
    r"\bdatasets\.fetch\('([^']*)'\)": r"trug-fast datasets fetch \1",
}
HANDLER = "trug_fast.plain"  # of characters that an encoding lacks


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(PLAIN.get(character, "?") for character in unknown), error.end


def as_typed(words: str) -> str:
    """Return a message of the library in words of the command."""
    for pattern, typed in TYPED.items():
        words = re.sub(pattern, typed, words)
    return words


codecs.register_error(HANDLER, _plain)


class PatientOutput:
    """Passes text on to a stream until that takes no more; then drops it.

    Attributes
    ----------
    lost : OSError or None
        Why text was dropped, unless the reader had left.
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
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=HANDLER)
    output: Any = PatientOutput(stream)
    try:
        with redirect_stdout(output):
            yield output
    finally:
        output.flush()
        if hasattr(stream, "reconfigure"):
            with suppress(ValueError):  # closed meanwhile
                stream.reconfigure(errors=former)
