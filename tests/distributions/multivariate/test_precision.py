"""Precisions, dense and sparse: what is taken, and what is said of the rest."""

import numpy as np
import pytest
import scipy.sparse as sp

from trug_fast.distributions.multivariate.checking import cut_precision

CHAIN = sp.diags([np.full(5, 2.0), -np.ones(4), -np.ones(4)], offsets=[0, 1, -1])


def test_kinds_of_sparse_matrices_are_one():
    for kind in (sp.csr_array, sp.csc_array, sp.coo_matrix, sp.dia_matrix, sp.lil_array):
        cut = cut_precision(None, None, kind(CHAIN), 0, None)
        np.testing.assert_array_equal(cut.precision.toarray(), CHAIN.toarray())
        np.testing.assert_array_equal(cut.diagonal, 2.0)
    whole = cut_precision(None, None, sp.csr_array(CHAIN).astype(np.int64), 0, None)
    assert whole.dtype == np.float64


def test_entries_given_twice_are_added_and_the_callers_stay():
    twice = sp.csr_array((np.ones(3), [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    cut = cut_precision(None, None, twice, 0, None)
    np.testing.assert_array_equal(cut.precision.toarray(), np.diag([2.0, 1.0]))
    assert twice.data.size == 3


def walk(extra):
    """Return the precision of a random walk, on a diagonal that is not dominant."""
    q = CHAIN.tolil()
    q[0, 0] = q[4, 4] = 1.0 + extra
    return q


def test_positive_definite_without_a_dominant_diagonal():
    cut_precision(None, None, walk(1e-3), 0, None)
    dense = np.array([[1.0, 0.6, 0.6], [0.6, 1.0, 0.6], [0.6, 0.6, 1.0]])
    cut_precision(None, None, sp.csr_array(dense), 0, None)


@pytest.mark.parametrize(
    "matrix, words",
    [
        (walk(0.0), "precision must be positive definite"),
        (walk(-0.5), "precision must be positive definite"),
        (-0.6 + 1.6 * np.eye(3), "precision must be positive definite"),
        ([[1, 0.5], [0.4, 1]], "precision must be symmetric, got 0.5 at"),
        ([[1, 0], [0, -1]], "the diagonal of precision must be positive, got -1.0 at index 1"),
        ([[1, np.nan], [np.nan, 1]], "precision must be finite"),
        (np.ones((2, 3)), r"precision must have shape \(d, d\), got \(2, 3\)"),
        (np.zeros((0, 0)), "at least one dimension"),
    ],
)
def test_bad_sparse_precisions(matrix, words):
    with pytest.raises(ValueError, match=words):
        cut_precision(None, None, sp.csr_array(matrix), 0, None)


def test_precisions_of_no_real_numbers():
    with pytest.raises(TypeError, match="the entries of precision must hold real numbers"):
        cut_precision(None, None, sp.csr_array(np.eye(2, dtype=complex)), 0, None)


def test_a_sparse_precision_is_never_made_dense():
    beside = -np.ones(299_999)
    large = sp.diags([np.full(300_000, 3.0), beside, beside], offsets=[0, 1, -1])
    cut = cut_precision(0.5, None, large, 0, np.full(300_000, np.inf))
    assert cut.precision.nnz == 899_998 and cut.diagonal[7] == 3.0
