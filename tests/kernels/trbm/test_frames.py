"""Sums over frames: products in all threads, and what the mean's derivatives add to a gradient."""

import numpy as np
import pytest

from tests.support.models import model_of
from trug_fast import kernels
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.trbm import frames


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1, 1), (300, 70, 140), (530, 9, 520)])
def test_products_are_added(shape, dtype):
    n, k, m = shape
    rng = np.random.default_rng(0)
    a, b, start = (rng.normal(size=s).astype(dtype) for s in ((n, k), (k, m), (n, m)))
    for transpose, left in ((False, a), (True, np.ascontiguousarray(a.T))):
        out = start.copy()
        with one_blas_thread():
            frames.add_product(transpose, left, b, 0.5, out)
        expected = start + 0.5 * (a.astype(float) @ b)
        np.testing.assert_allclose(out, expected, atol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("kind", ["mixed", "flat"])
def test_slopes_are_statistics_and_derivatives_of_the_mean(kind):
    model, rows = model_of(kind, n_hidden=20), 300  # more than one tile
    rng = np.random.default_rng(2)
    net, delta = rng.normal(size=(2, rows, 20))
    sums = np.full((2, 6, 20), np.nan)
    frames.slope_sums(model.layers(), net, delta, sums)
    precision, lower, upper = model.precision, model.lower, model.upper
    expected = np.zeros((6, 20))
    step = 1e-5
    for j in range(20):
        unit = float(precision[j]), float(lower[j]), float(upper[j])
        for r in range(rows):
            mean, variance = kernels.mean_variance(net[r, j], *unit)
            ends = np.exp(kernels.log_end_densities(net[r, j], *unit))
            expected[:3, j] += variance + mean**2, *ends
            for k in range(3):  # central differences by d, lower and upper
                if not np.isfinite(unit[k]):
                    continue
                sides = [unit[:k] + (unit[k] + s,) + unit[k + 1 :] for s in (step, -step)]
                high, low = (kernels.mean_variance(net[r, j], *side)[0] for side in sides)
                expected[3 + k, j] += delta[r, j] * (high - low) / (2 * step)
    np.testing.assert_allclose(sums.sum(axis=0), expected, rtol=1e-6, atol=1e-5)
