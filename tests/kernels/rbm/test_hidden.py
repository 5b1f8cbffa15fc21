"""Rows of hidden units against one unit at a time, whatever the signs of their precisions."""

import numpy as np
import pytest

from trug_fast import kernels
from trug_fast.kernels.rbm import hidden
from trug_fast.kernels.unit.quantile_rows import SPACE

SIZE = 203  # a whole number of no vector


def layer(dtype, negative):
    """Return net inputs and units, a few or none of them with precision zero or below."""
    rng = np.random.default_rng(4)
    lower = rng.normal(size=SIZE)
    precision = rng.uniform(0.1, 5, SIZE)
    if negative:
        precision[::17] = -3.0
        precision[5::29] = 0.0
    upper = lower + rng.uniform(0.5, 4, SIZE)
    parts = (np.ascontiguousarray(a, dtype) for a in (precision, lower, upper))
    units = hidden.trug_units(*parts)
    return (3 * rng.normal(size=SIZE)).astype(dtype), units


def one_by_one(net, units):
    """Return mean, variance, and log end densities of each unit, by the scalar functions."""
    each = zip(net, units.precision, units.lower, units.upper, strict=True)
    each = [tuple(map(float, unit)) for unit in each]
    moments = [kernels.mean_variance(*u) + kernels.log_end_densities(*u) for u in each]
    return np.array(moments).T


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_means_and_statistics(dtype, negative):
    net, units = layer(dtype, negative)
    mean, variance, low, high = one_by_one(net, units)
    close = {"rtol": 2e-5, "atol": 2e-6} if dtype == np.float32 else {"rtol": 1e-12}
    found = [np.empty(SIZE, dtype) for _ in range(4)]
    hidden.moments_row(net, units, *found)
    for ours, expected in zip(found, (mean, variance, low, high), strict=True):
        np.testing.assert_allclose(ours, expected, **close)
    only = np.empty(SIZE, dtype)
    hidden.mean_row(net, units, only)
    np.testing.assert_array_equal(only, found[0])
    # Twice: sums run on, and a unit with d <= 0 counts once a row, not twice.
    sums = hidden.Statistics(*(np.zeros(SIZE, dtype) for _ in range(4)))
    for _ in range(2):
        hidden.statistics_row(net, units, only, sums)
    expected = mean, variance + mean**2, np.exp(low), np.exp(high)
    for ours, value in zip(sums, expected, strict=True):
        np.testing.assert_allclose(ours, 2 * value, **close)
    np.testing.assert_array_equal(only, found[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_units_that_are_all_wide_have_the_same_means(dtype):
    net, units = layer(dtype, False)
    wide = hidden.trug_units(units.precision, units.lower, units.lower + 3 / units.precision**0.5)
    some = wide._replace(upper=wide.upper.copy())
    some.upper[7] = some.lower[7] + 0.1  # one narrow unit: all take the other loop
    others, close = np.arange(SIZE) != 7, 8 * np.finfo(dtype).eps
    found = []
    for own in (wide, some):
        mean, again = np.empty(SIZE, dtype), np.empty(SIZE, dtype)
        sums = hidden.Statistics(*(np.zeros(SIZE, dtype) for _ in range(4)))
        hidden.mean_row(net, own, mean)
        hidden.statistics_row(net, own, again, sums)
        np.testing.assert_array_equal(mean, again)
        found.append(np.stack([mean, *sums])[:, others])
    np.testing.assert_allclose(*found, rtol=close, atol=close)
    np.testing.assert_allclose(found[0][0], one_by_one(net, wide)[0][others], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_and_log_norms(dtype):
    net, units = layer(dtype, True)
    uniform = np.random.default_rng(1).uniform(0.01, 0.99, SIZE).astype(dtype)
    sample = np.empty(SIZE, dtype)
    hidden.draw_row(net, units, uniform, sample, np.empty(SPACE, dtype))
    expected = []
    for p, *unit in zip(uniform, net, *units[1:4], strict=True):
        expected.append(kernels.ppf(float(p), *map(float, unit)))
    np.testing.assert_allclose(sample, expected, rtol=0, atol=1e-4 if dtype == np.float32 else 1e-9)
    values = np.empty(SIZE)
    total = hidden.log_norm_row(net, units, 0.5, 0.25, values)
    each = zip(0.5 * net.astype(float), 0.25 * units.precision.astype(float), *units[2:4])  # noqa: B905
    expected = [kernels.log_normalizer(*map(float, unit)) for unit in each]
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-6)
    assert abs(total - values.sum()) < 1e-10


def test_bernoulli_units_have_the_same_functions():
    net = np.linspace(-3, 3, SIZE)
    ones = np.ones(SIZE)
    units = hidden.HiddenUnits(hidden.BERNOULLI, ones, ones, ones, 0)
    share = 1 / (1 + np.exp(-net))
    mean, variance, low, high = (np.empty(SIZE) for _ in range(4))
    hidden.moments_row(net, units, mean, variance, low, high)
    np.testing.assert_allclose(mean, share, rtol=1e-14)
    np.testing.assert_allclose(variance, share * (1 - share), rtol=1e-13)
    np.testing.assert_allclose([low, high], np.log([1 - share, share]), rtol=1e-13)
    sums = hidden.Statistics(*(np.zeros(SIZE) for _ in range(4)))
    hidden.statistics_row(net, units, mean, sums)
    np.testing.assert_array_equal(sums.first, mean)
    assert not any(total.any() for total in sums[1:])
    sample = np.empty(SIZE)
    hidden.draw_row(net, units, share - 1e-9, sample, np.empty(SPACE))
    assert (sample == 1).all()
    hidden.draw_row(net, units, share + 1e-9, sample, np.empty(SPACE))
    assert (sample == 0).all()
    values = np.empty(SIZE)
    expected = np.logaddexp(0, 0.5 * net)
    assert abs(hidden.log_norm_row(net, units, 0.5, 1.0, values) - expected.sum()) < 1e-10
