"""Weights of similar rows: exactly the definition, whatever numbers stand for categories."""

import numba
import numpy as np
import pytest

import trug_fast as tf


def counted(X, threshold):
    """Compare all pairs of rows, one after the other."""
    need = threshold * X.shape[1] - 1e-9
    return np.array([1 / sum((x == z).sum() >= need for z in X) for x in X])


@pytest.mark.parametrize("threshold", [0.3, 0.8, 1.0])
@pytest.mark.parametrize(("rows", "columns", "kinds"), [(300, 9, 3), (65, 300, 2), (1, 1, 1)])
def test_weights_are_those_of_a_double_loop(rows, columns, kinds, threshold):
    rng = np.random.default_rng(0)
    X = rng.integers(0, kinds, (min(rows, 150), columns))
    X = X[rng.integers(0, len(X), rows)]
    X = np.where(rng.random(X.shape) < 0.1, rng.integers(0, kinds, X.shape), X)
    expected = counted(X, threshold)
    for given in (X, X.astype(np.uint8), X - 7.5, np.asfortranarray(X), X[:, ::-1]):
        before = given.copy()
        found = tf.datasets.similarity_weights(given, threshold)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(given, before)
    assert found.dtype == np.float64
    try:
        threads = numba.get_num_threads()
        numba.set_num_threads(1)
        np.testing.assert_array_equal(tf.datasets.similarity_weights(X, threshold), expected)
    finally:
        numba.set_num_threads(threads)


def test_a_share_is_reached_by_as_many_columns_as_it_says():
    # Of 5 columns 0.8 are 4, of 10 0.7 are 7, though 0.7 * 10 is a little more in floats.
    for columns, same, share in ((5, 4, 0.8), (10, 7, 0.7), (510, 357, 0.7), (3, 2, 2 / 3)):
        X = np.zeros((2, columns), bool)
        X[1, same:] = True
        np.testing.assert_array_equal(tf.datasets.similarity_weights(X, share), [0.5, 0.5])
        X[1, same - 1] = True
        np.testing.assert_array_equal(tf.datasets.similarity_weights(X, share), [1, 1])


@pytest.mark.parametrize(
    ("X", "threshold", "words"),
    [
        ([[1, np.nan]], 0.8, "X must be finite"),
        ([1, 2], 0.8, "X must be a matrix"),
        (np.arange(300)[:, None], 0.8, "up to 256 different ones in a column, got 300 in column 0"),
        ([[1, 2]], 0, "threshold must be positive, got 0"),
        ([[1, 2]], 1.1, "threshold must be at most 1"),
    ],
)
def test_bad_input(X, threshold, words):
    with pytest.raises(ValueError, match=words):
        tf.datasets.similarity_weights(X, threshold)
