"""Probabilities, densities, quantiles and entropies against 300 digits, in every regime."""

import mpmath as mp
import numpy as np
from numba import njit

from tests.support import oracle
from tests.support.units import random_units
from trug_fast.kernels.unit import distribution

NAMES = ["cdf", "sf", "logcdf", "logsf", "logpdf", "entropy", "log_mass"]


@njit(error_model="numpy", fastmath={"contract"})
def evaluate_all(x, a, d, lower, upper, out):
    for i in range(x.size):
        out[0, i] = distribution.cdf(x[i], a[i], d[i], lower[i], upper[i])
        out[1, i] = distribution.sf(x[i], a[i], d[i], lower[i], upper[i])
        out[2, i] = distribution.logcdf(x[i], a[i], d[i], lower[i], upper[i])
        out[3, i] = distribution.logsf(x[i], a[i], d[i], lower[i], upper[i])
        out[4, i] = distribution.logpdf(x[i], a[i], d[i], lower[i], upper[i])
        out[5, i] = distribution.entropy(a[i], d[i], lower[i], upper[i])
        out[6, i] = distribution.log_mass(a[i], d[i], lower[i], upper[i])


@njit(error_model="numpy", fastmath={"contract"})
def invert_all(p, rest, a, d, lower, upper, out):
    for i in range(p.size):
        out[i] = distribution.ppf(p[i], rest[i], a[i], d[i], lower[i], upper[i])


def random_points(rng, a, d, lower, upper):
    """Points inside: anywhere, near an end, and where the mass is."""
    n = a.size
    s = np.sqrt(d)
    u, u_far = s * lower - a / s, s * upper - a / s
    width = np.minimum(upper - lower, 20 / s)
    near_lower = abs(u) < abs(u_far)
    near, sign = np.where(near_lower, lower, upper), np.where(near_lower, 1, -1)
    depth = np.minimum(abs(u), abs(u_far))
    x = near + sign * rng.exponential(size=n) * np.minimum(1 / (s * np.maximum(depth, 1)), width)
    spread = np.where(rng.random(n) < 0.5, rng.random(n), 10 ** rng.uniform(-12, 0, n))
    x = np.where(rng.random(n) < 0.4, near + sign * spread * width, x)
    return np.clip(x, lower, upper)


def exact(x, a, d, lower, upper):
    """Return the values of NAMES."""
    unit = oracle.unit(a, d, lower, upper)
    near, far = oracle.shares(x, a, d, lower, upper)
    a, d, x = mp.mpf(float(a)), mp.mpf(float(d)), mp.mpf(float(x))
    with mp.workdps(oracle.DIGITS):
        second = unit["variance"] + unit["mean"] ** 2
        return {
            "cdf": near,
            "sf": far,
            "logcdf": mp.log(near) if near else -mp.inf,
            "logsf": mp.log(far) if far else -mp.inf,
            "logpdf": a * x - d * x * x / 2 - unit["log_norm"],
            "entropy": unit["log_norm"] - a * unit["mean"] + d * second / 2,
            "log_mass": unit["log_norm"] - a * a / (2 * d) - mp.log(2 * mp.pi / d) / 2,
        }


def error(name, got, want):
    """Return the error, relative as the docstrings promise it."""
    got = float(got)
    if abs(want) < mp.mpf(10) ** -290:  # beyond float64, and beyond the oracle's digits
        return abs(got)
    if mp.isinf(want):
        return 0.0 if got < -700 else np.inf  # the oracle ran out of digits
    size = abs(want)
    if name in ("cdf", "sf"):
        size *= 1 - mp.log(want)
    if name in ("logpdf", "entropy"):
        size = max(1, size)
    return float(abs(mp.mpf(got) - want) / size)


def test_worst_errors_against_300_digits():
    rng = np.random.default_rng(21)
    args = random_units(rng, 400)
    args = (random_points(rng, *args), *args)
    out = np.empty((7, args[0].size))
    evaluate_all(*args, out)
    worst = dict.fromkeys(NAMES, 0.0)
    for i, arguments in enumerate(zip(*args, strict=True)):
        want = exact(*arguments)
        for name, got in zip(NAMES, out[:, i], strict=True):
            worst[name] = max(worst[name], error(name, got, want[name]))
    # A tiny logarithm is a tiny probability, whose exponent has been rounded.
    limits = {"cdf": 2e-15, "sf": 2e-15} | dict.fromkeys(("logcdf", "logsf", "log_mass"), 1e-13)
    assert all(worst[name] < limits.get(name, 1e-14) for name in NAMES), worst


def test_quantiles_invert_to_rounding_on_both_sides():
    """A quantile's own probability differs by what rounding of the quantile explains."""
    rng = np.random.default_rng(22)
    a, d, lower, upper = random_units(rng, 4000)
    n = a.size
    small = np.where(rng.random(n) < 0.5, rng.random(n), 10 ** rng.uniform(-300, 0, n))
    swap = rng.random(n) < 0.5
    p, rest = np.where(swap, 1 - small, small), np.where(swap, small, 1 - small)
    h, out = np.empty(n), np.empty((7, n))
    invert_all(p, rest, a, d, lower, upper, h)
    assert ((lower <= h) & (h <= upper)).all()
    evaluate_all(h, a, d, lower, upper, out)
    lesser = np.minimum(p, rest)
    got = np.where(p < rest, out[2], out[3])
    with np.errstate(over="ignore", invalid="ignore"):
        slope = np.exp(out[4] - np.log(lesser))  # of the log probability
        # Counted from the mode, h is exact only down to some 1e-28 standard deviations.
        grid = np.spacing(abs(h) + 1e-28 / np.sqrt(d))
        slack = 2 * grid * slope + 8 * np.spacing(abs(np.log(lesser))) + 1e-14
        miss = abs(got - np.log(lesser))
    inside = (lower < h) & (h < upper)  # at an end, rounding has left nothing to compare
    assert inside.mean() > 0.5
    assert (miss[inside] <= slack[inside]).all()


def test_quantiles_at_the_ends_and_beyond():
    def one(p, rest, *unit):
        args = [np.array([float(v)]) for v in (p, rest, *unit)]
        out = np.empty(1)
        invert_all(*args, out)
        return out[0]

    unit = (0.0, 1.0, -np.inf, np.inf)
    assert one(0, 1, *unit) == -np.inf and one(1, 0, *unit) == np.inf
    assert one(0, 1, 0.3, 2, -1, 4) == -1 and one(1, 0, 0.3, 2, -1, 4) == 4
    assert np.isnan(one(-0.1, 1.1, *unit)) and np.isnan(one(np.nan, np.nan, *unit))
    assert np.isnan(one(0.5, 0.5, 0, 1, 2, 1)) and np.isnan(one(0.5, 0.5, 0, 1, 1, 1))
