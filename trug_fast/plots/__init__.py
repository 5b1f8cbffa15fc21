"""Figures of models, images, training, videos and motion, drawn with Matplotlib.

It comes with ``pip install trug-fast[plot]``.
"""

from .basic import (
    family,
    history,
    images,
    nonlinearities,
    save,
    summary,
    truncation_histogram,
)

__all__ = [
    "family",
    "history",
    "images",
    "nonlinearities",
    "save",
    "summary",
    "truncation_histogram",
]
