"""The unit log-normaliser L and its derivatives, for d of any sign: what rows of mixed units take.

A unit of d <= 0 has the frame of normalizer.py, with s = sqrt(-d), and the weight
exp(-u v + v**2/2): lowest at the *valley*, u from the near end.  Two regimes do: ``narrow``, whose
series does not mind the sign, and differences of valley integrals in the place of tail integrals.
Where d is 0, or so little that no bend is seen, s is the least that the formulas bear.

The other sign's integrals make a unit 1.4 times as dear as by normalizer.py, whatever the signs
beside it.  Errors are those of normalizer.py for widths within 60 decades of 1 (of the third moment
2e-15 of the cubed standard deviation where the unit is nearly symmetric).

Tested in tests/kernels/unit/test_any_precision.py.  Formulas: mathematics 1.7.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import fma, like, pick
from trug_fast.kernels.special.elementary import exp_and_expm1
from trug_fast.kernels.special.tails import bounded, tail_integrals
from trug_fast.kernels.special.valleys import valley_integrals

from .normalizer import between, is_narrow, narrow_integrals, outputs

LEAST_64, LEAST_32 = 1e-9, 1e-4  # sqrt(-d) times the width; its square cannot be seen
NEARLY_EVEN = 3.0  # a drop below which mean and skewness of a wide unit are taken from the middle


@scalar
def whiten_any(a, d, lower, upper):
    """Return what ``normalizer.whiten`` does, of d of any sign.

    For d <= 0 distances are those from the valley: u_far is negative where the valley lies inside.
    """
    zero, half = like(a, 0.0), like(a, 0.5)
    huge = pick(a, 1e150, 1e18)
    low = -huge if lower < -huge else lower
    high = huge if upper > huge else upper
    length = high - low if high > low else like(a, 1.0)
    s, least = math.sqrt(abs(d)), pick(a, LEAST_64, LEAST_32) / length
    straight = s <= least
    s = least if straight else s
    inverse = like(a, 1.0) / s
    u_low = bounded(fma(d, low, -a) * inverse)
    u_high = bounded(fma(d, high, -a) * inverse)
    both = low + high
    part = both - low
    lost = (low - (both - part)) + (high - part)
    total = bounded(fma(d, lost, fma(d, both, like(a, -2.0) * a)) * inverse)
    width = bounded(s * (high - low))
    reflected = total < zero
    u = -u_high if reflected else u_low
    u_far = -u_low if reflected else u_high
    tau = half * width * abs(total)
    middle = tau * pick(a, 1.0 / LEAST_64, 1.0 / LEAST_32)
    u = fma(half, width, middle) if straight else u
    u_far = fma(-half, width, middle) if straight else u_far
    return s, inverse, u, u_far, width, tau, reflected


@scalar
def _odd(value, x):
    return -value if x < like(x, 0.0) else value


@scalar
def _from_middle(r, near, far, decay, divisor):
    """Return mean and third central moment, towards the near end, of a unit nearly even.

    About the middle both vanish with tau: differences of the same at two ends.
    """
    two, three = like(r, 2.0), like(r, 3.0)
    n0, n1, n2, n3 = near
    f0, f1, f2, f3 = far
    near1, far1 = fma(r, n0, -n1), fma(r, f0, -f1)
    near2, far2 = fma(r, fma(r, n0, -two * n1), n2), fma(r, fma(r, f0, -two * f1), f2)
    near3 = fma(r, fma(r, fma(r, n0, -three * n1), three * n2), -n3)
    far3 = fma(r, fma(r, fma(r, f0, -three * f1), three * f2), -f3)
    first = fma(-decay, far1, near1) * divisor
    second = fma(decay, far2, near2) * divisor
    third = fma(-decay, far3, near3) * divisor
    return first, third - first * (three * second - two * first * first)


@scalar
def evaluate_any(a, d, lower, upper):
    """Return what ``normalizer.evaluate`` returns, for d of any sign; infinite ends take d > 0."""
    zero, half = like(a, 0.0), like(a, 0.5)
    frame = whiten_any(a, d, lower, upper)
    _, inverse, u, u_far, width, tau, reflected = frame
    bent = d > zero
    sign = like(a, 1.0) if bent else like(a, -1.0)
    tail, far_tail = tail_integrals(abs(u)), tail_integrals(abs(u_far))
    near, beyond = valley_integrals(abs(u)), valley_integrals(abs(u_far))
    far = _odd(beyond[0], u_far), beyond[1], _odd(beyond[2], u_far), beyond[3]
    near0, near1 = (tail[0] if bent else near[0]), (tail[1] if bent else near[1])
    near2, near3 = (tail[2] if bent else near[2]), (tail[3] if bent else near[3])
    far0, far1 = (far_tail[0] if bent else far[0]), (far_tail[1] if bent else far[1])
    far2, far3 = (far_tail[2] if bent else far[2]), (far_tail[3] if bent else far[3])
    ends = (near0, near1, near2, near3), (far0, far1, far2, far3)
    w0, w1, w2, w3 = between(u, u_far, width, tau, ends[0], ends[1])
    n0, n1, n2, n3 = narrow_integrals(width, tau, sign)
    narrow = is_narrow(width, tau)
    decay, _ = exp_and_expm1(-tau)
    lean, skew = _from_middle(half * width, near, beyond, decay, like(a, 1.0) / w0)
    if narrow:
        w0, w1, w2, w3 = n0, n1, n2, n3
    norm, offset, mean, variance, third, at_lower, at_upper, _ = outputs(
        a, d, lower, upper, frame, w0, w1, w2, w3, sign
    )
    even = not bent and not narrow and tau < like(a, NEARLY_EVEN)
    signed = -inverse if reflected else inverse
    mean = fma(-signed, lean, half * (lower + upper)) if even else mean
    third = -skew * inverse * inverse * signed if even else third
    good = bent or upper - lower < like(a, float("inf"))
    bad = zero if good else like(a, float("nan"))
    return (
        norm + bad,
        offset + bad,
        mean + bad,
        variance + bad,
        third + bad,
        at_lower + bad,
        at_upper + bad,
        reflected,
    )
