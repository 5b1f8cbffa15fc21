"""What a fit needs to know of the data, and of what is fixed.

Tested in tests/distributions/test_fit.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks


class Sample(NamedTuple):
    """Data, measured from their mean in ``unit``: their standard deviation, or 1 if that is 0.

    In these units their mean is 0 and the mean of their squares ``spread``, 1 or 0.
    """

    least: float
    most: float
    mean: float
    unit: float
    spread: float

    def measured(self, x: float) -> float:
        """Return x in the units of the sample."""
        return (x - self.mean) / self.unit


class FitTask(NamedTuple):
    """What is given of a fit, None for what is free, and the ends in units of x."""

    a: float | None
    b: float | None
    loc: float | None
    scale: float | None
    lower: float | None
    upper: float | None


def sample_of(data: ArrayLike) -> Sample:
    """Return what a fit needs of the data; ValueError for data that nothing can be fitted to."""
    if hasattr(data, "_uncensor"):
        raise TypeError("data must be an array: censored data cannot be fitted")
    checks.unmasked("data", data)
    values = np.asarray(data)
    if values.dtype.kind not in "buif":
        raise TypeError(f"data must hold real numbers, got dtype {values.dtype}")
    values = values.astype(np.float64, copy=False).reshape(-1)
    if not values.size:
        raise ValueError("data must hold at least one number, got none")
    least, most = float(values.min()), float(values.max())
    if not (math.isfinite(least) and math.isfinite(most)):
        bad = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"data must be finite, got {values[bad]} in element {bad}")
    # About one of them first: a mean of large numbers that agree in most digits loses the rest.
    with np.errstate(over="ignore"):  # told of below
        rest = values - least
        shift = float(rest.mean())
        variance = float(np.square(rest - shift).mean()) if most > least else 0.0
    if not math.isfinite(variance) or (most > least and variance < 1e-290):
        raise ValueError(f"data between {least} and {most} are beyond the range of squares")
    unit = math.sqrt(variance) if variance else 1.0
    return Sample(least, most, least + shift, unit, 1.0 if variance else 0.0)


def require_two_values(sample: Sample, what: str) -> None:
    """Raise ValueError if all data are equal."""
    if not sample.spread:
        raise ValueError(
            f"data must hold two different values to fit {what}: all are {sample.least}, and the "
            "likelihood has no maximum"
        )


def at_infinity(limit: str, hint: str) -> Exception:
    """Return the error that SciPy raises where a likelihood has no maximum."""
    from scipy.stats import FitError  # here, as its import takes a second

    error: Exception = FitError(
        "the likelihood of these data has no finite maximum: it rises as loc goes to infinity with "
        f"scale, where the truncated normal becomes {limit}. {hint}"
    )
    return error


def not_found() -> Exception:
    """Return the error of a search that has failed."""
    from scipy.stats import FitError

    error: Exception = FitError("no maximum was found; fix a, b, loc or scale")
    return error


def fixed_of(kwds: dict[str, Any], names: tuple[str, ...]) -> float | None:
    """Take from the keywords what fixes a parameter, by one of its names."""
    given = [name for name in names if kwds.get(name) is not None]
    if len(given) > 1:
        raise ValueError(f"give one of {', '.join(given)}: they fix the same parameter")
    values = {name: kwds.pop(name, None) for name in names}
    return number(given[0], values[given[0]]) if given else None


def number(name: str, value: Any) -> float:
    """Return a number that may be infinite, not NaN."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        result = math.nan
    if math.isnan(result):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return result
