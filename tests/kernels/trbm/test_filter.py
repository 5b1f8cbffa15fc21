"""The filter over many sequences at once is that of each sequence alone, and so is its way back."""

import numpy as np
import pytest

from tests.support.models import model_of
from trug_fast._common.numerics import read_only
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.random.philox import HIDDEN
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.trbm import filter as kernels

LENGTHS = np.array([9, 6, 6, 1, 1])  # longest first: rows lie time by time
UNITS = 37


def starts():
    """Return the first row of each time, for sequences of these lengths."""
    active = (LENGTHS[None] > np.arange(LENGTHS.max())[:, None]).sum(axis=1)
    return np.concatenate([[0], np.cumsum(active)])


def layers(kind, dtype, seed=0):
    """Return layers whose weights lead from the hidden units to the next ones."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(0, 0.3, (UNITS, UNITS)).astype(dtype)
    return model_of(kind, dtype, n_hidden=UNITS).layers()._replace(weights=read_only(weights))


def mean_of(units, net):
    """Return the means of hidden units at some net inputs."""
    shape = net.shape
    none = np.empty((0, 0), net.dtype)
    found = gibbs.Moments(net, np.empty(shape, net.dtype), np.empty(shape, net.dtype), none, none)
    gibbs.moments_from_net(units, found)
    return found.mean


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["[0,4]", "flat", "bernoulli"])
def test_means_follow_from_frame_to_frame(kind, dtype):
    own, times = layers(kind, dtype), starts()
    drive = np.random.default_rng(1).normal(size=(LENGTHS.sum(), UNITS)).astype(dtype)
    net, state = np.empty_like(drive), np.empty_like(drive)
    address = gibbs.Address(0, HIDDEN, 0, 0)
    with one_blas_thread():
        kernels.run_filter(own, times, False, address, kernels.Frames(drive, net, state))
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    for k, length in enumerate(LENGTHS):
        rows = times[:length] + k
        past = np.zeros(UNITS)
        for row in rows:
            expected = drive[row] + past @ own.weights
            np.testing.assert_allclose(net[row], expected, atol=10 * tolerance)
            past = state[row].astype(float)
    np.testing.assert_allclose(state, mean_of(own, net), atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 4, 37])
def test_rows_do_not_depend_on_those_beside_them(size, dtype):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, size)).astype(dtype), rng.normal(size=(size, 21)).astype(dtype)
    start = rng.normal(size=(2, 21)).astype(dtype)
    both, each = start.copy(), start.copy()
    kernels.add_rows_product(a, b, both)
    for r in range(2):
        kernels.add_rows_product(a[r : r + 1], b, each[r : r + 1])
    np.testing.assert_array_equal(both, each)
    np.testing.assert_allclose(both, start + a @ b, atol=1e-5 if dtype == np.float32 else 1e-13)


def test_draws_are_those_of_an_rbm_with_these_net_inputs():
    own, times = layers("[0,4]", np.float64), starts()
    drive = np.random.default_rng(1).normal(size=(LENGTHS.sum(), UNITS))
    net, state = np.empty_like(drive), np.empty_like(drive)
    address = gibbs.Address(5, HIDDEN, 7, 0)
    kernels.run_filter(own, times, True, address, kernels.Frames(drive, net, state))
    drawn = np.empty_like(state)
    gibbs.draw_hidden(own, net, address, drawn)
    np.testing.assert_array_equal(state, drawn)


def test_the_way_back_is_the_transposed_chain():
    rng = np.random.default_rng(3)
    times, shape = starts(), (LENGTHS.sum(), UNITS)
    transition, difference, variance = (
        rng.normal(size=(UNITS, UNITS)),
        rng.normal(size=shape),
        (rng.random(shape)),
    )
    delta, error = np.empty(shape), np.empty(shape)
    kernels.run_backward(transition, times, difference, variance, delta, error)
    for k, length in enumerate(LENGTHS):
        rows, later = times[:length] + k, np.zeros(UNITS)
        for row in rows[::-1]:
            np.testing.assert_allclose(delta[row], later, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(error[row], variance[row] * later, rtol=1e-10, atol=1e-12)
            later = (difference[row] + variance[row] * later) @ transition
