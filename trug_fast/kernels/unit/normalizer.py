"""The unit log-normaliser L and its derivatives, for every argument with d > 0.

A TruG unit has density proportional to exp(-d h**2/2 + a h) on [lower, upper].  In units of its
standard deviation (s = sqrt(d)) and reflected so that the mass lies at the left end, its weight is
exp(-u v - v**2/2) for v in [0, width], where v is the distance from the *near* end and u that end's
distance from the mode (mathematics 1.4).  Three regimes, chosen per element without a branch:

narrow  width < 2.6 and tau <= 3: series in even and odd moments about the midpoint
tail    mode outside the interval (u >= 0): differences of tail integrals
centre  mode inside (u < 0): complements of tail integrals

Each alone cancels where another is exact.  Worst relative errors over 1e5 random arguments are in
tests/kernels/unit/test_normalizer.py.  ``a, d, lower, upper`` are numbers of one float type
throughout this file, and not extreme (scaling.py sees to that for the scalar functions): d above
1e-100 (float32: 1e-12) where an end is infinite, the mode within 1e100 standard deviations
(float32: 1e12), widths within 60 decades of 1.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick, pick_count, polynomial, rounded
from trug_fast.kernels.special.coefficients import TABLES
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, log
from trug_fast.kernels.special.tails import bounded, tail_integrals

_cosh_of_square = polynomial(*TABLES["COSH"])
_sinh_ratio_of_square = polynomial(*TABLES["SINH"])

ROOT_TWO_PI = 2.5066282746310002
NARROW_WIDTH, NARROW_TAU = 2.6, 3.0
TERMS_64, TERMS_32 = 18, 9  # of the series, enough for the narrow regime


@scalar
def whiten(a, d, lower, upper):
    """Return (s, 1/s, u, u_far, width, tau, reflected) of the reflected, whitened unit.

    The products d*lower - a are fused, so u keeps its relative precision even where d*lower and a
    agree in most digits.  tau = (u_far**2 - u**2)/2 is taken from the sum of the ends, exact for
    intervals that are symmetric about zero; what rounding loses of that sum is put back, without
    which end densities lose 1.7e-14 and the third moment of nearly symmetric units 2e-13.
    """
    huge = pick(a, 1e150, 1e18)  # stands for an infinite end: finite, so that 0 * end is 0
    low = -huge if lower < -huge else lower
    high = huge if upper > huge else upper
    s = math.sqrt(d)
    inverse = like(a, 1.0) / s
    u_low = bounded(fma(d, low, -a) * inverse)
    u_high = bounded(fma(d, high, -a) * inverse)
    both = low + high
    part = both - low
    lost = (low - (both - part)) + (high - part)
    total = bounded(fma(d, lost, fma(d, both, like(a, -2.0) * a)) * inverse)
    width = bounded(s * (high - low))
    reflected = total < like(a, 0.0)
    u = -u_high if reflected else u_low
    u_far = -u_low if reflected else u_high
    tau = like(a, 0.5) * width * abs(total)
    return s, inverse, u, u_far, width, tau, reflected


@scalar
def narrow_integrals(width, tau, sign=1.0):
    """Return M_0, M_1, M_2, M_3 of a narrow interval, M_k = integral of |t|**k-even-odd parts.

    About the midpoint, with half width r and t in [-1, 1], the weight is
    exp(-g t - r**2 t**2/2), g = tau/2 (exp(-g t + r**2 t**2/2) where ``sign``, that of d, is -1).
    M_0 and M_2 integrate t**k cosh(g t) exp(-r**2 t**2/2), M_1 and M_3 integrate
    t**k sinh(g t) exp(-r**2 t**2/2); the mean of t is -M_1/M_0.  The integrals of t**n cosh and
    t**n sinh obey a stable downward recurrence; the Gaussian is a power series.
    """
    # Arguments of other regimes would overflow, in vain but for the warning that a ufunc gives.
    widest, steepest = like(width, NARROW_WIDTH), like(width, NARROW_TAU)
    width = width if width < widest else widest
    tau = tau if tau < steepest else steepest
    two = like(width, 2.0)
    g = like(width, 0.5) * tau
    square = g * g
    rho = like(width, sign) * like(width, 0.125) * width * width
    cosh2 = two * _cosh_of_square(square)
    ratio = _sinh_ratio_of_square(square)
    sinh2 = ratio + ratio
    terms = pick_count(width, TERMS_64, TERMS_32)
    # Start of the recurrence at order n = 2 * terms: three terms of its own expansion.
    by1, by2, by3 = 1.0 / (2 * terms + 1), 1.0 / (2 * terms + 2), 1.0 / (2 * terms + 3)
    # even is part * factor, fused by hand into what is taken from it: see between.
    part, factor = fma(cosh2, like(width, -by3), sinh2), like(width, by2)
    odd = fma(-part, factor, sinh2) * like(width, by2)
    part, factor = fma(-square, part * factor, cosh2), like(width, by1)
    m0, m1, m2, m3 = like(width, 0.0), like(width, 0.0), like(width, 0.0), like(width, 0.0)
    for i in range(terms):
        j = terms - 1 - i
        step = rho * like(width, -1.0 / (j + 1.0))
        m3 = fma(step, m3, odd)
        m2 = fma(step, m2, part * factor)
        odd = fma(-part, factor, sinh2) * like(width, 1.0 / (2.0 * j + 2.0))
        m1 = fma(step, m1, odd)
        part, factor = fma(-square, odd, cosh2), like(width, 1.0 / (2.0 * j + 1.0))
        m0 = fma(step, m0, part * factor)
    return m0, g * m1, m2, g * m3


@scalar
def wide_integrals(u, u_far, width, tau):
    """Return integral, first to third moment, of the tail regime (u >= 0) or of the centre."""
    return between(u, u_far, width, tau, tail_integrals(abs(u)), tail_integrals(abs(u_far)))


@scalar
def between(u, u_far, width, tau, near, far):
    """Return what ``wide_integrals`` does, from the integrals of the tails at both ends.

    Of the tail (u >= 0) about the near end; of the centre about the mode, where the second lacks
    the normal's own 1 and the third twice the first, which would cancel.
    """
    half, one, two, three = like(u, 0.5), like(u, 1.0), like(u, 2.0), like(u, 3.0)
    centre = u < like(u, 0.0)
    decay, decay_minus_one = exp_and_expm1(-tau)
    near0, near1, near2, near3 = near
    far0, far1, far2, far3 = far
    # Sums of products are fused or rounded by hand, in all that kernels/arrays.py takes: which of
    # them the compiler fuses, and so the last bit, differs between a vectorised loop and its
    # remainder, with the processor and with Python's version.
    t0 = fma(-decay, far0, near0)
    t1 = fma(-decay, fma(width, far0, far1), near1)
    far = fma(width, fma(width, far0, two * far1), far2)
    t2 = fma(-decay, far, near2)
    far = fma(width, fma(width, far0, three * far1), three * far2)
    t3 = fma(-decay, fma(width, far, far3), near3)
    height = exp(-half * u * u)
    c0 = fma(-height, fma(decay, far0, near0), like(u, ROOT_TWO_PI))
    c1 = -height * decay_minus_one
    c2 = height * fma(-u_far, decay, u)
    # u**2 - u_far**2 decay, where tau is small by way of u_far**2 - u**2 = 2 tau.  Both are
    # computed before one is chosen, and c2 is left to round as it may: 2 to 4 % of a small
    # training's update.
    far = u_far * u_far
    flat, steep = fma(-far, decay_minus_one, -two * tau), fma(-far, decay, u * u)
    c3 = height * (flat if tau < one else steep)
    return (
        c0 if centre else t0,
        c1 if centre else t1,
        c2 if centre else t2,
        c3 if centre else t3,
    )


@scalar
def is_narrow(width, tau):
    """Tell whether an interval is taken by the series of ``narrow_integrals``."""
    return (width < like(width, NARROW_WIDTH)) and (tau <= like(width, NARROW_TAU))


@scalar
def evaluate(a, d, lower, upper):
    """Return (L, offset, mean, variance, third, log density at lower, at upper, reflected).

    offset is the distance of the mean from the near end, free of the cancellation in mean - end;
    third is the third central moment; reflected tells that the near end is the upper one.
    Callers that drop an output do not pay for it: everything is inlined and dead code removed.
    NaN in, NaN out; crossed bounds give NaN; lower == upper is a point mass with L = -inf.
    """
    frame = whiten(a, d, lower, upper)
    _, _, u, u_far, width, tau, _ = frame
    n0, n1, n2, n3 = narrow_integrals(width, tau)
    w0, w1, w2, w3 = wide_integrals(u, u_far, width, tau)
    if is_narrow(width, tau):
        w0, w1, w2, w3 = n0, n1, n2, n3
    return outputs(a, d, lower, upper, frame, w0, w1, w2, w3)


@scalar
def is_wide(d, lower, upper):
    """Tell whether no net input makes this interval one for ``narrow_integrals``."""
    return math.sqrt(d) * (upper - lower) >= like(d, NARROW_WIDTH)


@scalar
def evaluate_wide(a, d, lower, upper):
    """Return what ``evaluate`` does where ``is_wide``, in half the time."""
    frame = whiten(a, d, lower, upper)
    _, _, u, u_far, width, tau, _ = frame
    w0, w1, w2, w3 = wide_integrals(u, u_far, width, tau)
    return outputs(a, d, lower, upper, frame, w0, w1, w2, w3)


@scalar
def evaluate_one(a, d, lower, upper):
    """Return what ``evaluate`` does, for one unit alone: only its own regime is computed.

    The last digit may differ, as the compiler fuses other operations.
    """
    frame = whiten(a, d, lower, upper)
    _, _, u, u_far, width, tau, _ = frame
    if is_narrow(width, tau):
        i0, i1, i2, i3 = narrow_integrals(width, tau)
    else:
        i0, i1, i2, i3 = wide_integrals(u, u_far, width, tau)
    return outputs(a, d, lower, upper, frame, i0, i1, i2, i3)


@scalar
def outputs(a, d, lower, upper, frame, integral, first, second, third, sign=1.0):
    """Turn the integrals of a unit's own regime into what ``evaluate`` returns.

    ``sign`` is that of d.
    """
    zero, half, one = like(a, 0.0), like(a, 0.5), like(a, 1.0)
    _, inverse, u, _, width, tau, reflected = frame
    narrow, centre = is_narrow(width, tau), u < zero
    divisor = one / integral
    first, second, third = rounded(first, divisor), second * divisor, third * divisor

    r = half * width
    square = first * first
    central = fma(-first, first, second)
    variance = r * r * central if narrow else (one + central if centre else central)
    bend = fma(like(a, 3.0), second, like(a, -2.0) * square)
    bend = one + bend if centre and not narrow else bend
    skew = fma(-first, bend, third)
    skew = -r * r * r * skew if narrow else skew
    distance = r * (one - first) if narrow else (first - u if centre else first)
    signed = -inverse if reflected else inverse
    end = upper if reflected else lower
    origin = half * (lower + upper) if narrow else (a * (inverse * inverse) if centre else end)
    mean = fma(signed, -r * first if narrow else first, origin)
    mean = lower if mean < lower else (upper if mean > upper else mean)

    log_integral = log(integral * (r * inverse if narrow else inverse))
    square = like(a, sign) * r * r
    excess = half * (square - tau) if narrow else (half * u * u if centre else zero)
    at_end = end * (a - half * d * end)
    at_mode = half * a * a * (inverse * inverse)
    base = at_end + half * (square - tau) if narrow else (at_mode if centre else at_end)
    log_norm = base + log_integral
    log_near = -log_integral - excess
    log_far = log_near - tau
    log_low, log_high = (log_far, log_near) if reflected else (log_near, log_far)

    minus_infinity = like(a, -float("inf"))
    log_low = minus_infinity if lower == minus_infinity else log_low
    log_high = minus_infinity if upper == -minus_infinity else log_high
    bad = like(a, float("nan")) if not lower <= upper else zero
    return (
        log_norm + bad,
        distance * inverse + bad,
        mean + bad,
        variance * inverse * inverse + bad,
        skew * inverse * inverse * signed + bad,
        log_low + bad,
        log_high + bad,
        reflected,
    )
