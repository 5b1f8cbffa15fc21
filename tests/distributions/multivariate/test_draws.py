"""Exact draws: their distribution, their source, and when there are none."""

from itertools import product

import numba
import numpy as np
import pytest
from scipy import stats

from tests.support.units import assert_uniform
from tests.support.vectors import INF, conditional_shares, equicorrelated, toeplitz
from trug_fast import truncmvn, truncnorm

BOXES = {
    "orthant": (np.zeros(5), equicorrelated(5), np.zeros(5), np.full(5, INF)),
    "box": (np.arange(4.0), toeplitz(4, -0.8), np.full(4, 1.0), np.arange(4) + 1.5),
    "far": (np.zeros(3), toeplitz(3, 0.6), np.full(3, 50.0), np.full(3, INF)),
    "some free": (
        np.ones(4), 4 * equicorrelated(4, 0.7), np.array([-INF, 2, -INF, 2]), np.full(4, INF)
    ),
    "many": (np.zeros(25), toeplitz(25, 0.4), np.full(25, -0.5), np.full(25, 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", BOXES)
def test_every_coordinate_given_all_others(name):
    mean, cov, lower, upper = BOXES[name]
    x = truncmvn(mean, cov, lower, upper, method="tilting").rvs(20_000, rng=1)
    assert ((x >= lower) & (x <= upper)).all()
    shares = conditional_shares(x, mean, cov, lower, upper)
    for column in shares.T:
        assert_uniform(column)
    # What neighbouring vectors have in common would show here: right draws fail once in 1e6 times.
    lag = np.corrcoef(shares[1:, 0], shares[:-1, 0])[0, 1]
    assert abs(lag) < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("method", ["factor", "tilting"])
def test_rosenblatts_transform_of_two(method):
    cov, lower = np.array([[1.0, 0.8], [0.8, 1.0]]), np.array([0.5, -0.5])
    x = truncmvn(None, cov, lower, method=method).rvs(20_000, rng=2)
    grid = np.linspace(0.5, 9.0, 4001)
    density = truncnorm.sf((-0.5 - 0.8 * grid) / 0.6, -INF, INF) * np.exp(-0.5 * grid**2)
    total = np.concatenate([[0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    first = np.interp(x[:, 0], grid, total / total[-1])
    second = conditional_shares(x, 0.0, cov, lower, INF)[:, 1]
    assert_uniform(first)
    assert_uniform(second)
    assert stats.pearsonr(first, second).pvalue > 1e-6
    assert stats.pearsonr((first - 0.5) ** 2, (second - 0.5) ** 2).pvalue > 1e-6


def test_one_dimension_is_truncnorms():
    cuts = ((-1.0, 2.0), (6.0, INF), (-INF, -1e4))
    for (low, high), method in product(cuts, ("factor", "tilting")):
        frozen = truncmvn(3.0, 4.0, 3 + 2 * low, 3 + 2 * high, method=method)
        x = frozen.rvs(20_000, rng=3)[:, 0]
        assert_uniform(truncnorm.cdf(x, low, high, 3.0, 2.0))


def test_inverse_of_equicorrelation_in_100_dimensions():
    # Botev (2017), example 1: cov = inverse of (I + 1 1')/2, upper ends of 1, lower ends of 1/2.
    cov = np.linalg.inv(0.5 * (np.eye(100) + 1))
    lower, upper = np.full(100, 0.5), np.full(100, 1.0)
    x, info = truncmvn.rvs(cov=cov, lower=lower, upper=upper, size=2000, rng=1, return_info=True)
    assert info.acceptance > 0.3
    shares = conditional_shares(x, 0.0, cov, lower, upper)
    assert_uniform(shares.ravel()[np.random.default_rng(0).permutation(shares.size)[:20_000]])


@pytest.mark.parametrize("method", ["factor", "tilting"])
def test_linear_constraints(method):
    mean, cov = np.array([1.0, 2.0, 3.0]), toeplitz(3, 0.5)
    A = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, -1.0]])
    lower, upper = np.array([0.0, 1.0]), np.array([1.0, INF])
    x = truncmvn(mean, cov, lower, upper, A, method=method).rvs(20_000, rng=4)
    y = x @ A.T
    assert ((y > lower - 1e-12) & (y < upper + 1e-12)).all()
    shares = conditional_shares(y, A @ mean, A @ cov @ A.T, lower, upper)
    # Given A x the vector is a normal about its regression on it, in one dimension.
    gain = cov @ A.T @ np.linalg.inv(A @ cov @ A.T)
    rest = x - mean - (y - A @ mean) @ gain.T
    left = cov - gain @ A @ cov
    assert np.abs(rest @ A.T).max() < 1e-12
    for column in [*shares.T, stats.norm.cdf(rest[:, 0] / np.sqrt(left[0, 0]))]:
        assert_uniform(column)
    square = np.array([[1.0, 0.0], [1.0, 2.0]])
    z = truncmvn.rvs(None, 1.0, 0.0, 1.0, square, size=1000, rng=1) @ square.T
    assert (z > -1e-12).all() and (z < 1 + 1e-12).all()


@pytest.mark.parametrize("method", ["factor", "tilting"])
def test_a_shorter_call_has_the_first_draws(method):
    frozen = truncmvn(cov=equicorrelated(3), lower=np.zeros(3), method=method)
    long = frozen.rvs(3000, rng=7)
    np.testing.assert_array_equal(frozen.rvs(77, rng=7), long[:77])
    np.testing.assert_array_equal(frozen.rvs((30, 100), rng=7).reshape(-1, 3), long)
    np.testing.assert_array_equal(frozen.rvs(rng=7), long[0])
    assert frozen.rvs(0, rng=7).shape == (0, 3)
    assert (frozen.rvs(77, rng=8) != long[:77]).all()
    generator = np.random.default_rng(0)
    assert (frozen.rvs(5, rng=generator) != frozen.rvs(5, rng=generator)).all()


@pytest.mark.parametrize("method", ["factor", "tilting"])
def test_one_thread_gives_what_all_give(method):
    frozen = truncmvn(cov=equicorrelated(20), lower=np.zeros(20), method=method)
    together = frozen.rvs(20_000, rng=1), frozen.logprob(rng=1), frozen.mean(rng=1).value
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = frozen.rvs(20_000, rng=1), frozen.logprob(rng=1), frozen.mean(rng=1).value
    finally:
        numba.set_num_threads(before)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one, other)


def test_acceptance_is_the_probability_over_its_bound():
    frozen = truncmvn(cov=equicorrelated(10), lower=np.zeros(10), method="tilting")
    _, info = frozen.rvs(30_000, rng=1, return_info=True)
    expected = np.exp(-np.log(11) - info.log_bound)
    assert abs(info.acceptance - expected) < 5 * 0.3 / np.sqrt(info.n_proposals)
    assert abs(30_000 / info.n_proposals - expected) < 0.03


def test_hopeless_boxes_are_refused():
    with pytest.raises(
        RuntimeError, match=r"hopeless: .* proposals .* tf.distributions.truncmvn_gibbs"
    ):
        truncmvn.rvs(cov=toeplitz(400, 0.8), lower=np.zeros(400), size=10, rng=1)


def test_float32_stays_and_keeps_to_its_ends():
    cov = equicorrelated(3).astype(np.float32)
    lower = np.full(3, 0.1, np.float32)
    x = truncmvn.rvs(0, cov, lower, lower + np.float32(1e-6), size=100, rng=1)
    assert x.dtype == np.float32 and (x >= lower).all() and (x <= lower + np.float32(1e-6)).all()
    assert truncmvn.logpdf(x[0], 0, cov, lower).dtype == np.float32
