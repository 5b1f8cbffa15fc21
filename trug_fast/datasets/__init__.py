"""Data sets: images, videos, motion and regression; shipped, made or read from authors' files.

The handwritten 8x8 digits and the yachts are part of the package. The others are read from files
that you have: pass their folder, or set the environment variable ``TRUG_FAST_DATA`` once.
"""

from ._binary import Resampler, binarize, resampler
from ._loaders import (
    ImageData,
    load_binarized_mnist,
    load_caltech101_silhouettes,
    load_digits,
    load_mnist,
)
from ._motion import MotionData, load_cmu_motion, load_cmu_skeleton
from ._regression import RegressionData, load_uci, load_yacht
from ._videos import bouncing_balls

__all__ = [
    "ImageData",
    "MotionData",
    "RegressionData",
    "Resampler",
    "binarize",
    "bouncing_balls",
    "load_binarized_mnist",
    "load_caltech101_silhouettes",
    "load_cmu_motion",
    "load_cmu_skeleton",
    "load_digits",
    "load_mnist",
    "load_uci",
    "load_yacht",
    "resampler",
]
