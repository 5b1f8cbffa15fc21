"""Units with d <= 0 on a finite interval."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.units import random_nonpositive_units
from trug_fast.kernels.unit.nonpositive_precision import evaluate_nonpositive

inf, nan = math.inf, math.nan


NAMES = ["log_norm", "offset", "mean", "variance", "third", "log_low", "log_high"]


def straight(a, lower, upper):
    """The truncated exponential (d = 0) in closed form, in the digits of the oracle."""
    with mp.workdps(oracle.DIGITS):
        a, lower, upper = mp.mpf(float(a)), mp.mpf(float(lower)), mp.mpf(float(upper))
        width = upper - lower
        low = a / mp.expm1(a * width)  # density at the lower end
        e = mp.exp(a * width)
        return {
            "log_norm": a * lower - mp.log(low),
            "mean": upper + width / mp.expm1(a * width) - 1 / a,
            "variance": 1 / a**2 - width**2 * mp.exp(a * width) / mp.expm1(a * width) ** 2,
            "third": width**3 * e * (e + 1) / (e - 1) ** 3 - 2 / a**3,
            "log_low": mp.log(low),
            "log_high": mp.log(low) + a * width,
        }


def exact(a, d, lower, upper):
    return oracle.unit(a, d, lower, upper) if d else straight(a, lower, upper)


def test_worst_errors_against_300_digits():
    """Worst of 4,000 such arguments: offset 2e-15, variance 3e-15, logarithms 2e-15."""
    worst = dict.fromkeys(NAMES, 0.0)
    for unit in zip(*random_nonpositive_units(np.random.default_rng(5), 500), strict=True):
        want = exact(*unit)
        *out, reflected = evaluate_nonpositive(*unit)
        with mp.workdps(oracle.DIGITS):
            lower, upper = mp.mpf(float(unit[2])), mp.mpf(float(unit[3]))
            want["offset"] = upper - want["mean"] if reflected else want["mean"] - lower
            for got, name in zip(out, worst, strict=True):
                size = abs(want[name])
                if name.startswith("log"):
                    size = max(size, 1)
                elif name == "mean":
                    size = max(abs(lower), abs(upper))
                elif name == "third":  # crosses zero where the unit is symmetric
                    size = max(size, want["variance"] ** 1.5 / 100)
                error = float(abs(mp.mpf(float(got)) - want[name]) / size)
                worst[name] = max(worst[name], error)
    limits = {"offset": 5e-15, "variance": 5e-15, "mean": 1e-15}
    assert all(worst[name] < limits.get(name, 5e-15) for name in worst), worst


def test_mean_near_zero_of_a_symmetric_interval_keeps_its_digits():
    a = 1e-9
    for d in (0.0, -1.0, -50.0):
        _, _, mean, variance, _, _, _, _ = evaluate_nonpositive(a, d, -1.0, 1.0)
        np.testing.assert_allclose(mean, a * variance, rtol=1e-14)  # dmean/da = variance
        assert evaluate_nonpositive(0.0, d, -1.0, 1.0)[2] == 0.0


def test_continuous_across_zero():
    for a in (-3.0, 0.0, 0.7):
        at = np.array(evaluate_nonpositive(a, 0.0, 0.0, 2.0)[:7])
        below = np.array(evaluate_nonpositive(a, -1e-14, 0.0, 2.0)[:7])
        np.testing.assert_allclose(at, below, atol=1e-13)


def test_binary_unit_is_the_limit():
    """mathematics 1.4: L tends to log(1 + exp(a')) + log(2/|d|) and the mean to a sigmoid."""
    d = -1e9
    for a in (-4.0, 0.0, 2.5):
        log_norm, _, mean, variance, third, _, _, _ = evaluate_nonpositive(a + d / 2, d, 0.0, 1.0)
        on = 1 / (1 + math.exp(-a))
        np.testing.assert_allclose(log_norm, np.logaddexp(0, a) + math.log(-2 / d), atol=2e-8)
        np.testing.assert_allclose([mean, variance], [on, on * (1 - on)], atol=2e-8)
        np.testing.assert_allclose(third, on * (1 - on) * (1 - 2 * on), atol=2e-8)


nonpositive_units = {
    "a": st.floats(-1e3, 1e3),
    "d": st.floats(-1e3, 0.0),
    "lower": st.floats(-10, 10),
    "width": st.floats(1e-6, 20),
}


@given(**nonpositive_units)
def test_reflection(a, d, lower, width):
    upper = lower + width
    one, other = (
        evaluate_nonpositive(a, d, lower, upper),
        evaluate_nonpositive(-a, d, -upper, -lower),
    )
    assume(one[7] != other[7])  # a tie has its near end below in both
    assert one[0] == other[0] and one[1] == other[1] and one[3] == other[3]
    assert (one[2], one[4], one[5], one[6]) == (-other[2], -other[4], other[6], other[5])


@given(**nonpositive_units)
def test_bounds_and_identity(a, d, lower, width):
    upper = lower + width
    _, offset, mean, variance, _, low, high, _ = evaluate_nonpositive(a, d, lower, upper)
    assert lower <= mean <= upper
    width = upper - lower
    assert 0 <= offset <= width / 2 * (1 + 1e-15)
    assert 0 <= variance <= width**2 / 4 * (1 + 1e-15)
    p_low, p_high = math.exp(low), math.exp(high)
    size = p_low + p_high + abs(a) + abs(d) * max(abs(lower), abs(upper))
    assert abs(p_high - p_low - (a - d * mean)) < 1e-13 * size


@pytest.mark.parametrize(
    "unit",
    [
        (0.0, 0.0, 0.0, inf),
        (-1.0, -1.0, -inf, 0.0),
        (0.0, -1.0, 1.0, 0.0),
        (nan, -1.0, 0.0, 1.0),
        (0.0, nan, 0.0, 1.0),
        (0.0, -1.0, nan, 1.0),
        (0.0, -1.0, 0.0, nan),
        (inf, 0.0, 0.0, 1.0),
        (0.0, -inf, 0.0, 1.0),
    ],
)
def test_no_density_gives_nan(unit):
    assert np.isnan(evaluate_nonpositive(*unit)[:7]).all()


def test_a_point():
    assert evaluate_nonpositive(1.0, -1.0, 2.0, 2.0)[:7] == (-inf, 0.0, 2.0, 0.0, 0.0, inf, inf)
