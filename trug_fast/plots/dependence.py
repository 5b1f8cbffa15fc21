"""The figure of what a regression makes of its inputs, beside the nonlinearities it has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.evaluation.dependence import PartialDependence, partial_dependence
from trug_fast.models.ensemble import TGGMEnsemble
from trug_fast.models.tggm import TruGTGGM

from .canvas import BLUE, GREY, new_figure, set_title, tidy
from .units import nonlinearities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS, WIDTH, HEIGHT = 3, 3.8, 2.9  # panels in a row; inches of each


def dependence(
    model: TruGTGGM | TGGMEnsemble, X: ArrayLike, *, n: int = 5, output: int = 0
) -> Figure:
    """Draw how predictions depend on the inputs that matter most, and what units have learned.

    Parameters
    ----------
    model : TruGTGGM or TGGMEnsemble
        Of an ensemble its models' curves are drawn, too, and the units of the first of them.
    X : array_like, shape (rows, n_inputs)
        Rows over which is averaged; see :func:`trug_fast.partial_dependence`.
    n : int
        Inputs drawn, those whose curves vary most; strokes below show deciles of their values.
    output : int
        Which output.

    Returns
    -------
    matplotlib Figure
        A panel for each input, and one with nonlinearities of the hidden units.
    """
    checks.kind("model", model, TruGTGGM, TGGMEnsemble)
    count, output = checks.count("n", n), checks.count("output", output, least=0)
    if output >= model.n_outputs:
        raise ValueError(f"output must be below the {model.n_outputs} outputs, got {output}")
    data = np.asarray(checks.matrix("X", model.by_name("X", X), model.n_inputs), np.float64)
    found = [_of_output(partial_dependence(model, data, j), output) for j in range(data.shape[1])]
    chosen = np.argsort([-curve.mean.std() for curve in found], kind="stable")[:count]
    rows = -(-(len(chosen) + 1) // COLUMNS)
    figure = new_figure(COLUMNS * WIDTH, rows * HEIGHT)
    panels = [figure.add_subplot(rows, COLUMNS, k + 1) for k in range(len(chosen) + 1)]
    for ax, j in zip(panels, chosen, strict=False):
        curve = found[j]
        if len(curve.by_model) > 1:
            ax.plot(curve.values, curve.by_model.T, color=GREY, lw=0.7, alpha=0.7)
        ax.plot(curve.values, curve.mean, color=BLUE, lw=2)
        deciles = np.quantile(data[:, j], np.arange(1, 10) / 10)
        ax.plot(deciles, np.zeros(9), "|", color=GREY, transform=ax.get_xaxis_transform())
        ax.set_xlabel(model.columns[j] if model.columns is not None else f"input {j}")
        tidy(ax)
    for ax in panels[: len(chosen)]:  # one scale for all
        ax.sharey(panels[0])
    panels[0].set_ylabel("mean prediction")
    set_title(panels[0], f"what {len(chosen)} of {data.shape[1]} inputs do, most first")
    nonlinearities(model[0] if isinstance(model, TGGMEnsemble) else model, panels[-1])
    return figure


def _of_output(found: PartialDependence, output: int) -> PartialDependence:
    """Return the curves of one output."""
    if found.mean.ndim == 1:
        return found
    return PartialDependence(found.values, found.mean[:, output], found.by_model[..., output])
