"""The public probabilities: which formula they take, every kind of caller, bad arguments."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from trug_fast import kernels

inf, nan = math.inf, math.nan
AT_X = ["cdf", "sf", "logcdf", "logsf", "logpdf"]
UNITS = [
    (0.3, 1.0, -1.0, 2.0),
    (-5.0, 2.0, 0.0, inf),
    (7.0, 1.0, -inf, 3.0),
    (0.0, 1.0, -inf, inf),
    (12.0, 4.0, 2.0, 2.5),
]


@pytest.mark.parametrize("unit", UNITS)
def test_agree_with_scipy_where_it_is_right(unit):
    a, d, lower, upper = unit
    loc, scale = a / d, d**-0.5
    peer = stats.truncnorm((lower - loc) / scale, (upper - loc) / scale, loc, scale)
    for x in peer.ppf([0.01, 0.4, 0.9]):
        for name in AT_X:
            np.testing.assert_allclose(
                getattr(kernels, name)(x, *unit), getattr(peer, name)(x), rtol=1e-9, atol=1e-12
            )
    for p in (1e-3, 0.5, 0.999):
        np.testing.assert_allclose(kernels.ppf(p, *unit), peer.ppf(p), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(kernels.isf(p, *unit), peer.isf(p), rtol=1e-9, atol=1e-9)
    if math.isfinite(lower + upper):  # SciPy's is NaN for an infinite end
        np.testing.assert_allclose(kernels.entropy(*unit), peer.entropy(), rtol=1e-9)


@pytest.mark.parametrize("d", [-1e-14, 0.0, 1e-200, 1e-14])
def test_both_signs_of_d_meet_at_zero(d):
    """The truncated exponential."""
    for a in (-3.0, 2.0):
        unit, whole = (a, d, 0.0, 2.0), math.expm1(2 * a)
        for x in (0.1, 1.0, 1.9):
            below = math.expm1(a * x) / whole
            assert abs(kernels.cdf(x, *unit) - below) < 1e-13
            assert abs(kernels.sf(x, *unit) - (1 - below)) < 1e-13
            assert abs(kernels.logpdf(x, *unit) - (a * x + math.log(a / whole))) < 1e-13
            assert abs(kernels.ppf(below, *unit) - x) < 1e-12
        mean = kernels.mean_variance(*unit)[0]
        assert abs(kernels.entropy(*unit) - (math.log(whole / a) - a * mean)) < 1e-13


def everything(x, p, unit, out):
    out[0] = kernels.cdf(x, *unit)
    out[1] = kernels.sf(x, *unit)
    out[2] = kernels.logcdf(x, *unit)
    out[3] = kernels.logsf(x, *unit)
    out[4] = kernels.logpdf(x, *unit)
    out[5] = kernels.ppf(p, *unit)
    out[6] = kernels.isf(p, *unit)
    out[7] = kernels.entropy(*unit)
    out[8], out[9], out[10] = kernels.moments(*unit)
    out[11] = kernels.third_moment(*unit)


@pytest.mark.parametrize("options", [{}, {"fastmath": True}], ids=str)
def test_inside_compiled_code_of_the_user(options):
    compiled = njit(**options)(everything)
    for unit in [*UNITS, (0.5, -2.0, 0.0, 3.0)]:
        got, want = np.empty((2, 12))
        x = kernels.mean_variance(*unit)[0]
        compiled(x, 0.2, unit, got)
        everything(x, 0.2, unit, want)
        np.testing.assert_array_equal(got, want)
        assert np.isfinite(want).all()


@pytest.mark.parametrize("d", [1.0, 0.0, -1.0])
def test_bad_arguments_give_nan(d):
    bad = [
        (nan, d, 0, 1),
        (0, nan, 0, 1),
        (0, d, nan, 1),
        (0, d, 0, nan),
        (0, d, 1, 0),
    ]
    for unit in (tuple(map(float, each)) for each in bad):  # compiled once
        assert np.isnan([getattr(kernels, name)(0.5, *unit) for name in AT_X]).all(), unit
        assert np.isnan([kernels.ppf(0.5, *unit), kernels.isf(0.5, *unit)]).all(), unit
        assert math.isnan(kernels.entropy(*unit)), unit
    unit = 0.0, d, 0.0, 1.0
    assert np.isnan([getattr(kernels, name)(nan, *unit) for name in AT_X]).all()
    assert np.isnan(
        [f(p, *unit) for f in (kernels.ppf, kernels.isf) for p in (-1.0, 2.0, nan)]
    ).all()


@pytest.mark.parametrize("d", [1.0, 0.0, -1.0])
def test_outside_the_interval(d):
    unit = 0.5, d, 0.0, 1.0
    assert [getattr(kernels, n)(-0.1, *unit) for n in AT_X] == [0, 1, -inf, 0, -inf]
    assert [getattr(kernels, n)(1.1, *unit) for n in AT_X] == [1, 0, 0, -inf, -inf]
    assert kernels.ppf(0.0, *unit) == 0 and kernels.ppf(1.0, *unit) == 1


def test_moments_are_derivatives_of_the_mean():
    """Central differences of the mean: by a, twice, and by d (mathematics 1.1)."""
    step = 1e-4
    for a, d, lower, upper in [*UNITS, (0.5, -2.0, 0.0, 3.0), (-4.0, 0.0, 0.0, 2.0)]:
        mean, variance, third = kernels.moments(a, d, lower, upper)
        below, above = (kernels.moments(a + s, d, lower, upper) for s in (-step, step))
        assert abs((above[0] - below[0]) / (2 * step) - variance) < 1e-7
        assert abs((above[1] - below[1]) / (2 * step) - third) < 1e-7
        if d > 0:
            below, above = (kernels.moments(a, d + s, lower, upper)[0] for s in (-step, step))
            assert abs((above - below) / (2 * step) + third / 2 + mean * variance) < 1e-6
        cube = kernels.third_moment(a, d, lower, upper)
        np.testing.assert_allclose(cube, third + 3 * mean * variance + mean**3, rtol=1e-12)
