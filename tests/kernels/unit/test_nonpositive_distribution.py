"""Probabilities, quantiles and entropy of units with d <= 0, against 300 digits."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.units import random_nonpositive_units
from trug_fast import kernels
from trug_fast.kernels.unit import nonpositive_distribution as nonpositive

inf, nan = math.inf, math.nan


def shares(x, a, d, lower, upper):
    if d:
        return oracle.shares(x, a, d, lower, upper)
    with mp.workdps(oracle.DIGITS):
        a, x, lower, upper = (mp.mpf(float(v)) for v in (a, x, lower, upper))
        whole = mp.expm1(a * (upper - lower))
        below = mp.expm1(a * (x - lower)) / whole
        return below, mp.exp(a * (x - lower)) * mp.expm1(a * (upper - x)) / whole


def points(rng, lower, upper):
    """Points inside: anywhere, and near an end."""
    share = np.where(rng.random(lower.size) < 0.5, 0.5, 10 ** rng.uniform(-9, 0, lower.size))
    share = share * rng.random(lower.size)
    return np.where(rng.random(lower.size) < 0.5, lower, upper) + (
        np.where(rng.random(lower.size) < 0.5, 1, -1) * share * (upper - lower)
    )


def cases(seed, n):
    rng = np.random.default_rng(seed)
    a, d, lower, upper = random_nonpositive_units(rng, n)
    x = points(rng, lower, upper)
    inside = np.minimum(x - lower, upper - x) > 1e-12 * (upper - lower)
    return zip(*(v[inside] for v in (x, a, d, lower, upper)), strict=True)


def test_logarithms_of_probabilities_against_300_digits():
    """Worst of 4,000: 1e-14 of the larger of the value, where it is far from 0, and 1."""
    for x, *unit in cases(1, 300):
        below, above = shares(x, *unit)
        mirrored = -x, -unit[0], unit[1], -unit[3], -unit[2]
        got = nonpositive.logcdf(x, *unit), nonpositive.logcdf(*mirrored)
        # x is exact, yet the exponents a x and d x**2 / 2 are rounded beside the drop they make.
        drop = abs(unit[0]) * (unit[3] - unit[2]) + abs(unit[1]) * (unit[3] - unit[2]) ** 2
        for value, share in zip(got, (below, above), strict=True):
            with mp.workdps(50):
                want = mp.log(share) if share < 0.5 else mp.log1p(share - 1)
                size = 1 + drop / 10 if share < 0.5 else abs(want) * (1 + drop / 10)
                assert abs(mp.mpf(value) - want) <= 2e-14 * size, (x, *unit)


def test_density_against_300_digits():
    for x, *unit in cases(2, 300):
        a, d = (mp.mpf(float(v)) for v in unit[:2])
        if d == 0:
            continue
        with mp.workdps(oracle.DIGITS):
            want = a * x - d * mp.mpf(float(x)) ** 2 / 2 - oracle.unit(*unit)["log_norm"]
            width = mp.mpf(float(unit[3])) - mp.mpf(float(unit[2]))
            drop = abs(a) * width + abs(d) * width**2
            got = nonpositive.logpdf(x, *unit)
            assert abs(got - want) < 1e-14 * (1 + abs(want) + drop / 10)


def test_entropy_against_300_digits():
    for unit in zip(*random_nonpositive_units(np.random.default_rng(3), 300), strict=True):
        a, d = (mp.mpf(float(v)) for v in unit[:2])
        if d == 0:
            continue
        want = oracle.unit(*unit)
        with mp.workdps(oracle.DIGITS):
            square = want["variance"] + want["mean"] ** 2
            entropy = want["log_norm"] - a * want["mean"] + d * square / 2
            assert abs(nonpositive.entropy(*unit) - entropy) < 1e-14 * max(1, abs(entropy))


@given(
    st.floats(-300, 300), st.floats(-300, 0), st.floats(-3, 3), st.floats(0.01, 3), st.floats(-6, 0)
)
def test_quantile_inverts_both_tails(a, d, lower, width, depth):
    """Down to 1e-250; h is rounded, which moves the log probability by its slope times that."""
    upper, small = lower + width, 10 ** (40 * depth - 0.1)
    low = kernels.ppf(small, a, d, lower, upper)
    high = kernels.isf(small, a, d, lower, upper)
    assert lower <= low <= upper and lower <= high <= upper
    if low > lower and high < upper:
        slope = 2 * (abs(a) + abs(d) * 6) + 2 / min(low - lower, upper - high)
        slack = 1e-12 + 4 * np.spacing(max(abs(lower), abs(upper))) * slope
        slack += 4 * np.spacing(abs(math.log(small)))
        assert abs(nonpositive.logcdf(low, a, d, lower, upper) - math.log(small)) < slack
        assert abs(nonpositive.logcdf(-high, -a, d, -upper, -lower) - math.log(small)) < slack


def test_ends_and_beyond():
    unit = 0.5, -1.0, 0.0, 2.0
    assert nonpositive.logcdf(-1.0, *unit) == -inf and nonpositive.logcdf(3.0, *unit) == 0.0
    assert nonpositive.logcdf(0.0, *unit) == -inf and nonpositive.logcdf(2.0, *unit) == 0.0
    assert nonpositive.logpdf(-0.1, *unit) == -inf and nonpositive.logpdf(2.1, *unit) == -inf
    assert nonpositive.ppf(0.0, 1.0, *unit) == 0.0 and nonpositive.ppf(1.0, 0.0, *unit) == 2.0


@pytest.mark.parametrize(
    "unit",
    [(0.0, -1.0, 0.0, inf), (nan, -1.0, 0, 1), (0, nan, 0, 1), (0, -1.0, 1, 0), (0, 0, 1, 1)],
)
def test_no_density_gives_nan(unit):
    unit = tuple(map(float, unit))
    values = (
        nonpositive.logcdf(0.5, *unit),
        nonpositive.logpdf(0.5, *unit),
        nonpositive.entropy(*unit),
    )
    assert np.isnan([*values, nonpositive.ppf(0.5, 0.5, *unit)]).all()


def test_nan_and_bad_probabilities_give_nan():
    unit = 0.5, -1.0, 0.0, 2.0
    assert math.isnan(nonpositive.logcdf(nan, *unit)) and math.isnan(nonpositive.logpdf(nan, *unit))
    for p in (-0.1, nan, 1.1):
        assert math.isnan(nonpositive.ppf(p, 1 - p, *unit))
