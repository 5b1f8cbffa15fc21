"""The counter-based generator: published vectors, addresses, range, uniformity, independence."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from tests.support.units import assert_uniform
from trug_fast.kernels.random import philox


@njit
def words(counter, key):
    return philox.philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1])


# From the reference implementation's known-answer file (Random123, kat_vectors).
VECTORS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "want"), VECTORS)
def test_published_vectors(counter, key, want):
    assert list(words(np.array(counter, np.uint32), np.array(key, np.uint32))) == want


def by_hand(seed, purpose, step, chain, unit, dtype):
    """One number of a row, from its address alone, in Python integers."""
    per_block = 2 if dtype == np.float64 else 4
    chunk, inside = divmod(unit, per_block * philox.LANES)
    part, lane = divmod(inside, philox.LANES)
    index = chunk * philox.LANES + lane
    counter = [index, chain, step & 0xFFFFFFFF, (purpose << 24) | (step >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    block = [int(w) for w in words(np.array(counter, np.uint32), np.array(key, np.uint32))]
    if dtype == np.float64:
        return (((block[2 * part] << 32 | block[2 * part + 1]) >> 12) + 0.5) * 2.0**-52
    return np.float32(((block[part] >> 9) + 0.5) * 2.0**-23)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_is_a_function_of_its_address(dtype):
    seed, purpose, step, chain = 2**63 + 12345, 3, 2**40 + 7, 2**31 + 1
    for first in (0, 128):
        row = np.empty(192, dtype)
        philox.uniform_row(seed, purpose, step, chain, first, row)
        units = range(first, first + row.size)
        want = [by_hand(seed, purpose, step, chain, unit, dtype) for unit in units]
        np.testing.assert_array_equal(row, want)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_from_compiled_code_are_the_same(dtype):
    @njit
    def fill(out):
        philox.uniform_row(5, 1, 2, 3, 0, out)

    inside, outside = np.empty(64, dtype), np.empty(64, dtype)
    fill(inside)
    philox.uniform_row(5, 1, 2, 3, 0, outside)
    np.testing.assert_array_equal(inside, outside)


def test_numbers_are_never_zero_or_one():
    @njit
    def ends():
        low, high = np.uint32(0), np.uint32(0xFFFFFFFF)
        singles = philox.single_from_word(low), philox.single_from_word(high)
        return philox.double_from_words(low, low), philox.double_from_words(high, high), singles

    least, most, (least32, most32) = ends()
    assert 0 < least and most < 1 and 1 - most == least
    assert 0 < least32 and most32 < 1 and np.float32(1) - most32 == least32


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_uniform_and_uncorrelated(dtype):
    """Each of about 60 comparisons fails for good numbers with probability 1e-7 or less."""
    n = 2**16
    rows = np.empty((5, n), dtype)
    addresses = [(1, 0, 0, 0), (2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)]
    for row, (seed, purpose, step, chain) in zip(rows, addresses, strict=True):
        philox.uniform_row(seed, purpose, step, chain, 0, row)
        assert_uniform(row)
    centred = (rows.astype(np.float64) - 0.5) * np.sqrt(12)
    limit = stats.norm.isf(0.5e-7) / np.sqrt(n)
    across = centred @ centred.T / n
    assert np.abs(across[np.triu_indices(5, 1)]).max() < limit
    for lag in (1, 2, 3, 4, 15, 16, 17, 31, 32, 33, 48, 64):
        assert abs(np.mean(centred[0, lag:] * centred[0, :-lag])) < limit * 1.01
        assert abs(np.mean(centred[1, lag:] * centred[0, :-lag])) < limit * 1.01


def test_consecutive_steps_chains_and_seeds_are_uncorrelated():
    """The first numbers of 4096 neighbouring streams; fails for good numbers once in 1e6."""
    n = 4096
    row = np.empty(64)
    for axis in range(3):
        firsts = np.empty(n)
        for i in range(n):
            address = [7, 0, 0]
            address[axis] += i
            philox.uniform_row(address[0], 0, address[1], address[2], 0, row)
            firsts[i] = row[0]
        assert_uniform(firsts, groups=2)
        centred = (firsts - 0.5) * np.sqrt(12)
        lagged = abs(np.mean(centred[1:] * centred[:-1]))
        assert lagged < stats.norm.isf(0.5e-6) / np.sqrt(n)


@pytest.mark.parametrize(("units", "length"), [(1, 64), (64, 64), (65, 128), (500, 512)])
def test_padded(units, length):
    assert philox.padded(units) == length
