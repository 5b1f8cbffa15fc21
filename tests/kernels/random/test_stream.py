"""Random streams for users' kernels."""

import numpy as np
import pytest
from numba import njit, prange
from numba.core.errors import TypingError

from tests.support.units import assert_uniform
from trug_fast.kernels import stream, uniform
from trug_fast.kernels.random import philox


@njit
def fill(rng, out):
    for i in range(out.size):
        out[i] = uniform(rng)


def numbers(n=1000, **address):
    out = np.empty(n)
    fill(stream(address.pop("seed", 1), **address), out)
    return out


def test_numbers_are_those_of_the_address():
    row = np.empty(64)
    philox.uniform_row(9, philox.USER, 5, 3, 0, row)
    got = numbers(32, seed=9, chain=3, step=5)
    # A row keeps the two numbers of a block 16 units apart, a stream side by side.
    np.testing.assert_array_equal(got[0::2], row[:16])
    np.testing.assert_array_equal(got[1::2], row[16:32])


def test_python_and_compiled_code_draw_the_same():
    rng = stream(4)
    np.testing.assert_array_equal([uniform(rng) for _ in range(7)], numbers(7, seed=4))
    theirs = np.random.default_rng(4).random(7)
    rng = np.random.default_rng(4)
    np.testing.assert_array_equal([uniform(rng) for _ in range(7)], theirs)
    out = np.empty(7)
    fill(np.random.default_rng(4), out)
    np.testing.assert_array_equal(out, theirs)


@pytest.mark.parametrize(
    "other",
    [{"seed": 2}, {"seed": 2**32 + 1}, {"chain": 1}, {"step": 1}, {"step": 2**32}, {"purpose": 0}],
)
def test_each_part_of_the_address_makes_another_stream(other):
    a, b = numbers(4000), numbers(4000, **other)
    assert not np.intersect1d(a, b).size
    assert_uniform(b)
    # 5.3 standard deviations: exceeded by good streams once in 1e7.
    assert abs(np.corrcoef(a, b)[0, 1]) < 5.3 / np.sqrt(4000)


def test_chains_in_threads():
    @njit(parallel=True)
    def rows(seed, out):
        for i in prange(out.shape[0]):
            rng = stream(seed, chain=i)
            for j in range(out.shape[1]):
                out[i, j] = uniform(rng)

    out = np.empty((8, 10))
    rows(3, out)
    for i in range(8):
        np.testing.assert_array_equal(out[i], numbers(10, seed=3, chain=i))


def test_many_streams_in_one_array():
    states = np.stack([stream(1, chain=i) for i in range(3)])

    @njit
    def one_each(states):
        return np.array([uniform(states[i]) for i in range(states.shape[0])])

    np.testing.assert_array_equal(one_each(states), [numbers(1, chain=i)[0] for i in range(3)])


@pytest.mark.parametrize(
    "bad", [{"chain": -1}, {"chain": 2**32}, {"step": -1}, {"step": 2**56}, {"purpose": 256}]
)
def test_addresses_out_of_range_are_refused(bad):
    with pytest.raises(ValueError, match="chain must be in"):
        stream(1, **bad)


def test_any_64_bits_are_a_seed_and_nothing_else_is():
    assert stream(2**64 - 1)[0] == stream(np.uint64(2**64 - 1))[0] == 2**64 - 1
    for seed in (-1, 2**64, np.int64(-3)):
        with pytest.raises(ValueError, match="seed must be in"):
            stream(seed)
    for bad in ({"seed": 1.5}, {"seed": True}, {"seed": 1, "chain": 2.0}, {"seed": 1, "step": "3"}):
        with pytest.raises(TypeError, match="must be an int, got"):
            stream(**bad)


def test_compiled_code_refuses_the_same_seeds():
    start = njit(lambda seed: stream(seed, step=2))
    np.testing.assert_array_equal(start(5), stream(5, step=2))
    with pytest.raises(ValueError, match="seed must be in"):
        start(-1)
    with pytest.raises(TypingError, match="seed must be an int, got float64"):
        start(1.5)


def test_what_is_no_stream_is_refused():
    with pytest.raises(TypeError, match="rng must be a stream"):
        uniform(np.zeros(6))
    with pytest.raises(TypeError, match="rng must be a stream"):
        uniform(1)
    with pytest.raises(TypingError, match="rng must be a stream"):
        fill(np.zeros(6), np.empty(1))


def test_a_generators_zero_is_moved_inside():
    source = np.random.MT19937(0)
    state = source.state
    state["state"]["key"][:] = 0  # the one state from which nothing but zeros comes
    source.state = state
    rng = np.random.Generator(source)
    assert rng.random() == 0.0
    assert uniform(rng) == 2.0**-54
