"""What may be cut, and what is said of the rest."""

import numpy as np
import pytest

from trug_fast.distributions.multivariate.checking import cut_normal

INF, NAN = float("inf"), float("nan")
PAIR = np.array([[2.0, 0.5], [0.5, 1.0]])


def test_numbers_and_vectors_stand_for_arrays():
    cut = cut_normal(1, [1.0, 4.0], -1, None)
    np.testing.assert_array_equal(cut.mean, [1, 1])
    np.testing.assert_array_equal(cut.cov, np.diag([1.0, 4.0]))
    np.testing.assert_array_equal(cut.lower, [-1, -1])
    np.testing.assert_array_equal(cut.upper, [INF, INF])
    assert cut.A is None and cut.mean.size == 2 and cut.dtype == np.float64
    assert cut_normal(None, 3, [0, 0, 0], INF).cov.shape == (3, 3)
    assert cut_normal(None, 3, 0, INF).cov.shape == (1, 1)
    slab = cut_normal(None, 1, 0, [1, 2, 3], np.ones((3, 2)))
    assert slab.mean.size == 2 and slab.lower.shape == (3,)


def test_float32_alone_or_with_python_numbers_stays():
    assert cut_normal(0, PAIR.astype(np.float32), -1, 1.0).dtype == np.float32
    assert cut_normal([0.0, 0.0], PAIR.astype(np.float32), -1, 1.0).dtype == np.float64


def test_arrays_of_the_caller_are_copied():
    ends = np.zeros(2)
    cut = cut_normal(None, PAIR, ends, None)
    ends[0] = 7
    assert cut.lower[0] == 0 and not np.may_share_memory(cut.cov, PAIR)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((None, PAIR, [0, 0], [1, 0]), "lower must be below upper, got lower=0.0, upper=0.0 at"),
        ((None, PAIR, [0, NAN], None), "lower must not be NaN"),
        ((None, PAIR, INF, None), "lower must be below upper"),
        ((None, PAIR, -INF, -INF), "lower must be below upper"),
        ((None, PAIR, [0, 0, 0], None), "lower must be a number or have shape"),
        ((NAN, PAIR, 0, None), "mean must not be NaN"),
        (([0, INF], PAIR, 0, None), "mean must be finite"),
        ((None, [[1, NAN], [NAN, 1]], 0, None), "cov must be finite"),
        ((None, [[1, 2], [2, 1]], 0, None), "cov must be positive definite"),
        ((None, [[1, 1], [1, 1]], 0, None), "cov must be positive definite"),
        ((None, [[1, 0.1], [0.2, 1]], 0, None), "cov must be symmetric"),
        ((None, [[-1, 0], [0, 1]], 0, None), "the diagonal of cov must be positive"),
        ((None, np.ones((2, 3)), 0, None), "cov must have shape"),
        ((None, np.zeros((0, 0)), 0, None), "at least one dimension"),
        ((None, [], 0, None), "at least one dimension"),
        ((None, PAIR, 0, None, np.ones((2, 3))), "A must have a column"),
        ((None, PAIR, 0, None, [[1, 1], [0, 0]]), "A must have no row of zeros"),
        ((None, PAIR, 0, None, [1, 1]), "A must be a matrix"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(ValueError, match=words):
        cut_normal(*arguments)


def test_words_are_no_numbers():
    with pytest.raises(TypeError, match="cov must hold real numbers"):
        cut_normal(None, "wide", 0, 1)
