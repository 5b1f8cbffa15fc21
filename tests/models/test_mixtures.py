"""Mixtures of normals: quantiles to the last digits, densities and scores by their definitions."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm

from trug_fast.models.mixtures import Mixture

RNG = np.random.default_rng(0)
SHARES = (1e-12, 0.001, 0.05, 0.3, 0.5, 0.8, 0.999, 1 - 1e-12)


def mixture(parts=5, shape=(40,), apart=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return Mixture(
        apart * rng.normal(size=(parts, *shape)), np.exp(rng.normal(size=(parts, *shape)))
    )


def single(mixed, index):
    return Mixture(mixed.mean[:, index], mixed.deviation[:, index])


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("apart", [0.0, 1.0, 30.0, 1e4])
def test_a_quantile_is_a_root_to_the_last_digits(q, apart):
    mixed = mixture(apart=apart)
    found = mixed.quantile(q)
    # A few grains beside the root the excess has changed its sign.
    grain = 8 * np.spacing(np.maximum(abs(found), mixed.deviation.min(axis=0)))
    assert (mixed._excess(found - grain, q)[0] <= 0).all()
    assert (mixed._excess(found + grain, q)[0] >= 0).all()
    if apart <= 1.0:  # else the grain of y is coarse beside the deviations
        np.testing.assert_allclose(mixed.cdf(found), q, rtol=1e-12, atol=1e-16)


def test_the_quantile_of_one_normal_is_in_closed_form():
    mixed = mixture(1)
    for q in SHARES:
        expected = mixed.mean[0] + mixed.deviation[0] * ndtri(q)
        np.testing.assert_array_equal(mixed.quantile(q), expected)


def test_quantiles_rise_and_mirror():
    mixed = mixture(apart=3.0)
    found = np.array([mixed.quantile(q) for q in SHARES])
    assert (np.diff(found, axis=0) > 0).all()
    mirrored = Mixture(-mixed.mean, mixed.deviation)
    np.testing.assert_allclose(mirrored.quantile(0.25), -mixed.quantile(0.75), rtol=1e-14)


def test_the_median_of_two_far_parts_is_found_where_no_mass_is():
    # cdf is 1/2 to the last digit from -30 to 30; the tails of both parts agree at 10.
    mixed = Mixture(np.array([[-40.0], [40.0]]), np.array([[1.5], [0.9]]))
    root = -40 + 1.5 * 80 / 2.4
    assert mixed.quantile(0.5)[0] == pytest.approx(root, rel=1e-14)


def test_moments_density_and_cdf_are_their_definitions():
    mixed = mixture(3, (2,))
    mean, deviation = mixed.moments()
    for i in range(2):
        own = single(mixed, i)
        parts = list(zip(own.mean, own.deviation, strict=True))

        def density(y, parts=parts):
            return np.mean([norm.pdf(y, m, s) for m, s in parts])

        y = 0.7
        assert own.log_density(np.array(y)) == pytest.approx(np.log(density(y)), rel=1e-14)
        assert own.cdf(np.array(y)) == pytest.approx(
            np.mean([norm.cdf(y, m, s) for m, s in parts]), rel=1e-14
        )
        assert mean[i] == pytest.approx(quad(lambda t: t * density(t), -60, 60, limit=500)[0])
        second = quad(lambda t: t * t * density(t), -60, 60, limit=500)[0]
        assert deviation[i] ** 2 + mean[i] ** 2 == pytest.approx(second)


def test_a_density_far_out_does_not_underflow():
    mixed = mixture(4, (3,))
    far = mixed.log_density(np.full(3, 1e4))
    assert np.isfinite(far).all() and (far < -1e3).all()


@pytest.mark.parametrize("y", [-4.0, 0.2, 9.0])
def test_crps_is_its_integral(y):
    mixed = mixture(4, (), apart=2.0)
    low = quad(lambda t: mixed.cdf(t) ** 2, -80, y, limit=500)[0]
    high = quad(lambda t: (1 - mixed.cdf(t)) ** 2, y, 80, limit=500)[0]
    assert mixed.crps(np.array(y)) == pytest.approx(low + high, rel=1e-7)


def test_crps_of_one_normal_is_the_known_formula():
    mixed, y = mixture(1), RNG.normal(size=40)
    z = (y - mixed.mean[0]) / mixed.deviation[0]
    expected = z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - np.pi**-0.5
    np.testing.assert_allclose(mixed.crps(y), mixed.deviation[0] * expected, rtol=1e-12)
