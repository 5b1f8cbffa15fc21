"""The text of a FASTA file: its bytes, its lines, and where they name sequences.

Tested in tests/datasets/test_fasta.py.
"""

from __future__ import annotations

import gzip
import os
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import archives

SPACES = b" \t\n\r\v\f"
GZIP = b"\x1f\x8b"

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]


class FastaText(NamedTuple):
    """The bytes of a file and its lines.

    name : what it is called in messages
    bytes : with lines that end with one byte
    starts, stops : of each line, without its end
    heads : which lines name sequences
    """

    name: str
    bytes: Bytes
    starts: Places
    stops: Places
    heads: Places

    def line_at(self, place: int) -> int:
        """Return the number of the line, from 1, that a byte is in."""
        return int(np.searchsorted(self.starts, place, side="right"))

    def error(self, place: int, words: str) -> ValueError:
        """Return an error that gives the line of a byte."""
        return ValueError(f"{self.name}, line {self.line_at(place)}: {words}")

    def letters(self) -> Bytes:
        """Return the bytes with blanks in place of the lines that name sequences."""
        edges = np.zeros(self.bytes.size + 1, np.int8)
        edges[self.starts[self.heads]] = 1
        edges[self.stops[self.heads]] = -1
        inside = np.cumsum(edges[:-1], dtype=np.int8).view(bool)
        return np.where(inside, np.uint8(ord(" ")), self.bytes)


def text_of(path: Any) -> FastaText:
    """Return the text of a file or an open one.

    Raises
    ------
    OSError
        If it cannot be read.
    TypeError, ValueError
        If it is damaged, or does not begin with the name of a sequence.
    """
    name, content = _content(path)
    return FastaText(name, content, *_places(name, content))


def _content(path: Any) -> tuple[str, Bytes]:
    """Return what a file is called, and its bytes, with lines that end with one each."""
    if hasattr(path, "read"):
        name, content = str(getattr(path, "name", "the file")), path.read()
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogateescape")
    elif isinstance(path, str | os.PathLike) and os.fspath(path):
        name, content = str(path), Path(path).read_bytes()
    else:
        raise TypeError(f"path must name a file, or be an open one, got {path!r:.60}")
    if content.startswith(GZIP):
        packed = len(content)
        most = max(archives.ROOM, archives.PACKED * packed) + 1
        try:
            with gzip.open(BytesIO(content)) as stream:
                content = stream.read(most)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{name} is damaged: {error}") from error
        archives.require_modest(name, len(content), packed)
    content = content.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return name, np.frombuffer(content, np.uint8)


def _places(name: str, content: Bytes) -> tuple[Places, Places, Places]:
    """Return where lines begin and stop, and which of them name sequences."""
    ends = np.flatnonzero(content == ord("\n"))
    starts, stops = np.append(0, ends + 1), np.append(ends, content.size)
    starts, stops = (part[: part.size - (starts[-1] == content.size)] for part in (starts, stops))
    heads = np.flatnonzero(content[starts] == ord(">")) if starts.size else starts
    before = content[: starts[heads[0]]] if heads.size else content
    some = np.flatnonzero(~np.isin(before, np.frombuffer(SPACES, np.uint8)))
    if some.size:
        line = int(np.searchsorted(starts, some[0], side="right"))
        first = content[starts[line - 1] : stops[line - 1]].tobytes().decode("utf-8", "replace")
        raise ValueError(
            f"{name}, line {line}: {first:.40} stands before the first sequence, a FASTA file "
            "begins with '>' and a name"
        )
    if not heads.size:
        raise ValueError(f"{name} is empty")
    return starts, stops, heads
