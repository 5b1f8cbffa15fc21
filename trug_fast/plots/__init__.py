"""Figures of models, images, letters, training, videos and motion, drawn with Matplotlib.

It comes with ``pip install trug-fast[plot]``.  Functions that draw on axes take those they are
given, or new ones, and return them; save with `save`.  Nothing touches pyplot or its current
figure.
"""

from .canvas import save
from .curves import scores, training, truncation_points
from .dependence import dependence
from .forecasts import fan, forecast
from .image_grid import images
from .logos import information_logo, unit_logos, weight_logo
from .motion import save_motion, side_view, stick_figures
from .overview import fit, summary
from .projections import correlations, projection, unit_inputs
from .regression import predictions, regression
from .units import family, nonlinearities, regimes, truncation_histogram, unit_mean
from .video import ball_motion, continuation, dictionaries, save_video, strips

__all__ = [
    "ball_motion",
    "continuation",
    "correlations",
    "dependence",
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
    "save_motion",
    "save_video",
    "scores",
    "side_view",
    "stick_figures",
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
