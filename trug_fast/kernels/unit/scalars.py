"""Functions of one unit, to call from Python or to embed in compiled code of your own.

What they take, and what of it gives NaN, is in docs/kernels.md, with the worst errors of 100,000
units against 60 digits.  Numbers of any size are computed in float64 (scaling.py).

Formulas: mathematics 1, after Su, Liao and Carin, "A Probabilistic Framework for Nonlinearities
in Stochastic Neural Networks" (NIPS 2017), equations 2 and 3.
"""

import math
from functools import partial

from numpy import float64

from trug_fast.kernels.compiling import inner
from trug_fast.kernels.describing import described
from trug_fast.kernels.intrinsics import power_of_two
from trug_fast.kernels.special.elementary import LN2, MAGIC_64

from .nonpositive_precision import evaluate_nonpositive
from .normalizer import evaluate_one
from .scaling import (
    BENT,
    FREE,
    MOST,
    NONE,
    exponential,
    formulas_of,
    free_normal,
    is_exponential,
    is_plain,
    measured,
)

# What the functions take, in words: once, for all docstrings.
UNIT = {
    "a, d : float": """
        Linear and quadratic coefficient; the normal before truncation has mean a/d, variance 1/d.
        d > 0, or any number on a finite interval.""",
    "lower, upper : float": "Truncation points; lower == upper is a point mass.",
}
documented = partial(described, imports=">>> from trug_fast.kernels import {name}")


# The work is compiled once for float64; the public functions below only convert their arguments, so
# each new mix of integers and floats costs 0.1 s to compile, not 1 s.  (By float64: ``float`` of a
# float32 is a float32 to Numba, and the work would be compiled again and done in 7 digits.)
@inner
def _evaluate(a, d, lower, upper):
    if is_plain(a, d, lower, upper):
        in_sight = lower > -MOST or upper < MOST
        if in_sight or formulas_of(a, d, lower, upper) != FREE:
            return evaluate_one(a, d, lower, upper)[:7]
        return free_normal(a, d, lower, upper)[:7]
    low, high = lower, upper
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    straight = is_exponential(a, d, lower, upper)
    if straight:
        found = exponential(a, d, lower, upper)
    elif formulas == NONE:
        nan = float("nan")
        return nan, nan, nan, nan, nan, nan, nan
    elif formulas == BENT:
        found = evaluate_one(a, d, lower, upper)
    elif formulas == FREE:
        found = free_normal(a, d, lower, upper)
    else:  # a point is among them
        found = evaluate_nonpositive(a, d, lower, upper)
    log_norm, offset, mean, variance, third, at_lower, at_upper, _ = found
    length, shift = power_of_two(k + MAGIC_64), k * LN2
    mean = min(max(mean * length, low), high)
    offset = float("inf") if math.isinf(low) and math.isinf(high) else offset
    offset *= length
    variance, third = variance * length * length, third * length * length * length
    if straight:  # in the unit of length, its cube may have been too small
        variance, third = offset * offset, math.copysign(2.0 * offset * offset * offset, third)
    ends = at_lower - shift, at_upper - shift
    return log_norm + shift, offset, mean, variance, third, ends[0], ends[1]


@inner
@documented(
    UNIT,
    returns="Error below 1e-14 max(1, abs(L)), at extreme scales 4e-14; -inf for a point.",
    example="""
    >>> print(f"{log_normalizer(0, 1, 0, float('inf')):.12f}")  # log(sqrt(pi/2))
    0.225791352645
    """,
    notes="""
    mathematics 1.4.  The derivatives of L are the mean (by a), minus half the second moment (by d),
    the density at upper and minus the density at lower.
    """,
)
def log_normalizer(a, d, lower, upper):
    """Return L, the logarithm of the integral of exp(a h - d h**2/2) over [lower, upper]."""
    return _evaluate(float64(a), float64(d), float64(lower), float64(upper))[0]


@inner
@documented(
    UNIT,
    returns="""
    Relative error of the variance below 1e-14.  Error of the mean below 3e-15 of itself or of
    the largest end; :func:`offset` keeps its digits where the mean lies at an end.
    """,
    example="""
    >>> mean, variance = mean_variance(-38.0, 1.0, 0.0, float("inf"))
    >>> print(f"{mean:.10f} {variance:.10f}")
    0.0262794666 0.0006896598
    """,
    kind="mean, variance : float",
    notes="mathematics 1.4; the paper's equation 3 without its cancellation.",
)
def mean_variance(a, d, lower, upper):
    """Return the mean and the variance of a unit."""
    result = _evaluate(float64(a), float64(d), float64(lower), float64(upper))
    return result[2], result[3]


@inner
@documented(
    UNIT,
    returns="""
    Mean and variance as from :func:`mean_variance`.  Relative error of the third below 3e-14;
    where the unit is nearly symmetric, below 5e-16 times the cube of the standard deviation.
    """,
    example="""
    >>> _, variance, third = moments(0, 1, 0, float("inf"))  # half normal
    >>> print(f"{third / variance**1.5:.10f}")  # its skewness
    0.9952717464
    """,
    kind="mean, variance, third : float",
    notes="""
    The third is the second derivative of the mean by a.  The derivative of the mean by d
    (mathematics 1.1) is ``-(third / 2 + mean * variance)``.
    """,
)
def moments(a, d, lower, upper):
    """Return the mean, the variance and the third central moment of a unit."""
    result = _evaluate(float64(a), float64(d), float64(lower), float64(upper))
    return result[2], result[3], result[4]


@inner
@documented(
    UNIT,
    returns="Relative error below 1e-14: variance plus squared mean, a sum of positive terms.",
    example="""
    >>> print(f"{second_moment(0, 1, 0, float('inf')):.12f}")
    1.000000000000
    """,
)
def second_moment(a, d, lower, upper):
    """Return the mean of h**2: minus twice the derivative of L by d."""
    result = _evaluate(float64(a), float64(d), float64(lower), float64(upper))
    return result[3] + result[2] * result[2]


@inner
@documented(
    UNIT,
    returns="Error below 5e-14 of the mean of abs(h)**3.",
    example="""
    >>> print(f"{third_moment(0, 1, 0, float('inf')):.12f}")  # 2 sqrt(2/pi)
    1.595769121606
    """,
)
def third_moment(a, d, lower, upper):
    """Return the mean of h**3."""
    _, _, m, v, third, _, _ = _evaluate(float64(a), float64(d), float64(lower), float64(upper))
    return third + m * (3.0 * v + m * m)


@inner
@documented(
    UNIT,
    returns="""
    Error below 1e-14 max(1, abs(value)); -inf at an infinite end, inf at both of a point.
    """,
    example="""
    >>> log_end_densities(-1, 0, 0, float("inf")), log_end_densities(0, 1, 3, float("inf"))[1]
    ((nan, nan), -inf)
    """,
    kind="at_lower, at_upper : float",
    notes="mathematics 1.1: these densities are the gradient of L by the truncation points.",
)
def log_end_densities(a, d, lower, upper):
    """Return the log density of a unit at its lower and at its upper end."""
    result = _evaluate(float64(a), float64(d), float64(lower), float64(upper))
    return result[5], result[6]


@inner
@documented(
    UNIT,
    returns="""
    Relative error below 5e-15, where mean - lower would have lost all its digits; inf if both
    ends are infinite.
    """,
    example="""
    >>> from trug_fast.kernels import mean_variance, offset
    >>> mean_variance(-1e12, 1, 1e6, 2e6)[0] - 1e6, float(f"{offset(-1e12, 1, 1e6, 2e6):.12g}")
    (0.0, 9.99999000001e-13)
    """,
)
def offset(a, d, lower, upper):
    """Return the distance of the mean from the near end, the one with the higher density."""
    return _evaluate(float64(a), float64(d), float64(lower), float64(upper))[1]
