"""The estimate of the weights' gradient: its definition, for binary visibles and for others."""

import numpy as np
import pytest

from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.rbm import gradients
from trug_fast.kernels.rbm.gibbs import Phase
from trug_fast.kernels.tiles import STRIPS


def phase(visible, mean):
    """Return a phase with these means."""
    return Phase(visible, np.empty_like(mean), mean, np.empty((0, 4, 0)))


@pytest.mark.parametrize("shape", [(3, 4), (50, 20)])
def test_weight_gradient_is_its_definition(shape):
    n, m = shape
    rng = np.random.default_rng(2)
    x, h, y, g = (rng.random((r, c)) for r, c in ((6, n), (6, m), (9, n), (9, m)))
    x_bar, h_bar = rng.random(n), rng.random(m)
    centring = gradients.Centring(x_bar, h_bar, x.mean(0) - y.mean(0), h.mean(0) - g.mean(0))
    gradient = np.empty(shape)
    hidden_shift, visible_shift = np.full((STRIPS, m), np.nan), np.empty(n)
    hidden_shift[:] = 0  # strips without rows stay as they are
    with one_blas_thread():
        gradients.weight_gradient(
            phase(x, h), phase(y, g), centring, gradient, hidden_shift, visible_shift
        )

    def covariance(visible, mean):
        return (visible - x_bar).T @ (mean - h_bar) / len(visible)

    expected = covariance(x, h) - covariance(y, g)
    np.testing.assert_allclose(gradient, expected, atol=1e-13)
    np.testing.assert_allclose(visible_shift, expected @ h_bar, atol=1e-13)
    np.testing.assert_allclose(hidden_shift.sum(0), x_bar @ expected, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [(1, 1), (64, 65), (100, 130)])
def test_gradient_of_binary_and_of_soft_visibles(rows, dtype):
    """The bits' way, the dense one, and one phase by each, against plain NumPy."""
    rng = np.random.default_rng(3)
    n, m = 90, 140
    x, y = ((rng.random((r, n)) < 0.3).astype(dtype) for r in rows)
    h, g = (rng.normal(size=(r, m)).astype(dtype) for r in rows)
    for soft_data, soft_model in ((False, False), (True, False), (False, True), (True, True)):
        data, model = x.copy(), y.copy()
        data[0, :] = 0.25 if soft_data else x[0, :]
        model[-1, :] = 0.75 if soft_model else y[-1, :]
        want = data.T.astype(float) @ h / rows[0] - model.T.astype(float) @ g / rows[1]
        gradient = np.full((n, m), np.nan, dtype)
        zeros = [np.zeros(k, dtype) for k in (n, m, n, m)]
        with one_blas_thread():
            gradients.weight_gradient(
                phase(data, h),
                phase(model, g),
                gradients.Centring(*zeros),
                gradient,
                np.empty((STRIPS, m), dtype),
                np.empty(n, dtype),
            )
        close = 1e-5 if dtype == np.float32 else 1e-13
        np.testing.assert_allclose(gradient, want, atol=close)
