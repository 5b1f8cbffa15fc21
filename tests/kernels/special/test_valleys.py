"""Integrals that rise from a valley against mpmath."""

import mpmath as mp
import numpy as np
import pytest
from numba import njit

from trug_fast.kernels.special import valleys


@njit(error_model="numpy", fastmath={"contract"})
def integrals(x, out):
    for i in range(x.size):
        out[0, i], out[1, i], out[2, i], out[3, i] = valleys.valley_integrals(x[i])
        out[4, i] = valleys.valley_integral(x[i])


def exact(x):
    """H_0 to H_3 by their definitions, with digits for what cancels."""
    with mp.workdps(120):
        x = mp.mpf(float(x))
        if x > 40:  # asymptotic: 60 terms leave 1e-70
            first = sum(mp.fac2(2 * k - 1) / x ** (2 * k + 1) for k in range(60))
        else:
            first = mp.exp(-x * x / 2) * mp.sqrt(mp.pi / 2) * mp.erfi(x / mp.sqrt(2))
        second = x * first - 1
        third = x * second - first
        return [first, second, third, x * third - 2 * second]


@pytest.mark.parametrize(
    ("dtype", "tolerance", "rise"), [(np.float64, 4e-15, 1e-13), (np.float32, 3e-6, 1.5e-6)]
)
def test_error_on_the_half_line(dtype, tolerance, rise):
    rng = np.random.default_rng(1)
    x = np.concatenate([10 ** rng.uniform(-8, 8, 300), rng.uniform(0, 12, 500), [0.0, 5.5]])
    x = x.astype(dtype)
    out = np.empty((5, x.size), dtype)
    integrals(x, out)
    for i in range(x.size):
        wanted = exact(x[i])
        for k, (got, want) in enumerate(zip(out[:4, i], wanted, strict=True)):
            if want == 0 or abs(want) > np.finfo(dtype).tiny:
                size = abs(want) if k == 0 or x[i] > 3 else 1
                if k == 3 and 3 < x[i] < 5.5:  # up to the change of polynomials a difference
                    size = 2 * wanted[1]
                assert abs(mp.mpf(float(got)) - want) <= tolerance * size, (k, x[i])
        assert abs(mp.mpf(float(out[4, i])) - wanted[0]) <= rise * wanted[0]


def test_range_and_nan():
    x = np.array([1e100, np.nan])
    out = np.empty((5, 2))
    integrals(x, out)
    np.testing.assert_allclose(out[:, 0], [1e-100, 1e-200, 2e-300, 0, 1e-100], rtol=1e-13)
    assert np.isnan(out[:, 1]).all()
