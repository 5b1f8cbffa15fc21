"""The unit functions for d > 0: against exact values, 300 digits, and their own identities."""

import math
import platform
import re

import llvmlite.binding as llvm
import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numba import njit

from tests.support import oracle
from tests.support.data import exact_cases
from tests.support.units import random_units
from trug_fast.kernels.unit.normalizer import NARROW_WIDTH, evaluate, evaluate_wide, is_wide

NAMES = ["log_norm", "offset", "mean", "variance", "third", "log_low", "log_high"]


@njit(error_model="numpy", fastmath={"contract"})
def evaluate_all(a, d, lower, upper, out):
    for i in range(a.size):
        log_norm, offset, mean, variance, third, low, high, _ = evaluate(
            a[i], d[i], lower[i], upper[i]
        )
        out[0, i], out[1, i], out[2, i], out[3, i] = log_norm, offset, mean, variance
        out[4, i], out[5, i], out[6, i] = third, low, high


def outputs(a, d, lower, upper, dtype=np.float64):
    args = [np.atleast_1d(np.asarray(x, dtype)) for x in (a, d, lower, upper)]
    args = [np.ascontiguousarray(x) for x in np.broadcast_arrays(*args)]
    out = np.empty((7, args[0].size), dtype)
    evaluate_all(*args, out)
    return out


def exact_rows():
    return [row for case in exact_cases("unit") for row in case["rows"]]


def relative(got, want):
    with mp.workdps(50):
        return float(abs(mp.mpf(float(got)) - want) / abs(want)) if want else abs(float(got))


def logarithmic(got, want):
    if mp.isinf(want):
        return 0.0 if got == float(want) else math.inf
    with mp.workdps(50):
        return float(abs(mp.mpf(float(got)) - want) / max(1, abs(want)))


def test_worst_errors_against_300_digits():
    """Worst of 100,000 such: offset 1.2e-15, variance 3.8e-15, L 6.1e-15, end densities 3.7e-15."""
    args = random_units(np.random.default_rng(11), 1000)
    out = outputs(*args)
    worst = dict.fromkeys(NAMES, 0.0)
    for i, unit in enumerate(zip(*args, strict=True)):
        want = oracle.unit(*unit)
        scale = max(abs(x) for x in unit[2:] if math.isfinite(x))
        for got, name in zip(out[:, i], NAMES, strict=True):
            if name == "mean":  # to rounding, on the scale of the larger of mean and ends
                error = float(abs(mp.mpf(float(got)) - want[name]) / max(abs(want[name]), scale))
            else:
                compare = logarithmic if name.startswith("log") else relative
                error = compare(got, want[name])
                if name == "third":  # crosses zero where the unit is symmetric
                    least = want["variance"] ** 1.5 / 100
                    error *= float(abs(want[name]) / max(abs(want[name]), least))
            worst[name] = max(worst[name], error)
    limits = {"offset": 2e-15, "variance": 5e-15, "mean": 2e-15, "third": 3e-14}
    limits |= {"log_low": 6e-15, "log_high": 6e-15}
    assert all(worst[name] < limits.get(name, 1e-14) for name in NAMES), worst


def test_single_precision_agrees_with_double():
    """Worst of 800,000: third moment 8e-6, variance 1.7e-6, everything else 1.2e-6."""
    rng = np.random.default_rng(2)
    n = 20_000
    d = 10 ** rng.uniform(-2, 2, n)
    u = rng.uniform(-20, 20, n)
    width = np.where(rng.random(n) < 0.2, np.inf, 10 ** rng.uniform(-3, 2, n))
    s = np.sqrt(d)
    args = [x.astype(np.float32) for x in (-u * s, d, np.zeros(n), width / s)]
    single, double = outputs(*args, np.float32), outputs(*args)
    for name, got, want in zip(NAMES, single, double, strict=True):
        finite = np.isfinite(want)
        assert (got[~finite] == want[~finite]).all()
        scale = np.abs(want[finite])
        if name.startswith("log"):
            scale = np.maximum(scale, 1)
        if name == "third":
            scale = np.maximum(scale, double[NAMES.index("variance")][finite] ** 1.5 / 100)
        limit = {"variance": 3e-6, "third": 1.5e-5}.get(name, 2e-6)
        assert (np.abs(got[finite] - want[finite]) <= limit * scale).all(), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_nan_over_a_wide_range(dtype):
    rng = np.random.default_rng(4)
    n, decades = 20_000, 6 if dtype == np.float32 else 60
    a = rng.choice([-1, 1], n) * 10 ** rng.uniform(-decades, decades, n)
    d = 10 ** rng.uniform(-decades, decades, n)
    lower = rng.choice([0, -1, 1], n) * 10 ** rng.uniform(-2, 2, n)
    upper = lower + 10 ** rng.uniform(-2, 3, n)
    out = outputs(a, d, lower, np.where(rng.random(n) < 0.3, np.inf, upper), dtype)
    assert not np.isnan(out).any()
    assert np.isfinite(out[:5]).all()
    assert (out[1] >= 0).all() and (out[3] >= 0).all()


moderate = {
    "a": st.floats(-1e4, 1e4),
    "d": st.floats(1e-3, 1e3),
    "lower": st.floats(-100, 100),
    "width": st.one_of(st.floats(1e-6, 1e3), st.just(math.inf)),
}


@given(**moderate)
def test_reflection(a, d, lower, width):
    upper = lower + width
    assume(lower < upper)
    one = outputs(a, d, lower, upper)[:, 0]
    other = outputs(-a, d, -upper, -lower)[:, 0]
    np.testing.assert_array_equal(one[[0, 1, 3, 5, 6]], other[[0, 1, 3, 6, 5]])
    np.testing.assert_allclose(one[[2, 4]], -other[[2, 4]], rtol=1e-15)


@given(**moderate)
def test_bounds_of_mean_and_variance(a, d, lower, width):
    upper = lower + width
    assume(lower < upper)
    _, offset, mean, variance, _, _, _ = outputs(a, d, lower, upper)[:, 0]
    assert lower <= mean <= upper
    assert 0 <= offset <= (upper - lower) / 2 * (1 + 1e-15) or math.isinf(width)
    assert 0 <= variance <= (upper - lower) ** 2 / 12 * (1 + 1e-14)  # log-concave: uniform is most
    assert variance <= 1 / d * (1 + 1e-14)


@given(st.floats(-20, 20), st.floats(0.1, 10), st.floats(-3, 3), st.floats(0.1, 5), st.booleans())
def test_identities_of_integration_by_parts(a, d, lower, width, one_sided):
    """mathematics 1.2: all three, which tie all outputs together."""
    upper = math.inf if one_sided else lower + width
    _, _, mean, variance, third, low, high = outputs(a, d, lower, upper)[:, 0]
    second = variance + mean * mean
    p_low, p_high = math.exp(low), math.exp(high)
    at_upper = 0.0 if one_sided else upper * p_high
    size = p_low + p_high + abs(a) + d * abs(mean)
    assert abs(p_high - p_low - (a - d * mean)) < 1e-13 * size
    size = abs(at_upper) + abs(lower) * p_low + 1 + abs(a * mean) + d * second
    assert abs(at_upper - lower * p_low - (1 + a * mean - d * second)) < 1e-13 * size
    cube = third + 3 * mean * variance + mean**3
    at_upper = 0.0 if one_sided else upper * at_upper
    terms = [at_upper, lower * lower * p_low, 2 * mean, a * second, d * cube]
    size = sum(map(abs, terms)) + d * (variance + mean * mean) ** 1.5
    gap = at_upper - lower * lower * p_low - (2 * mean + a * second - d * cube)
    assert abs(gap) < 1e-13 * size


@given(
    st.floats(-20, 20), st.floats(0.1, 10), st.floats(-3, 3), st.floats(0.1, 5), st.floats(-9, 9)
)
def test_shift_and_scale(a, d, lower, width, by):
    """mathematics 2.4: moving or stretching the axis moves or stretches the unit."""
    upper = lower + width
    log_norm, _, mean, variance, third, low, high = outputs(a, d, lower, upper)[:, 0]
    moved = outputs(a + d * by, d, lower + by, upper + by)[:, 0]
    constant = a * by + d * by * by / 2
    size = 1 + abs(log_norm) + abs(constant) + abs(a * by) + d * by * by
    # The sums lower + by and a + d * by are rounded: what that costs grows with their size.
    tolerance = 1e-14 * (1 + d * (abs(by) + 3) + abs(a)) * (abs(by) + 3) / width
    assert abs(moved[0] - log_norm - constant) < 1e-14 * size + tolerance
    assert abs(moved[2] - mean - by) < tolerance * width
    assert abs(moved[3] - variance) < tolerance * width * width
    assert abs(moved[4] - third) < tolerance * width**3
    assert max(abs(moved[5] - low), abs(moved[6] - high)) < tolerance + 1e-14 * size
    stretched = outputs(a / 4, d / 16, 4 * lower, 4 * upper)[:, 0]  # powers of two: exact
    want = [4 * mean, 16 * variance, 64 * third]
    np.testing.assert_allclose(stretched[2:5], want, rtol=1e-15)
    np.testing.assert_allclose(stretched[0], log_norm + math.log(4), atol=1e-14, rtol=1e-14)
    ends = [low - math.log(4), high - math.log(4)]
    np.testing.assert_allclose(stretched[5:], ends, atol=1e-14, rtol=1e-14)


@pytest.mark.parametrize("row", exact_rows(), ids=lambda r: f"{r['a']},{r['xi1']},{r['xi2']}")
def test_exact_cases(row):
    end = [math.inf if row["xi2"] is None else float(row["xi2"]), float(row["xi1"])]
    out = outputs(float(row["a"]), float(row["d"]), end[1], end[0])[:, 0]
    keys = ["log_norm", None, "mean", "var", None, "log_density_xi1", "log_density_xi2"]
    for got, key in zip(out, keys, strict=True):
        if key is None:
            continue
        if row[key] is None or math.isinf(float(row[key])):
            assert got == -math.inf
        else:
            np.testing.assert_allclose(got, float(row[key]), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("which", range(4))
def test_nan_in_nan_out(which):
    args = [0.5, 1.0, 0.0, 1.0]
    args[which] = math.nan
    for dtype in (np.float64, np.float32):
        assert np.isnan(outputs(*args, dtype)).all()


def test_crossed_bounds_give_nan():
    assert np.isnan(outputs([0.5, 9, -9], 1.0, [1.0, 3, np.inf], [0.0, 2.99, -np.inf])).all()


def test_a_point():
    out = outputs(0.5, 2.0, 3.0, 3.0)[:, 0]
    np.testing.assert_array_equal(out, [-math.inf, 0, 3, 0, 0, math.inf, math.inf])


def has_wide_vectors():
    features = llvm.get_host_cpu_features()
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return x86 and features.get("avx2", False) and features.get("fma", False)


@pytest.mark.skipif(not has_wide_vectors(), reason="x86-64 with AVX2 only")
def test_a_loop_over_units_vectorises():
    outputs(0.0, 1.0, 0.0, 1.0)
    code = next(iter(evaluate_all.inspect_asm().values()))
    wide = re.findall(r"^\s+vfn?m\w+pd\s.*%[yz]mm", code, re.MULTILINE)
    assert len(wide) > 100
    assert not re.search(r"call\w*\s+\**_?(exp|log|erf)", code)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_wide_intervals_need_one_regime_only(kind):
    """Where all net inputs of a unit share the regime, its own loop gives what the common one does.

    The compiler may fuse other operations in one of them: some last digits.
    """
    rng = np.random.default_rng(5)
    tolerance = 64 * np.finfo(kind).eps
    seen = {False: 0, True: 0}
    for _ in range(2000):
        d, lower = kind(10 ** rng.uniform(-2, 3)), kind(rng.normal())
        upper = lower + kind(10 ** rng.uniform(-1, 2)) / np.sqrt(d)
        lower, upper = rng.choice(
            [(lower, upper), (lower, kind(np.inf)), (-kind(np.inf), upper)], p=[0.8, 0.1, 0.1]
        ).astype(kind)
        a = kind(d * rng.normal(scale=3.0))
        wide = bool(is_wide(d, lower, upper))
        assert wide == (np.sqrt(d) * (upper - lower) >= kind(NARROW_WIDTH))
        seen[wide] += 1
        if wide:
            both = evaluate(a, d, lower, upper)
            ours = evaluate_wide(a, d, lower, upper)
            np.testing.assert_allclose(ours, both, rtol=tolerance, atol=tolerance)
    assert min(seen.values()) > 300
