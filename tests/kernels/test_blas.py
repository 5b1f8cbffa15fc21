"""Matrix products on views, from inside a user's own compiled code."""

import numpy as np
import pytest
from numba import njit, prange

from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.blas import gemm


@njit
def user_gemm(ta, tb, alpha, a, b, beta, c):
    gemm(ta, tb, alpha, a, b, beta, c)


@njit(parallel=True)
def user_blocks(a, b, c):
    for i in prange(4):
        rows = slice(i * 8, (i + 1) * 8)
        gemm(False, False, 1.0, a[rows], b, 0.0, c[rows])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("tb", [False, True])
def test_views_of_columns_and_accumulation(dtype, ta, tb):
    rng = np.random.default_rng(0)

    def view(rows, columns):
        return rng.normal(size=(rows, columns + 9)).astype(dtype)[:, 4 : columns + 4]

    a = view(*((7, 5) if ta else (5, 7)))
    b = view(*((6, 7) if tb else (7, 6)))
    whole = rng.normal(size=(5, 20)).astype(dtype)
    before, c = whole.copy(), whole[:, 3:9]
    expected = 0.5 * (a.T if ta else a) @ (b.T if tb else b) + 2.0 * before[:, 3:9]
    user_gemm(ta, tb, 0.5, a, b, 2.0, c)
    np.testing.assert_allclose(c, expected, rtol=1e-5 if dtype == np.float32 else 1e-13, atol=1e-6)
    np.testing.assert_array_equal(whole[:, :3], before[:, :3])
    np.testing.assert_array_equal(whole[:, 9:], before[:, 9:])


def test_blocks_in_parallel():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(32, 11)), rng.normal(size=(11, 13))
    c = np.empty((32, 13))
    with one_blas_thread():
        user_blocks(a, b, c)
    np.testing.assert_allclose(c, a @ b, atol=1e-13)


def test_a_single_row_and_a_single_column():
    a, b, c = np.ones((1, 3)), np.ones((3, 1)), np.zeros((1, 1))
    user_gemm(False, False, 1.0, a, b, 0.0, c)
    assert c[0, 0] == 3


def test_a_row_whose_stride_is_nothing():
    """x[None] may have stride 0: BLAS refused it and left the product unset."""
    x, b = np.arange(1.0, 5.0), np.eye(4)
    row = np.lib.stride_tricks.as_strided(x, (1, 4), (0, 8))
    c = np.full((1, 4), np.nan)
    user_gemm(False, False, 1.0, row, b, 0.0, c)
    np.testing.assert_array_equal(c[0], x)
