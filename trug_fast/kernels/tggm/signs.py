"""The likelihood of the sign of an output, and its slopes (mathematics 5.4).

Tested in tests/kernels/tggm/test_objectives.py.
"""

import math

from trug_fast.kernels.compiling import scalar
from trug_fast.kernels.intrinsics import like
from trug_fast.kernels.special.elementary import exp, log, log1p
from trug_fast.kernels.special.tails import bounded, tail_integrals

from .mean_field import LOG_TWO_PI


@scalar
def log_probability(z):
    """Return the log of Phi(z), phi(z)/Phi(z) and Phi(-z); |z| up to 1e100 (float32: 1e12)."""
    u = bounded(abs(z))
    ratio = tail_integrals(u)[0]
    half, one = like(u, 0.5), like(u, 1.0)
    tail = exp(-half * (u * u + like(u, LOG_TWO_PI))) * ratio  # Phi(-u)
    if z < 0:
        return log(ratio) - half * (u * u + like(u, LOG_TWO_PI)), one / ratio, one - tail
    return log1p(-tail), tail / ratio / (one - tail), tail


@scalar
def sign_slopes(work, o):
    """Write the slopes of log Phi(t mean/root of variance), t = +1 or -1, by mean and variance.

    The variance stands where its slope goes.  Add the logarithm to work.bound, and leave what is
    between t and the mean of the sign as the residual.
    """
    rest, gain, bend, bound = work.residual[o], work.pull[o], work.widen[o], work.bound
    for r in range(rest.size):
        t, variance = work.targets[r, o], bend[r]
        root = like(variance, math.sqrt(variance))
        z = t * (t - rest[r]) / root
        value, slope, other = log_probability(z)
        gain[r] = t * slope / root
        bend[r] = like(variance, -0.5) * z * slope / variance
        bound[r] += value
        rest[r] = like(variance, 2.0) * t * other
