"""The Numba core: functions of floats and arrays, to be called from other compiled code too."""

# Python started in the repository's root finds the link `kernels` there: one module, one name.
if __name__ == "kernels":
    raise ImportError("import trug_fast.kernels")

from .scalars import (
    draw,
    draw_chopin,
    draw_robert,
    log_end_densities,
    log_normalizer,
    mean_variance,
    offset,
    second_moment,
)
from .stream import stream, uniform

__all__ = [
    "draw",
    "draw_chopin",
    "draw_robert",
    "log_end_densities",
    "log_normalizer",
    "mean_variance",
    "offset",
    "second_moment",
    "stream",
    "uniform",
]
