"""Fits of loc and scale where the ends are known in units of x.

With eta = loc/scale**2 and d = 1/scale**2 these are an exponential family: the likelihood is
concave, its maximum is where mean and mean square are those of the data (mathematics 1.14).
Everything here is in the units of a Sample.  Tested in tests/distributions/test_fit.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from trug_fast import kernels

from .fit_sample import FitTask, Sample, at_infinity, not_found, require_two_values

_FLATTEST = 1e-10  # of d in units of the data's variance: beyond, an exponential in all digits
_WIDENINGS = 200  # of a search for a change of sign, each twice the last
_HINT = "Fix loc or scale, or take scipy.stats.truncexpon."


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
