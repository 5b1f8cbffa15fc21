"""The quantile function of a TruG unit: one uniform number in, one exact draw out.

Inversion needs no loop and no second random number, so a row of units vectorises and a stream
needs no more bookkeeping than its index.  It inverts the *cumulative hazard* of the normal tail,
Lambda(v) = u v + v**2/2 + log R_0(u) - log R_0(u + v), measured from the near end of the interval
(or from the mode, if that lies inside), which stays exact where Phi has long rounded to 1.

What the time goes to is arithmetic and waiting for it, not divisions: 24 ns with tails.py's three
integrals at both ends and at the answer, two logarithms and three exponentials; 17 ns with the
hazard alone (a shorter polynomial), one full logarithm (the guess does with a rough one) and two
exponentials.

Sums that hold products are fused by hand: left to the compiler, which product it fuses depends on
the loop around, and an element in the remainder of a vectorised loop would get other last bits.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick, polynomial, split_exponent
from trug_fast.kernels.special.coefficients import HAZARD_32, HAZARD_64, ROUGH_LOG_32, ROUGH_LOG_64
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, log

from .normalizer import ROOT_TWO_PI, whiten

HALF_ROOT = 0.5 * ROOT_TWO_PI  # sqrt(pi/2), the Mills ratio at 0
THIN = 0.005  # below this width tail differences cancel and a two-point rule is exact
LN2 = 0.6931471805599453

_scaled_slope = polynomial(HAZARD_64, HAZARD_32)
_rough_log_bend = polynomial(ROUGH_LOG_64, ROUGH_LOG_32)


@scalar
def rounded(x, y):
    """Return x * y rounded, which the compiler may not fuse with a sum it goes into."""
    return fma(x, y, like(x, 0.0))


@scalar
def slope(u, inverse):
    """Return 1/R_0(u) - u for u >= 0, where ``inverse`` is 1/(u + 4).

    It is R_1/R_0, and times the hazard 1/R_0 it is the hazard's derivative.  Error below 4e-14.
    """
    return rounded(_scaled_slope(like(u, 1.0) - like(u, 8.0) * inverse), inverse)


@scalar
def rough_log(x):
    """Return log(x) to 1e-4 of itself, near 1 to 1e-4 of its square, for normal x > 0."""
    m, e = split_exponent(x)
    f = m - like(x, 1.0)
    return e * like(x, LN2) + (f + f * f * _rough_log_bend(f))


@scalar
def hazard_guess(hazard, bend, target):
    """Return v with Lambda(v) near ``target``: the hazard taken as linear in v.

    ``bend`` is its derivative at the base; it rises to 1, its limit.  Relative error below 2.5 %,
    of order target**2 for small targets.
    """
    two = like(target, 2.0)
    tenth = like(target, 0.1)
    scale = fma(tenth, target, like(target, 1.0))
    rise = two * fma(tenth, target, bend) * target
    root = math.sqrt(scale * fma(hazard * hazard, scale, rise))
    return two * target * scale / fma(hazard, scale, root)


@scalar
def hazard_refine(v, base, factor, lost):
    """Return v after one step of fourth order towards Lambda(v) = target.

    ``factor`` is R_0(base) exp(-target) but for the digits ``lost`` of the target.  The step is the
    Taylor series of the exact solution v(Lambda), whose derivatives are products of tail
    integrals.  From the guess above: relative error 3e-11 while the target is below 10 and 6e-9 at
    38, the largest a draw can have.  A Halley step in its place costs a division more and leaves
    2e-7.  The tail integrals of higher order cancel where x is large; there the terms that they
    enter no longer matter.
    """
    half, one = like(v, 0.5), like(v, 1.0)
    x = base + v
    rise = slope(x, one / (x + like(v, 4.0)))
    hazard = x + rise
    excess = fma(v, fma(half, v, base), log(factor * hazard)) - lost
    r0 = one / hazard
    r1 = r0 * rise
    r2 = fma(-x, r1, r0)
    r3 = fma(-x, r2, like(v, 2.0) * r1)
    fourth = fma(r0, fma(r0, r3, like(v, 4.0) * r1 * r2), r1 * r1 * r1)
    third = fma(r0, r2, r1 * r1)
    series = fma(like(v, 0.25) * excess, fourth, third)
    series = fma(like(v, 1.0 / 3.0) * excess, series, r1)
    return fma(-excess * r0, fma(half * excess, series, one), v)


@scalar
def quantile(p, a, d, lower, upper):
    """Return h with P(unit <= h) = p, for 0 < p < 1, d > 0; increasing in p."""
    return invert(p, like(p, 1.0) - p, a, d, lower, upper)


@scalar
def invert(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest; each is used where it is small."""
    zero, one, half, four = like(a, 0.0), like(a, 1.0), like(a, 0.5), like(a, 4.0)
    _, inverse, u, u_far, width, tau, reflected = whiten(a, d, lower, upper)
    p, rest = (rest, p) if reflected else (p, rest)
    inside = u < zero
    thin = width < like(a, THIN)
    # Hazards at both ends, and their slopes; pairs of numbers share one division.
    near, far = abs(u), abs(u_far)
    shared = one / ((near + four) * (far + four))
    near_slope = slope(near, (far + four) * shared)
    far_slope = slope(far, (near + four) * shared)
    near, far = near + near_slope, far + far_slope
    shared = one / (near * far)
    near0, far0 = far * shared, near * shared

    # Mode outside: p of the mass beyond the near end.
    bend = near * near_slope
    steeper = fma(-far, far_slope, bend)
    total = fma(width * like(a, 1.0 / 12.0), steeper, half * (near + far))
    decay, minus = exp_and_expm1(-width * total if thin else -tau)
    beyond = decay if thin else rounded(decay * far0, near)
    mass = -minus if thin else one - beyond
    q_outside = rounded(p, mass)

    # Mode inside: the smaller of the two masses beyond the answer, or, in a thin interval, the
    # signed mass between mode and answer.
    height = exp(-half * u * u)
    left, right = height * near0, height * decay * far0
    middle = fma(-height, fma(decay, far0, near0), like(a, ROOT_TWO_PI))
    left, right = fma(p, middle, left), fma(rest, middle, right)
    negative = left < right
    tail = rounded(left if negative else right, like(a, 1.0 / HALF_ROOT))
    sixth = like(a, 1.0 / 6.0)
    low, high = fma(-sixth * u * u, u, u), fma(-sixth * u_far * u_far, u_far, u_far)
    signed_mass = fma(p, high - low, low)
    negative = signed_mass < zero if thin else negative
    q_thin = rounded(abs(signed_mass), like(a, 1.0 / HALF_ROOT))
    q_inside = q_thin if thin else one - tail

    q = q_inside if inside else q_outside
    survival = (one - q if thin else tail) if inside else fma(rest, mass, beyond)
    # The target is -log(1 - q), with the digits that survival = 1 - q lost put back where q is the
    # exact one of the two.
    lost = (survival - one) + q if q < half else zero
    lost = rounded(lost, one + q)
    target = lost - rough_log(survival)
    base = zero if inside else u
    hazard = like(a, 1.0 / HALF_ROOT) if inside else near
    bend = like(a, 1.0 / (HALF_ROOT * HALF_ROOT)) if inside else bend
    factor = survival * (like(a, HALF_ROOT) if inside else near0)
    v = hazard_guess(hazard, bend, target)
    # Below the least target the guess is exact and the step would only add rounding.
    v = hazard_refine(v, base, factor, lost) if target > pick(a, 1e-5, 0.02) else v

    x = -v if inside and negative else v
    x = -x if reflected else x
    end = upper if reflected else lower
    origin = a * (inverse * inverse) if inside else end
    h = fma(x, inverse, origin)
    h = lower if h < lower else (upper if h > upper else h)
    return h if lower <= upper else like(a, float("nan"))
