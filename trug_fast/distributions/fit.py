"""Fits by maximum likelihood, with SciPy's arguments.

Mathematics 1.14.  Tested in tests/distributions/test_fit.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast import kernels
from trug_fast.kernels import arrays

from .broadcasting import elementwise
from .fit_mixed import fit_mixed
from .fit_sample import (
    FitTask,
    Sample,
    at_infinity,
    fixed_of,
    not_found,
    number,
    require_two_values,
    sample_of,
)
from .fit_shape import fit_shape, outside

_UNIT = 2.0**-52
_MOST = 1e150  # deviations of a datum: beyond, its density is 0 even as a logarithm
_FLATTEST = 1e-10  # of d in units of the data's variance: beyond, an exponential in all digits
_WIDENINGS = 200  # of a search for a change of sign, each twice the last
_HINT = "Fix loc or scale, or take scipy.stats.truncexpon."


def fit(
    data: ArrayLike,
    *starts: float,
    support: tuple[float | None, float | None] = (None, None),
    **kwds: Any,
) -> tuple[float, float, float, float]:
    """Fit by maximum likelihood: the a, b, loc and scale under which the data are likeliest.

    Parameters
    ----------
    data : array_like
        Real and finite numbers, of any shape.
    *starts : float
        Starting values of a and b, as SciPy has them.  They must be numbers, and change nothing: a
        free end is at the least or the greatest datum, which is where the likelihood is highest.
    support : (float or None, float or None), optional
        Truncation points in units of x, where they are known; None leaves an end to the data.
    **kwds
        By SciPy's names: ``fa`` (``f0``, ``fix_a``), ``fb`` (``f1``, ``fix_b``), ``floc``,
        ``fscale`` fix a parameter, which is given back as it is; ``a``, ``b``, ``loc``, ``scale``
        are starting values; ``method`` may be "MLE".

    Returns
    -------
    a, b, loc, scale : float
        The maximum: the derivatives by all that is free are 0 to rounding.

    Raises
    ------
    TypeError, ValueError
        For data that are not real numbers, not finite, none, all equal where that has no maximum,
        or outside the ends; for keywords that are unknown or contradict each other; if nothing is
        left to fit.
    scipy.stats.FitError
        If the likelihood has no finite maximum: data that vary as much as an exponential or a
        uniform on the same interval drive loc and scale to infinity.

    Notes
    -----
    Likelihood equations are solved, to rounding, rather than a function minimised (mathematics
    1.14); after one pass over the data the time does not depend on their number.  Where both ends
    are known in units of x, or both are fixed, the maximum is the only one.  ``fa`` and ``fb`` are
    counted in standard deviations from loc, as everywhere in SciPy: for known truncation points
    take ``support``.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> x = truncnorm.rvs(-1.0, 2.0, loc=5.0, scale=2.0, size=100_000, rng=1)
    >>> a, b, loc, scale = truncnorm.fit(x, support=(3.0, 9.0))
    >>> print(f"{loc:.2f} {scale:.2f}")
    4.99 2.00
    """
    options = _checked(starts, dict(kwds))
    sample = sample_of(data)
    task = _task(sample, support, options)
    found = None
    try:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found = _parameters(sample, task, *_maximum(sample, task, options))
    except ArithmeticError:  # of numbers near the ends of floats
        pass
    if found is None:
        raise not_found()
    return found


def _checked(starts: tuple[Any, ...], kwds: dict[str, Any]) -> dict[str, float | None]:
    """Return what is fixed and where to start, by name."""
    options: dict[str, float | None] = {
        "fa": fixed_of(kwds, ("fa", "f0", "fix_a")),
        "fb": fixed_of(kwds, ("fb", "f1", "fix_b")),
        "floc": fixed_of(kwds, ("floc",)),
        "fscale": fixed_of(kwds, ("fscale",)),
    }
    method = kwds.pop("method", "MLE")
    if str(method).upper() != "MLE":
        raise ValueError(f"method must be 'MLE', got {method!r}")
    if len(starts) > 2:
        raise TypeError(f"starting values by position are a and b, got {len(starts)}")
    given = dict(zip("ab", starts, strict=False))
    for name in ("a", "b", "loc", "scale"):
        if name in kwds and name in given:
            raise TypeError(f"the starting value of {name} is given twice")
        value = kwds.pop(name, given.get(name))
        options[name] = None if value is None else number(name, value)
    if kwds:
        raise TypeError(f"unknown keywords for fit: {', '.join(sorted(kwds))}")
    for name in ("scale", "fscale"):
        size = options[name]
        if size is not None and not 0 < size < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {size}")
    for name in ("fa", "fb"):
        end = options[name]
        if end is not None and arrays.FARTHEST_64 < abs(end) < math.inf:
            raise ValueError(f"{name} must be at most 1e100 in size, or infinite, got {end}")
    for name in ("loc", "floc"):
        place = options[name]
        if place is not None and math.isinf(place):
            raise ValueError(f"{name} must be finite, got {place}")
    return options


def _task(
    sample: Sample,
    support: tuple[float | None, float | None],
    options: dict[str, float | None],
) -> FitTask:
    """Return what is given of a fit, once the data have told where free ends are."""
    a, b, loc, scale = (options[name] for name in ("fa", "fb", "floc", "fscale"))
    if not isinstance(support, tuple | list) or len(support) != 2:
        raise ValueError(f"support must be a pair (lower, upper), got {support!r}")
    lower, upper = (None if end is None else number("support", end) for end in support)
    for name, fixed, known in (("fa", a, lower), ("fb", b, upper)):
        if fixed is not None and known is not None:
            raise ValueError(f"give {name} or support for this end, not both")
    if None not in (a, b, loc, scale):
        raise ValueError("all parameters are fixed: there is nothing to fit")
    if loc is not None and scale is not None and None not in (lower, upper):
        raise ValueError("support, floc and fscale fix all parameters: there is nothing to fit")
    least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
    if not (least <= sample.least and sample.most <= most):
        raise ValueError(
            f"data must lie in the support [{least}, {most}], got {sample.least} to {sample.most}"
        )
    # Infinite ends are the same in both units.
    if lower == -math.inf or a == -math.inf:
        a = lower = -math.inf
    elif a is None and lower is None:
        lower = sample.least
    if upper == math.inf or b == math.inf:
        b = upper = math.inf
    elif b is None and upper is None:
        upper = sample.most
    if a is not None and b is not None and not a < b:
        raise ValueError(f"fa must be below fb, got {a} and {b}")
    return FitTask(a, b, loc, scale, lower, upper)


def _maximum(
    sample: Sample, task: FitTask, options: dict[str, float | None]
) -> tuple[float, float]:
    """Return loc and scale."""
    if task.a is not None and task.b is not None:
        return fit_shape(sample, task)
    if task.loc is not None and task.scale is not None:
        return task.loc, task.scale
    if task.lower is not None and task.upper is not None:
        loc, scale = options["loc"], options["scale"]
        start = sample.mean if loc is None else loc, sample.unit if scale is None else scale
        return fit_interval(sample, task, start)
    return fit_mixed(sample, task)


def _parameters(
    sample: Sample, task: FitTask, loc: float, scale: float
) -> tuple[float, float, float, float] | None:
    """Return all parameters, so that the density is positive at each datum.

    Where a datum is at an end, rounding may put it outside; then what is free of loc and scale
    moves by some units of the last place.
    """
    steps = sorted(product(range(-8, 9), repeat=2), key=lambda pair: abs(pair[0]) + abs(pair[1]))
    size = _UNIT * max(abs(loc), abs(sample.least), abs(sample.most), scale)
    for by_loc, by_scale in steps:
        if (by_loc and task.loc is not None) or (by_scale and task.scale is not None):
            continue
        place, width = loc + by_loc * size, scale * (1.0 + by_scale * _UNIT)
        a = (task.lower - place) / width if task.a is None else task.a  # type: ignore[operator]
        b = (task.upper - place) / width if task.b is None else task.b  # type: ignore[operator]
        low, high = (sample.least - place) / width, (sample.most - place) / width
        inside = a < b and a <= low and high <= b
        if not inside and task.loc is not None and task.scale is not None:
            raise outside(sample, task)
        near = -_MOST < low and high < _MOST
        near = near and a <= arrays.FARTHEST_64 and b >= -arrays.FARTHEST_64
        if inside and near and math.isfinite(place) and 0 < width < math.inf:
            return float(a), float(b), float(place), float(width)
    return None


def fit_interval(sample: Sample, task: FitTask, start: tuple[float, float]) -> tuple[float, float]:
    """Return the loc and scale of the greatest likelihood."""
    assert task.lower is not None and task.upper is not None
    require_two_values(sample, "a distribution whose ends or scale are free")
    ends = sample.measured(task.lower), sample.measured(task.upper)
    loc, scale = task.loc, task.scale
    if scale is not None:
        d = (sample.unit / scale) ** 2
        eta = _tilt(d, ends, (start[0] - sample.mean) / sample.unit * d)
        return sample.mean + sample.unit * eta / d, scale
    d = (sample.unit / start[1]) ** 2
    if loc is not None:
        return loc, sample.unit / math.sqrt(_precision_about(sample.measured(loc), ends, d))
    eta, d = _both(ends, d)
    return sample.mean + sample.unit * eta / d, sample.unit / math.sqrt(d)


def _tilt(d: float, ends: tuple[float, float], start: float) -> float:
    """Return the eta with which the mean is 0, given d."""

    def miss(eta: float) -> float:
        return float(kernels.mean_variance(eta, d, *ends)[0])

    return _zero(miss, start, math.sqrt(d))


def _both(ends: tuple[float, float], start: float) -> tuple[float, float]:
    """Return the eta and d with which the mean is 0 and the variance 1.

    The variance grows as d falls to 0: from less than 1 at 1, where no end cuts a normal, to that
    of the exponential with mean 0 on the interval.
    """
    tilts = [0.0]

    def miss(log_d: float) -> float:
        d = math.exp(log_d)
        tilts[0] = _tilt(d, ends, tilts[0])
        return 1.0 - float(kernels.mean_variance(tilts[0], d, *ends)[1])

    flattest = math.log(_FLATTEST)
    if miss(0.0) <= 0.0:  # nothing is cut off, in all digits
        return _tilt(1.0, ends, tilts[0]), 1.0
    if miss(flattest) >= 0.0:
        finite = math.isfinite(ends[1] - ends[0])
        limit = "an exponential" + (", rising or falling, on the same interval" if finite else "")
        raise at_infinity(limit, "They vary as much as that, or more. " + _HINT)
    d = math.exp(_zero(miss, min(max(math.log(start), flattest), 0.0), 0.5))
    return _tilt(d, ends, tilts[0]), d


def _precision_about(loc: float, ends: tuple[float, float], start: float) -> float:
    """Return the d with which the mean of (x - loc)**2 is that of the data."""

    def miss(log_d: float) -> float:
        d = math.exp(log_d)
        mean, variance = kernels.mean_variance(loc * d, d, *ends)
        return float(1.0 - variance - mean * (mean - 2.0 * loc))

    flattest = math.log(_FLATTEST / (1.0 + loc * loc))
    if math.isfinite(ends[1] - ends[0]) and miss(flattest) >= 0.0:
        raise at_infinity(
            "uniform on the same interval",
            "With this loc they vary as much as that, or more. Free loc, or fix scale.",
        )
    return math.exp(_zero(miss, max(math.log(start), flattest), 1.0))


def _zero(function: Callable[[float], float], start: float, step: float) -> float:
    """Return the zero of a function that rises through it."""
    from scipy.optimize import brentq  # here, as its import takes a while

    value = function(start)
    side, beyond = math.copysign(step, -value), start
    for _ in range(_WIDENINGS):
        if not function(beyond) * value > 0.0:
            break
        start, beyond, side = beyond, beyond + side, 2.0 * side
    if start == beyond and value == 0.0:
        return start
    if not function(start) * function(beyond) <= 0.0:
        raise not_found()
    low, high = sorted((start, beyond))
    return float(brentq(function, low, high, xtol=1e-300, rtol=1e-15))


def nnlf(theta: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike], x: ArrayLike) -> Any:
    """Negative log likelihood of data: minus the sum of the log density.

    Parameters
    ----------
    theta : (a, b, loc, scale)
        Parameters, as for :func:`rvs`.
    x : array_like
        Data; of more than one axis, the first is summed over.

    Returns
    -------
    numpy.ndarray or NumPy float
        inf if a datum lies outside the interval, or theta are no parameters.

    Raises
    ------
    ValueError
        If ``theta`` are not four.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.nnlf((0.0, float('inf'), 0.0, 1.0), [0.5, 1.0]):.12f}")
    1.076582705289
    """
    if len(theta) != 4:
        raise ValueError(f"theta must be (a, b, loc, scale), got {len(theta)} numbers")
    a, b, loc, scale = theta
    if np.isnan(elementwise(arrays.mean, a, b, loc, scale)).any():
        return np.inf
    return -np.sum(np.atleast_1d(elementwise(arrays.logpdf, a, b, loc, scale, x=x)), axis=0)
