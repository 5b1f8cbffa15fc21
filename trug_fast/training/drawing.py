"""What every fit draws and prints of itself.

Tested in tests/plots/test_training.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(fit: Any) -> Figure:
    """Draw the hidden units, the scores and learned truncation points.

    Returns
    -------
    matplotlib Figure
        Notebooks show it; ``figure.savefig("fit.png")`` writes it.
    """
    from trug_fast import plots  # here: training needs no Matplotlib

    return plots.fit(fit.model, fit.history)


def printed(fit: Any) -> str:
    """Return three lines: the model; how long it was trained; its last scores, and the warnings.

    A fit holds arrays of all epochs, which nobody wants to see.
    """
    history = fit.history
    words = [_count(len(history.get("epoch", ())), "epoch")]
    return _lines(fit, words, history.get("seconds", ())[-1:], _last(history))


def printed_together(fit: Any) -> str:
    """Return three lines of an ensemble's fit: as of one, with sums and scores over its models."""
    lengths = [len(own.history.get("epoch", ())) for own in fit.fits]
    least, most = min(lengths), max(lengths)
    epochs = _count(most, "epoch") if least == most else f"{least} to {most} epochs"
    seconds = [own.history["seconds"][-1] for own in fit.fits if "seconds" in own.history]
    held = {
        "held_back_log_likelihood": fit.held_back_log_likelihood,
        "held_back_rmse": fit.held_back_rmse,
    }
    scores = {name: f"{value:.4g}" for name, value in held.items() if value is not None}
    return _lines(fit, [f"{epochs} each"], [sum(seconds)] if seconds else [], scores)


def _lines(fit: Any, words: list[str], seconds: Any, scores: Mapping[str, str]) -> str:
    words = [*words, _count(fit.updates, "update"), *(f"{value:.3g} s" for value in seconds)]
    if fit.interrupted:
        words.append("interrupted")
    said = ", ".join(f"{name} {value}" for name, value in scores.items()) or "no scores"
    warned = _count(len(fit.warnings), "warning") if fit.warnings else "no warnings"
    return f"{type(fit).__name__} of {fit.model}\n{', '.join(words)}\n{said}; {warned}"


def _last(history: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return the last score of each kind in words, with its standard error where that is known."""
    found = {}
    for name, values in history.items():
        if name != "score" and not name.startswith("validation_"):
            continue
        known = np.flatnonzero(~np.isnan(values))
        if known.size:
            last = known[-1]
            error = history.get(f"{name}_error")
            found[name] = f"{values[last]:.4g}"
            if error is not None:
                found[name] += f" +- {error[last]:.2g}"
            if last + 1 < len(values):
                found[name] += f" (epoch {last + 1})"
    return found


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
