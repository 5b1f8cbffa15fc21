"""How far the scalar kernels are from 60 digits.

What is measured, so that 1e-16 is the best a float64 can do:

* offset, variance: relative.  mean: to the larger of itself and the finite ends.  third central
  moment: to the larger of itself and 1 % of the cubed standard deviation.
* log_normalizer, log end densities, log density, entropy: to the larger of themselves and 1.
* cdf and sf: relative, over 1 - log P.  A probability is a density times a length, and the density
  is exp of a number that is rounded: at P = 1e-300 that alone is 8e-14.
* logcdf and logsf: relative where below -1; nearer to 0 they are minus the other probability, and
  count as that does.
* ppf and isf: h is rounded, so the error is 0 where the probability asked for lies between those of
  the neighbours of h, and else the relative error of the nearer neighbour's probability, over
  1 - log P, of the smaller of the probabilities below and above.
"""

import math

import mpmath as mp
import numpy as np

from tests.support import sixty
from tests.support.units import (
    random_extreme_units,
    random_nonpositive_units,
    random_points,
    random_units,
)
from trug_fast import kernels
from trug_fast.kernels.unit.normalizer import NARROW_TAU, NARROW_WIDTH

CHUNK = 300
REGIMES = ["narrow", "centre", "tail", "straight", "bent up", "extreme"]
NAMES = [
    *("cdf", "sf", "logcdf", "logsf", "logpdf", "ppf", "isf", "entropy", "log_norm", "offset"),
    *("mean", "variance", "third", "log_low", "log_high"),
]


def regime(a, d, lower, upper):
    """Return a name for the formulas that a unit takes."""
    numbers = [abs(v) for v in (a, d, upper - lower) if v and math.isfinite(v)]
    if not all(1e-30 < v < 1e30 for v in numbers):
        return "extreme"
    if d <= 0:
        return "straight" if -d * (upper - lower) ** 2 < 1e-3 else "bent up"
    s = math.sqrt(d)
    low, high = (d * lower - a) / s, (d * upper - a) / s
    width, total = s * (upper - lower), abs(low + high)
    if width < NARROW_WIDTH and width * total / 2 <= NARROW_TAU:
        return "narrow"
    return "centre" if low < 0 < high else "tail"


def relative(got, want, size):
    """Return the error of one number over its size."""
    if not math.isfinite(got) or mp.isinf(want):
        return 0.0 if got == float(want) else math.inf
    miss = abs(mp.mpf(got) - want)
    if size < 2.3e-308:  # subnormal: fewer digits
        return 0.0 if miss < 1e-323 else math.inf
    return float(miss / size) if miss else 0.0


def of_share(got, log_want):
    """Return the error of a probability."""
    if log_want < -708:  # subnormal, or 0
        return 0.0 if 0 <= got <= 3.4e-308 else math.inf
    want = mp.exp(log_want)
    return relative(got, want, want * (1 - log_want))


def of_log(got, want, other):
    """Return the error of the log of a probability; ``other`` is that of its complement."""
    if want < -1 or mp.isinf(want):
        return relative(got, want, abs(want))
    if other < -708:
        return 0.0 if -3.4e-308 <= got <= 0 else math.inf
    return relative(got, want, abs(want) * (1 - other))


def of_quantile(got, p, unit, above):
    """Return the error of a quantile with probability p below (``above``: above) it."""
    if not unit.lower <= got <= unit.upper:
        return math.inf
    lesser = mp.mpf(p) if p <= 0.5 else 1 - mp.mpf(p)
    if p > 0.5:
        above = not above
    goal = mp.log(lesser)
    share = unit.log_above if above else unit.log_below
    miss = share(got) - goal
    small = 1e-16 * float(1 - goal)
    if abs(miss) > small:
        rises = miss < 0 if not above else miss > 0  # h should be larger
        beside = share(math.nextafter(got, math.inf if rises else -math.inf)) - goal
        if (beside > 0) != (miss > 0):
            return 0.0
        miss = min(abs(beside), abs(miss))
    return float(abs(miss) / (1 - goal))


def errors(x, p, a, d, lower, upper):
    """Return the errors of all functions of one unit, in the order of NAMES."""
    arguments = a, d, lower, upper
    unit = sixty.Unit(*arguments)
    want = unit.summary()
    at = [float(getattr(kernels, name)(x, *arguments)) for name in NAMES[:5]]
    mean, variance, third = kernels.moments(*arguments)
    low, high = kernels.log_end_densities(*arguments)
    with mp.workdps(sixty.WORKING):
        below, above = unit.log_below(x), unit.log_above(x)
        density = unit.log_density(x)
        ends = [abs(e) for e in (lower, upper) if math.isfinite(e)]
        cube = want["variance"] ** 1.5 / 100
        found = [
            of_share(at[0], below),
            of_share(at[1], above),
            of_log(at[2], below, above),
            of_log(at[3], above, below),
            relative(at[4], density, max(1, abs(density))),
            of_quantile(kernels.ppf(p, *arguments), p, unit, False),
            of_quantile(kernels.isf(p, *arguments), p, unit, True),
        ]
        for name, got, size in [
            ("entropy", kernels.entropy(*arguments), 1),
            ("log_norm", kernels.log_normalizer(*arguments), 1),
            ("offset", kernels.offset(*arguments), 0),
            ("mean", mean, max([0, *ends])),
            ("variance", variance, 0),
            ("third", third, cube),
            ("log_low", low, 1),
            ("log_high", high, 1),
        ]:
            found.append(relative(got, want[name], max(abs(want[name]), size)))
        if beyond(*arguments):
            values = [*at, kernels.ppf(p, *arguments), kernels.entropy(*arguments)]
            found[:8] = [0.0 if all(map(math.isnan, values)) else math.inf] * 8
    return found


def beyond(a, d, lower, upper):
    """Tell whether a half line begins over 1e100 standard deviations out: probabilities are NaN."""
    if not math.isinf(upper - lower):
        return False
    near = [d * lower - a] if math.isfinite(lower) else []
    near += [a - d * upper] if math.isfinite(upper) else []
    return max(near, default=0.0) > 1e100 * math.sqrt(d)


def Layer(rng):
    """Return x, p, a, d, lower, upper of a chunk, of all three kinds."""
    kinds = random_units, random_nonpositive_units, random_extreme_units
    parts = [kind(rng, CHUNK // len(kinds)) for kind in kinds]
    unit = [np.concatenate(values) for values in zip(*parts, strict=True)]
    n = unit[0].size
    x = random_points(rng, *unit)
    p = np.where(rng.random(n) < 0.5, rng.random(n), 10 ** rng.uniform(-200, 0, n))
    return [x, p, *unit]


def check(seed, number):
    """Return {name of output and regime: (worst error, its arguments)} and counts of a chunk."""
    worst, counts = {}, {}
    drawn = Layer(np.random.default_rng([seed, number]))
    for arguments in zip(*(v.tolist() for v in drawn), strict=True):
        where = regime(*arguments[2:])
        counts[where] = counts.get(where, 0) + 1
        for name, miss in zip(NAMES, errors(*arguments), strict=True):
            key = f"{name} {where}"
            if not miss <= worst.get(key, (-1.0,))[0]:
                worst[key] = (miss, arguments)
    return number, worst, counts
