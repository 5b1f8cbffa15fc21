"""Hamiltonian paths between walls: regions that a box is not, walls far out, and walls met."""

import numba
import numpy as np
import pytest
from scipy import optimize, stats

import trug_fast as tf
from tests.support.units import assert_uniform
from trug_fast.distributions.multivariate import chains as stretches
from trug_fast.distributions.multivariate import hmc
from trug_fast.kernels.multivariate.bounces import Walls, half_tangent

INF = float("inf")
PAIR = np.array([[1.0, 0.5], [0.5, 1.0]])


def test_numbers_in_order_are_order_statistics():
    d = 5
    rises = np.diff(np.eye(d), axis=0)
    found = tf.distributions.truncmvn_hmc(
        None, np.eye(d), 0, A=rises, n_chains=5000, n_samples=1, n_burn=30, rng=1
    )
    assert (np.diff(found.samples) >= 0).all()
    below = stats.norm.cdf(found.samples[:, 0])
    for k in range(d):
        assert_uniform(stats.beta.cdf(below[:, k], k + 1, d - k), groups=5)


def test_a_polygon_has_the_moments_of_a_grid():
    angles = np.arange(5) * 2 * np.pi / 5
    A = np.column_stack([np.cos(angles), np.sin(angles)])
    mean = np.array([0.8, -0.3])
    found = tf.distributions.truncmvn_hmc(mean, PAIR, None, 1.0, A, n_samples=20_000, rng=2)
    assert (found.samples @ A.T <= 1.0).all()
    grid = np.stack(np.meshgrid(*[np.linspace(-1.5, 1.5, 1500)] * 2), axis=-1).reshape(-1, 2)
    grid = grid[(grid @ A.T <= 1).all(axis=1)]
    weights = stats.multivariate_normal(mean, PAIR).pdf(grid)
    weights /= weights.sum()
    exact = weights @ grid
    assert (np.abs(found.mean - exact) < 5 * found.std_error + 1e-4).all()
    spread = (grid - exact).T @ (weights[:, None] * (grid - exact))
    np.testing.assert_allclose(found.cov, spread, atol=0.01)


def test_a_box_by_constraints_is_the_box():
    same = {"n_samples": 50, "rng": 3, "start": [1.0, 1.0]}
    box = tf.distributions.truncmvn_hmc(None, PAIR, 0, [2, INF], **same).samples
    by_a = tf.distributions.truncmvn_hmc(None, PAIR, 0, [2, INF], np.eye(2), **same).samples
    np.testing.assert_array_equal(box, by_a)
    twice = np.vstack([np.eye(2), -np.eye(2)])  # an end a row, and one that is nowhere
    by_rows = tf.distributions.truncmvn_hmc(None, PAIR, None, [2, INF, 0, 0], twice, **same).samples
    np.testing.assert_allclose(by_rows, box, atol=1e-9)
    by_precision = tf.distributions.truncmvn_hmc(
        precision=np.linalg.inv(PAIR), lower=0, upper=[2, INF], **same
    )
    np.testing.assert_allclose(by_precision.samples, box, atol=1e-9)


def test_without_walls_draws_are_the_normals():
    found = tf.distributions.truncmvn_hmc(
        [1.0, 2.0], PAIR, n_chains=20_000, n_samples=2, n_burn=0, rng=1
    )
    rows = found.samples[:, -1] - [1, 2]
    assert_uniform(stats.norm.cdf(rows[:, 0]))
    assert_uniform(stats.norm.cdf((rows[:, 1] - 0.5 * rows[:, 0]) / 0.75**0.5))
    ends = found.samples - [1, 2]
    assert abs((ends[:, 0] * ends[:, 1]).mean()) < 0.03  # paths about a quarter of a period long


def test_products_of_walls_may_be_computed_at_each_bounce(monkeypatch):
    A = np.random.default_rng(5).normal(size=(12, 3))
    same = {"upper": 1.0, "A": A, "n_samples": 20, "rng": 3}
    kept = tf.distributions.truncmvn_hmc(None, 1.0, **same).samples
    monkeypatch.setattr(hmc, "PRODUCTS", 0)
    np.testing.assert_allclose(
        tf.distributions.truncmvn_hmc(None, 1.0, **same).samples, kept, atol=1e-6
    )


@pytest.mark.parametrize("place", [0.0, 5.0, -50.0])
def test_a_thin_slab_is_uniform_across(place):
    A, width = np.array([[0.6, 0.8, 0.0]]), 1e-3
    found = tf.distributions.truncmvn_hmc(None, 1.0, place, place + width, A, n_samples=300, rng=1)
    across = found.samples @ A[0]
    assert ((place <= across) & (across <= place + width)).all()
    assert ((across - place) / width).mean() == pytest.approx(0.5, abs=0.05)
    along = found.samples @ [0.8, -0.6, 0.0]
    assert abs(along.mean()) < 0.15 and along.std() == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("width", [1.0, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("place", [0.0, 1.0, -300.0])
def test_a_point_is_found_in_what_is_thin(width, place):
    normals = np.vstack([np.eye(3)[:2], np.ones(3) / 3**0.5])
    lower = np.array([place, -np.inf, place])
    upper = np.array([place + width, 3.0, place + width])
    walls = Walls(normals, normals.T, normals @ normals.T, lower, upper)
    at = normals @ hmc.point_inside(walls, np.zeros(3))
    assert ((walls.lower < at) & (at < walls.upper)).all()


def test_a_path_ends_at_no_resonance():
    # In this corner paths of a quarter period all ended standing still, 40 deviations away.
    found = tf.distributions.truncmvn_hmc(None, PAIR, [30, -100], [100, -28], n_samples=200, rng=2)
    assert (np.abs(found.samples - [30, -28]) < 1.0).all()


def test_when_a_wall_is_met():
    rng = np.random.default_rng(7)
    for _ in range(300):
        z, v = rng.normal(size=2) * 10 ** rng.uniform(-2, 2, 2)
        wall = z + abs(rng.normal()) * 10 ** rng.uniform(-3, 2)
        t = np.linspace(0, np.pi - 1e-3, 4001)
        beyond = np.flatnonzero(z * np.cos(t) + v * np.sin(t) > wall)
        met = half_tangent(z, v, wall)
        if beyond.size:

            def height(s, z=z, v=v, wall=wall):
                return z * np.cos(s) + v * np.sin(s) - wall

            exact = optimize.brentq(height, t[beyond[0] - 1], t[beyond[0]], xtol=1e-15)
            assert 2 * np.arctan(met) == pytest.approx(exact, rel=1e-9, abs=1e-13)
        else:
            inner = 2 * np.arctan(met)
            assert inner > np.pi - 2e-3 or z * np.cos(inner) + v * np.sin(inner) <= wall + 1e-6
    assert half_tangent(1.0, 0.5, 1.0) == 0.0 and half_tangent(1.0 + 1e-15, 0.5, 1.0) == 0.0
    assert half_tangent(1.0, -0.5, 1.0) == INF  # it has just bounced
    assert half_tangent(-2.0, -0.5, -2.0) == pytest.approx(0.25)  # and comes back
    assert half_tangent(0.0, 0.0, INF) == INF and half_tangent(0.3, 0.4, 0.6) == INF


def test_threads_and_stretches_leave_the_bits(monkeypatch):
    A = np.random.default_rng(5).normal(size=(300, 100))

    def draws():
        return tf.distributions.truncmvn_hmc(
            None, 1.0, None, 1.0, A, n_samples=3, n_burn=2, thin=2, n_chains=10, rng=3
        ).samples

    every = draws()
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        np.testing.assert_array_equal(draws(), every)
    finally:
        numba.set_num_threads(threads)
    monkeypatch.setattr(stretches, "STRETCH", 1.0)
    np.testing.assert_array_equal(draws(), every)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"A": np.eye(2)}, "with A lower or upper must be given"),
        ({"A": [[1, 0], [-1, 0]], "upper": [0, -1]}, "leave room"),
        ({"A": [[1, 0], [-1, 0]], "upper": 0}, "leave room"),
        ({"A": [[1, 1], [0, 0]], "upper": 0}, "A must have no row of zeros"),
        ({"A": np.ones((2, 3)), "upper": 0}, "A must have a column"),
        ({"A": [[1, 1]], "upper": [0, 1]}, "upper must be a number or have shape"),
        ({"A": [[1, 1]], "upper": 0, "start": [1, 1]}, "outside .* for row 0 of A"),
        ({"A": [[1, 1]], "upper": 0, "start": [INF, 1]}, "start must be finite"),
    ],
)
def test_bad_constraints(arguments, words):
    with pytest.raises(ValueError, match=words):
        tf.distributions.truncmvn_hmc(None, PAIR, **arguments)


def test_a_path_without_end_is_an_error(monkeypatch):
    monkeypatch.setattr(hmc, "BOUNCES", 3)
    with pytest.raises(RuntimeError, match="bounced more than 3 times"):
        tf.distributions.truncmvn_hmc(None, PAIR, [30, 30], rng=1)
