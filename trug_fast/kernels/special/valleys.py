"""Integrals that rise from a valley, for units bent upwards (d < 0): as tails.py where d > 0.

``H_0(x)`` is the integral of ``exp((t**2 - x**2)/2)`` over 0 < t < x: sqrt(2) times Dawson's
function at x/sqrt(2).  H_1 = x H_0 - 1, H_2 = x H_1 - H_0, H_3 = x H_2 - 2 H_1 take the places of
the tail integrals R_k in all differences of two (mathematics 1.7).  As written they cancel where x
is large; they follow without that from B = ((x**2-1)**2 + 1) H_0 - (x**3 - x), whose factor of H_0
has no real root.
"""

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, polynomial

from .coefficients import TABLES

_near_base = polynomial(*TABLES["VALLEY_NEAR"])
_far_base = polynomial(*TABLES["VALLEY_FAR"])
_far_third = polynomial(*TABLES["VALLEY_THIRD"])
_near_rise = polynomial(*TABLES["RISE_NEAR"])
_far_rise = polynomial(*TABLES["RISE_FAR"])

CHANGE = 5.5  # from one polynomial to another


@scalar
def valley_integrals(x):
    """Return H_0(x), H_1(x), H_2(x), H_3(x) for 0 <= x <= 1e100 (float32: 1e12).

    Relative error below 4e-15 (float32: 3e-6).  H_1 to H_3 pass through 0: theirs is relative to 1
    for x < 3, that of H_3 to 2 H_1 up to 5.5.
    """
    one, two, change = like(x, 1.0), like(x, 2.0), like(x, CHANGE)
    square, limit = x * x, like(x, CHANGE * CHANGE)
    small = x < change
    z = one / (limit if small else square)
    t = fma(z, two * limit, -one)
    near = x * _near_base(fma(square if small else limit, like(x, 2.0 / CHANGE**2), -one))
    base = near if small else _far_base(t) * (x * z)
    # All over (1 + x**2)**2, which is infinite where x is large.
    q = one / (one + square)
    p = fma(-two, q, one)
    scale = q / fma(p, p, q * q)
    h0 = scale * fma(x, p, base * q)
    h1 = scale * fma(q, fma(x, base, like(x, -3.0)), one)
    h2 = scale * fma(p, base, -x * q)
    h3 = fma(x, h2, -two * h1) if small else z * z * _far_third(t)
    return h0, h1, h2, h3


@scalar
def valley_integral(x):
    """Return H_0(x) for 0 <= x <= 1e100 (float32: 1e12), with a relative error below 1e-13."""
    one, change = like(x, 1.0), like(x, CHANGE)
    square, limit = x * x, like(x, CHANGE * CHANGE)
    small = x < change
    inverse = one / (change if small else x)
    far = inverse * _far_rise(fma(inverse * inverse, like(x, 2.0 * CHANGE**2), -one))
    near = x * _near_rise(fma(square if small else limit, like(x, 2.0 / CHANGE**2), -one))
    return near if small else far
