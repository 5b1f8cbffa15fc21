"""The last step to a quantile of one unit: Newton's method on the logarithm of the probability.

A draw's formula (quantile.py) and its polish (distribution.py) count from the near end or from the
mode, in floats: of a quantile beside another end at 0 they leave no digit, and of one that they
place beyond rounding of the mode, as in a unit of 1e-38 at 1e-10, they miss by a few roundings.

Tested in tests/kernels/unit/test_quantile.py and test_scaling.py.
"""

import math

from trug_fast.kernels.compiling import inner, scalar
from trug_fast.kernels.special.elementary import exp, log

from . import distribution as bent
from . import nonpositive_distribution as nonpositive
from .scaling import NONPOSITIVE

STEPS = 100  # one or two are enough but from nonpositive.ppf's start for a p below 1e-20
CLOSE = 4e-16  # the noise of log P over 1 - log P
# A start is so near that P exceeds 0.78, where it should be below 1/2, or has no logarithm to speak
# of, only if the unit lies between two floats.  Newton's method would go off from there.
ABOVE, BELOW = -0.25, -1e12
GRAIN = 1.2e-16  # moves a float to its neighbour


@inner
def polished(h, p, a, d, lower, upper, formulas):
    """Return h moved to where P(unit <= h) = p, for 0 < p <= 1/2."""
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
