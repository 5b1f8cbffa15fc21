"""Products with matrices of zeros and ones: exact sums, whatever the tile; others are refused."""

import numpy as np
import pytest
from numba import njit

from trug_fast.kernels.blas import gemm  # noqa: F401  (loads BLAS for the fallback)
from trug_fast.kernels.rbm import binary
from trug_fast.kernels.tiles import Tile


@njit(error_model="numpy")
def tiled(matrix, source, rows, width, out):
    done = True
    for row in range(0, matrix.shape[0], rows):
        row_stop = min(row + rows, matrix.shape[0])
        for start in range(0, source.shape[1], width):
            stop = min(start + width, source.shape[1])
            done &= binary.multiply(matrix, source, out, Tile(row, row_stop, start, stop))
    return done


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 64, 7), (5, 65, 128), (70, 784, 200), (4, 130, 129)]
)
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9, 1.0])
def test_product_is_the_dense_one(shape, density, dtype):
    """Integers of moderate size make every sum exact, so both must agree to the bit."""
    rows, n, columns = shape
    rng = np.random.default_rng(1)
    matrix = (rng.random((rows, n)) < density).astype(dtype)
    source = rng.integers(-50, 50, (n, columns)).astype(dtype)
    out = np.full((rows, columns), np.nan, dtype)
    assert tiled(matrix, source, rows, columns, out)
    np.testing.assert_array_equal(out, matrix @ source)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_tile_changes_a_bit(dtype):
    rng = np.random.default_rng(2)
    matrix = (rng.random((37, 300)) < 0.3).astype(dtype)
    source = rng.normal(size=(300, 210)).astype(dtype)
    whole, part = np.empty((37, 210), dtype), np.empty((37, 210), dtype)
    assert tiled(matrix, source, 37, 210, whole)
    for rows, width in ((1, 1), (5, 64), (36, 130)):
        assert tiled(matrix, source, rows, width, part)
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("other", [0.5, -1.0, 2.0, np.nan])
def test_anything_but_zeros_and_ones_is_refused_untouched(other):
    matrix, source = np.zeros((3, 70)), np.ones((70, 5))
    matrix[2, 69] = other
    out = np.full((3, 5), 7.0)
    assert not tiled(matrix, source, 3, 5, out)
    assert (out == 7.0).all()
