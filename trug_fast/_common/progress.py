"""Progress bars, shown where a person is looking: at a terminal or in a notebook."""

from __future__ import annotations

import math
import os
import sys

UNKNOWN = {"ncols": 80, "nrows": 24}  # of a terminal that does not tell its size


def require_progress(show: object) -> None:
    """Refuse what does not say whether to show a bar."""
    if show is not None and not isinstance(show, bool):
        raise TypeError(f"progress must be None, True or False, got {show!r}")


class Progress:
    """A bar over ``total`` steps; ``show=None`` shows it if a person is looking."""

    def __init__(self, total: int, title: str, show: bool | None) -> None:
        require_progress(show)
        from tqdm.auto import tqdm  # here: in a notebook it draws a bar of its own

        hidden = not (watched() if show is None else show)
        self._figures: dict[str, str] = {}
        self._bar = tqdm(total=total, desc=title, disable=hidden, leave=False, **_size())

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def advance(self, steps: int, **figures: float) -> None:
        """Move on, showing current figures beside the rate; those that are NaN stay as they were.

        Scores are NaN after epochs that are not scored.
        """
        known = {name: f"{value:.4g}" for name, value in figures.items() if not math.isnan(value)}
        if known:
            self._figures |= known
            self._bar.set_postfix(self._figures, refresh=False)
        self._bar.update(steps)


def watched() -> bool:
    """Return whether a person is looking: standard error is a terminal, or this is a notebook."""
    return sys.stderr is not None and (sys.stderr.isatty() or in_notebook())


def in_notebook() -> bool:
    """Return whether what is written appears below a cell."""
    return type(sys.stderr).__module__.startswith("ipykernel.")


def _size() -> dict[str, int]:
    """Return what tqdm must be told of a terminal that tells nothing, where it would be silent."""
    if in_notebook():
        return {}
    try:
        return {} if os.get_terminal_size(sys.stderr.fileno()).columns else UNKNOWN
    except (OSError, ValueError, AttributeError):  # no terminal: a file, or a test's stream
        return UNKNOWN
