"""Figures of models, images, letters, training and videos, drawn with Matplotlib.

It comes with ``pip install trug-fast[plot]``.  Functions that draw on axes take those they are
given, or new ones, and return them; save with `save`.  Nothing touches pyplot or its current
figure.
"""

from .canvas import save
from .curves import scores, training, truncation_points
from .forecasts import fan, forecast
from .image_grid import images
from .logos import information_logo, unit_logos, weight_logo
from .overview import fit, summary
from .projections import correlations, projection, unit_inputs
from .regression import predictions, regression
from .units import family, nonlinearities, regimes, truncation_histogram, unit_mean
from .video import continuation, dictionaries, save_video, strips

__all__ = [
    "continuation",
    "correlations",
    "dictionaries",
    "family",
    "fan",
    "forecast",
    "fit",
    "images",
    "information_logo",
    "nonlinearities",
    "predictions",
    "projection",
    "regimes",
    "regression",
    "save",
    "save_video",
    "scores",
    "strips",
    "summary",
    "training",
    "truncation_histogram",
    "truncation_points",
    "unit_inputs",
    "unit_logos",
    "unit_mean",
    "weight_logo",
]
