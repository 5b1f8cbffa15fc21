"""The quantile function of a TruG unit: one uniform number in, one exact draw out.

Inversion needs no loop and no second random number, so a row of units vectorises and a stream
needs no more bookkeeping than its index.  It inverts the *cumulative hazard* of the normal tail,
Lambda(v) = u v + v**2/2 + log R_0(u) - log R_0(u + v), measured from the near end of the interval
(or from the mode, if that lies inside), which stays exact where Phi has long rounded to 1.
"""

import math

from .compiling import scalar
from .elementary import exp, exp_and_expm1, log
from .intrinsics import like, pick
from .tails import tail_integrals
from .unit import ROOT_TWO_PI, whiten

HALF_ROOT = 0.5 * ROOT_TWO_PI  # sqrt(pi/2), the Mills ratio at 0
THIN = 0.005  # below this width tail differences cancel and a two-point rule is exact


@scalar
def hazard_guess(hazard, first, target):
    """Return v with Lambda(v) near ``target``: the hazard 1/R_0 taken as linear in v.

    The slope rises from its value at the base to 1, its limit.  Relative error below 2.5 %, of
    order target**2 for small targets.
    """
    two = like(target, 2.0)
    weight = like(target, 0.1) * target
    scale = like(target, 1.0) + weight
    slope = hazard * hazard * first + weight  # times scale
    root = math.sqrt(scale * (hazard * hazard * scale + two * slope * target))
    return two * target * scale / (hazard * scale + root)


@scalar
def hazard_refine(v, base, hazard, target):
    """Return v after one step of fourth order towards Lambda(v) = target.

    The step is the Taylor series of the exact solution v(Lambda), whose derivatives are products
    of tail integrals.  From the guess above: relative error 3e-11 while target < 10 and 6e-9 at
    38, the largest a draw can have; a second step reaches rounding.  A Halley step in its place
    costs a division more and leaves 2e-7.  Below the least target the guess is exact and the
    correction would only add rounding.
    """
    half = like(v, 0.5)
    x = base + v
    r0, r1, r2 = tail_integrals(x)
    r3 = like(v, 2.0) * r1 - x * r2
    excess = v * (base + half * v) - log(r0 * hazard) - target
    fourth = r1 * r1 * r1 + r0 * (like(v, 4.0) * r1 * r2 + r0 * r3)
    third = r1 * r1 + r0 * r2
    series = third + like(v, 0.25) * excess * fourth
    series = r1 + like(v, 1.0 / 3.0) * excess * series
    step = excess * r0 * (like(v, 1.0) + half * excess * series)
    return v - step if target > pick(v, 1e-5, 0.02) else v


@scalar
def quantile(p, a, d, lower, upper):
    """Return h with P(unit <= h) = p, for 0 < p < 1, d > 0; increasing in p."""
    return invert(p, like(p, 1.0) - p, a, d, lower, upper)


@scalar
def invert(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest; each is used where it is small."""
    zero, one, half = like(a, 0.0), like(a, 1.0), like(a, 0.5)
    _, inverse, u, u_far, width, tau, reflected = whiten(a, d, lower, upper)
    p, rest = (rest, p) if reflected else (p, rest)
    inside = u < zero
    thin = width < like(a, THIN)
    near0, near1, _ = tail_integrals(abs(u))
    far0, far1, _ = tail_integrals(abs(u_far))
    decay, _ = exp_and_expm1(-tau)

    # Mode outside: p of the mass beyond the near end.
    product = one / (near0 * far0)
    hazard, far_hazard = far0 * product, near0 * product
    curvature = hazard * hazard * near1 - far_hazard * far_hazard * far1
    total = half * (hazard + far_hazard) + width * like(a, 1.0 / 12.0) * curvature
    beyond_thin, minus = exp_and_expm1(-width * total)
    beyond = beyond_thin if thin else decay * far0 * hazard
    mass = -minus if thin else one - beyond
    q_outside = p * mass

    # Mode inside: the smaller of the two masses beyond the answer, or, in a thin interval, the
    # signed mass between mode and answer.
    height = exp(-half * u * u)
    left, right = height * near0, height * decay * far0
    middle = like(a, ROOT_TWO_PI) - left - right
    left, right = left + p * middle, right + rest * middle
    negative = left < right
    tail = (left if negative else right) * like(a, 1.0 / HALF_ROOT)
    sixth = like(a, 1.0 / 6.0)
    low, high = u - sixth * u * u * u, u_far - sixth * u_far * u_far * u_far
    signed_mass = low + p * (high - low)
    negative = signed_mass < zero if thin else negative
    q_inside = abs(signed_mass) * like(a, 1.0 / HALF_ROOT) if thin else one - tail

    q = q_inside if inside else q_outside
    survival = (one - q if thin else tail) if inside else beyond + rest * mass
    # -log(1 - q), with the digits that 1 - q lost put back where q is the exact one of the two.
    lost = (survival - one) + q if q < half else zero
    target = lost * (one + q) - log(survival)
    base = zero if inside else u
    hazard = like(a, 1.0 / HALF_ROOT) if inside else hazard
    v = hazard_guess(hazard, one if inside else near1, target)
    v = hazard_refine(v, base, hazard, target)

    x = -v if inside and negative else v
    x = -x if reflected else x
    end = upper if reflected else lower
    origin = a * (inverse * inverse) if inside else end
    h = origin + x * inverse
    h = lower if h < lower else (upper if h > upper else h)
    return h if lower <= upper else like(a, float("nan"))
