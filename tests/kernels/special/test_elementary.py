"""exp, log and relatives against mpmath, in units in the last place."""

import math

import mpmath as mp
import numpy as np
import pytest
from numba import njit

from trug_fast.kernels.special import elementary

FUNCTIONS = ["exp", "log", "log1p", "sigmoid", "softplus"]


def loop(name):
    function = getattr(elementary, name)

    @njit(error_model="numpy")
    def over(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def apply(x):
        out = np.empty_like(x)
        over(x, out)
        return out

    return apply


LOOPS = {name: loop(name) for name in FUNCTIONS}
EXACT = {
    "exp": mp.exp,
    "log": mp.log,
    "log1p": mp.log1p,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
}


def arguments(name, dtype):
    rng = np.random.default_rng(3)
    top = 708.0 if dtype == np.float64 else 87.0
    limit = 300.0 if dtype == np.float64 else 37.0
    if name == "log":
        x = np.concatenate([10 ** rng.uniform(-limit, limit, 800), 1 + rng.normal(0, 0.1, 800)])
    elif name == "log1p":
        tiny = rng.choice([-1, 1], 800) * 10 ** rng.uniform(-20, -0.01, 800)
        x = np.concatenate([tiny, 10 ** rng.uniform(-2, 30, 800)])
    elif name == "exp":
        x = np.concatenate([rng.uniform(-top, top, 800), rng.normal(0, 1, 800)])
    else:  # beyond these the result is no normal number
        x = np.concatenate([rng.uniform(-0.98 * top, top, 800), rng.normal(0, 3, 800)])
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_in_units_in_the_last_place(name, dtype):
    x = arguments(name, dtype)
    got = LOOPS[name](x)
    with mp.workdps(40):
        exact = [EXACT[name](mp.mpf(float(v))) for v in x]
        error = [
            float(abs(mp.mpf(float(g)) - e)) / np.spacing(abs(dtype(float(e))))
            for g, e in zip(got, exact, strict=True)
        ]
    assert max(error) < {"exp": 1.1, "log": 1.0, "sigmoid": 2.5}.get(name, 2.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ends_of_the_range(dtype):
    inf, nan = np.inf, np.nan
    x = np.array([-inf, -1e4, 0.0, 1e4, inf, nan], dtype)
    np.testing.assert_array_equal(LOOPS["exp"](x), [0, 0, 1, inf, inf, nan])
    np.testing.assert_array_equal(LOOPS["sigmoid"](x), [0, 0, 0.5, 1, 1, nan])
    softplus = LOOPS["softplus"](x)
    np.testing.assert_allclose(softplus, [0, 0, math.log(2), 1e4, inf, nan], rtol=1e-6)
    x = np.array([-1.0, 0.0, 1.0, inf, nan], dtype)
    np.testing.assert_array_equal(LOOPS["log"](x), [nan, -inf, 0, inf, nan])
    x = np.array([0.0, inf, nan], dtype)
    np.testing.assert_array_equal(LOOPS["log1p"](x), x)


def test_expm1_keeps_its_digits_near_zero():
    @njit(error_model="numpy")
    def both(x, value, minus):
        for i in range(x.size):
            value[i], minus[i] = elementary.exp_and_expm1(x[i])

    for dtype in (np.float64, np.float32):
        x = -(10.0 ** np.linspace(-30, 1.9, 500)).astype(dtype)
        value, minus = np.empty_like(x), np.empty_like(x)
        both(x, value, minus)
        wide = x.astype(np.float64)
        tolerance = 5 * np.finfo(dtype).eps
        np.testing.assert_allclose(value, np.exp(wide), rtol=tolerance)
        np.testing.assert_allclose(minus, np.expm1(wide), rtol=tolerance)
