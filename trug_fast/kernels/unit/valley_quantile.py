"""The quantile function of a unit with d of any sign: one uniform number in, one exact draw out.

As quantile.py for d > 0.  Where d <= 0, the mass between the valley and t is, over the weight at
t, the valley integral H_0(t).  An answer lies on one side of the valley, v from that side's end at
U, and leaves the share rho of the side's mass between itself and the valley.  It solves
Lambda(v) = -log rho with

    Lambda(v) = U v - v**2/2 + log H_0(U) - log H_0(U - v).

Near the end a first guess takes the hazard 1/H_0 as linear in v; towards the valley a polynomial
gives t**2 over log(1 + S**2), where S is the mass from there.  One step of fourth order follows.

A draw misses p by less than 1e-9 of p (of a p counted from the far end: by 1e-9).  Sums that hold
products are fused or rounded by hand, as in quantile.py.

Tested in tests/kernels/unit/test_any_precision.py.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick, polynomial, rounded
from trug_fast.kernels.special.coefficients import TABLES
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, log
from trug_fast.kernels.special.valleys import valley_integral

from .any_precision import whiten_any
from .quantile import THIN, quantile, rough_log

_distance_ratio = polynomial(*TABLES["DISTANCE"])


@scalar
def _side(p, rest, u, u_far, width, tau):
    """Return (U, H_0(U), q, rho, beyond): the side of the valley where the answer lies.

    q = 1 - rho is the share of its mass between end and answer, and exact where it is small;
    beyond tells that it is the far end's side.
    """
    zero, one, half = like(u, 0.0), like(u, 1.0), like(u, 0.5)
    inside, thin = u_far < zero, width < like(u, THIN)
    other = abs(u_far)
    near, far = valley_integral(u), valley_integral(other)
    signed = -far if inside else far
    decay, minus = exp_and_expm1(-tau)
    # A thin unit: the difference of the two integrals by the trapezoidal rule and its correction.
    near1, far1 = fma(u, near, -one), fma(other, far, -one)
    near2, far2 = fma(u, near1, -near), fma(u_far, far1, -signed)
    slopes = fma(width * like(u, 1.0 / 12.0), near2 - far2, half * (near1 + far1))
    beside = rounded(decay, width * slopes if thin else signed)
    mass = fma(-near, minus, -beside) if thin else near - beside
    beyond = inside and rounded(p, mass) > near
    inverse = one / (decay * far if beyond else near)
    q = rounded(rounded(rest if beyond else p, mass), inverse)
    rho = one - q if inside else rounded(fma(rest, mass, rounded(decay, far)), inverse)
    least = pick(u, 1e-300, 1e-30)
    return other if beyond else u, far if beyond else near, q, max(rho, least), beyond


@scalar
def _guess(base, integral, rho, target):
    """Return v where Lambda(v) is the target to 2 %, of order target**2 for small targets."""
    zero, one, two = like(base, 0.0), like(base, 1.0), like(base, 2.0)
    hazard, square = one / integral, base * base
    slope = fma(base, integral, -one) * hazard * hazard
    root = fma(hazard, hazard, -two * slope * target)
    root = root if root > zero else zero
    near = two * target / (hazard + math.sqrt(root))
    # From the valley, for bases of no more than a dozen.
    most = pick(base, 680.0, 80.0)
    mass = rho * integral
    mass = mass * mass * exp(square if square < most else most)
    y = one + mass
    w = rough_log(y) + (mass - (y - one)) / y
    t = w / (w + like(base, 8.0))
    t = math.sqrt(w * _distance_ratio(fma(t, like(base, 2.1), -one)))
    deep = target > like(base, 0.25) and target > like(base, 0.2) * square
    v = base - t if deep else near
    v = v if v < base else base
    return v if v > zero else zero


@scalar
def _refine(v, base, factor, lost):
    """Return v after one step of fourth order towards the target (quantile.hazard_refine).

    ``factor`` is rho H_0(base).
    """
    half, one = like(v, 0.5), like(v, 1.0)
    x = base - v
    h0 = valley_integral(x)
    h1 = fma(x, h0, -one)
    h2 = fma(x, h1, -h0)
    h3 = fma(x, h2, like(v, -2.0) * h1)
    excess = fma(v, fma(-half, v, base), log(factor / h0)) - lost
    fourth = fma(h0, fma(h0, h3, like(v, 4.0) * h1 * h2), h1 * h1 * h1)
    third = fma(h0, h2, h1 * h1)
    series = fma(like(v, -0.25) * excess, fourth, third)
    series = fma(like(v, -1.0 / 3.0) * excess, series, h1)
    refined = fma(-excess * h0, fma(-half * excess, series, one), v)
    refined = refined if refined < base else base
    return refined if refined > like(v, 0.0) else half * v


@scalar
def invert_nonpositive(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest, between finite ends.

    For d <= 0, or a weight whose bend cannot be seen.
    """
    zero, one, half = like(a, 0.0), like(a, 1.0), like(a, 0.5)
    _, inverse, u, u_far, width, tau, reflected = whiten_any(a, d, lower, upper)
    p, rest = (rest, p) if reflected else (p, rest)
    base, integral, q, rho, beyond = _side(p, rest, u, u_far, width, tau)
    lost = (rho - one) + q if q < half else zero
    lost = rounded(lost, one + q)
    target = lost - rough_log(rho)
    v = _guess(base, integral, rho, target)
    # Below the least target the guess is exact and the step would only add rounding.
    refined = _refine(v, base, rounded(rho, integral), lost)
    v = refined if target > pick(a, 1e-5, 0.02) else v
    from_upper = reflected != beyond
    h = fma(-v if from_upper else v, inverse, upper if from_upper else lower)
    h = lower if h < lower or lower == upper else (upper if h > upper else h)
    number = q == q or tau == zero  # else NaN; of a point q is, too
    good = lower <= upper and upper - lower < like(a, float("inf")) and number
    return h if good else like(a, float("nan"))


@scalar
def quantile_any(p, a, d, lower, upper):
    """Return h with P(unit <= h) = p, for 0 < p < 1 and d of any sign; increasing in p."""
    bent = quantile(p, a, d, lower, upper)
    other = invert_nonpositive(p, like(p, 1.0) - p, a, d, lower, upper)
    return bent if d > like(d, 0.0) else other
