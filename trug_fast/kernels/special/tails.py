"""Tail integrals of the normal density: the special functions under everything else.

``R_k(u)`` is the integral of ``v**k exp(-u v - v**2/2)`` over v > 0 (mathematics 1.4); R_0 is the
Mills ratio.  R_0 and R_1 follow from R_2 by sums of positive terms, so one polynomial and one
division give all three at full relative precision on the whole half line: no erfc, no asymptotic
branch. R_3 takes a polynomial of its own, since 2 R_1 - u R_2 cancels.
"""

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick, polynomial

from .coefficients import TABLES

_scaled_second = polynomial(*TABLES["TAIL"])
_scaled_ratio = polynomial(*TABLES["THIRD"])


@scalar
def tail_integrals(u):
    """Return R_0(u), R_1(u), R_2(u), R_3(u) for 0 <= u <= 1e100 (float32: 1e12).

    Relative error below 8e-16, R_3 1.5e-15 (float32: 1.1e-6).  With P = (u+4)(1+u**2) R_2 a
    polynomial in t = (u-4)/(u+4):  R_0 = (u + R_2)/(1+u**2),  R_1 = (1 - u R_2)/(1+u**2).
    """
    one = like(u, 1.0)
    shifted, square = u + like(u, 4.0), fma(u, u, one)
    inverse = one / (shifted * square)
    by_shifted = square * inverse
    # t from 2u/(u+4) - 1, exact near u = 0 where P is steepest; 1 - 8/(u+4) lost 1.8e-15 there.
    t = fma(u + u, by_shifted, -one)
    scaled = _scaled_second(t)
    second = scaled * inverse
    third = second * by_shifted * _scaled_ratio(t)
    scale = shifted * inverse
    # Fused by hand: left to the compiler it depends on who else uses R_2, and so on the loop.
    return fma(scaled, inverse, u) * scale, fma(-u, second, one) * scale, second, third


@scalar
def bounded(u):
    """Move u into the range of :func:`tail_integrals`, keeping its sign; NaN stays."""
    limit = pick(u, 1e100, 1e12)
    return limit if u > limit else (-limit if u < -limit else u)
