"""Moments of any order and the kurtosis, beside exact values in many digits."""

import mpmath as mp
import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy import stats

from trug_fast import truncnorm
from trug_fast.distributions.moments import NODES, _legendre

INF = float("inf")


def standard_moments(order, a, b):
    """Return the moments about 0 up to ``order`` of a standard normal cut to [a, b].

    By the recurrence of integration by parts, which cancels: take digits enough.
    """
    a, b = mp.mpf(float(a)), mp.mpf(float(b))
    if a + b < 0:
        return [(-1) ** k * m for k, m in enumerate(standard_moments(order, -b, -a))]
    peak = a * a / 2 if a > 0 else mp.mpf(0)  # so that nothing under- or overflows
    root = mp.sqrt(2)

    def beyond(z):
        return mp.sqrt(mp.pi / 2) * mp.exp(peak) * (mp.erfc(z / root) if mp.isfinite(z) else z < 0)

    mass = beyond(a) - beyond(b) if mp.isfinite(a) else 2 * beyond(mp.mpf(0)) - beyond(b)
    at = [mp.exp(peak - z * z / 2) / mass if mp.isfinite(z) else mp.mpf(0) for z in (a, b)]
    found = [mp.mpf(1)]
    for k in range(1, order + 1):
        edges = sum(s * z ** (k - 1) * p for s, z, p in ((1, a, at[0]), (-1, b, at[1])) if p)
        found.append(((k - 1) * found[k - 2] if k > 1 else 0) + edges)
    return found


def exact_moment(order, a, b, loc, scale):
    found = standard_moments(order, a, b)
    loc, scale = mp.mpf(float(loc)), mp.mpf(float(scale))
    terms = (mp.binomial(order, k) * loc ** (order - k) * scale**k for k in range(order + 1))
    return sum(term * m for term, m in zip(terms, found, strict=True))


def exact_kurtosis(a, b):
    _, m, m2, m3, m4 = standard_moments(4, a, b)
    return (m4 - 4 * m * m3 + 6 * m**2 * m2 - 3 * m**4) / (m2 - m * m) ** 2 - 3


def intervals(rng, n):
    """Return ends of all kinds: around the mode, in tails to 1e8, 1e-8 to 100 wide, infinite."""
    kinds = [
        rng.uniform(-8, 8, n),
        10 ** rng.uniform(0, 8, n),
        -(10 ** rng.uniform(-3, 3, n)),
        rng.uniform(-3, 30, n),
    ]
    a = np.choose(rng.integers(0, 4, n), kinds)
    b = a + np.where(rng.random(n) < 0.3, INF, 10 ** rng.uniform(-8, 2, n))
    turned = rng.random(n) < 0.5
    return np.where(turned, -b, a), np.where(turned, -a, b)


@pytest.fixture(scope="module")
def parameters():
    """Also loc of all sizes, that cancel an end for one in five."""
    rng = np.random.default_rng(4)
    a, b = intervals(rng, 16)
    scale = 10 ** rng.uniform(-3, 3, 16)
    loc = rng.normal(size=16) * 10 ** rng.uniform(-3, 4, 16)
    end = np.where(np.isfinite(a), a, np.where(np.isfinite(b), b, 0.0))
    return a, b, np.where(rng.random(16) < 0.2, -end * scale, loc), scale


@pytest.mark.parametrize("order", [2, 3, 4, 5, 20])
def test_moments_are_exact_to_the_mean_of_absolute_powers(order, parameters):
    got = truncnorm.moment(order, *parameters)
    with mp.workdps(600):
        for value, *one in zip(got, *parameters, strict=True):
            want = exact_moment(order, *one)
            size = abs(want)
            if order % 2:  # not above the mean of the absolute power
                even = exact_moment(order - 1, *one)
                size = max(size, even ** (mp.mpf(order) / (order - 1)))
            if 1e-290 < size < 1e290:
                assert abs(mp.mpf(float(value)) - want) <= (order + 4) * 5e-16 * size, one


def test_high_orders():
    # All odd ones vanish; (2k - 1)!! is the even one of a normal.
    for k in (20, 50, 84):
        assert truncnorm.moment(2 * k, -INF, INF) == pytest.approx(float(mp.fac2(2 * k - 1)), 1e-13)
        assert truncnorm.moment(2 * k + 1, -3, 3) == pytest.approx(0, abs=1e-13 * 3.0 ** (2 * k))
    assert truncnorm.moment(400, -INF, INF) == INF
    assert truncnorm.moment(3, -1e-3, INF, 0, 1e300) == INF
    assert truncnorm.moment(59, -1e4, 200.0, -6e4, 3e6) == -INF
    # The weight is 0 in floats where the power is not.
    log_moment = 2000 * np.log(0.05) + float(mp.log(mp.fac2(1999)))
    assert np.log(truncnorm.moment(2000, -INF, INF, 0, 0.05)) == pytest.approx(
        log_moment, rel=1e-12
    )
    # Beyond floats on the way, not in the end.
    with mp.workdps(400):
        want = float(exact_moment(300, 0.5, INF, 0, 0.2))
    assert truncnorm.moment(300, 0.5, INF, 0, 0.2) == pytest.approx(want, rel=1e-12)
    assert truncnorm.moment(1000, 0, 1, 0, 1) == pytest.approx(
        float(exact_large_order(1000)), rel=1e-12
    )


def exact_large_order(order):
    """Return the moment on [0, 1] by quadrature."""
    with mp.workdps(30):
        weight = mp.quad(lambda z: mp.exp(-z * z / 2), [0, 1])
        return mp.quad(lambda z: z**order * mp.exp(-z * z / 2), [0, 0.98, 1]) / weight


def test_kurtosis_of_every_regime():
    assert truncnorm.stats(1e8, INF, moments="k") == pytest.approx(6, rel=1e-14)
    assert truncnorm.stats(-INF, -1e90, moments="k") == pytest.approx(6, rel=1e-14)
    assert truncnorm.stats(3, 3 + 1e-9, moments="k") == pytest.approx(-1.2, rel=1e-8)
    assert truncnorm.stats(-1e-9, 1e-9, moments="k") == pytest.approx(-1.2, rel=1e-14)
    assert truncnorm.stats(-INF, INF, moments="k") == 0
    a, b = intervals(np.random.default_rng(12), 60)
    got = truncnorm.stats(a, b, 3.0, 2.0, moments="k")
    with mp.workdps(200):
        for value, low, high in zip(got, a, b, strict=True):
            want = exact_kurtosis(low, high)
            beyond = low < -2 and high > 2 and min(-low, high) < 37
            size = abs(want) if beyond else max(1, abs(want))
            bound = 1e-13 if beyond else 1e-14
            assert abs(mp.mpf(float(value)) - want) <= bound * size, (low, high)


def test_kurtosis_of_what_is_nearly_normal_keeps_its_digits():
    ends = np.array([2.5, 5.0, 10.0, 20.0, 30.0])
    got = truncnorm.stats(-ends, ends + 1, moments="k")
    with mp.workdps(600):
        want = [float(exact_kurtosis(-end, end + 1)) for end in ends]
    np.testing.assert_allclose(got, want, rtol=1e-13)


def test_moments_keep_scipys_conventions():
    a, b, loc, scale = [[-1.0], [0.5]], [1.0, 2.0, 3.0], 0.5, 2.0
    for order in range(6):
        got = truncnorm.moment(order, a, b, loc, scale)
        want = np.vectorize(lambda *p, n=order: stats.truncnorm.moment(n, *p))(a, b, loc, scale)
        np.testing.assert_allclose(got, want, rtol=1e-9)
        assert isinstance(truncnorm.moment(order, -1, 2), np.float64)
        np.testing.assert_array_equal(truncnorm(a, b, loc, scale).moment(order), got)
        assert np.isnan(truncnorm.moment(order, 1, 0)) and np.isnan(
            truncnorm.moment(order, 0, 1, 0, 0)
        )
    for wrong, error in ((-1, ValueError), (1.5, TypeError), ("2", TypeError)):
        with pytest.raises(error, match="order"):
            truncnorm.moment(wrong, 0, 1)
    single = np.float32([0.0, 1.0])
    got = truncnorm.moment(4, single, np.float32(2))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, truncnorm.moment(4, [0.0, 1.0], 2.0), rtol=1e-6)
    assert truncnorm.stats(single, np.float32(2), moments="k").dtype == np.float32
    assert truncnorm.moment(3, np.zeros((0, 2)), 1.0).shape == (0, 2)


def test_nodes_are_right_to_rounding():
    nodes, weights = _legendre()
    np.testing.assert_allclose(nodes, (leggauss(NODES)[0] + 1) / 2, atol=2e-16)
    for power in (0, 1, 17, 2 * NODES - 1):
        assert weights @ nodes**power == pytest.approx(1 / (power + 1), rel=1e-15)
