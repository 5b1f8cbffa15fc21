"""The unit of length in which no number of a unit is extreme, and what formulas it then takes.

The scalar functions take numbers of any size.  Squares and cubes of a width of 1e-110 are not
floats, nor does d alone say whether a unit is bent: d times the squared width does.  So a unit out
of the ordinary is first measured in its own width, or in its own standard deviation where that is
less, rounded to a power of two, which costs no digit.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import power_of_two, split_exponent
from trug_fast.kernels.special.elementary import MAGIC_64, log

from .nonpositive_precision import reflect
from .normalizer import ROOT_TWO_PI

LEAST, MOST = 1e-30, 1e30  # of widths, near ends, d and a, within which nothing is extreme
NEGLIGIBLE = 1e-100  # a d times the squared width that cannot be told from 0
FARTHEST = 1e100  # standard deviations from the mode, as far as tails.py goes
STRAIGHT = 1e50  # the same, and widths over the distance of decay, where an exponential is left
BIGGEST = 1020.0  # exponent of a length: beyond, its inverse or a sum of two would overflow
INFINITE = float("inf")  # abs(x) < it: math.isfinite subtracts, and a ufunc warns of inf - inf

# What a unit takes: the formulas of normalizer.py; those of nonpositive_precision.py, also where d
# is positive but too little to bend the weight; none, as it has no density or lies farther out
# than they go; those of a point; those of a normal whose ends are out of sight.
BENT, NONPOSITIVE, NONE, POINT, FREE = range(5)


@scalar
def is_plain(a, d, lower, upper):
    """Tell whether d > 0 and no number is extreme: a unit for normalizer.py as it is."""
    near = lower < MOST and upper > -MOST and upper - lower > LEAST
    return LEAST < d < MOST and abs(a) < MOST and near


@scalar
def exponent_of_length(a, d, lower, upper):
    """Return k, where 2**k is the unit of length."""
    half = 0.5 * upper - 0.5 * lower  # so that it cannot overflow
    wide, bend = _exponent(half), _exponent(d)
    if d > 0.0 and not d * half * half <= NEGLIGIBLE:
        k = min(wide, -float(math.floor(0.5 * bend)))
    else:
        # The distance of decay, within 45 decades of the width: so no log of a tiny integral and
        # log of the unit of length cancel, 1e-14 where these are 1e65 apart.
        decay = -_exponent(max(abs(a - d * lower), abs(a - d * upper)))
        k = max(min(wide, decay), wide - 150.0)
    return min(max(k, -BIGGEST), BIGGEST)


@scalar
def _exponent(x):
    return split_exponent(min(max(x, 1e-307), 1e307))[1]


@scalar
def formulas_of(a, d, lower, upper):
    """Return which of the formulas above a unit takes, in its own unit of length."""
    if not (lower <= upper and abs(a) < INFINITE and abs(d) < INFINITE):
        return NONE
    if lower == upper:
        return POINT if abs(lower) < INFINITE else NONE
    width = upper - lower
    finite = abs(width) < INFINITE
    if not d > 0.0:
        return NONPOSITIVE if finite else NONE
    if finite and d * width * width <= NEGLIGIBLE:
        return NONPOSITIVE
    s = math.sqrt(d)
    low, high = d * lower - a, d * upper - a
    if finite and (low > STRAIGHT * s or high < -STRAIGHT * s):
        return NONPOSITIVE
    if low > FARTHEST * s or high < -FARTHEST * s:
        return NONE
    return FREE if low < -FARTHEST * s and high > FARTHEST * s else BENT


@scalar
def measured(a, d, lower, upper):
    """Return a unit in its own unit of length, the k of that, and its formulas.

    Where nothing is extreme and d > 0 it stays as it is.
    """
    if is_plain(a, d, lower, upper):
        return a, d, lower, upper, 0.0, BENT
    k = exponent_of_length(a, d, lower, upper) if lower < upper else 0.0
    length, inverse = power_of_two(k + MAGIC_64), power_of_two(MAGIC_64 - k)
    a, d = a * length, d * length * length
    lower, upper = lower * inverse, upper * inverse
    return a, d, lower, upper, k, formulas_of(a, d, lower, upper)


@scalar
def free_normal(a, d, lower, upper):
    """Return what ``evaluate`` does, of a normal whose ends are beyond 1e100 deviations."""
    s = math.sqrt(d)
    mean = a / d
    log_integral = log(ROOT_TWO_PI / s)
    root = a / s
    low, high = (d * lower - a) / s, (d * upper - a) / s
    offset = min(mean - lower, upper - mean)
    at_low, at_high = -0.5 * low * low - log_integral, -0.5 * high * high - log_integral
    return (
        0.5 * root * root + log_integral,
        offset,
        mean,
        1.0 / d,
        0.0,
        at_low,
        at_high,
        low < -high,
    )


@scalar
def _decay(a, d, lower, upper):
    """Return rate of decay from the near end, drop, and whether that end is the upper one."""
    finite = abs(upper - lower) < INFINITE
    # The compiler may do both ways at once: no inf - inf, of which a ufunc would warn.
    low, high = (lower, upper) if finite else (0.0, 1.0)
    _, rate, _, drop, reflected = reflect(a, d, low, high)
    if finite:
        return rate, drop, reflected
    reflected = math.isinf(lower)
    return a - d * upper if reflected else d * lower - a, float("inf"), reflected


@scalar
def is_exponential(a, d, lower, upper):
    """Tell whether all mass lies so near one end that nothing is left of bend and other end."""
    rate, drop, _ = _decay(a, d, lower, upper)
    if not (abs(rate) < INFINITE and lower < upper):
        return False
    if abs(upper - lower) < INFINITE:
        return drop > 1e3 and rate * (upper - lower) > STRAIGHT
    return d > 0.0 and rate > STRAIGHT * math.sqrt(d)


@scalar
def exponential(a, d, lower, upper):
    """Return what ``evaluate`` does, where ``is_exponential``."""
    rate, drop, reflected = _decay(a, d, lower, upper)
    end = upper if reflected else lower
    offset = 1.0 / rate
    third = 2.0 * offset * offset * offset
    near = log(rate)
    far = near - drop
    return (
        end * (a - 0.5 * d * end) - near,
        offset,
        end - offset if reflected else end + offset,
        offset * offset,
        -third if reflected else third,
        far if reflected else near,
        near if reflected else far,
        reflected,
    )
