"""Tail integrals of the normal density: the special functions under everything else.

``R_k(u)`` is the integral of ``v**k exp(-u v - v**2/2)`` over v > 0 (math.md 1.4); R_0 is the Mills
ratio.  R_0 and R_1 follow from R_2 by sums of positive terms, so one polynomial and one division
give all three at full relative precision on the whole half line: no erfc, no asymptotic branch.
"""

from .coefficients import TAIL_32, TAIL_64
from .compiling import scalar
from .intrinsics import like, pick, polynomial

_scaled_second = polynomial(TAIL_64, TAIL_32)


@scalar
def tail_integrals(u):
    """Return R_0(u), R_1(u), R_2(u) for 0 <= u <= 1e100 (float32: 1e12).

    Relative error below 2.2e-15 (float32: 1.1e-6).  With P = (u+4)(1+u**2) R_2 a polynomial in
    t = (u-4)/(u+4):  R_0 = (u + R_2)/(1+u**2),  R_1 = (1 - u R_2)/(1+u**2).
    """
    one = like(u, 1.0)
    shifted, square = u + like(u, 4.0), u * u + one
    inverse = one / (shifted * square)
    second = _scaled_second(one - like(u, 8.0) * square * inverse) * inverse
    scale = shifted * inverse
    return (u + second) * scale, (one - u * second) * scale, second


@scalar
def bounded(u):
    """Move u into the range of :func:`tail_integrals`, keeping its sign; NaN stays."""
    limit = pick(u, 1e100, 1e12)
    return limit if u > limit else (-limit if u < -limit else u)
