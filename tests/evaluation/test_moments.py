"""Frequencies, correlations and distances of letters against plain sums; errors."""

from itertools import combinations

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.evaluation import moments

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (30, 5))
X[:, 3] = (X[:, 0] + (RNG.random(30) < 0.3)) % 4
WEIGHTS = RNG.random(30)


def plain(rows, weights=None):
    """Return frequencies and connected correlations of four states by their definition."""
    hot = np.eye(4)[rows]
    share = np.full(len(rows), 1.0) if weights is None else np.asarray(weights)
    share = share / share.sum()
    single = np.einsum("r,ria->ia", share, hot)
    both = np.einsum("r,ria,rjb->ijab", share, hot, hot)
    connected = both - np.einsum("ia,jb->ijab", single, single)
    return single, np.array([connected[i, j] for i, j in combinations(range(rows.shape[1]), 2)])


@pytest.mark.parametrize("weights", [None, WEIGHTS, np.full(30, 7.0), WEIGHTS * 1e300])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32])
def test_frequencies_and_correlations(weights, dtype):
    given = None if weights is None else weights / weights.max()
    single, connected = plain(X, given)
    rows = X.astype(dtype)
    np.testing.assert_allclose(
        tf.evaluation.site_frequencies(rows, sample_weight=weights), single, rtol=1e-13
    )
    found = tf.evaluation.pair_correlations(rows, sample_weight=weights)
    np.testing.assert_allclose(found, connected, atol=1e-15)
    assert not rows.flags.writeable or (rows == X).all()


def test_states_that_never_occur_and_pseudocounts():
    found = tf.evaluation.site_frequencies(X, 6, pseudocount=0.25)
    single, connected = plain(X)
    np.testing.assert_allclose(found[:, :4], 0.75 * single + 0.25 / 6, rtol=1e-13)
    np.testing.assert_allclose(found[:, 4:], 0.25 / 6)
    more = tf.evaluation.pair_correlations(X, 6)
    np.testing.assert_allclose(more[:, :4, :4], connected, atol=1e-15)
    assert not more[:, 4:].any() and not more[:, :, 4:].any()


def line(x, y):
    """Return slope and correlation coefficient, as NumPy has them."""
    x, y = x.ravel(), y.ravel()
    return np.array([np.polyfit(x, y, 1)[0], np.corrcoef(x, y)[0, 1]])


@pytest.mark.parametrize("weights", [None, WEIGHTS[:16]])
def test_agreement_and_its_errors(weights):
    data, samples = X[:16], X[14:]
    found = tf.evaluation.compare_correlations(data, samples, sample_weight=weights, rng=0)
    own = plain(data, weights)[1]
    np.testing.assert_allclose(found[:2], line(own, plain(samples)[1]), rtol=1e-10)
    # With no more rows than groups each row is left out once, whatever the random numbers.
    left = [np.delete(np.arange(16), k) for k in range(16)]
    some = [None if weights is None else weights[rows] for rows in left]
    one = [line(plain(data[r], w)[1], plain(samples)[1]) for r, w in zip(left, some, strict=True)]
    two = [line(own, plain(samples[rows])[1]) for rows in left]
    error = np.sqrt(15 * (np.var(one, axis=0) + np.var(two, axis=0)))
    np.testing.assert_allclose(found[2:], error, rtol=1e-8)


def test_errors_are_those_of_rows_drawn_anew():
    def drawn(n):
        rows = RNG.integers(0, 3, (n, 4))
        rows[:, 1] = np.where(RNG.random(n) < 0.6, rows[:, 0], rows[:, 1])
        return rows

    found = np.array(
        [tf.evaluation.compare_correlations(drawn(400), drawn(600), 3, rng=0) for _ in range(200)]
    )
    spread, said = found[:, :2].std(axis=0), np.sqrt((found[:, 2:] ** 2).mean(axis=0))
    # The spread of 200 is known to 5 %, a jackknife of 20 groups to 16 % / sqrt(200) and its bias.
    assert (np.abs(said / spread - 1) < 0.35).all(), (said, spread)


def test_many_groups_are_random_and_repeatable():
    rows = RNG.integers(0, 3, (100, 4))
    first, again, other = (
        tf.evaluation.compare_correlations(rows[:50], rows[50:], rng=k) for k in (0, 0, 1)
    )
    assert first == again and first[2:] != other[2:]
    np.testing.assert_allclose(first[:2], other[:2], rtol=1e-12)


def test_what_is_refused():
    for call in (tf.evaluation.site_frequencies, tf.evaluation.pair_correlations):
        with pytest.raises(ValueError, match="X must hold whole numbers from 0 to 2, got 3"):
            call(X, 3)
        with pytest.raises(ValueError, match="got [0-9].5"):
            call(X / 2)
        with pytest.raises(ValueError, match=r"sample_weight must .* shape \(30,\)"):
            call(X, sample_weight=[1.0])
    with pytest.raises(ValueError, match="X must have two sites or more, got 1"):
        tf.evaluation.pair_correlations(X[:, :1])
    with pytest.raises(ValueError, match="samples must have as many sites as data, 5, got 4"):
        tf.evaluation.compare_correlations(X, X[:, 1:])
    with pytest.raises(ValueError, match="samples must have two rows or more, got 1"):
        tf.evaluation.compare_correlations(X, X[:1])
    with pytest.raises(ValueError, match="there are no correlations in one"):
        tf.evaluation.compare_correlations(X, np.zeros((4, 5)), rng=0)


@pytest.mark.parametrize("sites", [1, 7, 300])
def test_nearest_distances(sites, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 16)
    X, others = RNG.integers(0, 3, (20, sites)), RNG.integers(0, 3, (50, sites))
    found = tf.evaluation.nearest_distances(X, others)
    expected = (X[:, None] != others).sum(axis=2)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected.min(axis=1))
    own = (others[:, None] != others).sum(axis=2) + np.eye(50, dtype=int) * sites
    np.testing.assert_array_equal(tf.evaluation.nearest_distances(others), own.min(axis=1))
    assert not tf.evaluation.nearest_distances(others.astype(np.float32), others).any()


def test_what_distances_are_refused():
    with pytest.raises(ValueError, match="reference must have 2 columns, got 3"):
        tf.evaluation.nearest_distances([[0, 1]], [[0, 1, 2]])
    with pytest.raises(ValueError, match="two rows or more without a reference"):
        tf.evaluation.nearest_distances([[0, 1]])
    with pytest.raises(ValueError, match="X must hold whole numbers from 0 to 255, got -1"):
        tf.evaluation.nearest_distances([[0, -1]], [[0, 1]])
