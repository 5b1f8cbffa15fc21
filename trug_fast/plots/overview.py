"""All there is to see of a trained model in one figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.models.rbm import BernoulliRBM, TruGRBM

from .canvas import ORANGE, new_figure, set_title
from .curves import scores, truncation_points
from .image_grid import images, strongest
from .units import nonlinearities, truncation_histogram

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def fit(model: Any, history: Mapping[str, NDArray[Any]], *, score_name: str = "score") -> Figure:
    """Draw what a training came to: the units, and what is known of its course.

    Parameters
    ----------
    model : TruGRBM, BernoulliRBM, TruGTRBM, BernoulliTRBM or TruGTGGM
    history : mapping of arrays
        As training returns it.
    score_name : str
        What the history's score is.

    Returns
    -------
    matplotlib Figure
        The nonlinearities of the hidden units; the scores, if there are some; the truncation
        points, if they were learned.
    """
    checks.kind("history", history, Mapping)
    scored = any(name in history for name in ("score", "validation_score"))
    learned = any(f"{end}_mean" in history for end in ("lower", "upper"))
    count = 1 + scored + learned
    figure = new_figure(4.2 * count, 3.2)
    panels = iter(figure.subplots(1, count, squeeze=False)[0])
    nonlinearities(model, next(panels))
    if scored:
        scores(history, next(panels), score_name=score_name)
    if learned:
        truncation_points(history, next(panels))
    return figure


def summary(
    model: TruGRBM | BernoulliRBM,
    history: Mapping[str, NDArray[Any]],
    samples: ArrayLike,
    data: ArrayLike,
    image_shape: tuple[int, int],
    *,
    baseline: Mapping[str, NDArray[Any]] | None = None,
    title: str = "",
    score_name: str = "score (nats per image)",
) -> Figure:
    """Draw all there is to see of a trained model in one figure.

    Parameters
    ----------
    model : TruGRBM or BernoulliRBM
    history : mapping of arrays
        As training returns it.
    samples, data : array_like, shape (n, n_visible)
        Images from the model, and as many to compare them with.
    image_shape : (int, int)
    baseline : mapping of arrays, optional
        History of another model, drawn beside the first.
    title : str, optional
    score_name : str
        What the history's score is.

    Returns
    -------
    matplotlib Figure
    """
    checks.kind("model", model, TruGRBM, BernoulliRBM)
    figure = new_figure(11.0, 7.0)
    trug = isinstance(model, TruGRBM)
    below = ("units", "units", "ends", "ends", "score", "score")
    if not trug:
        below = ("units",) * 3 + ("score",) * 3
    axes = figure.subplot_mosaic(
        [["data", "data", "samples", "samples", "filters", "filters"], list(below)],
        height_ratios=[1.1, 1],
    )
    set_title(images(data, image_shape, ax=axes["data"]), "data")
    set_title(images(samples, image_shape, ax=axes["samples"]), "samples of the model")
    units = strongest(64, model.weights.T)
    filters = images(model.weights.T[units], image_shape, ax=axes["filters"])
    set_title(filters, f"weights of the {len(units)} strongest units")
    nonlinearities(model, axes["units"])
    if isinstance(model, TruGRBM):
        truncation_histogram(model, axes["ends"])
    ax, name = axes["score"], "TruG" if trug else "RBM"
    scores(history, ax, label="" if baseline is None else name, score_name=score_name)
    if baseline is not None:
        scores(baseline, ax, label="ordinary RBM", color=ORANGE, score_name=score_name)
    if title:
        figure.suptitle(title, fontsize="large")
    return figure
