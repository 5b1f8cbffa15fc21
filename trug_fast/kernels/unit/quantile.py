"""The quantile function of a TruG unit: one uniform number in, one exact draw out.

Inversion needs no loop and no second random number, so a row of units vectorises and a stream
needs no more bookkeeping than its index.  It inverts the *cumulative hazard* of the normal tail,
Lambda(v) = u v + v**2/2 + log R_0(u) - log R_0(u + v), measured from the near end of the interval
(or from the mode, if that lies inside), which stays exact where Phi has long rounded to 1.

What the time goes to is arithmetic and waiting for it, not divisions: 24 ns with tails.py's three
integrals at both ends and at the answer, two logarithms and three exponentials; 15 ns with the
hazard alone (a shorter polynomial), one full logarithm (the guess does with a rough one) and two
exponentials.  As one loop it waits most of the time: 450 instructions, each after the last, are
more than a processor looks ahead.  So rows of units go through its steps one by one
(quantile_rows.py), in 10 ns, with the same bits.

Sums that hold products are fused by hand: left to the compiler, which product it fuses depends on
the loop around, and an element in the remainder of a vectorised loop would get other last bits.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick, polynomial, rounded, split_exponent
from trug_fast.kernels.special.coefficients import TABLES
from trug_fast.kernels.special.elementary import LN2, exp, exp_and_expm1, log

from .normalizer import ROOT_TWO_PI, whiten

HALF_ROOT = 0.5 * ROOT_TWO_PI  # sqrt(pi/2), the Mills ratio at 0
THIN = 0.005  # below this width tail differences cancel and a two-point rule is exact

_scaled_slope = polynomial(*TABLES["HAZARD"])
_rough_log_bend = polynomial(*TABLES["ROUGH_LOG"])


@scalar
def slope(inverse):
    """Return 1/R_0(u) - u for u >= 0, where ``inverse`` is 1/(u + 4).

    It is R_1/R_0, and times the hazard 1/R_0 it is the hazard's derivative.  Error below 4e-14.
    """
    return rounded(_scaled_slope(fma(like(inverse, -8.0), inverse, like(inverse, 1.0))), inverse)


@scalar
def rough_log(x):
    """Return log(x) to 1e-4 of itself, near 1 to 1e-4 of its square, for normal x > 0."""
    m, e = split_exponent(x)
    f = m - like(x, 1.0)
    return fma(e, like(x, LN2), fma(f * f, _rough_log_bend(f), f))


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


# The steps from a uniform number to a draw, in their order: each takes numbers that those before it
# have returned.


@scalar
def frame(a, d, lower, upper):
    """Return u, u_far, width, tau of ``whiten``, inverse, and 1/(abs + 4) of both ends.

    The inverse, of the root of d, is negative if the unit is reflected.
    """
    one, four = like(a, 1.0), like(a, 4.0)
    _, inverse, u, u_far, width, tau, reflected = whiten(a, d, lower, upper)
    near, far = abs(u), abs(u_far)
    shared = one / ((near + four) * (far + four))  # pairs of numbers share one division
    signed = -inverse if reflected else inverse
    return u, u_far, width, tau, signed, (far + four) * shared, (near + four) * shared


@scalar
def hazards(u, u_far, width, tau, near_slope, far_slope):
    """Return drop, the near end's hazard and the bend of it, and R_0 at both ends.

    The drop is -log of what the weight, in a thin interval the survival, falls to at the far end.
    """
    one, half = like(u, 1.0), like(u, 0.5)
    near, far = abs(u) + near_slope, abs(u_far) + far_slope
    shared = one / (near * far)
    bend = near * near_slope
    steeper = fma(-far, far_slope, bend)
    total = fma(width * like(u, 1.0 / 12.0), steeper, half * (near + far))
    drop = width * total if width < like(u, THIN) else tau
    return drop, near, bend, far * shared, near * shared


@scalar
def weights(u, drop):
    """Return exp(-drop), the same less one, and the weight at the near end from the mode."""
    decay, minus = exp_and_expm1(-drop)
    return decay, minus, exp(like(u, -0.5) * u * u)


@scalar
def share_outside(p, rest, width, near, far0, decay, minus):
    """Return q and survival, 1 - q, for a mode outside: p of the mass beyond the near end."""
    thin = width < like(p, THIN)
    beyond = decay if thin else rounded(decay * far0, near)
    mass = -minus if thin else like(p, 1.0) - beyond
    return rounded(p, mass), fma(rest, mass, beyond)


@scalar
def share_inside(p, rest, ends, near0, far0, decay, height):
    """Return q, survival and whether the answer lies on the near side of the mode.

    The smaller of the two masses beyond the answer, or, in a thin interval, the signed mass between
    mode and answer.
    """
    u, u_far, width = ends
    one, zero = like(p, 1.0), like(p, 0.0)
    left, right = height * near0, height * decay * far0
    middle = fma(-height, fma(decay, far0, near0), like(p, ROOT_TWO_PI))
    left, right = fma(p, middle, left), fma(rest, middle, right)
    tail = rounded(left if left < right else right, like(p, 1.0 / HALF_ROOT))
    sixth = like(p, 1.0 / 6.0)
    low, high = fma(-sixth * u * u, u, u), fma(-sixth * u_far * u_far, u_far, u_far)
    mass = fma(p, high - low, low)
    thin = width < like(p, THIN)
    q_thin = rounded(abs(mass), like(p, 1.0 / HALF_ROOT))
    q = q_thin if thin else one - tail
    return q, (one - q if thin else tail), (mass < zero if thin else left < right)


@scalar
def share(p, rest, ends, signed, near, near0, far0, weights):
    """Return survival, the digits lost in it, its product with R_0 at the base, and the step.

    The step is what v, counted from the base, is multiplied by: the inverse, with the sign of the
    direction.
    """
    decay, minus, height = weights
    zero, one, half = like(p, 0.0), like(p, 1.0), like(p, 0.5)
    reflected, inside = signed < zero, ends[0] < zero
    p, rest = (rest, p) if reflected else (p, rest)
    q_outside, survival_outside = share_outside(p, rest, ends[2], near, far0, decay, minus)
    q, survival, negative = share_inside(p, rest, ends, near0, far0, decay, height)
    q = q if inside else q_outside
    survival = survival if inside else survival_outside
    # The target is -log(1 - q), with the digits that survival = 1 - q lost put back where q is the
    # exact one of the two.
    lost = (survival - one) + q if q < half else zero
    factor = survival * (like(p, HALF_ROOT) if inside else near0)
    return survival, rounded(lost, one + q), factor, -signed if inside and negative else signed


@scalar
def start(survival, lost, u, near, bend):
    """Return the target and a guess of v."""
    target, inside = lost - rough_log(survival), u < like(u, 0.0)
    hazard = like(u, 1.0 / HALF_ROOT) if inside else near
    bend = like(u, 1.0 / (HALF_ROOT * HALF_ROOT)) if inside else bend
    return target, hazard_guess(hazard, bend, target)


@scalar
def base_of(u):
    """Return where v counts from: the near end, or the mode if that lies inside."""
    zero = like(u, 0.0)
    return zero if u < zero else u


@scalar
def excess(v, base, rise, factor, lost):
    """Return Lambda(v) less the target, where ``rise`` is the ``slope`` at base + v.

    ``factor`` is R_0(base) exp(-target) but for the digits ``lost`` of the target.
    """
    hazard = base + v + rise
    return fma(v, fma(like(v, 0.5), v, base), log(factor * hazard)) - lost


@scalar
def hazard_refine(v, x, rise, excess, target):
    """Return v after one step of fourth order towards Lambda(v) = target, where x = base + v.

    The step is the Taylor series of the exact solution v(Lambda), whose derivatives are products of
    tail integrals.  From the guess above: relative error 3e-11 while the target is below 10 and
    6e-9 at 38, the largest a draw can have. A Halley step in its place costs a division more and
    leaves 2e-7. The tail integrals of higher order cancel where x is large; there the terms that
    they enter no longer matter.
    """
    half, one = like(v, 0.5), like(v, 1.0)
    r0 = one / (x + rise)
    r1 = r0 * rise
    r2 = fma(-x, r1, r0)
    r3 = fma(-x, r2, like(v, 2.0) * r1)
    fourth = fma(r0, fma(r0, r3, like(v, 4.0) * r1 * r2), r1 * r1 * r1)
    third = fma(r0, r2, r1 * r1)
    series = fma(like(v, 0.25) * excess, fourth, third)
    series = fma(like(v, 1.0 / 3.0) * excess, series, r1)
    moved = fma(-excess * r0, fma(half * excess, series, one), v)
    # Below the least target the guess is exact and the step would only add rounding.
    return moved if target > pick(v, 1e-5, 0.02) else v


@scalar
def placed(v, u, signed, step, a, lower, upper):
    """Return h, in [lower, upper]."""
    end = upper if signed < like(v, 0.0) else lower
    origin = a * (signed * signed) if u < like(v, 0.0) else end
    h = fma(v, step, origin)
    h = lower if h < lower else (upper if h > upper else h)
    return h if lower <= upper else like(v, float("nan"))


@scalar
def quantile(p, a, d, lower, upper):
    """Return h with P(unit <= h) = p, for 0 < p < 1, d > 0; increasing in p."""
    return invert(p, like(p, 1.0) - p, a, d, lower, upper)


@scalar
def invert(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest; each is used where it is small."""
    u, u_far, width, tau, signed, by_near, by_far = frame(a, d, lower, upper)
    drop, near, bend, near0, far0 = hazards(u, u_far, width, tau, slope(by_near), slope(by_far))
    ends = u, u_far, width
    survival, lost, factor, step = share(p, rest, ends, signed, near, near0, far0, weights(u, drop))
    target, v = start(survival, lost, u, near, bend)
    x = base_of(u) + v
    rise = slope(like(x, 1.0) / (x + like(x, 4.0)))
    v = hazard_refine(v, x, rise, excess(v, base_of(u), rise, factor, lost), target)
    return placed(v, u, signed, step, a, lower, upper)
