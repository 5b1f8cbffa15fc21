"""The quantile function for d > 0, hence every draw by inversion."""

import math
import re

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numba import njit

from tests.kernels.unit.test_normalizer import has_wide_vectors
from tests.support import oracle
from tests.support.units import EDGE_CASES, assert_uniform, random_units, regimes, transform
from trug_fast.kernels.compiling import kernel
from trug_fast.kernels.unit import quantile_rows
from trug_fast.kernels.unit.quantile import quantile


@njit(error_model="numpy", fastmath={"contract"})
def quantile_all(p, a, d, lower, upper, out):
    for i in range(a.size):
        out[i] = quantile(p[i], a[i], d[i], lower[i], upper[i])


def quantiles(p, a, d, lower, upper, dtype=np.float64):
    args = [np.atleast_1d(np.asarray(x, dtype)) for x in (p, a, d, lower, upper)]
    args = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*args)]
    out = np.empty(args[0].size, dtype)
    quantile_all(*args, out)
    return out


def test_error_against_300_digits():
    """The miss in h over the standard deviation, less what rounding of h and of p brings."""
    rng = np.random.default_rng(8)
    args = random_units(rng, 200)
    n = args[0].size
    p = np.where(rng.random(n) < 0.3, 10 ** rng.uniform(-15, 0, n), rng.random(n))
    worst = 0.0
    for p_i, h, *unit in zip(p, quantiles(p, *args), *args, strict=True):
        a, d, lower, upper = unit
        want = oracle.unit(*unit)
        with mp.workdps(oracle.DIGITS):
            if d * (lower + upper) < 2 * a:  # the oracle is exact from the near end only
                x, q, unit = -h, 1 - mp.mpf(p_i), (-a, d, -upper, -lower)
            else:
                x, q = h, mp.mpf(p_i)
            log_norm = oracle.unit(*unit)["log_norm"]
            exponent = mp.mpf(unit[0]) * x - mp.mpf(d) * mp.mpf(x) ** 2 / 2
            density = mp.exp(exponent - log_norm)
            miss = abs(oracle.cdf(x, *unit) - q) / density
            # The mode a/d, from which h is counted, is rounded as h is.
            miss -= 4 * np.spacing(abs(h)) + mp.mpf(2) ** -52 / density
            worst = max(worst, float(miss / mp.sqrt(want["variance"])))
    assert worst < 2e-9, worst


@kernel
def rows_of_quantiles(p, a, d, lower, upper, out, standard):
    """Write the same by quantile_rows.py; ``standard`` where a = 0 and d = 1."""
    space = np.empty(quantile_rows.SPACE, out.dtype)
    quantile_rows.quantile_row(p, a, d, lower, upper, out, space)
    if standard.size > 0:
        quantile_rows.standard_quantile_row(p, lower, upper, standard, space)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_have_the_same_bits(dtype):
    rng = np.random.default_rng(5)
    units = [x.astype(dtype) for x in random_units(rng, 40 * quantile_rows.ROW)]
    p = rng.uniform(1e-6, 1 - 1e-6, units[0].size).astype(dtype)
    zero, one = np.zeros_like(p), np.ones_like(p)
    for size in (1, 7, quantile_rows.ROW - 1):
        for start in range(0, p.size - size, 40 * size):
            cut = slice(start, start + size)
            a, d, lower, upper = (x[cut] for x in units)
            out, standard = np.empty(size, dtype), np.empty(size, dtype)
            rows_of_quantiles(p[cut], a, d, lower, upper, out, standard)
            np.testing.assert_array_equal(out, quantiles(p[cut], a, d, lower, upper, dtype))
            want = quantiles(p[cut], zero[cut], one[cut], lower, upper, dtype)
            np.testing.assert_array_equal(standard, want)
    many = [x[: 3 * quantile_rows.ROW + 5] for x in (p, *units)]
    out = np.empty_like(many[0])
    rows_of_quantiles(*many, out, out[:0])
    np.testing.assert_array_equal(out, quantiles(*many, dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", regimes(1))
def test_draws_follow_the_distribution(name, dtype):
    """Fails for a right quantile once in 1e6 times; seeds are fixed."""
    n = 100_000
    a, d, lower, upper = (x.astype(dtype) for x in regimes(n)[name])
    # On float32's own grid: coarser draws are the rounding of h, far below what this can see.
    p = ((np.random.default_rng(1).integers(0, 2**23, n) + 0.5) * 2.0**-23).astype(dtype)
    h = quantiles(p, a, d, lower, upper, dtype)
    assert ((lower <= h) & (h <= upper)).all()
    u = transform(h, a, d, lower, upper)
    order = np.argsort(a, kind="stable")  # a fault of far units alone is seen in its group
    assert_uniform(u[order])
    if dtype == np.float64:
        np.testing.assert_allclose(u, p, atol=1e-9)
        assert np.unique(h).size > 0.99 * n


@pytest.mark.parametrize("ends", EDGE_CASES, ids=str)
def test_edge_cases_of_published_samplers(ends):
    p = np.concatenate([10.0 ** np.arange(-15, -1), np.linspace(0.01, 0.99, 99)])
    h = quantiles(p, 0.0, 1.0, *ends)
    assert ((ends[0] <= h) & (h <= ends[1])).all()
    assert (np.diff(h) >= 0).all()
    rounding = np.spacing(np.abs(h)) * max(1, np.abs(h).min()) / min(1, ends[1] - ends[0])
    assert (abs(transform(h, 0.0, 1.0, *ends) - p) < 1e-10 + rounding).all()


@given(
    st.floats(-1e3, 1e3),
    st.floats(1e-2, 1e2),
    st.floats(-10, 10),
    st.one_of(st.floats(1e-9, 100), st.just(math.inf)),
    st.floats(1e-15, 1 - 1e-15),
    st.floats(1e-15, 1 - 1e-15),
)
def test_inside_and_monotone(a, d, lower, width, p, q):
    upper = lower + width
    assume(lower < upper)
    low, high = quantiles([min(p, q), max(p, q)], a, d, lower, upper)
    assert lower <= low <= upper and lower <= high <= upper
    # Monotone but for rounding, of h and on the scale of the unit.
    slack = 4 * np.spacing(max(abs(low), abs(high))) + 1e-14 / math.sqrt(d)
    assert low <= high + slack


@given(st.floats(-30, 30), st.floats(0.1, 10), st.floats(-3, 3), st.floats(1e-3, 9), st.data())
def test_reflection(a, d, lower, width, data):
    upper = lower + width
    p = data.draw(st.integers(1, 2**20 - 1)) / 2**20  # 1 - p is exact
    one, other = quantiles([p, 1 - p], [a, -a], d, [lower, -upper], [upper, -lower])
    assert abs(one + other) <= 1e-14 * (abs(lower) + width)


def test_narrow_intervals_give_distinct_values():
    p = np.linspace(0.0005, 0.9995, 1000)
    for lower, upper in ((0.0, 1e-12), (30.0, 30.0 + 1e-10), (-1e-9, 1e-9)):
        h = quantiles(p, 0.0, 1.0, lower, upper)
        assert np.unique(h).size == 1000
        np.testing.assert_allclose((h - lower) / (upper - lower), p, atol=2e-4)


def test_nan_and_crossed_bounds():
    good = [0.3, 0.5, 1.0, 0.0, 1.0]
    for which in range(1, 5):
        assert math.isnan(quantiles(*good[:which], math.nan, *good[which + 1 :])[0])
    assert math.isnan(quantiles(0.3, 0.5, 1.0, 1.0, 0.0)[0])
    assert quantiles(0.3, 0.5, 1.0, 2.0, 2.0)[0] == 2.0


@pytest.mark.skipif(not has_wide_vectors(), reason="x86-64 with AVX2 only")
def test_a_loop_over_quantiles_vectorises():
    quantiles(0.5, 0.0, 1.0, 0.0, 1.0)
    code = next(iter(quantile_all.inspect_asm().values()))
    assert len(re.findall(r"^\s+vfn?m\w+pd\s.*%[yz]mm", code, re.MULTILINE)) > 100
    assert not re.search(r"call\w*\s+\**_?(exp|log|erf)", code)
