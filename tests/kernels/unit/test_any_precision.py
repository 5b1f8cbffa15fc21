"""The vectorised formulas for d of any sign: against 60 digits, those for d > 0, and themselves."""

import math

import mpmath as mp
import numpy as np
import pytest
from numba import njit

from tests.support import sixty
from tests.support.units import assert_uniform, random_nonpositive_units, random_units, transform
from trug_fast import kernels
from trug_fast.kernels.unit.any_precision import evaluate_any
from trug_fast.kernels.unit.valley_quantile import quantile_any

NAMES = ["log_norm", "offset", "mean", "variance", "third", "log_low", "log_high"]


@njit(error_model="numpy", fastmath={"contract"})
def evaluate_all(p, a, d, lower, upper, out):
    for i in range(a.size):
        value = evaluate_any(a[i], d[i], lower[i], upper[i])
        out[0, i], out[1, i], out[2, i], out[3, i] = value[0], value[1], value[2], value[3]
        out[4, i], out[5, i], out[6, i] = value[4], value[5], value[6]
    for i in range(a.size):
        out[7, i] = quantile_any(p[i], a[i], d[i], lower[i], upper[i])


def outputs(p, a, d, lower, upper, dtype=np.float64):
    args = [np.atleast_1d(np.asarray(x, dtype)) for x in (p, a, d, lower, upper)]
    args = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*args)]
    out = np.empty((8, args[0].size), dtype)
    evaluate_all(*args, out)
    return out


def wide_range(rng, n):
    """Return a, d, lower, upper with d from -1e6 to 1e6, zero and next to it, and any valley."""
    d = rng.choice([-1, 1], n) * 10 ** rng.uniform(-12, 6, n)
    d = np.where(rng.random(n) < 0.1, rng.choice([0.0, -0.0, -1e-300, -1e-17], n), d)
    width = 10 ** rng.uniform(-4, 2, n)
    lower = np.choose(rng.integers(0, 3, n), [np.zeros(n), -width / 2, rng.normal(size=n)])
    upper = lower + width
    # Mode or valley inside, at an end, or anywhere.
    place = np.choose(
        rng.integers(0, 4, n), [rng.random(n), np.ones(n), rng.normal(size=n) * 30, np.full(n, 0.5)]
    )
    a = d * (lower + place * (upper - lower)) + np.where(
        rng.random(n) < 0.5, rng.normal(size=n) * 5 / width, 0.0
    )
    return a, d, lower, upper


def size_of(name, want, unit):
    if name.startswith("log"):
        return max(abs(want[name]), 1)
    if name == "mean":
        return max(abs(want[name]), abs(unit[2]), abs(unit[3]))
    if name == "third":  # crosses zero where the unit is symmetric
        return max(abs(want[name]), want["variance"] ** 1.5)
    return abs(want[name])


@pytest.mark.parametrize("make", [random_nonpositive_units, wide_range])
def test_worst_errors_against_60_digits(make):
    """Worst of 9,000: offset 2e-15, variance 4.8e-15, logarithms 5e-15, third 5e-14."""
    units = make(np.random.default_rng(5), 400)
    out = outputs(0.5, *units)
    worst = dict.fromkeys(NAMES, 0.0)
    for i, unit in enumerate(zip(*(v.tolist() for v in units), strict=True)):
        want = sixty.Unit(*unit).summary()
        for got, name in zip(out[:, i], NAMES, strict=False):
            with mp.workdps(60):
                miss = abs(mp.mpf(float(got)) - want[name]) / size_of(name, want, unit)
            worst[name] = max(worst[name], float(miss))
    limits = {"offset": 4e-15, "variance": 8e-15, "mean": 1.5e-15, "third": 1.5e-13}
    assert all(worst[name] < limits.get(name, 1e-14) for name in NAMES), worst


def test_single_precision_agrees_with_double():
    units = [v.astype(np.float32) for v in wide_range(np.random.default_rng(3), 20_000)]
    keep = units[2] < units[3]
    units = [v[keep] for v in units]
    single, double = outputs(0.3, *units, np.float32), outputs(np.float32(0.3), *units)
    assert np.isfinite(single[:4]).all()
    keep = np.abs(double[0]) < 1e4  # beyond, an exponent's own rounding counts
    for name, got, want in zip(NAMES[:4], single[:4, keep], double[:4, keep], strict=True):
        size = np.abs(want)
        if name == "log_norm":
            size = np.maximum(size, 1)
        if name == "mean":
            size = np.maximum(size, np.maximum(np.abs(units[2]), np.abs(units[3]))[keep])
        assert (np.abs(got - want) <= (2e-5 if name == "variance" else 2e-6) * size).all(), name


def test_positive_precisions_are_those_of_their_own_formulas():
    rng = np.random.default_rng(4)
    units = random_units(rng, 300)
    out = outputs(0.3, *units)
    for i, unit in enumerate(zip(*(v.tolist() for v in units), strict=True)):
        mean, variance = kernels.mean_variance(*unit)
        np.testing.assert_allclose(out[2:4, i], [mean, variance], rtol=2e-14)
        np.testing.assert_allclose(out[5:7, i], kernels.log_end_densities(*unit), rtol=2e-14)
    assert np.isfinite(out[7]).all()


def test_place_in_a_loop_does_not_matter():
    rng = np.random.default_rng(6)
    units = [v[:403] for v in wide_range(rng, 500)]
    p = rng.random(403)
    out = outputs(p, *units)
    for start in (1, 5, 397):
        shifted = outputs(p[start:], *(v[start:] for v in units))
        same = [k for k, name in enumerate([*NAMES, "draw"]) if name != "third"]
        np.testing.assert_array_equal(shifted[same], out[same, start:])


def test_draws_have_their_distribution():
    rng = np.random.default_rng(7)
    for make in (random_nonpositive_units, wide_range):
        a, d, lower, upper = make(rng, 100_000)
        keep = d <= 0
        units = a[keep], d[keep], lower[keep], upper[keep]
        h = outputs(rng.random(keep.sum()), *units)[7]
        assert ((h >= units[2]) & (h <= units[3])).all()
        # Where rounding of h, beside a large end, moves no probability.
        fine = np.maximum(np.abs(units[2]), np.abs(units[3])) < 1e4 * (units[3] - units[2])
        decay = np.abs(units[0] - units[1] * units[2]) + np.abs(units[0] - units[1] * units[3])
        fine &= decay * (units[3] - units[2]) < 1e6
        assert_uniform(transform(h[fine], *(v[fine] for v in units)))


def test_quantiles_against_60_digits():
    """Worst of 10,000: 9e-10 of p; of a p counted from the far end, 4e-10."""
    rng = np.random.default_rng(8)
    for make in (random_nonpositive_units, wide_range):
        units = [v.tolist() for v in make(rng, 300)]
        p = np.where(rng.random(300) < 0.7, rng.random(300), 10 ** rng.uniform(-15, 0, 300))
        h = outputs(p[: len(units[0])], *units)[7]
        for i, unit in enumerate(zip(*units, strict=True)):
            if unit[1] > 0:
                continue
            of = sixty.Unit(*unit)
            goal, lesser = float(p[i]), min(p[i], 1 - p[i])
            got = mp.exp(of.log_below(h[i]) if goal < 0.5 else of.log_above(h[i]))
            want = goal if goal < 0.5 else 1 - mp.mpf(goal)
            rounding = mp.exp(of.log_density(h[i])) * np.spacing(max(map(abs, unit[2:])))
            reflected = unit[1] * (unit[2] + unit[3]) < 2 * unit[0]
            size = lesser if (goal < 0.5) != reflected else 1
            assert abs(got - want) <= 3e-9 * size + 2 * rounding, unit


def test_quantiles_rise_with_p():
    p = np.sort(np.random.default_rng(9).random(5000))
    for unit in [(0.0, -1.0, -1, 1), (-2.0, -30.0, -1, 1), (3.0, 0.0, 0, 2), (-9.0, -2.0, 0, 9)]:
        assert (np.diff(outputs(p, *unit)[7]) >= 0).all()


def test_symmetric_units_have_mean_zero():
    for d in (0.0, -1.0, -9.0, -1e4):
        out = outputs(0.5, 0.0, d, -1.0, 1.0)[:, 0]
        assert out[2] == 0.0 and out[4] == 0.0
        assert abs(out[7]) < 1e-14 or d == -1e4  # there rounding of p alone moves h


def test_binary_unit_is_the_limit():
    """mathematics 1.7: L tends to log(1 + exp(a')) + log(2/|d|) and the mean to a sigmoid."""
    d, a = -1e9, np.array([-4.0, 0.0, 2.5])
    out = outputs(0.999, a + d / 2, d, 0.0, 1.0)
    on = 1 / (1 + np.exp(-a))
    np.testing.assert_allclose(out[0], np.logaddexp(0, a) + math.log(-2 / d), atol=2e-8)
    np.testing.assert_allclose(out[2], on, atol=2e-8)
    np.testing.assert_allclose(out[3], on * (1 - on), atol=2e-8)
    np.testing.assert_allclose(out[7], 1.0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "unit",
    [
        (math.nan, -1.0, 0.0, 1.0),
        (0.5, math.nan, 0.0, 1.0),
        (0.5, -1.0, math.nan, 1.0),
        (0.5, -1.0, 1.0, 0.0),
        (0.5, 0.0, 1.0, 0.0),
        (0.5, -1.0, 0.0, math.inf),
        (0.5, 0.0, -math.inf, 0.0),
    ],
)
def test_nan_where_there_is_no_density(unit, dtype):
    assert np.isnan(outputs(0.4, *unit, dtype)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [-2.0, 0.0, 3.0])
def test_a_point(d, dtype):
    inf = math.inf
    out = outputs(0.3, 1.0, d, 2.0, 2.0, dtype)[:, 0]
    np.testing.assert_array_equal(out, [-inf, 0.0, 2.0, 0.0, 0.0, inf, inf, 2.0])
