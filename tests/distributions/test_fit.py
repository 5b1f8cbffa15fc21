"""Fits: parameters come back, likelihood equations hold, and what has no maximum is told."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from trug_fast import truncnorm

INF = float("inf")
TRUE = (-1.0, 2.0, 5.0, 2.0)


@pytest.fixture(scope="module")
def data():
    return truncnorm.rvs(*TRUE, size=20_000, rng=1)


def objective(x, fixed, support, loc, scale):
    """Return the mean negative log likelihood where free ends are at the data."""
    lower, upper = support
    a = fixed.get("fa", ((x.min() if lower is None else lower) - loc) / scale)
    b = fixed.get("fb", ((x.max() if upper is None else upper) - loc) / scale)
    return truncnorm.nnlf((a, b, loc, scale), x) / x.size


def assert_stationary(x, fixed, support, found):
    """Assert that the derivatives by what is free of loc and scale vanish at a fit."""
    loc, scale = found[2:]
    step = 1e-4 * scale
    for name, by in (("floc", (step, 0.0)), ("fscale", (0.0, step))):
        if name not in fixed:
            above = objective(x, fixed, support, loc + by[0], scale + by[1])
            below = objective(x, fixed, support, loc - by[0], scale - by[1])
            assert abs(above - below) / 2e-4 < 1e-6, name


FIXED = [
    ({}, (None, None)),
    ({}, (3.0, 9.0)),
    ({}, (3.0, None)),
    ({}, (3.0, INF)),
    ({"floc": 5.0}, (None, 9.0)),
    ({"fscale": 2.0}, (None, None)),
    ({"fb": INF}, (None, None)),
    ({"fa": -INF, "fb": INF}, (None, None)),
]


@pytest.mark.parametrize(("fixed", "support"), FIXED, ids=str)
def test_the_gradient_is_zero_where_ends_do_not_move(fixed, support, data):
    found = truncnorm.fit(data, support=support, **fixed)
    assert_stationary(data, fixed, support, found)
    for name, value in zip(("fa", "fb", "floc", "fscale"), found, strict=True):
        assert fixed.get(name, value) == value
    assert type(found) is tuple and all(type(value) is float for value in found)


@pytest.mark.parametrize("fixed", [{"fa": -1.01}, {"fb": 2.01}, {"fa": -1.01, "fscale": 2.0}])
def test_one_end_moves(fixed, data):
    """The maximum is inside or where the fixed end touches the data; no step from it is better."""
    found = truncnorm.fit(data, **fixed)
    best = objective(data, fixed, (None, None), *found[2:])
    for by_loc, by_scale in itertools.product((-1e-3, 0.0, 1e-3), repeat=2):
        if not (by_scale and "fscale" in fixed):
            loc, scale = found[2] + by_loc, found[3] * (1 + by_scale)
            assert objective(data, fixed, (None, None), loc, scale) >= best - 1e-12
    for name, value in zip(("fa", "fb", "floc", "fscale"), found, strict=True):
        assert fixed.get(name, value) == value


def test_parameters_come_back_within_their_standard_errors():
    """Over 60 samples, errors over standard errors from the information have deviation 1."""
    a, b, loc, scale = TRUE
    lower, upper, n = loc + scale * a, loc + scale * b, 2000
    third, fourth = truncnorm.moment(3, a, b), truncnorm.moment(4, a, b)
    mean, second = truncnorm.moment(1, a, b), truncnorm.moment(2, a, b)
    # Of (z, z**2/2), the statistics of eta and d in standard units.
    between = (third - mean * second) / 2
    information = [[second - mean**2, -between], [-between, (fourth - second**2) / 4]]
    covariance = np.linalg.inv(information) / n
    errors = []
    for seed in range(60):
        x = truncnorm.rvs(*TRUE, size=n, rng=seed)
        _, _, at, width = truncnorm.fit(x, support=(lower, upper))
        d = (scale / width) ** 2
        errors.append([(at - loc) / scale * d, d - 1.0])
    whitened = np.array(errors) @ np.linalg.cholesky(np.linalg.inv(covariance))
    assert (np.abs(whitened.mean(0)) < 3 / math.sqrt(60)).all()
    assert (np.abs(whitened.std(0) - 1) < 3 / math.sqrt(120)).all()


def test_what_has_a_closed_form():
    rng = np.random.default_rng(2)
    x = rng.normal(3.0, 2.0, 1000)
    assert truncnorm.fit(x, fa=-INF, fb=INF) == pytest.approx((-INF, INF, *stats.norm.fit(x)))
    half = np.abs(x - 3.0)
    # A half normal at a known place, and at an unknown one.
    got = truncnorm.fit(half, fa=0, fb=INF, floc=0)
    assert got == pytest.approx((0, INF, 0, math.sqrt(np.mean(half**2))), rel=1e-14)
    got, least = truncnorm.fit(half, fa=0, fb=INF), half.min()
    spread = math.sqrt(np.mean((half - least) ** 2))
    assert got == pytest.approx((0, INF, least, spread), rel=1e-12)
    # Both bounds touch: a uniform's ends.
    got = truncnorm.fit([0.0, 1.0, 0.0, 1.0], fa=-0.5, fb=0.5)
    assert got == pytest.approx((-0.5, 0.5, 0.5, 1.0), rel=1e-14)
    # Nothing but ends is free.
    assert truncnorm.fit(x, floc=3, fscale=2) == ((x.min() - 3) / 2, (x.max() - 3) / 2, 3.0, 2.0)


def test_every_datum_has_a_density():
    rng = np.random.default_rng(3)
    for seed in range(4):
        x = rng.normal(10 ** rng.uniform(-3, 9), 1.0, 30)
        for fixed in ({}, {"fa": -3.0, "fb": 1.0}, {"fa": 0, "fb": INF}, {"fa": 0.5}, {"fb": 0.0}):
            try:
                found = truncnorm.fit(x, **fixed)
            except stats.FitError:
                continue
            assert np.isfinite(truncnorm.nnlf(found, x)), (seed, fixed)


def test_scale_and_place_of_the_data_do_not_matter(data):
    a, b, loc, scale = truncnorm.fit(data)
    moved = truncnorm.fit(1e6 + 1e-3 * data)
    assert moved == pytest.approx((a, b, 1e6 + 1e-3 * loc, 1e-3 * scale), rel=1e-5)
    for fixed, mirrored in (({}, {}), ({"fa": -1.01}, {"fb": 1.01})):
        a, b, loc, scale = truncnorm.fit(data, **fixed)
        assert truncnorm.fit(-data, **mirrored) == pytest.approx((-b, -a, -loc, scale), rel=1e-9)
    single = truncnorm.fit(data.astype(np.float32))
    assert single == pytest.approx(truncnorm.fit(data.astype(np.float32).astype(float)), rel=1e-12)


def test_likelihood_is_no_less_than_scipys(data):
    few = data[:200]
    with np.errstate(all="ignore"):
        theirs = stats.truncnorm.fit(few, *TRUE[:2], loc=5, scale=2)
    assert truncnorm.nnlf(truncnorm.fit(few), few) <= stats.truncnorm.nnlf(theirs, few) + 1e-9


def test_the_names_of_scipys_arguments(data):
    few = data[:100]
    want = truncnorm.fit(few, fa=-2.0, fb=3.0)
    assert want[:2] == (-2.0, 3.0)
    assert truncnorm.fit(few, f0=-2.0, fix_b=3.0) == want
    assert truncnorm.fit(few, -9, 9, loc=1, scale=3, method="mle") == pytest.approx(
        truncnorm.fit(few), rel=1e-10
    )
    for wrong, error, match in (
        ({"fa": 1, "f0": 1}, ValueError, "give one of fa, f0"),
        ({"fa": 2, "fb": 1}, ValueError, "fa must be below fb"),
        ({"fa": np.nan}, ValueError, "fa must be a number"),
        ({"fscale": 0}, ValueError, "fscale must be positive"),
        ({"scale": -1}, ValueError, "scale must be positive"),
        ({"floc": INF}, ValueError, "floc must be finite"),
        ({"fa": 0, "fb": 1, "floc": 0, "fscale": 1}, ValueError, "nothing to fit"),
        ({"support": (0, 20), "floc": 0, "fscale": 1}, ValueError, "nothing to fit"),
        ({"support": (0, None), "fa": 1}, ValueError, "fa or support"),
        ({"support": 3}, ValueError, "support must be a pair"),
        ({"method": "MM"}, ValueError, "method must be 'MLE'"),
        ({"kaboom": 1}, TypeError, "unknown keywords for fit: kaboom"),
    ):
        with pytest.raises(error, match=match):
            truncnorm.fit(few, **wrong)
    with pytest.raises(TypeError, match="are a and b, got 3"):
        truncnorm.fit(few, 1, 2, 3)
    with pytest.raises(TypeError, match="a is given twice"):
        truncnorm.fit(few, 1, a=2)


def test_data_that_cannot_be_fitted():
    masked = np.ma.masked_equal([1.0, 2.0, 3.0], 2.0)
    for x, fixed, error, match in (
        ([], {}, ValueError, "at least one"),
        ([1.0, np.nan], {}, ValueError, "finite, got nan in element 1"),
        ([INF, 1.0], {}, ValueError, "finite, got inf in element 0"),
        (["a"], {}, TypeError, "real numbers"),
        ([1j], {}, TypeError, "real numbers"),
        (masked, {}, ValueError, "mask"),
        (stats.CensoredData([1.0, 2.0]), {}, TypeError, "censored"),
        ([2.0, 2.0], {}, ValueError, "two different values"),
        ([2.0], {"fa": -1.0, "fb": 1.0}, ValueError, "two different values"),
        ([2.0, 2.0], {"fa": -1.0, "fb": 1.0, "floc": 2.0}, ValueError, "differ from floc"),
        ([1.0, 2.0, 3.0], {"support": (0, 2)}, ValueError, r"in the support \[0.0, 2.0\]"),
        ([1.0, 9.0], {"fa": -1, "fb": 1, "fscale": 1}, ValueError, "a=-1.0, b=1.0, scale=1.0"),
        ([1.0, 9.0], {"fa": 0, "fb": 1, "floc": 2}, ValueError, "data must lie between the ends"),
        ([1.0, 9.0], {"fa": 0, "floc": 2, "fscale": 1}, ValueError, "a=0.0, loc=2.0, scale=1.0"),
        ([1.0, 9.0], {"fa": 0, "floc": 2}, ValueError, "a=0.0, loc=2.0"),
        ([1e-200, 2e-200], {}, ValueError, "beyond the range of squares"),
        ([1e200, 2e200], {}, ValueError, "beyond the range of squares"),
    ):
        with pytest.raises(error, match=match):
            truncnorm.fit(x, **fixed)
    for fixed in ({"fa": 0.3, "fscale": 1e-300}, {"fb": 15.0, "floc": 1e300, "fscale": 100.0}):
        with pytest.raises(stats.FitError, match="no maximum was found"):
            truncnorm.fit([1.0, 2.0, 1.0], **fixed)
    # One datum is enough where only a place or a scale is free.
    assert truncnorm.fit([2.0], fa=-1.0, fb=1.0, fscale=3.0)[2] == 2.0
    assert truncnorm.fit([2.0], fa=0.0, fb=INF, floc=0.0)[3] == 2.0


def quantiles(distribution, n=400):
    """Return a sample without chance."""
    return distribution.ppf((np.arange(n) + 0.5) / n)


def test_a_maximum_at_infinity_is_told():
    """The line is the variance of the limit: an exponential's mean squared, a uniform's."""
    exponential = quantiles(stats.expon())
    excess = (np.std(exponential) / np.mean(exponential)) - 1
    assert excess < 0  # a trifle less than an exponential, so there is a maximum, far out
    far = truncnorm.fit(exponential, support=(0.0, INF))
    assert far[2] < -10
    assert_stationary(exponential, {}, (0.0, INF), far)
    wider = np.append(exponential, 12.0)
    for fixed in ({"support": (0.0, INF)}, {"fb": INF}):
        with pytest.raises(stats.FitError, match="no finite maximum.*becomes an exponential"):
            truncnorm.fit(wider, **fixed)
    truncnorm.fit(wider, support=(0.0, INF), fscale=10.0)
    truncnorm.fit(wider, support=(0.0, INF), floc=-1.0)
    two_humps = quantiles(stats.beta(0.5, 0.5))
    for fixed, limit in (
        ({}, "an exponential"),
        ({"floc": 0.5}, "uniform"),
        ({"fa": -1.0}, "uniform"),
        ({"fb": 0.5}, "uniform"),
    ):
        with pytest.raises(stats.FitError, match=f"no finite maximum.*{limit}"):
            truncnorm.fit(two_humps, **fixed)


def test_a_half_normal_whose_ends_are_free():
    half = quantiles(stats.halfnorm())
    a, b, loc, scale = truncnorm.fit(half, support=(0.0, INF))
    assert b == INF and abs(loc) < 0.05 and abs(scale - 1) < 0.02 and abs(a) < 0.05


def test_nnlf(data):
    few = data[:50]
    got = truncnorm.nnlf(TRUE, few)
    assert got == pytest.approx(stats.truncnorm.nnlf(TRUE, few), rel=1e-12)
    assert got == pytest.approx(-truncnorm.logpdf(few, *TRUE).sum(), rel=1e-15)
    for theta in ((-1.0, -2.0, 5.0, 2.0), (-1.0, 2.0, 5.0, -2.0), (0.0, 1.0, 5.0, 1.0)):
        assert truncnorm.nnlf(theta, few) == stats.truncnorm.nnlf(theta, few) == INF
    assert truncnorm.nnlf(TRUE, few.reshape(10, 5)).shape == (5,)
    with pytest.raises(ValueError, match=r"theta must be \(a, b, loc, scale\), got 3"):
        truncnorm.nnlf((1, 2, 3), few)
