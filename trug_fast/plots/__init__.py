"""Figures of units, trainings, images, predictions and forecasts, drawn with Matplotlib.

It comes with ``pip install trug-fast[plot]``.  Functions that draw on axes take those they are
given, or new ones, and return them; save with `save`.  Nothing touches pyplot or its current
figure.  What is drawn are arrays, and whatever has the attributes of a model or a forecast.
"""

from .canvas import save
from .images import images, save_video, strips, weights
from .predictions import fan, forecast, predictions
from .training import (
    family,
    fit,
    nonlinearities,
    scores,
    training,
    truncation_histogram,
    truncation_points,
    unit_mean,
)

__all__ = [
    "family",
    "fan",
    "fit",
    "forecast",
    "images",
    "nonlinearities",
    "predictions",
    "save",
    "save_video",
    "scores",
    "strips",
    "training",
    "truncation_histogram",
    "truncation_points",
    "unit_mean",
    "weights",
]
