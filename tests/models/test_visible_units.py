"""Gaussian visible units in a model: energies, draws, chains, files.

Units of 0 and 1 are those of test_rbm.py.
"""

import numpy as np
import pytest
from scipy import integrate

import trug_fast as tf
from tests.support.gaussian import KINDS, gaussian_draws, gaussian_model
from trug_fast._common import files
from trug_fast.evaluation.exact import gaussian as exact_gaussian


@pytest.mark.parametrize("kind", KINDS)
def test_free_energy_sums_the_hidden_units_out(kind):
    model, x = gaussian_model(kind), np.random.default_rng(1).normal(0, 2, (4, 3))
    for row, energy in zip(x, model.free_energy(x), strict=True):
        log_p = model.visible_bias @ row - 0.5 * model.visible_precision @ row**2
        for j, a in enumerate(row @ model.weights + model.hidden_bias):
            if kind == "bernoulli":
                log_p += np.log1p(np.exp(a))
                continue
            d, ends = model.precision[j], (model.lower[j], model.upper[j])
            term = integrate.quad(lambda h, a=a, d=d: np.exp(a * h - d * h * h / 2), *ends)
            log_p += np.log(term[0])
        assert energy == pytest.approx(-log_p, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_sweeps_are_stationary(kind, dtype):
    # Means, squares and products after two sweeps against exact ones: 9 numbers at 5 sigma.
    model, n = gaussian_model(kind, dtype), 50_000
    start = gaussian_draws(model, n, seed=1)
    end = model.sample(start=start, n_gibbs=2, rng=3)
    assert end.dtype == dtype and (end != start).all()
    moments = exact_gaussian.expectations(model)
    for values, exact in (
        (end, moments["visible_bias"]),
        (end**2, -2 * moments["visible_precision"]),
        (end.astype(float).T[:, :, None] * model.hidden_moments(end).mean, moments["weights"]),
    ):
        axis = 1 if values.ndim == 3 else 0
        error = values.std(axis=axis) / np.sqrt(n)
        assert (abs(values.mean(axis=axis) - exact) < 5 * error).all()


def test_draws_given_hidden_units_have_mean_and_variance():
    model, n = gaussian_model("[0,1]"), 60_000
    h = np.tile([0.2, 0.9], (n, 1))
    draws, a = model.sample_visible(h, rng=0), model.visible_precision
    # 6 numbers at 5 sigma; the variance of n normal numbers has the relative error sqrt(2 / n).
    mean = (model.weights @ h[0] + model.visible_bias) / a
    assert (abs(draws.mean(axis=0) - mean) < 5 / np.sqrt(a * n)).all()
    assert (abs(draws.var(axis=0) * a - 1) < 5 * np.sqrt(2 / n)).all()


def test_sampling_starts_clamps_and_returns_means():
    model = gaussian_model("mixed")
    free = tf.TruGRBM(np.zeros((3, 2)), [1.0, 0, -2], 0, 1, 0, 1, visible_precision=4.0)
    draws = free.sample(20_000, n_gibbs=1, rng=0)
    assert (abs(draws.mean(axis=0) - [0.25, 0, -0.5]) < 5 * 0.5 / np.sqrt(20_000)).all()
    means = free.sample(5, n_gibbs=1, rng=0, return_mean=True)
    np.testing.assert_allclose(means, np.tile([0.25, 0, -0.5], (5, 1)))
    held = model.sample(7, n_gibbs=3, rng=0, clamp=[np.nan, -3.5, np.nan])
    assert (held[:, 1] == -3.5).all() and len(np.unique(held[:, 0])) == 7
    np.testing.assert_array_equal(
        held, model.sample(7, n_gibbs=3, rng=0, clamp=[np.nan, -3.5, np.nan])
    )


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_files_return_the_same_model_and_old_ones_are_read(kind, dtype, tmp_path):
    model, path = gaussian_model(kind, dtype), tmp_path / "model.npz"
    model.save(path)
    again = type(model).load(path)
    assert again.names == model.names and "visible_precision" in again.names
    for name in model.names:
        assert getattr(again, name).dtype == dtype
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert repr(again) == repr(model) and "visible='gaussian'" in repr(model)
    old = {name: getattr(model, name) for name in model.names if name != "visible_precision"}
    files.write(path, type(model).__name__, old)
    before = type(model).load(path)
    assert before.visible_precision is None and before.names == tuple(old)


def test_bad_precisions_and_clamps():
    for a, words in (
        ([1.0, 0.0, 1.0], "visible_precision must be positive, got 0.0 at index 1"),
        ([1.0], r"visible_precision must be a number or have shape \(3,\)"),
        (np.nan, "visible_precision must not be NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            tf.BernoulliRBM(np.zeros((3, 2)), 0, 0, visible_precision=a)
    with pytest.raises(ValueError, match="clamp must hold finite numbers"):
        gaussian_model("[0,1]").sample(clamp=[np.inf, 0, 0])
