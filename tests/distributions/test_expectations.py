"""Means of functions: where they are known, within bounds, in tails and narrow intervals."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import IntegrationWarning

from trug_fast import truncnorm

INF = float("inf")
# a, b, loc, scale
DISTRIBUTIONS = [
    (-1.0, 2.0, 0.5, 3.0),
    (0.0, INF, 0.0, 1.0),
    (-INF, INF, -7.0, 0.01),
    (-INF, -40.0, 2.0, 1.0),
    (1e8, INF, -1e8, 1.0),
    (5.0, 5.0 + 1e-9, 0.0, 1.0),
    (-3.0, 1e4, 0.0, 1e-5),
]


@pytest.mark.parametrize("parameters", DISTRIBUTIONS, ids=str)
def test_powers_and_exponentials(parameters):
    frozen = truncnorm(*parameters)
    assert frozen.expect(lambda x: 1.0) == pytest.approx(1, rel=1e-11)
    assert frozen.expect() == frozen.mean()
    for order in (1, 2, 4):
        size = frozen.moment(2) ** (order / 2)
        got = frozen.expect(lambda x, n=order: x**n)
        assert got == pytest.approx(frozen.moment(order), abs=1e-11 * size)
    mean, std = frozen.mean(), frozen.std()
    if std > 1e-6 * abs(mean):  # else x itself has too few digits
        got = frozen.expect(lambda x: (x - mean) ** 2)
        assert got == pytest.approx(std**2, rel=1e-9)
    a, b, loc, scale = parameters
    # The mean of exp(t x) is a ratio of masses.
    t = 0.1 / scale
    shift = truncnorm.log_mass(a - 0.1, b - 0.1) - truncnorm.log_mass(a, b)
    if abs(a) < 30 or abs(b) < 30:
        want = math.exp(t * loc + 0.005 + shift)
        assert frozen.expect(lambda x: math.exp(t * x)) == pytest.approx(want, rel=1e-11)


def test_bounds():
    frozen = truncnorm(-1, 2, 0.5, 3.0)
    inside = frozen.cdf(4.0) - frozen.cdf(-1.0)
    assert frozen.expect(lambda x: 1, -1.0, 4.0) == pytest.approx(inside, rel=1e-12)
    assert frozen.expect(lambda x: 1, -1.0, 4.0, conditional=True) == pytest.approx(1, rel=1e-12)
    want = stats.truncnorm(-1, 2, 0.5, 3.0).expect(lambda x: x * x, lb=-1.0, ub=4.0)
    assert frozen.expect(lambda x: x * x, -1.0, 4.0) == pytest.approx(want, rel=1e-9)
    # Beyond the ends is nothing.
    assert frozen.expect(lambda x: x, -100, 100) == pytest.approx(frozen.mean(), rel=1e-12)
    assert frozen.expect(lambda x: 1, 50, 100) == 0
    assert math.isnan(frozen.expect(lambda x: 1, 50, 100, conditional=True))
    # A tail of a tail, to all digits.
    got = truncnorm.expect(lambda x: x * x, (0, INF), lb=30)
    want = truncnorm.sf(30, 0, INF) * truncnorm.moment(2, 30, INF)
    assert got == pytest.approx(want, rel=1e-12)
    assert truncnorm.expect(args=(0, INF), ub=1.0) == pytest.approx(
        truncnorm.cdf(1, 0, INF) * truncnorm.mean(0, 1), rel=1e-13
    )


def test_functions_that_grow_or_jump():
    # The mean of exp(x**2/4) under a normal.
    assert truncnorm.expect(lambda x: math.exp(x * x / 4), (-INF, INF)) == pytest.approx(2**0.5)
    got = truncnorm.expect(lambda x: float(x > 1), (0, 2), 1, 0.1)
    assert got == pytest.approx(truncnorm.sf(1, 0, 2, 1, 0.1), rel=1e-9)
    with pytest.warns(IntegrationWarning):
        truncnorm.expect(lambda x: math.sin(1e6 * x), (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert abs(truncnorm.expect(math.sin, (-1, 1))) < 1e-12  # cancels


def test_arrays_and_bad_arguments():
    got = truncnorm.expect(np.sin, ([[0.0], [1.0]], [2.0, 3.0, 0.5]), scale=2.0)
    assert got.shape == (2, 3) and math.isnan(got[1, 2])
    assert got[1, 0] == truncnorm(1.0, 2.0, scale=2.0).expect(np.sin)
    assert math.isnan(truncnorm.expect(np.sin, (0, 1), 0, -1))
    assert truncnorm.expect(np.sin, (np.float32(0), np.float32(1))).dtype == np.float32
    with pytest.raises(TypeError, match="func must be a function"):
        truncnorm.expect(3, (0, 1))
    for args in ((), (1, 2, 3), 5):
        with pytest.raises(ValueError, match="args must be the pair"):
            truncnorm.expect(np.sin, args)
    for bounds in ((1, 1), (2, 1), (math.nan, 1)):
        with pytest.raises(ValueError, match="lb must be below ub"):
            truncnorm(0, 1).expect(np.sin, *bounds)
    with pytest.raises(TypeError, match="kaboom"):
        truncnorm(0, 1).expect(np.sin, kaboom=1)
