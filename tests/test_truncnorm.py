"""The NumPy face: SciPy's answers where SciPy is right, its conventions everywhere."""

import doctest

import numba
import numpy as np
import pytest
from scipy import stats
from units import EDGE_CASES, assert_uniform, transform

import trug_fast
from trug_fast import truncnorm

POINTS = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"]
MOMENTS = ["mean", "var", "std", "entropy", "median"]
INF = float("inf")
PRESENT = [name for name in truncnorm.__all__ if name not in ("log_mass",)]


@pytest.fixture(scope="module")
def moderate():
    """Arguments for which SciPy has ten digits."""
    rng = np.random.default_rng(1)
    a = rng.uniform(-3, 2, (20, 1))
    b = a + rng.uniform(0.5, 4, 30)
    return a, b, rng.normal(size=30), np.exp(rng.normal(size=(20, 1)))


@pytest.mark.parametrize("name", POINTS)
def test_functions_of_points_agree_with_scipy(name, moderate):
    a, b, loc, scale = moderate
    x = loc + scale * (a + (b - a) * np.random.default_rng(2).uniform(0.01, 0.99, a.shape))
    want = getattr(stats.truncnorm, name)(x, *moderate)
    got = getattr(truncnorm, name)(x, *moderate)
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MOMENTS)
def test_moments_agree_with_scipy(name, moderate):
    want = getattr(stats.truncnorm, name)(*moderate)
    got = getattr(truncnorm, name)(*moderate)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["ppf", "isf"])
def test_quantiles_agree_with_scipy(name, moderate):
    q = np.random.default_rng(3).uniform(0.001, 0.999, 30)
    want = getattr(stats.truncnorm, name)(q, *moderate)
    np.testing.assert_allclose(getattr(truncnorm, name)(q, *moderate), want, rtol=1e-8, atol=1e-11)


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


@pytest.mark.parametrize("bad", [(1, 0), (1, 1), (0, 1, 0, -1), (0, 1, 0, 0), (np.nan, 1)], ids=str)
def test_invalid_parameters_give_nan(bad):
    for name in POINTS + ["ppf", "isf"]:
        assert np.isnan(getattr(truncnorm, name)(0.5, *bad)), name
    for name in MOMENTS + ["log_mass"]:
        assert np.isnan(getattr(truncnorm, name)(*bad)), name


def test_numbers_in_give_numpy_numbers_out():
    for value in (truncnorm.cdf(0.5, 0, 1), truncnorm.mean(0, 1), truncnorm.rvs(0, 1, rng=0)):
        assert type(value) is np.float64
    assert type(truncnorm.mean(np.float32(0), np.float32(1))) is np.float32
    assert truncnorm.rvs(0, 1, size=(), rng=0).shape == ()
    assert truncnorm.rvs(0, 1, size=1, rng=0).shape == (1,)
    assert truncnorm.cdf(np.empty((0, 3)), 0, 1).shape == (0, 3)


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
    assert truncnorm.rvs(a, a + np.float32(1), rng=1).dtype == np.float32
    assert truncnorm.mean(a, np.float64(9)).dtype == np.float64


def test_far_and_narrow_intervals_where_scipy_fails():
    # Exact: one-sided variance 1/u**2 - 6/u**4 + ..., a uniform's w**2/12, and scaling of both.
    assert truncnorm.var(1e8, INF) == pytest.approx(1e-16, rel=1e-14)
    assert truncnorm.var(5.0, 5.0 + 2**-40) == pytest.approx(2.0**-80 / 12, rel=1e-11)
    assert truncnorm.logsf(1e8 + 1e-8, 1e8, INF) == pytest.approx(-(1e8 + 1e-8 - 1e8) * 1e8)
    assert truncnorm.sf(20.0, 0.0, 21.0) == pytest.approx(2 * stats.norm.sf(20), rel=1e-8)
    assert truncnorm.log_mass(-40.0, 40.0) == pytest.approx(-2 * stats.norm.sf(40), rel=1e-12)


@pytest.mark.parametrize("ends", EDGE_CASES, ids=str)
def test_draws_on_intervals_that_break_published_samplers(ends):
    x = truncnorm.rvs(*ends, size=20_000, rng=3)
    assert ((ends[0] <= x) & (x <= ends[1])).all()
    p = transform(x, 0.0, 1.0, *ends)
    if ends[0] < 1e3 and ends[1] - ends[0] > 1e-7:
        assert_uniform(p)


def test_draws_follow_shifted_and_scaled_parameters():
    rng = np.random.default_rng(4)
    n = 50_000
    loc, scale = rng.normal(size=n), np.exp(rng.normal(size=n))
    a = rng.uniform(-9, 9, n)
    x = truncnorm.rvs(a, a + 2, loc, scale, rng=5)
    lower, upper = truncnorm.support(a, a + 2, loc, scale)
    assert ((lower <= x) & (x <= upper)).all()
    assert_uniform(truncnorm.cdf(x, a, a + 2, loc, scale)[np.argsort(a)])


def test_draw_i_depends_on_seed_and_i_only():
    long = truncnorm.rvs(0.0, INF, size=5000, rng=7)
    np.testing.assert_array_equal(truncnorm.rvs(0.0, INF, size=77, rng=7), long[:77])
    np.testing.assert_array_equal(truncnorm.rvs(0.0, INF, size=(50, 100), rng=7).ravel(), long)
    mixed = truncnorm.rvs(np.where(np.arange(5000) == 9, 0.0, 4.0), INF, rng=7)
    assert mixed[9] == long[9] and (mixed != long).sum() == 4999
    assert (truncnorm.rvs(0.0, INF, size=5000, rng=8) != long).all()


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


def test_sources_of_randomness():
    fixed = truncnorm.rvs(0, 1, size=9, rng=5)
    np.testing.assert_array_equal(truncnorm.rvs(0, 1, size=9, random_state=5), fixed)
    generator = np.random.default_rng(0)
    one, two = (truncnorm.rvs(0, 1, size=9, random_state=generator) for _ in range(2))
    assert (one != two).all()
    state = np.random.RandomState(0)  # noqa: NPY002  (what older scipy code passes)
    assert truncnorm.rvs(0, 1, size=9, random_state=state).shape == (9,)
    with pytest.raises(ValueError, match="not both"):
        truncnorm.rvs(0, 1, rng=1, random_state=1)
    with pytest.raises(TypeError, match="rng"):
        truncnorm.rvs(0, 1, rng="yes")


def test_out_is_filled_in_place():
    out = np.empty((40, 30))
    assert truncnorm.rvs(0.0, 1.0, rng=1, out=out) is out
    np.testing.assert_array_equal(out, truncnorm.rvs(0.0, 1.0, size=(40, 30), rng=1))
    strided = np.empty((30, 40)).T
    truncnorm.rvs(0.0, 1.0, rng=1, out=strided)
    np.testing.assert_array_equal(strided, out)
    for wrong in (np.empty(3, np.float32), np.empty(4)):
        with pytest.raises(ValueError, match="out must be"):
            truncnorm.rvs(0.0, 1.0, size=3, rng=1, out=wrong)
    with pytest.raises(TypeError, match="out must be"):
        truncnorm.rvs(0.0, 1.0, size=3, out=[0.0])


@pytest.mark.parametrize("bad", [(1, 0), (1, 1), (0, 1, 0, -1), (np.nan, 1)], ids=str)
def test_draws_refuse_invalid_parameters(bad):
    with pytest.raises(ValueError, match=r"a must be below b|scale must not"):
        truncnorm.rvs(*bad)
    with pytest.raises(ValueError, match=r".*"):
        stats.truncnorm.rvs(*bad)


def test_a_scale_of_zero_gives_loc_as_in_scipy():
    assert truncnorm.rvs(0, 1, 2.5, 0) == stats.truncnorm.rvs(0, 1, 2.5, 0) == 2.5
    draws = truncnorm.rvs(0, 1, [1.0, 2.0], [0.0, 1.0], size=(3, 2), rng=1)
    assert (draws[:, 0] == 1).all() and (draws[:, 1] > 2).all()


def test_shapes_that_do_not_fit():
    for call in (
        lambda: truncnorm.cdf([1, 2], [0, 0, 0], 1),
        lambda: truncnorm.rvs([0, 1], 5, size=3),
        lambda: truncnorm.rvs([0, 1], 5, size=1),
    ):
        with pytest.raises(ValueError, match=r"shapes must broadcast.*a \("):
            call()
    with pytest.raises(TypeError, match="a must hold real numbers"):
        truncnorm.mean("one", 1)


def test_arguments_are_left_alone():
    a = np.linspace(0, 1, 10)
    a.flags.writeable = False
    truncnorm.rvs(a, 2.0, rng=1), truncnorm.mean(a, 2.0)
    np.testing.assert_array_equal(a, np.linspace(0, 1, 10))


def test_every_function_of_scipy_that_is_here_takes_scipys_arguments():
    for name in PRESENT:
        assert hasattr(stats.truncnorm, name)
    assert trug_fast.truncnorm is truncnorm


def test_examples():
    failed, tried = doctest.testmod(truncnorm)
    assert tried > 30 and not failed
