"""Covariances of one factor: which are taken for it, and all that follows, against 40 digits."""

from fractions import Fraction

import numpy as np
import pytest

from tests.support.units import assert_uniform
from tests.support.vectors import INF, conditional_shares, equicorrelated, one_factor, toeplitz
from trug_fast import truncmvn, truncnorm

LOADINGS = np.array([0.9, -0.5, 0.3, 0.0, -0.7])


def star(loadings):
    """Return the covariance of a vector whose first coordinate is the factor itself."""
    return one_factor(np.concatenate([[1.0], loadings]))


@pytest.mark.parametrize(
    "cov",
    [
        one_factor(LOADINGS),
        np.diag([1.0, 4.0, 0.25]) @ one_factor(LOADINGS[:3]) @ np.diag([1.0, 4.0, 0.25]),
        one_factor(1e-3 * LOADINGS),
        star(LOADINGS),
        toeplitz(3, -0.7),
        np.eye(4),
        np.array([[1.0, 0, 0.5], [0, 1, 0], [0.5, 0, 1]]),
        one_factor(LOADINGS).astype(np.float32),
        equicorrelated(4, 1 - 1e-9),
        equicorrelated(2, -0.9),
        one_factor(LOADINGS) + 3e-14 * np.eye(5, k=2) + 3e-14 * np.eye(5, k=-2),
    ],
)
def test_what_is_of_one_factor(cov):
    assert truncmvn(None, cov, 0.0).method == "factor"


@pytest.mark.parametrize(
    "cov",
    [
        toeplitz(4, 0.5),
        equicorrelated(3, -0.3),  # -b b' + diag
        one_factor(LOADINGS) + 1e-12 * np.eye(5, k=2) + 1e-12 * np.eye(5, k=-2),
        np.kron(np.eye(2), equicorrelated(2)),  # two factors
        np.array([[1.0, 0.6, 0.6], [0.6, 1, 0], [0.6, 0, 1]]),
        np.array([[1.0, 0.9, 0.7], [0.9, 1, 0.5], [0.7, 0.5, 1]]),  # of a loading above 1
        (one_factor(LOADINGS) + 1e-5 * np.eye(5, k=2) + 1e-5 * np.eye(5, k=-2)).astype(np.float32),
    ],
)
def test_what_is_not(cov):
    frozen = truncmvn(None, cov, 0.0)
    assert frozen.method == "tilting" == frozen.logprob(rng=1).method
    with pytest.raises(ValueError, match="method='factor' takes what has ends to have a cov"):
        truncmvn(None, cov, 0.0, method="factor")


def test_where_last_digits_matter_tilting_is_taken():
    cov, ends = equicorrelated(4, 1 - 1e-9), ([10, -INF, 10, -INF], [INF, -10, 10.01, -9.99])
    found = truncmvn(None, cov, *ends).logprob(rng=1)
    assert found.method == "tilting" and abs(found.log / -199900037798.3 - 1) < 1e-6
    with pytest.raises(ValueError, match="right to its last digits"):
        truncmvn(None, cov, *ends, method="factor")


def test_methods_have_names():
    with pytest.raises(ValueError, match="method must be one of auto, factor, tilting, got 'mc'"):
        truncmvn(None, np.eye(2), 0.0, method="mc")


def test_only_coordinates_with_ends_count():
    cov = toeplitz(6, 0.6)
    assert truncmvn(None, cov, [0, -INF, 0, 0, -INF, -INF]).method == "factor"
    assert truncmvn(None, cov, [0, -INF, 0, 0, -INF, 0]).method == "tilting"


@pytest.mark.parametrize("d", [2, 3, 4, 10, 50, 100])
def test_orthants_are_1_over_d_plus_1(d):
    found = truncmvn(None, equicorrelated(d), 0.0).logprob()
    error = abs(found.log + np.log(d + 1))
    assert error <= 3 * found.relative_error < 1e-12 and error < 1e-13
    assert found.log_bound >= -np.log(d + 1) and found.n_points == 0


# log P by mpmath's quad of 50 digits: of the density of z times products of differences of erfc,
# between points 4 or 5 apart, over a number near it.
@pytest.mark.parametrize("shift, exact", [(0, -4.694499725188451867), (20, -320.9140801608361628)])
def test_boxes_against_40_digits(shift, exact):
    lower = np.array([-1.0, -0.5, -2.0, 0.3, -INF]) + shift * np.sign(LOADINGS)
    upper = np.array([0.5, INF, 1.0, 0.4, 0.7]) + shift * np.sign(LOADINGS)
    found = truncmvn(None, one_factor(LOADINGS), lower, upper).logprob()
    assert abs(found.log - exact) <= 3 * found.relative_error < 3e-14 * max(10, abs(exact))


@pytest.mark.parametrize(
    "far, exact",
    [(10, -93.47090918888281293), (100, -8354.628313191566178), (10_000, -83333377.64967864911)],
)
def test_far_corners_against_40_digits(far, exact):
    found = truncmvn(None, equicorrelated(5), far).logprob()
    assert abs(found.log - exact) <= 3 * found.relative_error < 3e-14 * abs(exact)
    assert abs(found.log / exact - 1) < 1e-15


def test_a_factor_without_noise_and_noise_of_any_size():
    # x_0 = z, x_1 = b z + e: the orthant is 1/4 + asin(b)/(2 pi), also where e is all but nothing.
    for gap in (1e-2, 1e-6, 1e-12):
        b = 1 - gap
        cov = one_factor(np.array([b, b, 0.0]))
        found = truncmvn(None, cov, 0.0).logprob()
        rho = cov[0, 1]
        exact = np.log(0.125 + np.arctan2(rho, np.sqrt((1 - rho) * (1 + rho))) / (4 * np.pi))
        assert abs(found.log - exact) <= max(3 * found.relative_error, 1e-15)
    lower = np.array([0.5, -1.0, 0.2, 0.1, -0.3, 0.4])
    grid, weights = np.polynomial.legendre.leggauss(200)
    z = 5.5 + 5 * grid
    mass = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi) * 5 * weights
    for b, low in zip(LOADINGS, lower[1:], strict=True):
        mass *= truncnorm.sf((low - b * z) / np.sqrt(1 - b * b), -INF, INF)
    frozen = truncmvn(None, star(LOADINGS), lower)
    assert abs(frozen.logprob().log - np.log(mass.sum())) < 1e-13
    mean = (z @ mass) / mass.sum()
    assert abs(frozen.mean().value[0] - mean) < 1e-13
    assert abs(frozen.cov().value[0, 0] - (z * z @ mass / mass.sum() - mean**2)) < 1e-12


# log P by mpmath's quad of 30 digits, between points two widths of the step apart about it.
@pytest.mark.parametrize("low", [-2.0, -0.5, 0.0, 1.0])
@pytest.mark.parametrize("gap", [1e-11, 1e-9, 1e-6])
def test_steps_as_narrow_as_little_noise_are_seen(low, gap):
    # Three of equal correlations r: z is uniform but for a step of width sqrt(1 - r) at low.
    cov = equicorrelated(3, 1 - gap)
    found = truncmvn(None, cov, low).logprob()
    noise = 1 - cov[0, 1]
    grid, weights = np.polynomial.legendre.leggauss(400)
    width = 12 * np.sqrt(noise)
    b, s = np.sqrt(cov[0, 1]), np.sqrt(noise)
    z = low / b + width * grid
    mass = weights @ (np.exp(-z * z / 2) * truncnorm.sf((low - b * z) / s, -INF, INF) ** 3)
    total = width * mass / np.sqrt(2 * np.pi) + truncnorm.sf(low / b + width, -INF, INF)
    assert abs(found.log - np.log(total)) <= 3 * found.relative_error + 1e-14
    assert found.relative_error < 1e-8


def test_digits_of_correlations_near_1_are_in_the_stated_error():
    generator = np.random.default_rng(0)
    for _ in range(50):
        rho, s = 1 - 10 ** generator.uniform(-12, -2), generator.uniform(0.1, 10, 2)
        cov = np.outer(s, s) * (rho + (1 - rho) * np.eye(2))
        found = truncmvn(None, cov, 0.0).logprob()
        # 1 - r of the floats, by exact arithmetic
        a, b, c = (Fraction(float(n)) for n in (cov[0, 0], cov[1, 1], cov[0, 1]))
        short = float(1 - c * c / (a * b))
        exact = np.log(0.5 - np.arctan2(np.sqrt(short), np.sqrt(1 - short)) / (2 * np.pi))
        assert abs(found.log - exact) <= 3 * found.relative_error < 1e-8


def test_a_deviation_is_in_the_stated_error():
    cov, lower = one_factor(np.abs(LOADINGS)), np.full(5, 40.0)
    pair = np.zeros((5, 5))
    pair[1, 4] = pair[4, 1] = 8e-7
    rounded = (cov + pair).astype(np.float32)
    one, other = (truncmvn(None, c, lower, method="factor").logprob() for c in (cov, rounded))
    force = np.linalg.solve(cov, lower)
    change = 0.5 * force @ (rounded - cov) @ force
    assert 1e-5 < abs(other.log - one.log - change) <= 3 * other.relative_error < 1e-2
    assert one.relative_error < 1e-10


DRAWN = {
    "orthant": (np.zeros(5), equicorrelated(5), np.zeros(5), np.full(5, INF)),
    "signs": (
        np.ones(5), 4 * one_factor(LOADINGS), np.full(5, -1.0), np.array([1, INF, 2, 3, INF])
    ),
    "star": (np.zeros(6), star(LOADINGS), np.full(6, -0.5), np.full(6, 0.5)),
    "far": (np.zeros(3), toeplitz(3, 0.6), np.full(3, 50.0), np.full(3, INF)),
    "little noise": (np.zeros(3), equicorrelated(3, 1 - 1e-6), np.full(3, -0.3), np.full(3, 1.0)),
    "some free": (
        np.ones(4), 4 * toeplitz(4, 0.7), np.array([-INF, 2, -INF, 2]), np.full(4, INF)
    ),
    "independent": (np.zeros(3), np.eye(3), np.array([-INF, -1, 3]), np.array([INF, 1, 4])),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_draws(name):
    mean, cov, lower, upper = DRAWN[name]
    frozen = truncmvn(mean, cov, lower, upper, method="factor")
    x, info = frozen.rvs(20_000, rng=1, return_info=True)
    assert ((x >= lower) & (x <= upper)).all() and info.acceptance > 0.99
    shares = conditional_shares(x, mean, cov, lower, upper)
    for column in shares.T:
        assert_uniform(column)
    # Right draws are off by five deviations once in 1e6 times.
    value, spread = frozen.mean().value, frozen.cov().value
    assert np.abs((x.mean(0) - value) / np.sqrt(np.diagonal(spread) / 20_000)).max() < 5
    products = (x - value)[:, :, None] * (x - value)[:, None, :]
    error = products.std(0) / np.sqrt(20_000)
    assert (np.abs(products.mean(0) - spread) < 5 * error).all()
    lag = np.corrcoef(shares[1:, 0], shares[:-1, 0])[0, 1]
    assert abs(lag) < 5 / np.sqrt(20_000)


def test_the_share_of_proposals_taken_is_the_probability_over_its_bound():
    frozen = truncmvn(None, equicorrelated(10), 0.0)
    _, info = frozen.rvs(100_000, rng=1, return_info=True)
    expected = np.exp(-np.log(11) - info.log_bound)
    assert 0.99 < expected < 1 and info.method == "factor"
    assert abs(info.acceptance - expected) < 5 * np.sqrt((1 - expected) / 100_000)


def test_many_dimensions():
    frozen = truncmvn(None, equicorrelated(1000), 0.0)
    x = frozen.rvs(100, rng=1)
    assert x.shape == (100, 1000) and x.min() >= 0
    found = frozen.logprob()
    assert abs(found.log + np.log(1001)) < min(1e-13, 3 * found.relative_error)


def test_without_ends_draws_are_normal():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.7], [0.7, 1.0]])
    x, info = truncmvn(mean, cov).rvs(20_000, rng=1, return_info=True)
    white = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T)
    for row in white:
        assert_uniform(truncnorm.cdf(row, -INF, INF))
    assert abs(np.corrcoef(white)[0, 1]) < 5 / np.sqrt(20_000)
    assert info.acceptance == 1.0 and info.log_bound == 0.0
