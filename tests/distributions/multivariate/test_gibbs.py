"""Gibbs sampling of truncated normal vectors: against exact values, and against itself."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import trug_fast as tf
from tests.support.normal_vectors import Pair, one_factor
from tests.support.units import assert_uniform
from trug_fast import kernels
from trug_fast.distributions.multivariate import chains as stretches

INF, NAN = float("inf"), float("nan")
PAIR = np.array([[1.0, 0.5], [0.5, 1.0]])
BOXES = [
    ((-0.3, -1.0), (1.2, 2.5)),
    ((0.0, -INF), (INF, 0.5)),
    ((10.0, 12.0), (INF, INF)),
    ((30.0, -100.0), (100.0, -28.0)),
    ((100.0, 99.0), (INF, 99.01)),
]
SAMPLERS = [tf.distributions.truncmvn_gibbs, tf.distributions.truncmvn_hmc]


def lattice(rows, extra=0.5):
    """Return the precision of a square lattice, each site with four neighbours at most."""
    line = sp.diags([-np.ones(rows - 1), -np.ones(rows - 1)], offsets=[-1, 1])
    own = sp.eye(rows)
    others = sp.csr_array(sp.kron(line, own) + sp.kron(own, line))
    return (others + sp.diags(extra - others.sum(axis=0))).tocsr()


def equicorrelated(d, correlation):
    return (1 - correlation) * np.eye(d) + correlation


def assert_means(found, means, deviations):
    """Compare means of chains, as many errors apart as come once in 1e6 cases."""
    assert (found.rhat < 1.01).all()
    assert (np.abs(found.mean - means) < 5 * found.std_error).all()
    assert found.std == pytest.approx(deviations, rel=5 / np.sqrt(found.ess.min()))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("box", BOXES, ids=str)
def test_pairs_have_the_moments_of_quadrature(sampler, box):
    exact = [Pair(0.5, *box, place) for place in (0, 1)]
    found = sampler(None, PAIR, *box, n_samples=4000, rng=2)
    assert ((box[0] <= found.samples) & (found.samples <= box[1])).all()
    assert_means(found, [one.mean for one in exact], [one.std for one in exact])


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_normals_own_distribution_is_kept(sampler):
    # One step from exact draws: whatever a step does wrong, nothing has made good for it.
    box = np.array([0.2, -0.5]), np.array([1.5, 0.8])
    rows = np.random.default_rng(1).multivariate_normal([0, 0], PAIR, 120_000)
    rows = rows[((box[0] < rows) & (rows < box[1])).all(axis=1)][:10_000]
    found = sampler(None, PAIR, *box, n_chains=len(rows), n_samples=1, n_burn=0, start=rows, rng=3)
    for place in (0, 1):
        exact = Pair(0.5, *box, place)
        assert_uniform(exact.cdf(rows[:, place]))
        assert_uniform(exact.cdf(found.samples[:, 0, place]))
    product, before = (x[:, 0] * x[:, 1] for x in (found.samples[:, 0], rows))
    assert stats.ks_2samp(product, before).pvalue > 1e-6


@pytest.mark.parametrize("form", [np.asarray, sp.coo_matrix])
def test_a_diagonal_precision_gives_independent_truncnorms(form):
    rng = np.random.default_rng(4)
    d, mean = 40, rng.normal(size=40)
    scale = np.exp(rng.normal(size=d))
    lower = mean + scale * rng.uniform(-2, 30, d)
    upper = np.where(rng.random(d) < 0.5, INF, lower + scale)
    found = tf.distributions.truncmvn_gibbs(
        mean, None, lower, upper, precision=form(np.diag(scale**-2.0)), n_samples=100, rng=5
    )
    ends = (lower - mean) / scale, (upper - mean) / scale
    p = tf.truncnorm.cdf(found.samples, *ends, mean, scale)
    assert_uniform(p.reshape(-1, d).T.ravel(), groups=d)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("d, ends", [(10, (0.0, INF)), (50, (-0.5, 2.0)), (30, (3.0, INF))])
def test_equicorrelated_vectors_have_the_moments_of_their_factor(sampler, d, ends):
    mean, variance = one_factor(0.5, *(np.full(d, end) for end in ends))
    found = sampler(None, equicorrelated(d, 0.5), *ends, n_samples=1000, n_chains=8, rng=6)
    rows = found.samples.mean(axis=2)  # all coordinates are alike
    error = rows.std() / np.sqrt(tf.distributions.TruncMVNChains(rows[:, :, None]).ess[0])
    assert abs(rows.mean() - mean) < 5 * error < 0.05
    assert found.std.mean() ** 2 == pytest.approx(variance, rel=0.05)


def test_sparse_and_dense_draw_from_the_same_distribution():
    q = lattice(5)
    sparse = tf.distributions.truncmvn_gibbs(
        0.3, precision=q, lower=0, upper=2, n_samples=3000, rng=7
    )
    dense = tf.distributions.truncmvn_gibbs(
        0.3, precision=q.toarray(), lower=0, upper=2, n_samples=3000, rng=8
    )
    error = np.hypot(sparse.std_error, dense.std_error)
    assert (np.abs(sparse.mean - dense.mean) < 5 * error).all()
    np.testing.assert_allclose(sparse.cov, dense.cov, atol=0.03)


def test_where_all_are_neighbours_sparse_is_dense():
    # Sums over others are taken in another order, no more.
    q = np.linalg.inv(equicorrelated(40, 0.3))
    same = {"lower": -1, "upper": 2, "n_samples": 5, "n_chains": 5, "rng": 9}
    dense = tf.distributions.truncmvn_gibbs(0.1, precision=q, **same).samples
    sparse = tf.distributions.truncmvn_gibbs(0.1, precision=sp.csr_array(q), **same).samples
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=1e-9)


def test_covariance_and_precision_are_two_ways():
    cov = equicorrelated(6, 0.4)
    same = {"lower": 0, "n_samples": 20, "rng": 1}
    by_cov = tf.distributions.truncmvn_gibbs(1.0, cov, **same).samples
    by_precision = tf.distributions.truncmvn_gibbs(
        1.0, precision=np.linalg.inv(cov), **same
    ).samples
    np.testing.assert_allclose(by_cov, by_precision, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_chains", [3, 100])
def test_threads_and_stretches_leave_the_bits(form, n_chains, monkeypatch):
    q = form(lattice(15).toarray())

    def draws():
        return tf.distributions.truncmvn_gibbs(
            precision=q, lower=0, n_samples=4, n_burn=3, thin=2, n_chains=n_chains, rng=3
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


def test_thinning_and_burning_take_the_same_sweeps():
    same = {"lower": 0, "start": [1, 1], "rng": 3}
    every = tf.distributions.truncmvn_gibbs(None, PAIR, n_samples=12, n_burn=0, **same).samples
    some = tf.distributions.truncmvn_gibbs(
        None, PAIR, n_samples=3, n_burn=3, thin=3, **same
    ).samples
    np.testing.assert_array_equal(some, every[:, 5::3])


def test_a_large_sparse_vector():
    q = lattice(60, 0.01)  # 3600 sites
    found = tf.distributions.truncmvn_gibbs(
        precision=q, lower=-1, upper=3, n_samples=5, n_burn=5, rng=1
    )
    assert found.samples.shape == (4, 5, 3600)
    assert ((found.samples >= -1) & (found.samples <= 3)).all()


def test_float32_alone_gives_float32_and_nothing_of_the_callers_changes():
    cov, start = PAIR.astype(np.float32), np.ones(2)
    before = cov.copy()
    found = tf.distributions.truncmvn_gibbs(None, cov, 0, n_samples=3, start=start, rng=1)
    assert found.samples.dtype == np.float32
    np.testing.assert_array_equal(cov, before)
    np.testing.assert_array_equal(start, 1)
    q = sp.csr_array(np.linalg.inv(PAIR))
    q32 = q.astype(np.float32)
    assert (
        tf.distributions.truncmvn_gibbs(precision=q, lower=0, n_samples=1).samples.dtype
        == np.float64
    )
    assert (
        tf.distributions.truncmvn_gibbs(precision=q32, lower=0, n_samples=1).samples.dtype
        == np.float32
    )


def test_a_step_to_embed_is_the_conditional_of_each_coordinate():
    rng = np.random.default_rng(0)
    q = np.linalg.inv(equicorrelated(5, 0.4))
    mean, lower, upper = rng.normal(size=5), np.full(5, -0.5), np.array([0.5, 1, 2, 3, INF])
    x = np.full(5, 0.1)
    expected, uniforms = x.copy(), kernels.stream(3)
    for i in range(5):
        net = q[i, i] * expected[i] + q[i] @ (mean - expected)
        p = kernels.uniform(uniforms)
        expected[i] = kernels.ppf(p, net, q[i, i], lower[i], upper[i])
    sparse, given = x.copy(), sp.csr_array(q)
    kernels.gibbs_step(kernels.stream(3), x, mean, q, lower, upper)
    np.testing.assert_allclose(x, expected, rtol=1e-9)  # draw and ppf differ by 1e-11
    kernels.gibbs_step_sparse(
        kernels.stream(3), sparse, mean, given.indptr, given.indices, given.data, lower, upper
    )
    np.testing.assert_allclose(sparse, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({}, "cov or precision must be given, one of the two, got neither"),
        ({"cov": PAIR, "precision": PAIR}, "one of the two, got both"),
        ({"cov": [[1, 2], [2, 1]]}, "cov must be positive definite"),
        ({"precision": np.ones((2, 2))}, "precision must be positive definite"),
        ({"precision": np.ones(2)}, "precision must have shape"),
        ({"precision": np.zeros((0, 0))}, "at least one dimension"),
        ({"cov": PAIR, "lower": [0, 1], "upper": 1}, "lower must be below upper"),
        ({"cov": PAIR, "lower": [0, NAN]}, "lower must not be NaN"),
        ({"cov": PAIR, "lower": [0, 0, 0]}, "lower must be a number or have shape"),
        ({"cov": PAIR, "lower": 0, "start": [1, -1]}, "start must lie between lower and upper"),
        ({"cov": PAIR, "lower": 0, "start": [1, NAN]}, "start must be finite"),
        ({"cov": PAIR, "lower": 0, "start": [1, 1, 1]}, "start must have shape"),
        ({"cov": PAIR, "n_samples": 0}, "n_samples must be at least 1"),
        ({"cov": PAIR, "n_chains": 0}, "n_chains must be at least 1"),
        ({"cov": PAIR, "thin": 0}, "thin must be at least 1"),
        ({"cov": PAIR, "n_burn": -1}, "n_burn must be at least 0"),
        ({"cov": PAIR, "rng": -1}, "rng must not be a negative int"),
    ],
)
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_bad_input(sampler, arguments, words):
    with pytest.raises(ValueError, match=words):
        sampler(**arguments)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"mean": 1e308, "cov": PAIR}, "mean must come within 1e.90"),
        ({"cov": 1e-320 * np.ones(2)}, "cov must lie between 1e-305 and"),
        ({"cov": PAIR, "lower": 1e120}, "must come within 1e.90"),
        ({"cov": PAIR, "upper": -1e120}, "must come within 1e.90"),
    ],
)
def test_numbers_too_large_for_conditionals(arguments, words):
    with pytest.raises(ValueError, match=words), np.errstate(all="ignore"):
        tf.distributions.truncmvn_gibbs(**arguments)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_units_of_any_size(form):
    # Powers of two, so that bits agree.
    units = 2.0 ** np.array([-400, 300, 0])
    q = np.linalg.inv(equicorrelated(3, 0.4))
    same = {"n_samples": 10, "rng": 1}
    lower, upper = np.array([1.0, -2.0, -0.5]), np.array([INF, 1.0, 0.5])
    plain = tf.distributions.truncmvn_gibbs(
        0.5, None, lower, upper, precision=form(q), **same
    ).samples
    large = form(q / units / units[:, None])
    found = tf.distributions.truncmvn_gibbs(
        0.5 * units, None, units * lower, units * upper, precision=large, **same
    ).samples
    np.testing.assert_array_equal(found / units, plain)
    nowhere = np.where(upper == INF, 1e300, upper)
    far = tf.distributions.truncmvn_gibbs(
        0.5, None, lower, nowhere, precision=form(q), **same
    ).samples
    np.testing.assert_array_equal(far, plain)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_chains_agree_with_exact_draws_in_twenty_dimensions(sampler):
    rng = np.random.default_rng(11)
    d, root = 20, rng.normal(size=(20, 40))
    cov = root @ root.T / 40
    mean = rng.normal(size=d)
    lower = mean + rng.uniform(-1.5, 0.5, d)
    upper = np.where(rng.random(d) < 0.5, INF, lower + rng.uniform(0.5, 2, d))
    exact = tf.truncmvn.rvs(mean, cov, lower, upper, size=20_000, rng=1)
    found = sampler(mean, cov, lower, upper, n_samples=2000, rng=12)
    error = np.hypot(found.std_error, exact.std(axis=0) / np.sqrt(len(exact)))
    assert (np.abs(found.mean - exact.mean(axis=0)) < 5 * error).all()
    spread = np.sqrt(np.diag(np.cov(exact.T)))
    np.testing.assert_allclose(
        found.cov / np.outer(spread, spread), np.corrcoef(exact.T), atol=0.12
    )
