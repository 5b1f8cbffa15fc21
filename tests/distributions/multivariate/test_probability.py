"""Probabilities of boxes against closed forms, quadrature, and their own errors."""

import numpy as np
import pytest
from scipy import stats

from tests.support.vectors import (
    INF,
    equicorrelated,
    log_probability_of_one_factor,
    one_factor,
    toeplitz,
)
from trug_fast import truncmvn, truncnorm
from trug_fast.distributions.multivariate import tilting as subject


def orthant(cov):
    """Return the probability that all coordinates are positive: d = 2 or 3."""
    d = cov.shape[0]
    angles = np.arcsin(cov[np.triu_indices(d, 1)])
    return 0.25 + angles.sum() / (2 * np.pi) if d == 2 else 0.125 + angles.sum() / (4 * np.pi)


def assert_as_stated(found, exact_log):
    assert abs(found.log - exact_log) <= 3 * found.relative_error
    assert exact_log <= found.log_bound + 1e-9


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6, 10, 30, 100])
def test_equicorrelated_orthants_are_1_over_d_plus_1(d):
    frozen = truncmvn(cov=equicorrelated(d), lower=np.zeros(d), method="tilting")
    found = frozen.logprob(rng=d)
    assert_as_stated(found, -np.log(d + 1))
    assert found.relative_error < (1e-14 if d < 2 else (1e-4 if d < 6 else 8e-3))
    assert found.n_points == (0 if d < 2 else 9 * 1024) and found.method == "tilting"


@pytest.mark.parametrize("rho", [0.0, 0.3, -0.999, 0.999999, 1 - 1e-9, -1 + 1e-9])
def test_orthants_of_two(rho):
    cov = np.array([[4.0, 2 * rho], [2 * rho, 1.0]])
    found = truncmvn.logprob(cov=cov, lower=0.0)
    exact = np.log(np.arctan2(np.sqrt((1 - rho) * (1 + rho)), -rho) / (2 * np.pi))
    # Subtracting rho**2 from 1 leaves so many digits of the second coordinate's variance.
    assert abs(found.log - exact) <= max(3 * found.relative_error, 1e-16 / (1 - abs(rho)))


def test_orthants_of_three():
    rng = np.random.default_rng(0)
    for seed in range(5):
        root = rng.normal(size=(3, 3))
        cov = root @ root.T
        scale = np.sqrt(np.diagonal(cov))
        found = truncmvn.logprob(cov=cov, lower=np.zeros(3), rng=seed)
        assert_as_stated(found, np.log(orthant(cov / np.outer(scale, scale))))
        assert found.relative_error < 1e-3


def test_orthants_of_four():
    # Two pairs with nothing between them; and the chambers of the symmetries of a simplex, of which
    # there are 5!, all of one size.
    cov = np.eye(4)
    cov[0, 2] = cov[2, 0] = 0.6
    cov[1, 3] = cov[3, 1] = -0.4
    pairs = orthant(cov[np.ix_([0, 2], [0, 2])]) * orthant(cov[np.ix_([1, 3], [1, 3])])
    assert_as_stated(truncmvn.logprob(cov=cov, lower=np.zeros(4), rng=1), np.log(pairs))
    chamber = np.eye(4) - 0.5 * (np.eye(4, k=1) + np.eye(4, k=-1))
    found = truncmvn.logprob(cov=chamber, lower=np.zeros(4), rng=2)
    assert_as_stated(found, -np.log(120))
    assert found.relative_error < 1e-3


@pytest.mark.parametrize("far", [0.0, 10.0, 100.0, 1e4])
def test_one_factor_boxes_against_quadrature(far):
    rng = np.random.default_rng(int(far))
    for d in (2, 3, 8, 30):
        loadings = rng.uniform(0.3, 0.9, d) * (1 if far else rng.choice([-1, 1], d))
        lower = far * rng.uniform(0.9, 1.1, d) if far else rng.normal(size=d) - 1
        upper = lower + np.where(rng.random(d) < 0.5, INF, rng.uniform(0.1, 3, d))
        exact = log_probability_of_one_factor(loadings, lower, upper, 10 + 3 * far)
        given = None, one_factor(loadings), lower, upper
        found = truncmvn(*given, method="tilting").logprob(rng=d)
        assert found.relative_error < 1e-3
        assert abs(found.log - exact) <= 3 * found.relative_error + 1e-13 * abs(exact)
        found = truncmvn(*given, method="factor").logprob()
        assert found.relative_error < 3e-14 * max(50, abs(exact))
        assert abs(found.log - exact) <= 3 * found.relative_error


def test_far_corners_against_the_first_term_of_their_expansion():
    # -log P = q/2 + log((2 pi)**(d/2) |cov|**(1/2) prod(precision @ lower)) + O(1/lower**2).
    for d in (2, 5, 20):
        cov, lower = toeplitz(d, -0.5), np.linspace(1e4, 2e4, d)
        force = np.linalg.solve(cov, lower)
        assert (force > 0).all()
        exact = -0.5 * lower @ force - np.log(force).sum() - 0.5 * d * np.log(2 * np.pi)
        exact -= 0.5 * np.linalg.slogdet(cov)[1]
        found = truncmvn.logprob(cov=cov, lower=lower, rng=1)
        assert found.relative_error < 1e-3
        assert abs(found.log - exact) <= 3 * found.relative_error + 1e-6


def test_errors_are_as_large_as_stated():
    # Right errors fail here less than once in 1e4 times.
    frozen = truncmvn(cov=equicorrelated(5), lower=np.zeros(5), method="tilting")
    beyond = []
    for seed in range(60):
        found = frozen.logprob(n_points=600, rng=seed)
        beyond.append((found.log + np.log(6)) / found.relative_error)
    assert np.max(np.abs(beyond)) < 5 and 0.4 < np.std(beyond) < 1.3
    assert abs(np.mean(beyond)) < 4 / np.sqrt(60)


def test_one_dimension_is_truncnorms():
    for low, high in ((8.0, 9.0), (-INF, -30.0), (1e6, INF), (-1e-12, 1e-12)):
        found = truncmvn.logprob(2.0, 9.0, 2 + 3 * low, 2 + 3 * high)
        ends = (2 + 3 * low - 2) / 3, (2 + 3 * high - 2) / 3
        np.testing.assert_allclose(found.log, truncnorm.log_mass(*ends), rtol=1e-14)


def test_two_dimensions_against_scipy():
    rng = np.random.default_rng(4)
    for _ in range(10):
        rho, lower = rng.uniform(-0.99, 0.99), rng.normal(size=2)
        upper = lower + rng.exponential(size=2)
        cov = [[1, rho], [rho, 1]]
        exact = stats.multivariate_normal.cdf(upper, cov=cov, lower_limit=lower)
        np.testing.assert_allclose(
            np.exp(truncmvn.logprob(None, cov, lower, upper).log), exact, rtol=1e-8, atol=1e-12
        )


def test_coordinates_without_ends_count_for_nothing():
    cov = toeplitz(6, 0.5)
    lower = np.array([0.0, -INF, 0.0, -INF, -INF, 0.0])
    some = truncmvn.logprob(cov=cov, lower=lower, rng=1)
    held = np.isfinite(lower)
    assert_as_stated(some, np.log(orthant(cov[np.ix_(held, held)])))
    assert truncmvn.logprob(cov=cov) == (0.0, 0.0, 0.0, 0, "factor")
    assert truncmvn(cov=cov, method="tilting").logprob() == (0.0, 0.0, 0.0, 0, "tilting")


def test_independent_coordinates_leave_rounding_only():
    given = None, np.ones(200), np.linspace(-2, 3, 200)
    for method, error in (("factor", 1e-11), ("tilting", 1e-9)):
        found = truncmvn(*given, method=method).logprob(rng=1)
        assert_as_stated(found, truncnorm.log_mass(np.linspace(-2, 3, 200), INF).sum())
        assert found.relative_error < error


def test_a_box_that_no_point_finds_is_said(monkeypatch):
    nothing = subject.WeighedPoints(np.full((9, 2), -INF), np.empty(0))
    monkeypatch.setattr(subject, "weighed_points", lambda *given, **more: nothing)
    found = truncmvn(None, toeplitz(4, 0.5), 0.0).logprob(rng=1)
    assert found == (-INF, INF, INF, 18, "tilting") and "relative_error=inf" in repr(found)


def test_n_points_is_what_is_used_at_most():
    for n in (9, 17, 100, 10_000, 16_384, 99_999):
        replicates, each = subject.replicates_of(n)
        assert 9 <= replicates < 18 and each & (each - 1) == 0
        assert replicates * each <= n < (replicates + 1) * each
    with pytest.raises(ValueError, match="n_points must be at least 9, got 8"):
        truncmvn.logprob(cov=np.eye(3), lower=0, n_points=8)


@pytest.mark.parametrize("n_points", [20, 1000, 5000])
def test_points_weighed_in_pieces_are_the_same(monkeypatch, n_points):
    frozen = truncmvn(None, toeplitz(5, 0.5), -1.0, 2.0)
    all_at_once = frozen.logprob(n_points=n_points, rng=1), frozen.cov(n_points=n_points, rng=1)
    for numbers in (1, 1000):
        monkeypatch.setattr(subject, "NUMBERS", numbers)
        pieces = frozen.logprob(n_points=n_points, rng=1), frozen.cov(n_points=n_points, rng=1)
        assert pieces[0] == all_at_once[0]
        np.testing.assert_array_equal(pieces[1], all_at_once[1])
