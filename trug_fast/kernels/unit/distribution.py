"""Distribution function, density, quantile and entropy of a TruG unit, accurate in every regime.

In the frame of normalizer.py (whitened, reflected; v from the near end, z = u + v from the mode) a
point cuts the unit into a near and a far piece.  The mass of a piece is again a unit integral,

    value * exp(exponent),    value by the regime of the piece: narrow, tail or centre,

with exponents counted from the near end if the mode lies outside (u >= 0), from the mode if not.
So every probability is a ratio of two integrals of positive functions and its logarithm a sum:
nothing is ever a difference of two distribution functions.  d > 0 throughout this file.
"""

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick, rounded
from trug_fast.kernels.special.elementary import exp, exp_and_expm1, log1p, log_of_any
from trug_fast.kernels.special.tails import bounded, tail_integrals

from .normalizer import ROOT_TWO_PI, is_narrow, narrow_integrals, whiten, wide_integrals
from .quantile import invert

LOG_ROOT_TWO_PI = 0.9189385332046727


@scalar
def piece(near, near_tail, far_tail, width, tau, base):
    """Return (value, exponent): value * exp(exponent) is the mass of a piece of a unit.

    near is z at the piece's own near end, whose weight is exp(base); near_tail and far_tail are
    R_0 of abs(z) at both ends; tau is the drop of the exponent from end to end, at least 0.
    """
    half, zero = like(near, 0.5), like(near, 0.0)
    narrow = is_narrow(width, tau)
    centre = near < zero
    decay, _ = exp_and_expm1(-tau)
    height = exp(-half * near * near)
    r = half * width
    thin = width * (half * narrow_integrals(width, tau)[0])  # the least width has no half
    inside = fma(-height, fma(decay, far_tail, near_tail), like(near, ROOT_TWO_PI))
    outside = fma(-decay, far_tail, near_tail)
    value = thin if narrow else (inside if centre else outside)
    # Not base + near**2/2: a fused multiply-add would leave the rounding error of the square.
    exponent = fma(half, fma(r, r, -tau), base) if narrow else (zero if centre else base)
    return value, exponent


@scalar
def cut(x, a, d, lower, upper):
    """Cut a unit at lower <= x <= upper.

    Return (near, far, whole, z, weight, s, inverse, reflected): three pieces as (value, exponent),
    z of x from the mode, the exponent of the weight at x, and the frame of ``whiten``.
    """
    zero, half = like(a, 0.0), like(a, 0.5)
    s, inverse, u, u_far, width, tau, reflected = whiten(a, d, lower, upper)
    z = fma(d, x, -a) * inverse
    z = -z if reflected else z
    from_lower, from_upper = s * (x - lower), s * (upper - x)
    v, rest = (from_upper, from_lower) if reflected else (from_lower, from_upper)
    inside = u < zero
    start = -half * u * u if inside else zero
    # Of numbers as they are: so far out the weight is all that is left of a logarithm.
    weight = -half * z * z if inside else -v * fma(half, v, u)
    z, v, rest = bounded(z), bounded(v), bounded(rest)
    tail_u, _, _, _ = tail_integrals(abs(u))
    tail_z, _, _, _ = tail_integrals(abs(z))
    tail_far, _, _, _ = tail_integrals(abs(u_far))
    total = u + z
    mirrored = total < zero  # the near piece has its own near end at x
    near = piece(
        -z if mirrored else u,
        tail_z if mirrored else tail_u,
        tail_u if mirrored else tail_z,
        v,
        half * v * abs(total),
        weight if mirrored else start,
    )
    far = piece(z, tail_z, tail_far, rest, half * rest * abs(z + u_far), weight)
    whole = piece(u, tail_u, tail_far, width, tau, start)
    return near, far, whole, z, weight, s, inverse, reflected


@scalar
def _ratio_and_power(part, whole):
    return part[0] / whole[0], exp(part[1] - whole[1])


@scalar
def _share(part, whole):
    ratio, power = _ratio_and_power(part, whole)
    return ratio * power


@scalar
def _log_share(part, other, whole):
    """Return the log of a piece's share, by its complement if the share is the larger."""
    one = like(whole[0], 1.0)
    share, rest = _share(part, whole), _share(other, whole)
    small = log_of_any(part[0] / whole[0]) + (part[1] - whole[1])
    return small if share < like(whole[0], 0.5) else log1p(-(rest if rest < one else one))


@scalar
def _edges(x, value, whole, lower, upper, below, above):
    """Return ``value`` inside, ``below`` up to the lower end, ``above`` from the upper end.

    NaN if any argument is (the ``whole`` is, then), and for an interval that is empty or a point.
    """
    value = like(x, below) if x <= lower else (like(x, above) if x >= upper else value)
    good = lower < upper and x == x and whole[0] == whole[0]
    return value if good else like(x, float("nan"))


@scalar
def _within(x, lower, upper):
    return lower if x < lower else (upper if x > upper else x)


@scalar
def cdf(x, a, d, lower, upper):
    """Return P(unit <= x)."""
    one = like(x, 1.0)
    near, far, whole, _, _, _, _, reflected = cut(_within(x, lower, upper), a, d, lower, upper)
    share = _share(far, whole) if reflected else _share(near, whole)
    return _edges(x, one if share > one else share, whole, lower, upper, 0.0, 1.0)


@scalar
def sf(x, a, d, lower, upper):
    """Return P(unit > x), to full relative precision where it is small."""
    one = like(x, 1.0)
    near, far, whole, _, _, _, _, reflected = cut(_within(x, lower, upper), a, d, lower, upper)
    share = _share(near, whole) if reflected else _share(far, whole)
    return _edges(x, one if share > one else share, whole, lower, upper, 1.0, 0.0)


@scalar
def logcdf(x, a, d, lower, upper):
    """Return log P(unit <= x), exact at both ends."""
    near, far, whole, _, _, _, _, reflected = cut(_within(x, lower, upper), a, d, lower, upper)
    value = _log_share(far, near, whole) if reflected else _log_share(near, far, whole)
    return _edges(x, value, whole, lower, upper, -float("inf"), 0.0)


@scalar
def logsf(x, a, d, lower, upper):
    """Return log P(unit > x), exact at both ends."""
    near, far, whole, _, _, _, _, reflected = cut(_within(x, lower, upper), a, d, lower, upper)
    value = _log_share(near, far, whole) if reflected else _log_share(far, near, whole)
    return _edges(x, value, whole, lower, upper, 0.0, -float("inf"))


@scalar
def logpdf(x, a, d, lower, upper):
    """Return the log density; -inf outside [lower, upper]."""
    _, _, whole, _, weight, s, _, _ = cut(_within(x, lower, upper), a, d, lower, upper)
    value = weight - whole[1] - log_of_any(whole[0] / s)
    value = value if lower <= x <= upper and abs(x) < float("inf") else like(x, -float("inf"))
    good = lower < upper and x == x and whole[0] == whole[0]
    return value if good else like(x, float("nan"))


@scalar
def entropy(a, d, lower, upper):
    """Return minus the mean of the log density.

    That is the log of the integral that normalizer.py takes, and the mean of the exponent that it
    leaves out, about the same point: midpoint, near end or mode.  About another, as far from the
    mass as 1e12 standard deviations, a mean would cancel.
    """
    zero, half, two = like(a, 0.0), like(a, 0.5), like(a, 2.0)
    s, _, u, u_far, width, tau, _ = whiten(a, d, lower, upper)
    n0, n1, n2, _ = narrow_integrals(width, tau)
    w0, w1, w2, _ = wide_integrals(u, u_far, width, tau)
    # Fused by hand, for the same bits in a vectorised loop and in its remainder: see between.
    thin = fma(half * half * width * width, n2, -tau * n1)
    # w2 may be a product that waits to be rounded: halves, since a factor of 1 would be left out.
    wide = two * fma(half, w2, half * w0) if u < zero else fma(u + u, w1, w2)
    narrow = is_narrow(width, tau)
    energy = (thin if narrow else wide) / (n0 if narrow else w0)
    integral = width * (half * n0) if narrow else w0
    result = fma(half, energy, log_of_any(integral / s))
    return result if lower < upper else like(a, float("nan"))


@scalar
def log_mass(a, d, lower, upper):
    """Return the log of the interval's mass under the normal of mean a/d and variance 1/d."""
    zero, half = like(a, 0.0), like(a, 0.5)
    _, _, u, u_far, width, tau, _ = whiten(a, d, lower, upper)
    near_tail, _, _, _ = tail_integrals(abs(u))
    far_tail, _, _, _ = tail_integrals(abs(u_far))
    value, exponent = piece(u, near_tail, far_tail, width, tau, -half * u * u)
    decay, _ = exp_and_expm1(-tau)
    # What rounding loses of u**2, 700 for the least of masses, is put back: 7e-14 of that mass.
    square = fma(u, u, zero)
    height = exp(-half * square)
    height = fma(height, -half * fma(u, u, -square), height)
    missing = rounded(height * fma(decay, far_tail, near_tail), like(a, 1.0 / ROOT_TWO_PI))
    small = exponent + (log_of_any(value) - like(a, LOG_ROOT_TWO_PI))
    result = log1p(-missing) if u < zero and missing < half else small
    return result if lower < upper else like(a, float("nan"))


@scalar
def _polish(h, p, rest, a, d, lower, upper):
    """Return h after a step towards P(unit <= h) = p, exact for a locally exponential density."""
    one = like(h, 1.0)
    near, far, whole, z, weight, _, inverse, reflected = cut(h, a, d, lower, upper)
    p_near, p_far = (rest, p) if reflected else (p, rest)
    scale = whole[0] * exp(whole[1] - weight)  # 1 / density
    # Fused by hand, for the same bits in a vectorised loop and in its remainder: see between.
    near_share, far_share = _ratio_and_power(near, whole), _ratio_and_power(far, whole)
    from_near = fma(-near_share[0], near_share[1], p_near)
    from_far = fma(far_share[0], far_share[1], -p_far)
    miss = (from_near if p_near < p_far else from_far) * scale
    bend = z * miss
    step = miss * fma(bend, fma(bend, like(h, 1.0 / 3.0), like(h, 0.5)), one)
    step = step if abs(bend) < like(h, 0.5) else like(h, 0.0)  # at NaN too: nothing to improve
    return _within(fma(-step if reflected else step, inverse, h), lower, upper)


@scalar
def ppf(p, rest, a, d, lower, upper):
    """Return h with P(unit <= h) = p and P(unit > h) = rest, where p + rest = 1.

    Both are taken, since each is exact where it is small.  Right to rounding of h, or to 1e-44
    standard deviations, for p and rest down to 1e-300, where a draw's formula (quantile.py) has
    lost digits.  76 ns in a vectorised loop.
    """
    zero = like(p, 0.0)
    h = invert(p, rest, a, d, lower, upper)
    # So far out a unit is an exponential, and invert's product of p and the Mills ratio underflows.
    _, inverse, u, _, _, _, reflected = whiten(a, d, lower, upper)
    beyond, within = (p, rest) if reflected else (rest, p)
    depth = -log_of_any(beyond) if beyond < within else -log1p(-within)
    one = like(p, 1.0)
    reach = depth / (u if u > one else one) * inverse
    straight = upper - reach if reflected else lower + reach
    h = _within(straight, lower, upper) if u > pick(u, 1e10, 1e5) else h
    h = _polish(h, p, rest, a, d, lower, upper)
    h = _polish(h, p, rest, a, d, lower, upper)
    h = lower if p == zero else (upper if rest == zero else h)
    return h if p >= zero and rest >= zero and lower < upper else like(p, float("nan"))
