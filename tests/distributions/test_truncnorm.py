"""The NumPy face: SciPy's answers where SciPy is right, its conventions everywhere."""

import itertools

import mpmath as mp
import numba
import numpy as np
import pytest
from scipy import stats

from tests.support import oracle
from trug_fast import truncnorm

POINTS = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"]
MOMENTS = ["mean", "var", "std", "entropy", "median"]
INF = float("inf")


@pytest.fixture(scope="module")
def moderate():
    """Arguments for which SciPy has ten digits."""
    rng = np.random.default_rng(1)
    a = rng.uniform(-3, 2, (20, 1))
    b = a + rng.uniform(0.5, 4, 30)
    return a, b, rng.normal(size=30), np.exp(rng.normal(size=(20, 1)))


@pytest.fixture(scope="module")
def tails():
    """Intervals 3 to 30 deviations out on either side, half of them infinite."""
    rng = np.random.default_rng(6)
    a = rng.uniform(3, 30, 400)
    b = np.where(rng.random(400) < 0.5, INF, a + rng.uniform(0.1, 3, 400))
    left = rng.random(400) < 0.5
    return np.where(left, -b, a), np.where(left, -a, b)


@pytest.mark.parametrize("name", POINTS)
def test_functions_of_points_agree_with_scipy(name, moderate, tails):
    a, b, loc, scale = moderate
    x = loc + scale * (a + (b - a) * np.random.default_rng(2).uniform(0.01, 0.99, a.shape))
    want = getattr(stats.truncnorm, name)(x, *moderate)
    got = getattr(truncnorm, name)(x, *moderate)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
    # SciPy's own error there: 2e-11.
    x = truncnorm.ppf(np.random.default_rng(7).uniform(0.001, 0.999, 400), *tails)
    want = getattr(stats.truncnorm, name)(x, *tails)
    np.testing.assert_allclose(getattr(truncnorm, name)(x, *tails), want, rtol=1e-9)


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_agree_with_scipy(name, moderate):
    want = getattr(stats.truncnorm, name)(*moderate)
    got = getattr(truncnorm, name)(*moderate)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["ppf", "isf"])
def test_quantiles_agree_with_scipy(name, moderate, tails):
    q = np.random.default_rng(3).uniform(0.001, 0.999, 30)
    want = getattr(stats.truncnorm, name)(q, *moderate)
    np.testing.assert_allclose(getattr(truncnorm, name)(q, *moderate), want, rtol=1e-8, atol=1e-11)
    q = np.random.default_rng(8).uniform(0.001, 0.999, 400)
    want = getattr(stats.truncnorm, name)(q, *tails)
    np.testing.assert_allclose(getattr(truncnorm, name)(q, *tails), want, rtol=1e-13)


def test_intervals_supports_and_stats_agree_with_scipy(moderate):
    for name, arguments in (
        ("interval", (0.8, *moderate)),
        ("support", moderate),
        ("stats", moderate),
    ):
        want = getattr(stats.truncnorm, name)(*arguments)
        got = getattr(truncnorm, name)(*arguments)
        assert type(got) is tuple and len(got) == 2
        np.testing.assert_allclose(got, np.broadcast_arrays(*want), rtol=1e-8, atol=1e-11)
    want = np.float64(stats.truncnorm.stats(*moderate, moments="mvsk"))
    got = truncnorm.stats(*moderate, moments="mvsk")
    np.testing.assert_allclose(got, np.broadcast_arrays(*want), rtol=1e-7, atol=1e-9)
    for moments in ("m", "v", "vm", "s", "k", "kv"):
        want = stats.truncnorm.stats(-1, 2, 3, 4, moments)
        got = truncnorm.stats(-1, 2, 3, 4, moments)
        np.testing.assert_allclose(got, want, rtol=1e-13)
        assert type(got) is type(want)
    for moments in ("mvsx", ""):
        with pytest.raises(ValueError, match=f"moments must be made of .*, got '{moments}'"):
            truncnorm.stats(0, 1, moments=moments)
    for share in (-0.1, [0.5, 1.1]):
        with pytest.raises(ValueError, match="confidence must lie in"):
            truncnorm.interval(share, 0, 1)
    assert np.isnan(truncnorm.interval(np.nan, 0, 1)).all()


def test_skewness_of_every_regime():
    # Exact: an exponential's 2, a half normal's, symmetry; the rest by 300 digits.
    half_normal = np.sqrt(2 / np.pi) * (4 / np.pi - 1) * (1 - 2 / np.pi) ** -1.5
    assert truncnorm.stats(1e8, INF, moments="s") == pytest.approx(2, rel=1e-13)
    assert truncnorm.stats(-INF, -1e50, 5, 3, "s") == pytest.approx(-2, rel=1e-13)
    assert truncnorm.stats(0, INF, moments="s") == pytest.approx(half_normal, rel=1e-13)
    assert truncnorm.stats(-2, 2, moments="s") == truncnorm.stats(-INF, INF, moments="s") == 0
    rng = np.random.default_rng(9)
    a = np.concatenate([rng.uniform(-8, 8, 40), 10 ** rng.uniform(0, 6, 20)])
    b = a + 10 ** rng.uniform(-6, 1.5, 60)
    got = truncnorm.stats(a, b, moments="s")
    for i in range(60):
        exact = oracle.unit(0.0, 1.0, a[i], b[i])
        want = float(exact["third"] / exact["variance"] ** 1.5)
        assert got[i] == pytest.approx(want, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", POINTS)
def test_points_at_and_beyond_the_ends(name):
    x = np.array([-INF, -1.0, 0.0, 1.0, 2.0, INF, np.nan])
    for ends in ((0.0, 1.0), (0.0, INF), (-INF, 1.0), (-INF, INF)):
        want = getattr(stats.truncnorm, name)(x, *ends)
        np.testing.assert_allclose(getattr(truncnorm, name)(x, *ends), want, rtol=1e-13)


@pytest.mark.parametrize("name", ["ppf", "isf"])
def test_quantiles_at_the_ends(name):
    q = np.array([-0.1, 0.0, 1.0, 1.1, np.nan])
    for ends in ((0.0, 1.0), (0.0, INF), (-INF, 1.0)):
        want = getattr(stats.truncnorm, name)(q, *ends, 2.0, 3.0)
        np.testing.assert_array_equal(getattr(truncnorm, name)(q, *ends, 2.0, 3.0), want)


VALUES = [-INF, -1.5, 0.0, 1.0, 3.0, INF, np.nan]


@pytest.mark.parametrize("name", [*POINTS, "ppf", "isf"])
def test_every_mix_of_ends_points_and_scales_gives_scipys_answer(name):
    """Crossed and equal ends, NaN, infinities, scales that are not positive, x at an end."""
    grid = np.array(list(itertools.product(VALUES, VALUES, VALUES, [2.0, 0.0, -1.0, np.nan])))
    x, a, b, scale = grid.T
    with np.errstate(all="ignore"):
        want = getattr(stats.truncnorm, name)(x, a, b, 0.5, scale)
    np.testing.assert_allclose(
        getattr(truncnorm, name)(x, a, b, 0.5, scale), want, rtol=1e-9, atol=1e-13
    )


@pytest.mark.parametrize("name", [*MOMENTS, "log_mass", "support", "stats"])
def test_invalid_parameters_give_nan(name):
    for bad in ((1, 0), (1, 1), (0, 1, 0, -1), (0, 1, 0, 0), (np.nan, 1), (INF, INF)):
        assert np.isnan(getattr(truncnorm, name)(*bad)).all(), bad


@pytest.mark.parametrize(("dtype", "farthest"), [(np.float64, 1e100), (np.float32, 1e12)])
def test_intervals_too_far_out_are_nan_and_no_wrong_number(dtype, farthest):
    last, far, inf = dtype(farthest), dtype(1.01 * farthest), dtype(INF)
    unit = np.finfo(dtype).eps
    np.testing.assert_allclose(truncnorm.var(last, inf), last**-2, rtol=9 * unit)
    np.testing.assert_allclose(truncnorm.entropy(-inf, -last), 1 - np.log(last), rtol=9 * unit)
    for a, b in ((far, inf), (far, far + far), (-inf, -far), (-far - far, -far)):
        for name in [*MOMENTS, "log_mass", "support"]:
            assert np.isnan(getattr(truncnorm, name)(a, b)).all()
        for name in [*POINTS, "ppf", "isf"]:
            assert np.isnan(getattr(truncnorm, name)(dtype(0.5), a, b))
    # Far ends on the other side of the mode matter as little as infinite ones.
    for name in [*MOMENTS, "log_mass"]:
        function = getattr(truncnorm, name)
        for a, b in ((-inf, dtype(3)), (-inf, inf)):
            got = function(-1000 * far, b if b < inf else 9 * far)
            np.testing.assert_allclose(got, function(a, b), rtol=9 * unit, atol=9 * unit)


def test_logarithms_at_points_too_far_out():
    x = np.array([1e99, 1e101, 1e150])
    for ends in ((0.0, INF), (-5.0, 1e200), (3e98, INF)):
        want = -0.5 * (x - max(ends[0], 0.0)) * (x + max(ends[0], 0.0))
        np.testing.assert_allclose(truncnorm.logsf(x, *ends), want, rtol=1e-15)
        np.testing.assert_allclose(truncnorm.logpdf(x, *ends), want, rtol=1e-15)
        np.testing.assert_allclose(truncnorm.logcdf(-x, -ends[1], -ends[0]), want, rtol=1e-15)
        assert (truncnorm.logcdf(x, *ends) == 0).all() and (truncnorm.pdf(x, *ends) == 0).all()
    assert truncnorm.logsf(1e101, 0.0, 1.0) == -INF and truncnorm.logcdf(-1e101, 0.0, 1.0) == -INF
    assert truncnorm.logpdf(1e160, 0.0, INF) == -INF  # below the range of a float64
    single = truncnorm.logsf(np.float32(1e15), np.float32(0), np.float32(INF))
    assert single.dtype == np.float32 and single == pytest.approx(-5e29, rel=1e-6)


def test_numbers_in_give_numpy_numbers_out():
    values = [truncnorm.cdf(0.5, 0, 1), truncnorm.mean(0, 1), truncnorm.std(0, 1)]
    values += [*truncnorm.interval(0.5, 0, 1), *truncnorm.support(0, 1), *truncnorm.stats(0, 1)]
    for value in [*values, truncnorm.mean(np.array(0), 1)]:
        assert type(value) is np.float64
    assert type(truncnorm.mean(np.float32(0), np.float32(1))) is np.float32


def test_any_kind_of_real_numbers_will_do():
    want = truncnorm.cdf(0.5, 0.0, 1.0, 0.25, 2.0)
    for kind in (np.int8, np.uint64, np.float16, np.longdouble):
        assert truncnorm.cdf(0.5, kind(0), np.array([1], kind), 0.25, kind(2)) == want
    assert truncnorm.cdf(True, False, [2]) == truncnorm.cdf(1.0, 0.0, 2.0)
    np.testing.assert_array_equal(
        truncnorm.mean([0, 1], (3, 4)), truncnorm.mean([0.0, 1.0], [3, 4.0])
    )


def test_arrays_broadcast_and_may_be_empty():
    x = np.linspace(-1, 2, 7)
    a, b = -np.ones((3, 1, 1)), np.array([[1.0], [2.0]])
    got = truncnorm.cdf(x, a, b, x, 2.0)
    assert got.shape == (3, 2, 7)
    np.testing.assert_array_equal(got[1, 1], truncnorm.cdf(x, -1.0, 2.0, x, 2.0))
    for shape in ((0,), (0, 3), (2, 0, 1)):
        empty = np.empty(shape)
        assert truncnorm.cdf(empty, 0, 1).shape == shape
        assert truncnorm.mean(empty, np.ones((2, 1, 1, 1))).shape == np.broadcast_shapes(
            shape, (2, 1, 1, 1)
        )
    strided = np.linspace(-3, 3, 5000)[::2]
    np.testing.assert_array_equal(truncnorm.sf(strided, -4, 4), truncnorm.sf(strided.copy(), -4, 4))


def test_float32_alone_stays_float32():
    a = np.linspace(-8, 8, 101, dtype=np.float32)
    for name in ("mean", "var", "entropy", "log_mass"):
        single = getattr(truncnorm, name)(a, a + np.float32(1))
        double = getattr(truncnorm, name)(*(np.float64(v) for v in (a, a + np.float32(1))))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=3e-6, atol=3e-6)
    x = a + np.float32(0.25)
    for name in POINTS:
        single = getattr(truncnorm, name)(x, a, a + np.float32(1), 0, 1)
        double = getattr(truncnorm, name)(np.float64(x), np.float64(a), np.float64(a + 1))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=2e-5, atol=1e-6)
    assert truncnorm.interval(0.9, a, a + np.float32(1))[0].dtype == np.float32
    assert truncnorm.mean(a, np.float64(9)).dtype == np.float64
    assert truncnorm.mean(a, np.arange(9, 110)).dtype == np.float64


def test_far_and_narrow_intervals_where_scipy_fails():
    # Exact: one-sided variance 1/u**2 - 6/u**4 + ..., a uniform's w**2/12, and scaling of both.
    assert truncnorm.var(1e8, INF) == pytest.approx(1e-16, rel=1e-14)
    assert truncnorm.var(5.0, 5.0 + 2**-40) == pytest.approx(2.0**-80 / 12, rel=1e-11)
    assert truncnorm.logsf(1e8 + 1e-8, 1e8, INF) == pytest.approx(-(1e8 + 1e-8 - 1e8) * 1e8)
    assert truncnorm.sf(20.0, 0.0, 21.0) == pytest.approx(2 * stats.norm.sf(20), rel=1e-8)
    assert truncnorm.log_mass(-40.0, 40.0) == pytest.approx(-2 * stats.norm.sf(40), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_thread_equals_all_threads(dtype):
    a = np.linspace(-3, 9, 300_000, dtype=dtype)
    b = np.full_like(a, np.inf)
    before = numba.get_num_threads()
    results = []
    try:
        for threads in (1, before):
            numba.set_num_threads(threads)
            draws = truncnorm.rvs(a, b, rng=1)
            results.append((draws, truncnorm.mean(a, b), truncnorm.cdf(draws, a, b)))
    finally:
        numba.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"shapes must broadcast.*a \("):
        truncnorm.cdf([1, 2], [0, 0, 0], 1)
    for wrong in ("one", 1j, None):
        with pytest.raises(TypeError, match="a must hold real numbers"):
            truncnorm.mean(wrong, 1)


def test_arguments_are_left_alone():
    a = np.linspace(0, 1, 10)
    a.flags.writeable = False
    truncnorm.mean(a, 2.0), truncnorm.ppf(a, 0.0, 1.0)
    np.testing.assert_array_equal(a, np.linspace(0, 1, 10))


def test_masked_arrays_are_refused_unless_nothing_is_masked():
    masked = np.ma.array([0.1, 5.0, 0.3], mask=[False, True, False])
    for name in POINTS:
        with pytest.raises(ValueError, match="x must not have masked elements, got 1 of 3"):
            getattr(truncnorm, name)(masked, 0, 1)
    for name in ("ppf", "isf"):
        with pytest.raises(ValueError, match="q must not have masked elements"):
            getattr(truncnorm, name)(masked, 0, 1)
    for name in [*MOMENTS, "log_mass", "support", "stats", "rvs"]:
        with pytest.raises(ValueError, match="b must not have masked elements"):
            getattr(truncnorm, name)(0, masked)
    for arguments in ((0, 1, masked), (0, 1, 0, masked)):
        with pytest.raises(ValueError, match="(loc|scale) must not have masked elements"):
            truncnorm(*arguments)
    with pytest.raises(ValueError, match="confidence must not have masked elements"):
        truncnorm.interval(masked, 0, 1)
    whole = np.ma.array([0.1, 0.2])
    got = truncnorm.cdf(whole, 0, 1)
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, truncnorm.cdf(whole.data, 0, 1))


def test_means_keep_the_resolution_of_their_distance_from_the_end():
    # Exact: 1000 - (1/u - 2/u**3 + ...), u = 999000, in 60 digits.
    assert truncnorm.mean(-1e6, -999000, loc=1e6) == pytest.approx(999.999998998999, abs=2e-13)
    assert truncnorm.mean(999000, 1e6, loc=-1e6) == pytest.approx(-999.999998998999, abs=2e-13)
    assert truncnorm.mean(1e8, INF, loc=-1e8) == pytest.approx(1e-8, rel=1e-14)
    rng = np.random.default_rng(1)
    a = 10 ** rng.uniform(0, 8, 500)
    loc, scale = rng.normal(size=500), 10 ** rng.uniform(-2, 2, 500)
    for b in (np.full(500, INF), a + rng.exponential(size=500)):
        low, high = truncnorm.support(a, b, loc, scale)
        mean = truncnorm.mean(a, b, loc, scale)
        slack = 2 * np.spacing(np.maximum(abs(low), abs(np.where(np.isinf(high), 0, high))))
        assert ((low - slack <= mean) & (mean <= high + slack)).all()


def test_masses_near_one_and_of_subnormal_widths():
    for a in (-37.43302752293578, -30.1, -12.7):
        want = -oracle_tail(-a)
        assert truncnorm.log_mass(a, INF) == pytest.approx(want, rel=1e-14)
        assert truncnorm.log_mass(-INF, -a) == pytest.approx(want, rel=1e-14)
    root = 0.5 * np.log(2 * np.pi)
    for width in (1e-310, 5e-324):
        assert truncnorm.log_mass(0, width) == pytest.approx(np.log(width) - root, rel=1e-15)
        assert truncnorm.entropy(0, width) == pytest.approx(np.log(width), rel=1e-15)
        assert truncnorm.logpdf(0, 0, width) == pytest.approx(-np.log(width), rel=1e-15)


def oracle_tail(z):
    """Mass of the standard normal beyond z."""
    with mp.workdps(60):
        return float(mp.erfc(mp.mpf(z) / mp.sqrt(2)) / 2)


def test_quantiles_of_tiny_probabilities_far_out():
    """The distance from the end is exponential: -log(q)/a."""
    for a in (1e12, 1e60, 1e90):
        for q in (0.3, 1e-30, 1e-300):
            assert truncnorm.isf(q, a, INF) == truncnorm.ppf(q, -INF, -a) * -1
            assert truncnorm.isf(q, a, INF) == pytest.approx(a, rel=1e-15)
    assert truncnorm.isf(np.float32(1e-37), np.float32(1e6), np.float32(INF)) == np.float32(1e6)
