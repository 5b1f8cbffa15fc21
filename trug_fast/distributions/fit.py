"""Fits by maximum likelihood, with SciPy's arguments (mathematics 1.14).

Tested in tests/distributions/test_fit.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast import kernels
from trug_fast._common import checks
from trug_fast.kernels import arrays

from .broadcasting import elementwise

_UNIT = 2.0**-52
_MOST = 1e150  # deviations of a datum: beyond, its density is 0 even as a logarithm
_FLATTEST = 1e-10  # of d in units of the data's variance: beyond, an exponential in all digits
_WIDENINGS = 200  # of a search for a change of sign, each twice the last
_FIXING = {
    "a": ("fa", "f0", "fix_a"),
    "b": ("fb", "f1", "fix_b"),
    "loc": ("floc",),
    "scale": ("fscale",),
}
_HINT = "Fix loc or scale, or take scipy.stats.truncexpon."
_UNIFORM = 1e-6  # width of the data in standard deviations: less is as good as uniform
_NOTHING = 1e-9  # of a datum's log likelihood


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
    fixed = _fixed(starts, dict(kwds))
    sample = sample_of(data)
    task = _task(sample, support, fixed)
    found = None
    try:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found = _parameters(sample, task, *_maximum(sample, task))
    except ArithmeticError:  # of numbers near the ends of floats
        pass
    if found is None:
        raise fit_error()
    return found


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
    """Return the error for a likelihood that has no maximum."""
    return fit_error(
        "the likelihood of these data has no finite maximum: it rises as loc goes to infinity with "
        f"scale, where the truncated normal becomes {limit}. {hint}"
    )


def fit_error(words: str = "no maximum was found; fix a, b, loc or scale") -> Exception:
    """Return the error that SciPy raises, too, where a fit fails."""
    from scipy.stats import FitError  # here, as its import takes a second

    error: Exception = FitError(words)
    return error


def _number(word: str, name: str, value: Any) -> float | None:
    """Return a number of the parameter ``name``, not NaN; None stays None."""
    if value is None:
        return None
    try:
        result = float(value)
    except (TypeError, ValueError):
        result = math.nan
    if math.isnan(result):
        raise ValueError(f"{word} must be a number, got {value!r}")
    if name == "scale" and not 0 < result < math.inf:
        raise ValueError(f"{word} must be positive and finite, got {result}")
    if name == "loc" and math.isinf(result):
        raise ValueError(f"{word} must be finite, got {result}")
    if name in ("a", "b") and word != name and arrays.FARTHEST_64 < abs(result) < math.inf:
        raise ValueError(f"{word} must be at most 1e100 in size, or infinite, got {result}")
    return result


def _fixed(starts: tuple[Any, ...], kwds: dict[str, Any]) -> list[float | None]:
    """Return what is fixed of a, b, loc and scale; starting values are looked at alone."""
    method = kwds.pop("method", "MLE")
    if str(method).upper() != "MLE":
        raise ValueError(f"method must be 'MLE', got {method!r}")
    if len(starts) > 2:
        raise TypeError(f"starting values by position are a and b, got {len(starts)}")
    first = dict(zip("ab", starts, strict=False))
    fixed = []
    for name, words in _FIXING.items():
        given = {word: kwds.pop(word, None) for word in words}
        given = {word: value for word, value in given.items() if value is not None}
        if len(given) > 1:
            raise ValueError(f"give one of {', '.join(given)}: they fix the same parameter")
        if name in kwds and name in first:
            raise TypeError(f"the starting value of {name} is given twice")
        _number(name, name, kwds.pop(name, first.get(name)))
        fixed += [_number(word, name, value) for word, value in given.items()] or [None]
    if kwds:
        raise TypeError(f"unknown keywords for fit: {', '.join(sorted(kwds))}")
    return fixed


def _task(
    sample: Sample, support: tuple[float | None, float | None], given: list[float | None]
) -> FitTask:
    """Return what is given of a fit, once the data have told where free ends are."""
    a, b, loc, scale = given
    if not isinstance(support, tuple | list) or len(support) != 2:
        raise ValueError(f"support must be a pair (lower, upper), got {support!r}")
    lower, upper = (_number("support", "end", end) for end in support)
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


def _maximum(sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return loc and scale."""
    if task.a is not None and task.b is not None:
        return fit_shape(sample, task)
    if task.loc is not None and task.scale is not None:
        return task.loc, task.scale
    if task.lower is not None and task.upper is not None:
        return fit_interval(sample, task)
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


def fit_interval(sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return loc and scale where the ends are known in units of x."""
    assert task.lower is not None and task.upper is not None
    require_two_values(sample, "a distribution whose ends or scale are free")
    ends = sample.measured(task.lower), sample.measured(task.upper)
    if task.scale is not None:
        d = (sample.unit / task.scale) ** 2
        return sample.mean + sample.unit * _tilt(d, ends, 0.0) / d, task.scale
    if task.loc is not None:
        d = _precision_about(sample.measured(task.loc), ends)
        return task.loc, sample.unit / math.sqrt(d)
    eta, d = _both(ends)
    return sample.mean + sample.unit * eta / d, sample.unit / math.sqrt(d)


def _tilt(d: float, ends: tuple[float, float], start: float) -> float:
    """Return the eta with which the mean is 0, given d."""

    def miss(eta: float) -> float:
        return float(kernels.mean_variance(eta, d, *ends)[0])

    return _zero(miss, start, math.sqrt(d))


def _both(ends: tuple[float, float]) -> tuple[float, float]:
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
    d = math.exp(_zero(miss, 0.0, 0.5))
    return _tilt(d, ends, tilts[0]), d


def _precision_about(loc: float, ends: tuple[float, float]) -> float:
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
    return math.exp(_zero(miss, 0.0, 1.0))


def _zero(function: Callable[[float], float], start: float, step: float) -> float:
    """Return the zero of a function that rises through it."""
    value = function(start)
    side, beyond = math.copysign(step, -value), start
    for _ in range(_WIDENINGS):
        if not function(beyond) * value > 0.0:
            break
        start, beyond, side = beyond, beyond + side, 2.0 * side
    if start == beyond and value == 0.0:
        return start
    if not function(start) * function(beyond) <= 0.0:
        raise fit_error()
    return _between(function, start, beyond)


def _between(function: Callable[[float], float], *ends: float) -> float:
    """Return the zero of a function that changes its sign between two points."""
    from scipy.optimize import brentq  # here, as its import takes a while

    return float(brentq(function, min(ends), max(ends), xtol=1e-300, rtol=1e-15))


def fit_shape(sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return loc and scale where both ends are fixed in deviations: closed forms.

    In s = 1/scale and m = loc/scale the negative log likelihood is convex and the ends are linear
    bounds, so the maximum is the normal's, or on one bound, or where both meet.
    """
    assert task.a is not None and task.b is not None
    a, b = task.a, task.b
    ends = sample.measured(sample.least), sample.measured(sample.most)
    if task.scale is not None:
        s = sample.unit / task.scale
        least, most = s * ends[1] - b, s * ends[0] - a
        if not least <= most:
            raise outside(sample, task)
        m = min(max(0.0, least), most)
        return sample.mean + task.scale * m, task.scale
    if task.loc is not None:
        return task.loc, sample.unit / _slope_about(sample, task, a, b, ends)
    require_two_values(sample, "loc and scale")
    found = [(1.0, 0.0)]
    if math.isfinite(a):
        s = _on_a_bound(a, ends[0])
        found.append((s, s * ends[0] - a))
    if math.isfinite(b):
        s = _on_a_bound(b, ends[1])
        found.append((s, s * ends[1] - b))
    low, high = a - _off(a), b + _off(b)
    good = [(s, m) for s, m in found if s * ends[0] - m >= low and s * ends[1] - m <= high]
    if math.isfinite(b - a):
        s = (b - a) / (ends[1] - ends[0])
        good.append((s, s * ends[0] - a))
    s, m = min(good, key=lambda pair: 0.5 * (pair[0] ** 2 + pair[1] ** 2) - math.log(pair[0]))
    return sample.mean + sample.unit * m / s, sample.unit / s


def _off(end: float) -> float:
    """Return what rounding may put between a bound and a point on it."""
    return 1e-14 * max(1.0, abs(end)) if math.isfinite(end) else 0.0


def _on_a_bound(a: float, end: float) -> float:
    """Return the s of the least objective where s end - m = a: (1 + end**2) s**2 - a end s = 1."""
    square, lean = 1.0 + end * end, a * end
    root = math.hypot(lean, 2.0 * math.sqrt(square))
    return (lean + root) / (2.0 * square) if lean > 0 else 2.0 / (root - lean)


def _slope_about(
    sample: Sample, task: FitTask, a: float, b: float, ends: tuple[float, float]
) -> float:
    """Return s for a known loc: a square root, within what the ends allow."""
    assert task.loc is not None
    loc = sample.measured(task.loc)
    least, most = 0.0, math.inf
    # s (x - loc) is to lie in [a, b] for the least and the greatest x.
    for bound, distance in ((a, ends[0] - loc), (-b, loc - ends[1])):
        if distance > 0:
            least = max(least, bound / distance)
        elif distance < 0:
            most = min(most, bound / distance)
        elif bound > 0:
            most = -math.inf
    square = sample.spread + loc * loc
    if not (least <= most and most > 0):
        raise outside(sample, task)
    if not square:
        raise ValueError(f"data must differ from floc={task.loc} to fit scale: all are equal to it")
    return min(max(1.0 / math.sqrt(square), least), most)


def outside(sample: Sample, task: FitTask) -> ValueError:
    """Return the error for data that no parameters left free can hold."""
    names = {"a": task.a, "b": task.b, "loc": task.loc, "scale": task.scale}
    given = ", ".join(f"{name}={value}" for name, value in names.items() if value is not None)
    return ValueError(
        f"data must lie between the ends, but no interval with {given} holds all from "
        f"{sample.least} to {sample.most}"
    )


class Mixed(NamedTuple):
    """The problem with the fixed end a below; x is 0 at the least datum, 1 at the known end.

    In standard deviations from loc a datum is at a + gap + slope x: slope > 0, gap >= 0.
    """

    a: float
    mean: float
    square: float

    def objective(self, slope: Any, gap: Any) -> Any:
        """Return the negative log likelihood of a datum, less that of the uniform on [0, 1]."""
        start = self.a + gap
        energy = start * start + 2.0 * start * slope * self.mean + slope * slope * self.square
        mass = elementwise(arrays.log_mass, self.a, start + slope)
        return 0.5 * energy + mass - np.log(slope) + 0.5 * math.log(2.0 * math.pi)

    def gradient(self, slope: float, gap: float) -> NDArray[np.float64]:
        """Return its derivatives by log(slope) and gap."""
        start = self.a + gap
        end = float(elementwise(arrays.pdf, self.a, start + slope, x=start + slope))
        by_slope = start * self.mean + slope * self.square + end - 1.0 / slope
        return np.array([slope * by_slope, start + slope * self.mean + end])


def fit_mixed(sample: Sample, task: FitTask) -> tuple[float, float]:
    """Return loc and scale where one end is fixed in deviations, the other known in units of x."""
    # The likelihood need not be concave there: it is looked at on a grid, and the best point of
    # that is improved by the derivative.
    require_two_values(sample, "a distribution whose ends or scale are free")
    if task.a is not None:
        return _fit_lower(sample, task)
    assert task.b is not None and task.lower is not None
    loc = None if task.loc is None else -task.loc
    turned = FitTask(-task.b, None, loc, task.scale, None, -task.lower)
    mirrored = sample._replace(least=-sample.most, most=-sample.least, mean=-sample.mean)
    loc, scale = _fit_lower(mirrored, turned)
    return -loc, scale


def _fit_lower(sample: Sample, task: FitTask) -> tuple[float, float]:
    assert task.a is not None and task.upper is not None
    width = task.upper - sample.least
    mean = (sample.mean - sample.least) / width
    problem = Mixed(task.a, mean, (sample.unit / width) ** 2 + mean * mean)
    if task.scale is not None:
        gap = _best_gap(problem, width / task.scale)
        return sample.least - task.scale * (task.a + gap), task.scale
    if task.loc is not None:
        slopes = _slopes_about(problem, start := (sample.least - task.loc) / width)
        if not slopes.size:
            raise outside(sample, task)
        gaps = np.maximum(slopes * start - task.a, 0.0)
        place = int(np.argmin(problem.objective(slopes, gaps)))

        def by_log(log_slope: float) -> float:
            slope = math.exp(log_slope)
            by_slope, by_gap = problem.gradient(slope, max(slope * start - problem.a, 0.0))
            return float(by_slope + slope * start * by_gap)

        slope = math.exp(_refined(by_log, np.log(slopes), place))
        if slope <= 1.01 * _UNIFORM:
            raise at_infinity("uniform", "With this loc they vary as much as that, or more.")
        return task.loc, width / min(max(slope, slopes[0]), slopes[-1])
    slopes = np.geomspace(_UNIFORM, 20.0 * width / sample.unit + abs(task.a), 100)
    values = np.array([problem.objective(s, _best_gap(problem, s)) for s in slopes])

    def by_profile(log_slope: float) -> float:
        slope = math.exp(log_slope)
        return float(problem.gradient(slope, _best_gap(problem, slope))[0])

    # At slope 0 lies the uniform, whose objective is 0: the limit, unless a minimum is below that.
    inner = 1 + np.flatnonzero((values[:-2] >= values[1:-1]) & (values[1:-1] <= values[2:]))
    if inner.size:
        place = int(inner[np.argmin(values[inner])])
        slope = math.exp(_refined(by_profile, np.log(slopes), place))
        gap = _best_gap(problem, slope)
    if not inner.size or not problem.objective(slope, gap) < -_NOTHING:
        raise at_infinity(
            "uniform from the least to the greatest of them",
            "They vary as much as that, or more. Fix loc or scale, or free the other end.",
        )
    return sample.least - width / slope * (task.a + gap), width / slope


def _best_gap(problem: Mixed, slope: float) -> float:
    """Return the gap of the least objective for a given slope."""
    # The mode of the density lies beyond none of the largest.
    gaps = np.append(0.0, np.geomspace(1e-6, 20.0 + 2.0 * abs(problem.a) + slope, 160))
    place = int(np.argmin(problem.objective(slope, gaps)))
    return _refined(lambda gap: float(problem.gradient(slope, gap)[1]), gaps, place)


def _slopes_about(problem: Mixed, start: float) -> NDArray[np.float64]:
    """Return slopes to look at for a known loc, where a + gap = slope start; none if none holds."""
    a, least = problem.a, _UNIFORM
    most = 50.0 / math.sqrt(problem.square) + 4.0 * abs(a)
    most = max(most, 50.0 / math.sqrt((start + problem.mean) ** 2 + 1e-30))
    if start > 0:
        least = max(least, a / start)
        most = max(most, 2.0 * least)
    elif start < 0:
        most = min(most, a / start)
    if not least < most or (start == 0 and a > 0):
        return np.empty(0)
    slopes = np.geomspace(least, most, 400)
    slopes[0], slopes[-1] = least, most
    return slopes


def _refined(
    derivative: Callable[[float], float], points: NDArray[np.float64], place: int
) -> float:
    """Return the minimum beside a point of a grid, by the zero of the derivative."""
    at = derivative(points[place])
    beside = min(max(place + (1 if at < 0 else -1), 0), len(points) - 1)
    if at == 0 or at * derivative(points[beside]) >= 0:
        return float(points[place])
    return _between(derivative, points[place], points[beside])
