"""Units with d <= 0 on a finite interval: the same outputs as normalizer.py, by quadrature.

The weight exp(a h - d h**2/2) is then log-convex: highest at one end (the *near* end), perhaps
rising again towards the other.  d = 0 is the truncated exponential; d -> -inf has all its mass at
the two ends, the binary unit.  With v the distance from the near end, c = -d and w the width,

    weight(v) = exp(-(g v - c v**2/2)),    weight(w - v) = weight(v) exp(-tau (1 - 2 v/w)),

where g >= c w/2 is the slope at the near end and tau >= 0 the drop from end to end.  On the near
half of the interval the weight only falls, so that half alone is cut into panels of equal drop;
each node stands for itself and for its mirror image.  All terms of all sums are positive.

So it is where d > 0 but no bend is left (scaling.py): d next to nothing, or the mode so far outside
that the weight is an exponential.

A slow path beside normalizer.py (0.25 microseconds if the drop is small, 2 if it is large), in
float64, for widths within 60 decades of 1 (scaling.py).
"""

import math

from trug_fast.kernels.compiling import inner, scalar
from trug_fast.kernels.intrinsics import fma
from trug_fast.kernels.special.coefficients import TABLES
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, log

# Gauss-Legendre rules on [0, 1]: of 12 points for a half interval with a drop up to 2, of 20 points
# for panels with a drop up to 14; their errors are below 1e-16 and 1e-19.
(NODES,), (WEIGHTS,) = TABLES["NODES"], TABLES["WEIGHTS"]
SMALL_DROP, SMALL_RULE = 2.0, 12
PANEL_DROP = 14.0
LAST_DROP = 84.0  # beyond lie 3e-37 of the mass: nothing, even for a quantile at 2**-54


@scalar
def invalid(a, d, lower, upper):
    """Tell whether the unit has no density: NaN, infinite numbers, or crossed bounds."""
    finite = math.isfinite(a) and math.isfinite(d) and math.isfinite(upper - lower)
    return not (finite and lower <= upper)


@scalar
def reflect(a, d, lower, upper):
    """Return (c, g, width, tau, reflected); reflected if the upper end is the near one."""
    c = -d
    width = upper - lower
    # The sum of the ends and what its rounding lost: tau keeps its digits far from zero too.
    total = lower + upper
    part = total - lower
    lost = (lower - (total - part)) + (upper - part)
    slope = fma(c, total, 2.0 * a) + c * lost
    reflected = slope > 0.0
    g = fma(c, upper, a) if reflected else -fma(c, lower, a)
    # Rounding must not let the weight rise on the near half.
    return c, max(g, 0.5 * c * width), width, 0.5 * width * abs(slope), reflected


@scalar
def panels_of(c, g, width):
    """Return the panels of the near half, the drop over all of them, and which nodes to use."""
    half = 0.5 * width
    drop = min(half * (g - 0.5 * c * half), LAST_DROP)
    start, stop = (0, SMALL_RULE) if drop <= SMALL_DROP else (SMALL_RULE, len(NODES))
    return max(1, math.ceil(drop / PANEL_DROP)), drop, start, stop


@scalar
def panel_edge(i, panels, drop, c, g, width):
    """Return the distance from the end at which panel ``i`` begins."""
    if i == panels and drop < LAST_DROP:
        return 0.5 * width
    t = drop * i / panels
    if t == 0.0:
        return 0.0
    return 2.0 * (t / g) / (1.0 + math.sqrt(max(0.0, 1.0 - 2.0 * (c / g) * (t / g))))


@scalar
def node_weight(k, step, fall):
    """Return the weight of node k of a panel ``step`` wide, the log density down by ``fall``."""
    return step * WEIGHTS[k] * exp(-fall)


@inner
def evaluate_nonpositive(a, d, lower, upper):
    """Return what :func:`normalizer.evaluate` returns; NaN if an end is infinite.

    For d <= 0, or a weight whose bend cannot be seen.
    """
    nan = float("nan")
    if invalid(a, d, lower, upper):
        return nan, nan, nan, nan, nan, nan, nan, False
    if lower == upper:
        infinite = float("inf")
        return -infinite, 0.0, lower, 0.0, 0.0, infinite, infinite, False
    c, g, width, tau, reflected = reflect(a, d, lower, upper)
    panels, drop, start, stop = panels_of(c, g, width)

    # Second moment about a point so near the mean that little cancels when the mean is known.
    centre = width / (2.0 + g * width)
    integral, first, second, lean = 0.0, 0.0, 0.0, 0.0
    square, cube, raw2, raw3 = 0.0, 0.0, 0.0, 0.0  # about the midpoint, about the near end
    for i in range(panels):
        left = panel_edge(i, panels, drop, c, g, width)
        step = panel_edge(i + 1, panels, drop, c, g, width) - left
        for k in range(start, stop):
            v = left + step * NODES[k]
            weight = node_weight(k, step, (g - 0.5 * c * v) * v)
            mirror, minus = exp_and_expm1(-tau * (1.0 - 2.0 * v / width))
            image = width - v
            integral += weight * (1.0 + mirror)
            first += weight * (v + image * mirror)
            second += weight * ((v - centre) ** 2 + (image - centre) ** 2 * mirror)
            x = 0.5 * width - v  # towards the near end, from the midpoint
            lean -= weight * minus * x
            square += weight * (1.0 + mirror) * x * x
            cube -= weight * minus * x * x * x
            raw2 += weight * (v * v + image * image * mirror)
            raw3 += weight * (v * v * v + image * image * image * mirror)
    inverse = 1.0 / integral
    offset, lean = first * inverse, lean * inverse
    variance = second * inverse - (offset - centre) ** 2
    # Odd moments about the midpoint vanish with tau, as the third central one does.
    third = raw3 * inverse - offset * (3.0 * raw2 * inverse - 2.0 * offset * offset)
    if tau <= 3.0:
        third = lean * (3.0 * square * inverse - 2.0 * lean * lean) - cube * inverse

    end = upper if reflected else lower
    # From the midpoint where the mean may lie near zero, between ends of opposite sign.
    mean = 0.5 * (lower + upper) if tau <= 3.0 else end
    signed = -lean if tau <= 3.0 else offset
    mean = min(max(mean - signed if reflected else mean + signed, lower), upper)
    log_integral = log(integral)
    log_near, log_far = -log_integral, -log_integral - tau
    log_low, log_high = (log_far, log_near) if reflected else (log_near, log_far)
    log_norm = end * fma(0.5 * c, end, a) + log_integral
    third = -third if reflected else third
    return log_norm, offset, mean, variance, third, log_low, log_high, reflected
