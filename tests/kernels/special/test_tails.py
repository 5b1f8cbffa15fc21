"""Tail integrals of the normal density against mpmath."""

import mpmath as mp
import numpy as np
import pytest
from numba import njit

from trug_fast.kernels.special import tails


@njit(error_model="numpy")
def integrals(u, out):
    for i in range(u.size):
        out[0, i], out[1, i], out[2, i], out[3, i] = tails.tail_integrals(u[i])


def exact(u):
    """R_0 to R_3 by recurrence from erfc; 60 digits cover its cancellation to 1e8 and more."""
    with mp.workdps(80):
        u = mp.mpf(float(u))
        if u > 1e3:  # asymptotic series of the Mills ratio: 13 terms leave 1e-60
            mills = sum((-1) ** k * mp.fac2(2 * k - 1) / u ** (2 * k + 1) for k in range(14))
        else:
            mills = mp.sqrt(mp.pi / 2) * mp.exp(u * u / 2) * mp.erfc(u / mp.sqrt(2))
        first = 1 - u * mills
        second = mills - u * first
        return [mills, first, second, 2 * first - u * second]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 2e-15), (np.float32, 1.1e-6)])
def test_relative_error_on_the_half_line(dtype, tolerance):
    rng = np.random.default_rng(1)
    spread = 10 ** rng.uniform(-8, 8, 500)
    u = np.concatenate([[0.0], spread, rng.uniform(0, 12, 500)]).astype(dtype)
    out = np.empty((4, u.size), dtype)
    integrals(u, out)
    for i in range(u.size):
        for got, want in zip(out[:, i], exact(u[i]), strict=True):
            if want > np.finfo(dtype).tiny:
                with mp.workdps(40):
                    assert abs(mp.mpf(float(got)) / want - 1) < tolerance


def test_range_and_nan():
    u = np.array([1e100, np.nan])
    out = np.empty((4, 2))
    integrals(u, out)
    np.testing.assert_allclose(out[:, 0], [1e-100, 1e-200, 2e-300, 0], rtol=1e-14)
    assert np.isnan(out[:, 1]).all()
