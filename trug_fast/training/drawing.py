"""What every fit draws of itself.

Tested in tests/plots/test_training.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(fit: Any) -> Figure:
    """Draw the hidden units, the scores and learned truncation points.

    Returns
    -------
    matplotlib Figure
        Notebooks show it; ``figure.savefig("fit.png")`` writes it.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    """
    from trug_fast import plots  # here: training needs no Matplotlib

    return plots.fit(fit.model, fit.history)
