"""The unit log-normaliser L and its derivatives, for every argument with d > 0.

A TruG unit has density proportional to exp(-d h**2/2 + a h) on [lower, upper].  In units of its
standard deviation (s = sqrt(d)) and reflected so that the mass lies at the left end, its weight is
exp(-u v - v**2/2) for v in [0, width], where v is the distance from the *near* end and u that end's
distance from the mode (math.md 1.4).  Three regimes, chosen per element without a branch:

narrow  width < 2 and tau <= 3: series in even and odd moments about the midpoint
tail    mode outside the interval (u >= 0): differences of tail integrals
centre  mode inside (u < 0): complements of tail integrals

Each alone cancels where another is exact.  Worst relative errors over 1e5 random arguments are in
tests/test_unit.py.  ``a, d, lower, upper`` are numbers of one float type throughout this file.
"""

import math

from .coefficients import COSH_32, COSH_64, SINH_32, SINH_64
from .compiling import scalar
from .elementary import exp, exp_and_expm1, log
from .intrinsics import fma, like, pick, pick_count, polynomial
from .tails import bounded, tail_integrals

_cosh_of_square = polynomial(COSH_64, COSH_32)
_sinh_ratio_of_square = polynomial(SINH_64, SINH_32)

ROOT_TWO_PI = 2.5066282746310002
NARROW_WIDTH, NARROW_TAU = 2.0, 3.0


@scalar
def whiten(a, d, lower, upper):
    """Return (s, 1/s, u, u_far, width, tau, reflected) of the reflected, whitened unit.

    The products d*lower - a are fused, so u keeps its relative precision even where d*lower and a
    agree in most digits.  tau = (u_far**2 - u**2)/2 is taken from the sum of the ends, exact for
    intervals that are symmetric about zero.
    """
    huge = pick(a, 1e150, 1e18)  # stands for an infinite end: finite, so that 0 * end is 0
    low = -huge if lower < -huge else lower
    high = huge if upper > huge else upper
    s = math.sqrt(d)
    inverse = like(a, 1.0) / s
    u_low = bounded(fma(d, low, -a) * inverse)
    u_high = bounded(fma(d, high, -a) * inverse)
    total = bounded(fma(d, low + high, like(a, -2.0) * a) * inverse)
    width = bounded(s * (high - low))
    reflected = total < like(a, 0.0)
    u = -u_high if reflected else u_low
    u_far = -u_low if reflected else u_high
    tau = like(a, 0.5) * width * abs(total)
    return s, inverse, u, u_far, width, tau, reflected


@scalar
def narrow_integrals(width, tau):
    """Return M_0, M_1, M_2 of a narrow interval, M_k = integral of |t|**k-even-odd parts.

    About the midpoint, with half width r and t in [-1, 1], the weight is
    exp(-g t - r**2 t**2/2), g = tau/2.  M_0 and M_2 integrate t**k cosh(g t) exp(-r**2 t**2/2),
    M_1 integrates t sinh(g t) exp(-r**2 t**2/2); the mean of t is -M_1/M_0.  The integrals of
    t**n cosh and t**n sinh obey a stable downward recurrence; the Gaussian is a power series.
    """
    # Arguments of other regimes would overflow, in vain but for the warning that a ufunc gives.
    widest, steepest = like(width, NARROW_WIDTH), like(width, NARROW_TAU)
    width = width if width < widest else widest
    tau = tau if tau < steepest else steepest
    two = like(width, 2.0)
    g = like(width, 0.5) * tau
    square = g * g
    rho = like(width, 0.125) * width * width
    cosh2 = two * _cosh_of_square(square)
    sinh2 = two * _sinh_ratio_of_square(square)
    terms = pick_count(width, 14, 7)
    # Start of the recurrence at order n = 2 * terms: three terms of its own expansion.
    by1, by2, by3 = 1.0 / (2 * terms + 1), 1.0 / (2 * terms + 2), 1.0 / (2 * terms + 3)
    even = fma(cosh2, like(width, -by3), sinh2) * like(width, by2)
    even = fma(-square, even, cosh2) * like(width, by1)
    m0, m1, m2 = like(width, 0.0), like(width, 0.0), like(width, 0.0)
    for i in range(terms):
        j = terms - 1 - i
        step = rho * like(width, -1.0 / (j + 1.0))
        m2 = fma(step, m2, even)
        odd = (sinh2 - even) * like(width, 1.0 / (2.0 * j + 2.0))
        m1 = fma(step, m1, odd)
        even = fma(-square, odd, cosh2) * like(width, 1.0 / (2.0 * j + 1.0))
        m0 = fma(step, m0, even)
    return m0, g * m1, m2


@scalar
def evaluate(a, d, lower, upper):
    """Return (L, offset, mean, variance, log density at lower, at upper, near end is upper).

    offset is the distance of the mean from the near end, free of the cancellation in mean - end.
    Callers that drop an output do not pay for it: everything is inlined and dead code removed.
    NaN in, NaN out; crossed bounds give NaN; lower == upper is a point mass with L = -inf.
    """
    zero, half, one = like(a, 0.0), like(a, 0.5), like(a, 1.0)
    s, inverse, u, u_far, width, tau, reflected = whiten(a, d, lower, upper)
    narrow = (width < like(a, NARROW_WIDTH)) and (tau <= like(a, NARROW_TAU))
    centre = u < zero
    decay, decay_minus_one = exp_and_expm1(-tau)
    near0, near1, near2 = tail_integrals(abs(u))
    far0, far1, far2 = tail_integrals(abs(u_far))

    # Integral, first and second moment of each regime; all three are divided at once.
    t0 = near0 - decay * far0
    t1 = near1 - decay * (far1 + width * far0)
    t2 = near2 - decay * (far2 + width * (like(a, 2.0) * far1 + width * far0))
    height = exp(-half * u * u)
    c0 = like(a, ROOT_TWO_PI) - height * (near0 + decay * far0)
    c1 = -height * decay_minus_one
    c2 = height * (u - u_far * decay)
    n0, n1, n2 = narrow_integrals(width, tau)
    integral = n0 if narrow else (c0 if centre else t0)
    divisor = one / integral
    first = (n1 if narrow else (c1 if centre else t1)) * divisor
    second = (n2 if narrow else (c2 if centre else t2)) * divisor

    r = half * width
    central = second - first * first
    variance = r * r * central if narrow else (one + central if centre else central)
    distance = r * (one - first) if narrow else (first - u if centre else first)
    signed = -inverse if reflected else inverse
    end = upper if reflected else lower
    origin = half * (lower + upper) if narrow else (a * (inverse * inverse) if centre else end)
    mean = origin + signed * (-r * first if narrow else first)
    mean = lower if mean < lower else (upper if mean > upper else mean)

    log_integral = log(integral * (r * inverse if narrow else inverse))
    excess = half * (r * r - tau) if narrow else (half * u * u if centre else zero)
    at_end = end * (a - half * d * end)
    at_mode = half * a * a * (inverse * inverse)
    base = at_end + half * (r * r - tau) if narrow else (at_mode if centre else at_end)
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
        log_low + bad,
        log_high + bad,
        reflected,
    )
