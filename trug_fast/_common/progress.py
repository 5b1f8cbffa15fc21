"""Progress bars, shown where a person is looking.

Tested in tests/training/test_driver.py.
"""

from __future__ import annotations

import sys
from types import TracebackType

from tqdm import tqdm

from trug_fast.kernels.announcing import settle


def require_progress(show: object) -> None:
    """Refuse what does not say whether to show a bar."""
    if show is not None and not isinstance(show, bool):
        raise TypeError(f"progress must be None, True or False, got {show!r}")


class Progress:
    """A bar over ``total`` steps; ``show=None`` shows it if standard error is a terminal."""

    def __init__(self, total: int, title: str, show: bool | None) -> None:
        require_progress(show)
        hidden = not (sys.stderr.isatty() if show is None else show)
        self._bar = tqdm(total=total, desc=title, disable=hidden, leave=False)

    def __enter__(self) -> Progress:
        """Return the bar."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        self._bar.close()

    def advance(self, steps: int, **figures: float) -> None:
        """Move on, showing current figures beside the rate."""
        settle()
        if figures:
            self._bar.set_postfix({k: f"{v:.4g}" for k, v in figures.items()}, refresh=False)
        self._bar.update(steps)
