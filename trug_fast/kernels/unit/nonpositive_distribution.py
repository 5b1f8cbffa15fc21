"""Distribution function, density, quantile and entropy of a unit with d <= 0, as distribution.py.

A part of a unit is itself a unit, so a probability is a ratio of two integrals
(nonpositive_precision.py) of positive terms, each over the weight at its own near end, times that
of those weights.  (Over the weight at the cut, the flat middle of a unit whose mass sits at its
ends loses 4e-10: the exponent there is 3e6.)  Every function is NaN for a unit without a density
and for a point.  A slow path, in float64.
"""

import math

from trug_fast.kernels.compiling import inner, scalar
from trug_fast.kernels.intrinsics import fma
from trug_fast.kernels.special.elementary import exp, log, log1p

from .nonpositive_precision import (
    NODES,
    invalid,
    node_weight,
    panel_edge,
    panels_of,
    reflect,
)
from .valley_quantile import invert_nonpositive

LEAST = 1e-20  # probabilities that a draw's formula inverts
SMALL_STEP = 1e-6  # of the distance to an end: no bend of the density is seen on the way


@scalar
def _fall(x, lower, upper, frame):
    """Return how far the exponent at x lies below that of the near end."""
    c, g, g_far, width, tau, reflected = frame
    v, image = (upper - x, x - lower) if reflected else (x - lower, upper - x)
    return (g - 0.5 * c * v) * v if v <= image else tau + (g_far - 0.5 * c * image) * image


@scalar
def _frame(a, d, lower, upper):
    c, g, width, tau, reflected = reflect(a, d, lower, upper)
    g_far = -fma(c, lower, a) if reflected else fma(c, upper, a)
    return c, g, g_far, width, tau, reflected


@inner
def _mass(a, d, lower, upper, panels_each):
    """Return the integral of the weight over that of the near end, and of weight times its fall."""
    c, g, width, tau, _ = reflect(a, d, lower, upper)
    panels, drop, start, stop = panels_of(c, g, width)
    panels *= panels_each
    mass, energy = 0.0, 0.0
    for i in range(panels):
        left = panel_edge(i, panels, drop, c, g, width)
        step = panel_edge(i + 1, panels, drop, c, g, width) - left
        for k in range(start, stop):
            v = left + step * NODES[k]
            fall = (g - 0.5 * c * v) * v
            between = tau * (1.0 - 2.0 * v / width)
            weight, mirror = node_weight(k, step, fall), exp(-between)
            mass += weight * (1.0 + mirror)
            energy += weight * (fall + (fall + between) * mirror)
    return mass, energy


@inner
def logpdf(x, a, d, lower, upper):
    """Return the log density; -inf outside [lower, upper]."""
    if invalid(a, d, lower, upper) or lower == upper or math.isnan(x):
        return float("nan")
    if not lower <= x <= upper:
        return -float("inf")
    mass, _ = _mass(a, d, lower, upper, 1)
    return -log(mass) - _fall(x, lower, upper, _frame(a, d, lower, upper))


@inner
def log_below(x, a, d, lower, upper):
    """Return log P(unit <= x) for lower < x < upper, exact where it is far from 0."""
    frame = _frame(a, d, lower, upper)
    tau, reflected = frame[4], frame[5]
    cut_is_near = reflect(a, d, lower, x)[4]
    fall = _fall(x, lower, upper, frame) if cut_is_near else (tau if reflected else 0.0)
    part, whole = _mass(a, d, lower, x, 1)[0], _mass(a, d, lower, upper, 1)[0]
    return min(log(part / whole) - fall, 0.0)


@inner
def logcdf(x, a, d, lower, upper):
    """Return log P(unit <= x), exact at both ends."""
    if invalid(a, d, lower, upper) or lower == upper or math.isnan(x):
        return float("nan")
    if x <= lower:
        return -float("inf")
    if x >= upper:
        return 0.0
    below = log_below(x, a, d, lower, upper)
    above = log_below(-x, -a, d, -upper, -lower)
    return below if below < above else log1p(-exp(above))


@inner
def ppf(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest, where p + rest = 1.

    A draw's formula (valley_quantile.py), and a step of Newton's method for the digits it lacks.
    Where that step is not small, and of a p below 1e-20, only a start, to be polished
    (probability.py).
    """
    if invalid(a, d, lower, upper) or lower == upper or not (p >= 0.0 and rest >= 0.0):
        return float("nan")
    if p == 0.0 or rest == 0.0:
        return lower if p == 0.0 else upper
    h = invert_nonpositive(max(p, LEAST), max(rest, LEAST), a, d, lower, upper)
    if not lower < h < upper:
        return h
    if p <= rest:
        miss = exp(log_below(h, a, d, lower, upper)) - p
    else:
        miss = rest - exp(log_below(-h, -a, d, -upper, -lower))
    step = miss * exp(-logpdf(h, a, d, lower, upper))
    return h - step if abs(step) < SMALL_STEP * min(h - lower, upper - h) else h


@inner
def entropy(a, d, lower, upper):
    """Return minus the mean of the log density."""
    if invalid(a, d, lower, upper) or lower == upper:
        return float("nan")
    # Twice the panels: the rule is made for the weight, not for the weight times its logarithm.
    mass, energy = _mass(a, d, lower, upper, 2)
    return energy / mass + log(mass)
