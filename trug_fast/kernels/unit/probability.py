"""Probabilities, densities and quantiles of one unit, to call from Python or to embed.

They take what the functions in scalars.py do; NaN too for a half line that begins more than 1e100
standard deviations from the mode.  Formulas: distribution.py for d > 0, nonpositive_distribution.py
for the rest.
"""

import math

from numpy import float64

from trug_fast.kernels.compiling import inner, scalar
from trug_fast.kernels.intrinsics import power_of_two
from trug_fast.kernels.special.elementary import LN2, MAGIC_64, exp, log

from . import distribution as bent
from . import nonpositive_distribution as nonpositive
from .scalars import UNIT, documented
from .scaling import NONE, NONPOSITIVE, POINT, measured

UNIT_AND_X = {"x : float": "Any number, also outside of the interval."} | UNIT
UNIT_AND_P = {"p : float": "In [0, 1], else the result is NaN."} | UNIT
INFINITE = float("inf")
STEPS = 100  # one or two are enough but from nonpositive.ppf's start for a p below 1e-20
CLOSE = 4e-16  # the noise of log P over 1 - log P
# A start is so near that P exceeds 0.78, where it should be below 1/2, or has no logarithm to speak
# of, only if the unit lies between two floats.  Newton's method would go off from there.
ABOVE, BELOW = -0.25, -1e12
GRAIN = 1.2e-16  # moves a float to its neighbour


@inner
def _logcdf(x, a, d, lower, upper, above):
    """Return log P(h <= x), or log P(h > x): that of the mirror image below -x."""
    if above:
        x, a, lower, upper = -x, -a, -upper, -lower
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    x = x * power_of_two(MAGIC_64 - k)
    if formulas == NONE or x != x:
        return float("nan")
    if formulas == POINT:
        return 0.0 if lower < x or (lower == x and not above) else -INFINITE
    if formulas == NONPOSITIVE:
        return nonpositive.logcdf(x, a, d, lower, upper)
    return bent.logcdf(x, a, d, lower, upper)


@inner
def _cdf(x, a, d, lower, upper, above):
    if above:
        x, a, lower, upper = -x, -a, -upper, -lower
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    x = x * power_of_two(MAGIC_64 - k)
    if formulas == NONE or x != x:
        return float("nan")
    if formulas == POINT:
        return 1.0 if lower < x or (lower == x and not above) else 0.0
    if formulas == NONPOSITIVE:
        return exp(nonpositive.logcdf(x, a, d, lower, upper))
    return bent.cdf(x, a, d, lower, upper)


@inner
def _logpdf(x, a, d, lower, upper):
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    x = x * power_of_two(MAGIC_64 - k)
    if formulas == NONE or x != x:
        return float("nan")
    if formulas == POINT:
        return INFINITE if x == lower else -INFINITE
    if formulas == NONPOSITIVE:
        return nonpositive.logpdf(x, a, d, lower, upper) - k * LN2
    return bent.logpdf(x, a, d, lower, upper) - k * LN2


@inner
def polished(h, p, a, d, lower, upper, formulas):
    """Return h moved to where P(unit <= h) = p, for 0 < p <= 1/2, by Newton's method on log P.

    A draw's formula (quantile.py) and its polish (distribution.py) count from the near end or from
    the mode, in floats: of a quantile beside another end at 0 they leave no digit, and of one that
    they place beyond rounding of the mode, as in a unit of 1e-38 at 1e-10, they miss by a few
    roundings.
    """
    goal = log(p)
    low, high, risen = lower, upper, False
    if h <= lower:  # a start inside, by the density at the end
        h = lower + exp(goal - _log_density(lower, a, d, lower, upper, formulas))
    elif h >= upper and math.isfinite(upper):
        h = upper - max(abs(upper) * GRAIN, 5e-324)
    for _ in range(STEPS):
        if not lower < h < upper:
            return min(max(h, lower), upper)
        if formulas == NONPOSITIVE:
            value = nonpositive.logcdf(h, a, d, lower, upper)
        else:
            value = bent.logcdf(h, a, d, lower, upper)
        miss = value - goal
        if not abs(miss) > CLOSE * (1.0 - goal):
            return h
        moved = h
        if BELOW < value < ABOVE:
            low, high = (low, h) if miss > 0.0 else (h, high)
            step = miss * exp(value - _log_density(h, a, d, lower, upper, formulas))
            moved = _stepped(h, step, low, high, lower)
            if lower < low == moved or moved == high < upper:
                return h  # beside it, on the other side of the quantile
        if moved == h:  # between two floats, one of which is as near as it gets
            if (risen and miss > 0.0) or (BELOW < value < ABOVE and miss > -1.0):
                return h
            risen = risen or miss < 0.0
            moved = h - math.copysign(max(abs(h) * GRAIN, 5e-324), miss)
        h = moved
    return h


@scalar
def _stepped(h, step, low, high, lower):
    """Return h - step as far as it stays between low and high, which hold the quantile."""
    # Beside the end the probability is proportional to the distance, and far off the step of a
    # proportion is the right one; it never crosses the end.
    distance = h - lower
    share = step / distance
    moved = h - step if abs(share) < 1e-3 else lower + distance * exp(-share)
    if moved == h or low < moved < high:
        return moved
    if moved >= high:
        return h + 0.5 * (high - h)
    least = max(low - lower, 1e-17 * abs(lower), 1e-307)
    if math.isinf(lower) or 2.0 * least > distance:
        return moved if math.isinf(low) else low + 0.5 * (h - low)
    # In the flat middle of a unit with its mass at its ends: bisect, on a logarithmic scale.
    return lower + math.sqrt(least) * math.sqrt(distance)


@inner
def _log_density(h, a, d, lower, upper, formulas):
    if formulas == NONPOSITIVE:
        return nonpositive.logpdf(h, a, d, lower, upper)
    return bent.logpdf(h, a, d, lower, upper)


@inner
def _ppf(p, rest, a, d, lower, upper):
    low, high = lower, upper
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    if formulas == NONE or not (p >= 0.0 and rest >= 0.0):
        return float("nan")
    if formulas == POINT or p == 0.0 or rest == 0.0:
        return low if p == 0.0 else high
    if formulas == NONPOSITIVE:
        h = nonpositive.ppf(p, rest, a, d, lower, upper)
    else:
        h = bent.ppf(p, rest, a, d, lower, upper)
    if p <= rest:
        h = polished(h, p, a, d, lower, upper, formulas)
    else:
        h = -polished(-h, rest, -a, d, -upper, -lower, formulas)
    return min(max(h * power_of_two(k + MAGIC_64), low), high)


@inner
def _entropy(a, d, lower, upper):
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    if formulas == NONE:
        return float("nan")
    if formulas == POINT:
        return -INFINITE
    if formulas == NONPOSITIVE:
        return nonpositive.entropy(a, d, lower, upper) + k * LN2
    return bent.entropy(a, d, lower, upper) + k * LN2


@inner
@documented(
    UNIT_AND_X,
    returns="""
    Relative error below 3e-15 (1 - log P): a small probability is the exponential of a number
    that has been rounded.
    """,
    example="""
    >>> cdf(0.5, 0, 0, 0, 1), cdf(3, 0, 1, -2, 2)
    (0.5, 1.0)
    """,
)
def cdf(x, a, d, lower, upper):
    """Return P(h <= x)."""
    return _cdf(float64(x), float64(a), float64(d), float64(lower), float64(upper), False)


@inner
@documented(
    UNIT_AND_X,
    returns="Accuracy as for :func:`cdf`.",
    example="""
    >>> print(f"{sf(11, 0, 1, 10, float('inf')):.6e}")
    2.507476e-05
    """,
)
def sf(x, a, d, lower, upper):
    """Return P(h > x), exact where it is small."""
    return _cdf(float64(x), float64(a), float64(d), float64(lower), float64(upper), True)


@inner
@documented(
    UNIT_AND_X,
    returns="""
    Relative error below 5e-15 where the value is below -1.  Nearer to 0 it is minus the
    probability of the other side, and as accurate as that; nothing is lost at either end.
    """,
    example="""
    >>> print(f"{logcdf(-40, 0, 1, float('-inf'), 0):.6f}")
    -803.915295
    """,
)
def logcdf(x, a, d, lower, upper):
    """Return log P(h <= x)."""
    return _logcdf(float64(x), float64(a), float64(d), float64(lower), float64(upper), False)


@inner
@documented(
    UNIT_AND_X,
    returns="Accuracy as for :func:`logcdf`.",
    example="""
    >>> print(f"{logsf(40, 0, 1, 0, float('inf')):.6f}")
    -803.915295
    """,
)
def logsf(x, a, d, lower, upper):
    """Return log P(h > x)."""
    return _logcdf(float64(x), float64(a), float64(d), float64(lower), float64(upper), True)


@inner
@documented(
    UNIT_AND_X,
    returns="Error below 4e-14 max(1, abs(value)); inf at a point mass, else -inf beside it.",
    example="""
    >>> print(f"{logpdf(0.3, 0, 0, 0, 2):.12f}", logpdf(3, 0, 0, 0, 2))  # uniform
    -0.693147180560 -inf
    """,
)
def logpdf(x, a, d, lower, upper):
    """Return the log density at x; -inf outside the interval."""
    return _logpdf(float64(x), float64(a), float64(d), float64(lower), float64(upper))


@inner
@documented(
    UNIT_AND_P,
    returns="""
    In [lower, upper]; right to rounding for p down to 1e-200: the probabilities of the
    neighbouring floats lie on both sides of p, or its own is p to 5e-15 (1 - log p).
    """,
    example="""
    >>> print(ppf(0.25, 0, 0, 0, 1), f"{ppf(1e-200, 0, 1, float('-inf'), 0):.6f}")
    0.25 -30.228508
    """,
    notes="Polished until the probability is right; :func:`draw` is faster.",
)
def ppf(p, a, d, lower, upper):
    """Return h with P(unit <= h) = p, the inverse of :func:`cdf`."""
    return _ppf(
        float64(p), 1.0 - float64(p), float64(a), float64(d), float64(lower), float64(upper)
    )


@inner
@documented(
    UNIT_AND_P,
    returns="Accuracy as for :func:`ppf`.",
    example="""
    >>> print(f"{isf(1e-200, 0, 1, 0, float('inf')):.6f}")
    30.228508
    """,
)
def isf(p, a, d, lower, upper):
    """Return h with P(unit > h) = p, the inverse of :func:`sf`."""
    return _ppf(
        1.0 - float64(p), float64(p), float64(a), float64(d), float64(lower), float64(upper)
    )


@inner
@documented(
    UNIT,
    returns="Error below 2e-14 max(1, abs(value)); -inf for a point.",
    example="""
    >>> entropy(0, 0, 0, 1)
    0.0
    """,
)
def entropy(a, d, lower, upper):
    """Return the differential entropy: minus the mean of the log density."""
    return _entropy(float64(a), float64(d), float64(lower), float64(upper))
