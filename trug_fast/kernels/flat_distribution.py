"""Distribution function, density, quantile and entropy of a unit with d <= 0, as distribution.py.

A part of a unit is itself a unit, so a probability is a ratio of two densities at the cut: that of
the whole over that of the part, whose integrals (flat.py) are sums of positive terms.  Every
function is NaN for a unit without a density and for a point.  A slow path, in float64.
"""

import math

from .compiling import serial
from .elementary import exp, log, log1p
from .flat import NODES, evaluate_flat, node_weight, panel_edge, panels_of, quantile_flat, reflect

LEAST = 1e-20  # probabilities that quantile_flat can invert
STEPS = 200  # of Newton's method or of bisection, which needs at most 64


@serial
def logpdf_flat(x, a, d, lower, upper):
    """Return the log density; -inf outside [lower, upper]."""
    _, _, _, _, _, log_low, log_high, reflected = evaluate_flat(a, d, lower, upper)
    if not lower < upper or math.isnan(x + log_low):
        return float("nan")
    if not lower <= x <= upper:
        return -float("inf")
    c, g, width, tau, _ = reflect(a, d, lower, upper)
    log_near, log_far = (log_high, log_low) if reflected else (log_low, log_high)
    v, image = (upper - x, x - lower) if reflected else (x - lower, upper - x)
    if v <= image:
        return log_near - (g - 0.5 * c * v) * v
    return log_far - (g - 2.0 * tau / width - 0.5 * c * image) * image


@serial
def log_below(x, a, d, lower, upper):
    """Return log P(unit <= x) for lower < x < upper, exact where it is far from 0."""
    at_cut = evaluate_flat(a, d, lower, x)[6]
    return min(logpdf_flat(x, a, d, lower, upper) - at_cut, 0.0)


@serial
def logcdf_flat(x, a, d, lower, upper):
    """Return log P(unit <= x), exact at both ends."""
    if math.isnan(x) or not lower < upper or math.isnan(evaluate_flat(a, d, lower, upper)[0]):
        return float("nan")
    if x <= lower:
        return -float("inf")
    if x >= upper:
        return 0.0
    below = log_below(x, a, d, lower, upper)
    above = log_below(-x, -a, d, -upper, -lower)
    return below if below < above else log1p(-exp(above))


@serial
def ppf_flat(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest, where p + rest = 1."""
    valid = p >= 0.0 and rest >= 0.0 and lower < upper
    if not valid or math.isnan(evaluate_flat(a, d, lower, upper)[0]):
        return float("nan")
    if p == 0.0 or rest == 0.0:
        return lower if p == 0.0 else upper
    if p >= LEAST and rest >= LEAST:
        return quantile_flat(p, rest, a, d, lower, upper)
    mirrored = rest < p
    if mirrored:
        p, a, lower, upper = rest, -a, -upper, -lower
    # Newton's method on log P, nearly linear far out; bisection where it leaves the bracket.
    goal = log(p)
    low, high = lower, quantile_flat(LEAST, 1.0, a, d, lower, upper)
    h = high
    for _ in range(STEPS):
        miss = log_below(h, a, d, lower, upper) - goal
        if miss > 0.0:
            high = h
        else:
            low = h
        # The derivative of log P is the density at the upper end of the unit cut at h.
        moved = h - miss * exp(-evaluate_flat(a, d, lower, h)[6])
        if not low < moved < high:
            moved = low + 0.5 * (high - low)
        if moved == h or moved == low or moved == high:
            break
        h = moved
    return -h if mirrored else h


@serial
def entropy_flat(a, d, lower, upper):
    """Return minus the mean of the log density."""
    _, _, _, _, _, log_low, log_high, reflected = evaluate_flat(a, d, lower, upper)
    if not lower < upper or math.isnan(log_low):
        return float("nan")
    c, g, width, tau, _ = reflect(a, d, lower, upper)
    panels, drop, start, stop = panels_of(c, g, width)
    # The mean of the drop of the log density below that at the near end.
    energy = 0.0
    for i in range(panels):
        left = panel_edge(i, panels, drop, c, g, width)
        step = panel_edge(i + 1, panels, drop, c, g, width) - left
        for k in range(start, stop):
            v = left + step * NODES[k]
            fall = (g - 0.5 * c * v) * v
            between = tau * (1.0 - 2.0 * v / width)
            weight = node_weight(k, step, fall)
            energy += weight * (fall + (fall + between) * exp(-between))
    log_near = log_high if reflected else log_low
    return energy * exp(log_near) - log_near
