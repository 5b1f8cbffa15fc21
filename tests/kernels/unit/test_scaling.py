"""Units out of the ordinary: far ends, extreme scales, a d next to nothing, points, NaN."""

import math

import mpmath as mp
import numpy as np
import pytest
from numba import vectorize

from tests.support import accuracy, sixty
from trug_fast import kernels

inf, nan = math.inf, math.nan
AT_X = ["cdf", "sf", "logcdf", "logsf", "logpdf"]


def test_all_functions_of_any_unit_against_60_digits(monkeypatch):
    """Worst of 100,000: docs/kernels.md; of the third moment 1e-14, else below."""
    monkeypatch.setattr(accuracy, "CHUNK", 150)
    _, worst, counts = accuracy.check(7, 0)
    assert set(counts) == set(accuracy.REGIMES)
    assert max(worst.values())[0] < 2e-14, max(worst.items(), key=lambda item: item[1][0])


@pytest.mark.parametrize(
    ("unit", "want"),
    [
        ((1.0, 2.0, -inf, inf), 1.0723649429247001),
        ((0.3, 7.0, -1e20, 1e20), 0.4459834586770159),
        ((0.3, 7.0, -1e12, 1e12), 0.4459834586770159),
        ((0.3, 7.0, -1e300, inf), 0.4459834586770159),
    ],
)
def test_entropy_where_the_ends_are_far_off(unit, want):
    assert kernels.entropy(*unit) == pytest.approx(want, rel=1e-15)


def test_offset_from_an_infinite_end_is_infinite():
    assert kernels.offset(1.0, 2.0, -inf, inf) == inf
    assert kernels.offset(0.0, 1.0, -1e300, inf) == 1e300


def test_float32_numbers_are_computed_in_float64():
    unit = (0.3, 0.7, 0.0, 2.1)
    single = [np.float32(v) for v in unit]
    double = [float(v) for v in single]
    assert kernels.mean_variance(*single) == kernels.mean_variance(*double)
    assert kernels.cdf(np.float32(0.75), *single) == kernels.cdf(0.75, *double)
    assert kernels.ppf(np.float32(0.25), *single) == kernels.ppf(0.25, *double)
    draws = [kernels.draw(kernels.stream(1), *v) for v in (single, double)]
    assert draws[0] == draws[1]
    mean, variance = kernels.mean_variance(*map(np.float32, (-1e13, 1.0, 0.0, inf)))
    slope = float(np.float32(1e13))
    assert mean * slope == pytest.approx(1, rel=1e-15)
    assert variance * slope**2 == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("exponent", [-500, -340, -200, 0, 200, 340])
@pytest.mark.parametrize("d", [2.0, 1e-30, 0.0, -1e-30, -4.0])
def test_the_unit_of_length_does_not_matter(exponent, d):
    """mathematics 2.4; a power of two, so nothing is rounded: third moments, negative variances."""
    s, a = 2.0**exponent, 3.0
    unit, scaled = (a, d, -1.0, 2.0), (a / s, d / s / s, -s, 2 * s)
    mean, variance, third = kernels.moments(*unit)
    got = kernels.moments(*scaled)
    assert got[:2] == pytest.approx((mean * s, variance * s * s), rel=1e-15)
    assert got[2] == pytest.approx(third * s * s * s, rel=1e-14)
    log_s = exponent * math.log(2)
    log_norm = kernels.log_normalizer(*unit) + log_s
    assert kernels.log_normalizer(*scaled) == pytest.approx(log_norm, rel=1e-15)
    assert kernels.entropy(*scaled) == pytest.approx(kernels.entropy(*unit) + log_s, rel=1e-15)
    for x in (-0.9, 1.5, 2 - 1e-9):
        for name in ("cdf", "sf", "logcdf", "logsf"):
            want = getattr(kernels, name)(x, *unit)
            assert getattr(kernels, name)(x * s, *scaled) == pytest.approx(want, rel=1e-15)
    want = kernels.ppf(1e-9, *unit) * s
    assert kernels.ppf(1e-9, *scaled) == pytest.approx(want, rel=1e-15)
    draws = [kernels.draw(kernels.stream(1), *v) for v in (unit, scaled)]
    assert draws[1] == pytest.approx(draws[0] * s, rel=1e-14)


def test_d_counts_by_its_product_with_the_squared_width():
    s = 1e76
    unit = (1 / s, 1 / s / s, -s, 2 * s)
    assert kernels.log_normalizer(*unit) == pytest.approx(176.2152393064277, rel=1e-15)
    assert kernels.cdf(s, *unit) == pytest.approx(float(mp.exp(sixty.Unit(*unit).log_below(s))))
    # Far from zero a d that small still makes a slope.
    unit = (0.0, 1e-170, 1e100, 1.0000001e100)
    want = sixty.Unit(*unit).summary()
    assert kernels.mean_variance(*unit)[1] == pytest.approx(float(want["variance"]), rel=1e-14)


def test_the_flat_middle_of_a_unit_with_its_mass_at_its_ends():
    end = 26.405707647925606
    for x in (-7.921712294377682, 0.0, 3.0):
        for name in ("cdf", "sf"):
            assert getattr(kernels, name)(x, 0.0, -1e4, -end, end) == pytest.approx(0.5, rel=1e-15)
    want = sixty.Unit(-1e-6, -1e4, -end, end).log_above(1.0)
    got = kernels.logsf(1.0, -1e-6, -1e4, -end, end)
    assert got == pytest.approx(float(want), rel=1e-15)


@pytest.mark.parametrize("d", [1.0, 0.0, -1.0])
def test_nan_in_any_argument_gives_nan_at_the_ends_too(d):
    for which in range(4):
        unit = [0.5, d, 0.0, 1.0]
        unit[which] = nan
        for x in (-1.0, 0.0, 0.5, 1.0, 2.0):
            assert np.isnan([getattr(kernels, name)(x, *unit) for name in AT_X]).all(), (x, unit)
        assert np.isnan([kernels.ppf(p, *unit) for p in (0.0, 0.5, 1.0)]).all()
        assert np.isnan([*kernels.moments(*unit), kernels.entropy(*unit)]).all()


@pytest.mark.parametrize("d", [1.0, 0.0, -1.0, 1e-200, -1e200])
@pytest.mark.parametrize("at", [0.0, -2.5, 1e200])
def test_a_point_is_a_distribution(d, at):
    unit = (0.7, d, at, at)
    below, above = math.nextafter(at, -inf), math.nextafter(at, inf)
    assert [kernels.cdf(x, *unit) for x in (below, at, above)] == [0, 1, 1]
    assert [kernels.sf(x, *unit) for x in (below, at, above)] == [1, 0, 0]
    assert [kernels.logcdf(x, *unit) for x in (below, at, above)] == [-inf, 0, 0]
    assert [kernels.logsf(x, *unit) for x in (below, at, above)] == [0, -inf, -inf]
    assert [kernels.logpdf(x, *unit) for x in (below, at, above)] == [-inf, inf, -inf]
    assert {f(p, *unit) for f in (kernels.ppf, kernels.isf) for p in (0, 0.3, 1)} == {at}
    assert kernels.entropy(*unit) == kernels.log_normalizer(*unit) == -inf
    assert kernels.moments(*unit) == (at, 0, 0)
    assert kernels.draw(kernels.stream(1), *unit) == at
    assert math.isnan(kernels.cdf(nan, *unit)) and math.isnan(kernels.ppf(2, *unit))


def test_subnormal_widths():
    for width in (1e-310, 5e-324):
        for d in (1.0, -1.0, 0.0):
            unit = (1.0, d, 0.0, width)
            log_width = math.log(width)
            assert kernels.log_normalizer(*unit) == pytest.approx(log_width, rel=1e-15)
            assert kernels.entropy(*unit) == pytest.approx(log_width, rel=1e-15)
            assert kernels.logpdf(0.0, *unit) == pytest.approx(-log_width, rel=1e-15)
    assert kernels.logcdf(1e-310, 0.0, 1.0, 0.0, 1.0) == pytest.approx(
        math.log(1e-310) - kernels.log_normalizer(0.0, 1.0, 0.0, 1.0), rel=1e-15
    )


@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_the_range_right_or_nan(sign):
    """Half lines that begin farther out than tails.py goes: exponentials, whose tail is NaN."""
    unit = (-1e120, 1.0, 0.0, inf) if sign > 0 else (1e120, 1.0, -inf, 0.0)
    mean, variance, third = kernels.moments(*unit)
    assert (sign * mean, variance, third) == pytest.approx((1e-120, 1e-240, 0.0), rel=1e-15)
    assert kernels.log_normalizer(*unit) == pytest.approx(-120 * math.log(10), rel=1e-15)
    assert math.isnan(kernels.cdf(sign * 1e-120, *unit)) and math.isnan(kernels.entropy(*unit))
    # The mode as far inside: a normal.
    unit = (sign * 1e120, 1.0, *((0.0, inf) if sign > 0 else (-inf, 0.0)))
    assert kernels.mean_variance(*unit) == (sign * 1e120, 1.0)
    assert kernels.offset(*unit) == 1e120
    assert kernels.logpdf(sign * 2e120, *unit) == pytest.approx(-5e239, rel=1e-14)
    bad = [(inf, 1, 0, 1), (0, inf, 0, 1), (0, -inf, 0, 1), (0, 1, inf, inf), (0, 0, 0, inf)]
    for unit in (tuple(map(float, each)) for each in bad):  # compiled once
        values = [*kernels.moments(*unit), kernels.log_normalizer(*unit), kernels.cdf(0.5, *unit)]
        assert np.isnan(values).all(), unit


@pytest.mark.parametrize(
    ("p", "unit"),
    [
        (4.9e-117, (-0.2672077991267823, 1.37e-3, -1.7601939408817876e-08, -0.0)),  # end at 0
        (2.4e-133, (1.5e66, 8.9e75, 0.0, 3.45e-10)),  # a unit between two floats
        (1e-263, (-1e70, 1.0, 0.0, inf)),  # p over the slope underflows
        (4.2e-173, (-37386.185368323095, -9061.22119791197, 0.0, 8.26010184417167)),  # a valley
        (0.3, (0.5, 0.0, -1.0, 3.0)),
    ],
)
def test_quantiles_are_right_to_rounding(p, unit):
    mirror = -unit[0], unit[1], -unit[3], -unit[2]
    for h, it, above in [
        (kernels.ppf(p, *unit), sixty.Unit(*unit), False),
        (kernels.isf(p, *unit), sixty.Unit(*unit), True),
        (kernels.ppf(p, *mirror), sixty.Unit(*mirror), False),
    ]:
        assert accuracy.of_quantile(h, p, it, above) < 1e-15


def test_draws_at_extreme_scales():
    for unit in [
        (0.0, 1e-170, 0.0, 1e90),
        (1e150, 1e-155, 0.0, 1e-140),
        (0.0, -1e200, 0.0, 1e-100),
    ]:
        mean, variance = kernels.mean_variance(*unit)
        for draw in (kernels.draw, kernels.draw_robert, kernels.draw_chopin):
            rng = kernels.stream(1)
            h = np.array([draw(rng, *unit) for _ in range(400)])
            assert ((unit[2] <= h) & (h <= unit[3])).all()
            scale = math.sqrt(variance)
            assert abs(h.mean() - mean) < 6 * scale / 20  # right draws: once in 1e9 times each


def test_a_ufunc_of_infinite_ends_gives_no_warning():
    """Of an operation that is not needed; pytest makes an error of it."""

    @vectorize(["float64(float64, float64, float64, float64)"])
    def everything(a, d, lower, upper):
        return (
            kernels.moments(a, d, lower, upper)[0]
            + kernels.entropy(a, d, lower, upper)
            + kernels.cdf(1.0, a, d, lower, upper)
            + kernels.ppf(0.3, a, d, lower, upper)
            + kernels.draw(kernels.stream(1), a, d, lower, upper)
        )

    for ends in ((0.0, inf), (-inf, 0.0), (-inf, inf), (0.0, 1.0), (2.0, 1e40)):
        assert np.isfinite(everything([0.5, -40.0, 1e35], 1.0, *ends)).all()
