"""Means and covariances against closed forms, draws, and their own errors."""

import numpy as np
import pytest

from tests.support.vectors import INF, equicorrelated, toeplitz
from trug_fast import truncmvn, truncnorm

BOTH = pytest.mark.parametrize("method", ["factor", "tilting"])


@BOTH
def test_independent_coordinates_are_truncnorms(method):
    a, b = np.array([-1.0, 2.0, -INF, 30.0]), np.array([1.0, INF, 0.5, 30.5])
    loc, scale = np.array([0.0, 1.0, -2.0, 5.0]), np.array([1.0, 2.0, 0.5, 3.0])
    frozen = truncmvn(loc, scale**2, loc + scale * a, loc + scale * b, method=method)
    mean, cov = frozen.mean(rng=1), frozen.cov(rng=1)
    exact = truncnorm.mean(a, b, loc, scale)
    assert (np.abs(mean.value - exact) <= 3 * mean.error + 1e-12).all()
    exact = np.diag(truncnorm.var(a, b, loc, scale))
    assert (np.abs(cov.value - exact) <= 3 * cov.error + 1e-12).all()
    assert mean.error.max() < 1e-3 and cov.error.max() < 2e-3


@BOTH
def test_orthant_of_two(method):
    # E[x] = phi(0) (1 + rho)/2 / P, P = 1/4 + asin(rho)/(2 pi).
    rho = 0.6
    mean = truncmvn(None, [[1, rho], [rho, 1]], 0, method=method).mean(rng=2)
    exact = 0.5 * (1 + rho) / np.sqrt(2 * np.pi) / (0.25 + np.arcsin(rho) / (2 * np.pi))
    assert (np.abs(mean.value - exact) <= 3 * mean.error).all() and mean.error.max() < 1e-4


@BOTH
def test_draws_have_these_moments(method):
    lower, upper = np.array([0.0, -INF, 1.0, -INF]), np.array([INF, 1.0, 1.5, INF])
    frozen = truncmvn(np.ones(4), toeplitz(4, -0.7), lower, upper, method=method)
    x = frozen.rvs(40_000, rng=1)
    mean, cov = frozen.mean(rng=3).value, frozen.cov(rng=3).value
    z = (x.mean(0) - mean) / np.sqrt(np.diagonal(cov) / 40_000)
    assert np.abs(z).max() < 5
    away = x - mean
    products = away[:, :, None] * away[:, None, :]
    z = (products.mean(0) - cov) / (products.std(0) / 200)
    assert np.abs(z).max() < 5
    np.testing.assert_array_equal(cov, cov.T)


@BOTH
def test_linear_constraints_have_moments_too(method):
    A, mean = np.array([[1.0, 2.0, 0.5]]), np.array([0.0, 1.0, 2.0])
    cov = equicorrelated(3)
    frozen = truncmvn(mean, cov, 4.0, 5.0, A, method=method)
    scale = np.sqrt(A @ cov @ A.T)[0, 0]
    low, high = (4 - A @ mean)[0] / scale, (5 - A @ mean)[0] / scale
    gain = (cov @ A.T)[:, 0] / scale
    np.testing.assert_allclose(
        frozen.mean(rng=1).value, mean + gain * truncnorm.mean(low, high), atol=1e-5
    )
    exact = cov + np.outer(gain, gain) * (truncnorm.var(low, high) - 1)
    np.testing.assert_allclose(frozen.cov(rng=1).value, exact, atol=1e-5)


@BOTH
def test_far_out_digits_are_not_lost(method):
    frozen = truncmvn(cov=[1.0, 1.0, 1.0], lower=1e4, method=method)
    exact = truncnorm.var(1e4, INF)
    np.testing.assert_allclose(np.diagonal(frozen.cov(rng=1).value), exact, rtol=0.01)


def test_without_ends_it_is_the_normal():
    frozen = truncmvn([1.0, 2.0], equicorrelated(2))
    np.testing.assert_array_equal(frozen.mean(rng=1).value, [1, 2])
    np.testing.assert_array_equal(frozen.cov(rng=1).value, equicorrelated(2))
    assert (frozen.cov(rng=1).error == 0).all()


@pytest.mark.parametrize(
    "d, lower, width, deviation",
    [
        (4, 0.5, 2.0**-26, 2.0**-26 / np.sqrt(12)),  # nearly uniform
        (2, 1e6, INF, 1.5e-6),  # nearly exponential, of rate lower / (1 + 1/2)
    ],
)
@BOTH
def test_thin_and_far_boxes_keep_the_digits_of_their_covariance(d, lower, width, deviation, method):
    cov = truncmvn(None, equicorrelated(d), lower, lower + width, method=method).cov(rng=1)
    value, error = cov.value / deviation**2, cov.error / deviation**2
    assert (np.abs(value - np.eye(d)) <= 3 * error + 1e-7).all() and error.max() < 1e-2
