"""The Numba core: functions of floats and arrays, to be called from other compiled code too."""

# Python started in the repository's root finds the link `kernels` there: one module, one name.
if __name__ == "kernels":
    raise ImportError("import trug_fast.kernels")

from . import announcing  # noqa: F401  (it listens from now on)
from .multivariate.gibbs import gibbs_step, gibbs_step_sparse
from .random.draws import draw, draw_chopin, draw_robert
from .random.stream import stream, uniform
from .unit.probability import cdf, entropy, isf, logcdf, logpdf, logsf, ppf, sf
from .unit.scalars import (
    log_end_densities,
    log_normalizer,
    mean_variance,
    moments,
    offset,
    second_moment,
    third_moment,
)

__all__ = [
    "cdf",
    "draw",
    "draw_chopin",
    "draw_robert",
    "entropy",
    "gibbs_step",
    "gibbs_step_sparse",
    "isf",
    "log_end_densities",
    "log_normalizer",
    "logcdf",
    "logpdf",
    "logsf",
    "mean_variance",
    "moments",
    "offset",
    "ppf",
    "second_moment",
    "sf",
    "stream",
    "third_moment",
    "uniform",
]
