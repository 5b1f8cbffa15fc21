"""Bars: where they are shown, how wide they are, and what stands beside them."""

import io
import os
import sys

import numpy as np
import pytest

from trug_fast._common.progress import Progress, in_notebook, watched


class Terminal(io.StringIO):
    """A terminal that tells no width."""

    def isatty(self):
        return True

    def fileno(self):
        raise OSError("no terminal behind it")


class Wide(Terminal):
    def fileno(self):
        return 2


class Notebook(io.StringIO):
    __module__ = "ipykernel.iostream"


def shown(stream, monkeypatch, show=None, **figures):
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(10, "training", show) as bar:
        bar.advance(5, **figures)
        bar._bar.refresh()
    return stream.getvalue()


def test_a_score_that_is_not_known_is_never_shown(monkeypatch):
    assert "nan" not in shown(Terminal(), monkeypatch, score=np.nan)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(10, "training", None) as bar:
        bar.advance(1, score=-12.5)
        bar.advance(1, score=np.nan)  # an epoch that was not scored
        bar._bar.refresh()
        assert "score=-12.5" in stream.getvalue().splitlines()[-1].split("\r")[-1]
        bar.advance(1, score=-11.0, rate=0.1)
        bar._bar.refresh()
    assert "score=-11, rate=0.1" in stream.getvalue() and "nan" not in stream.getvalue()


def test_a_terminal_without_a_width_has_a_bar(monkeypatch):
    for size in (None, os.terminal_size((0, 0))):
        if size is not None:
            monkeypatch.setattr(os, "get_terminal_size", lambda fileno, size=size: size)
        words = shown(Terminal() if size is None else Wide(), monkeypatch)
        lines = words.split("\r")
        assert any("50%|" in line and "#" in line.replace("█", "#") for line in lines), repr(words)
        assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("stream", "show", "seen"),
    [
        (io.StringIO, None, False),
        (io.StringIO, True, True),
        (Terminal, None, True),
        (Terminal, False, False),
        (Notebook, None, True),
    ],
)
def test_bars_are_for_persons(stream, show, seen, monkeypatch):
    words = shown(stream(), monkeypatch, show)
    assert ("training" in words) == seen
    assert watched() == (stream is not io.StringIO) and in_notebook() == (stream is Notebook)


def test_a_program_without_a_console_has_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not watched()
    with Progress(10, "training", None) as bar:
        bar.advance(1)
