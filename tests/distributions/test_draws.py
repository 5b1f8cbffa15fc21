"""Draws of the NumPy face: their distribution, their source, their sizes."""

import numpy as np
import pytest
from scipy import stats

from tests.support.units import EDGE_CASES, assert_uniform, transform
from trug_fast import truncnorm

INF = float("inf")


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
    locked = np.empty(3)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        truncnorm.rvs(0.0, 1.0, rng=1, out=locked)
    for size in (None, 1):
        with pytest.raises(TypeError, match=r"out must be a numpy.ndarray, got list"):
            truncnorm.rvs(0.0, 1.0, size=size, out=[0.0])


def test_out_may_be_a_parameter_too():
    loc, scale = np.linspace(0.0, 1.0, 3000), np.where(np.arange(3000) % 7, 0.0, 1.0)
    want = truncnorm.rvs(-1.0, 1.0, loc, scale, rng=1)
    for out in (loc.copy(), scale.copy()):
        arguments = (out, scale) if (out == loc).all() else (loc, out)
        np.testing.assert_array_equal(truncnorm.rvs(-1.0, 1.0, *arguments, rng=1, out=out), want)
    space = np.empty(3001)
    space[1:] = loc
    truncnorm.rvs(-1.0, 1.0, space[1:], scale, rng=1, out=space[:-1])
    np.testing.assert_array_equal(space[:-1], want)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ((1, 0), "a must be below b, got a=1.0, b=0.0"),
        ((1, 1), "a must be below b"),
        (([0, 0, 3], [1, 1, 2]), "a=3.0, b=2.0, scale=1.0 in element 2"),
        ((np.nan, 1), "a must be below b"),
        ((0, 1, 0, [1, -1]), "scale must not be negative, got .* in element 1"),
        ((0, 1, 0, np.nan), "scale must not be negative"),
        ((2e100, INF), r"a must be at most 1e\+100"),
        ((-INF, -2e100), r"a must be at most 1e\+100 and b at least -1e\+100, got a=-inf"),
        ((np.float32(2e12), np.float32(INF)), r"a must be at most 1e\+12"),
        ((0, 1, 0, 1, -1), "size must be at least 0, got -1"),
        (([0, 1], 5, 0, 1, 3), r"shapes must broadcast with size \(3,\), got a \(2,\)"),
        (([0, 1], 5, 0, 1, 1), "shapes must broadcast"),
    ],
)
def test_draws_refuse_invalid_parameters(bad, message):
    generator = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        truncnorm.rvs(*bad, rng=generator)
    assert generator.random() == np.random.default_rng(0).random()  # not advanced


def test_sizes():
    assert truncnorm.rvs(0, 1, size=(), rng=0).shape == ()
    assert truncnorm.rvs(0, 1, size=1, rng=0).shape == (1,)
    assert truncnorm.rvs(0, 1, size=np.int64(3), rng=0).shape == (3,)
    assert truncnorm.rvs(0, 1, size=[2, 3], rng=0).shape == (2, 3)
    assert truncnorm.rvs(0, 1, size=0, rng=0).shape == (0,)
    assert truncnorm.rvs(np.empty((0, 3)), 1, rng=0).shape == (0, 3)
    assert truncnorm.rvs(np.zeros((2, 1)), np.ones(3), rng=0).shape == (2, 3)
    assert type(truncnorm.rvs(0, 1, rng=0)) is np.float64
    with pytest.raises(TypeError, match=r"size must be an int, got 2.5"):
        truncnorm.rvs(0, 1, size=2.5)


def test_float32_alone_stays_float32():
    a = np.linspace(-8, 8, 101, dtype=np.float32)
    x = truncnorm.rvs(a, a + np.float32(1), 0, 2, rng=1)
    assert x.dtype == np.float32 and ((2 * a <= x) & (x <= 2 * a + 2)).all()
    assert truncnorm.rvs(a, 9.0, np.zeros(101), rng=1).dtype == np.float64
    assert truncnorm.rvs(a, np.inf, rng=1, out=np.empty(101, np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="dtype float64, got .* float32"):
        truncnorm.rvs(0.0, 1.0, out=np.empty(3, np.float32))


def test_a_scale_of_zero_gives_loc_as_in_scipy():
    assert truncnorm.rvs(0, 1, 2.5, 0) == stats.truncnorm.rvs(0, 1, 2.5, 0) == 2.5
    draws = truncnorm.rvs(0, 1, [1.0, 2.0], [0.0, 1.0], size=(3, 2), rng=1)
    assert (draws[:, 0] == 1).all() and (draws[:, 1] > 2).all()
