"""The training gradient: exact on average, and exactly what its definition says."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.gradients import estimate
from tests.support.models import KINDS, exact_draws, model_of
from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.rbm import gibbs, updates
from trug_fast.training.rbm.turning import for_kernels
from trug_fast.training.steps import Steps

ROWS = 2_000


@pytest.mark.parametrize(("k", "persistent"), [(1, False), (3, True)])
@pytest.mark.parametrize("kind", KINDS)
def test_estimate_is_exact_on_average_at_the_target(kind, k, persistent):
    # Chains that start at the exact distribution are still there after k sweeps, so the estimate
    # is unbiased.  60 repetitions give its standard error.  Of the 560 comparisons of the suite
    # one would exceed 4 of them by chance in 1 of 10 sets of seeds; the seeds are fixed.
    model = model_of(kind)
    data = exact_draws(model_of(kind, seed=9), 20, seed=2)
    exact = tf.exact.gradient(model, data)
    runs = []
    for repeat in range(60):
        start = exact_draws(model, ROWS, seed=100 + repeat)
        runs.append(estimate(model, data, start, repeat, k=k, persistent=persistent)[0])
    for name, value in exact.items():
        draws = np.array([run[name] for run in runs])
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        # An infinite end has gradient zero exactly, with no spread.
        assert (abs(draws.mean(axis=0) - value) <= 4 * error + 1e-12).all(), name
        assert error.max() < 0.02, name  # tight enough to notice a wrong factor or sign


def test_centred_gradient_is_its_definition():
    # mathematics 2.5 in terms of the plain gradient of the same two phases.
    model = model_of("mixed")
    data = exact_draws(model, 30, seed=1)
    start = exact_draws(model, 40, seed=2)
    rng = np.random.default_rng(0)
    x_bar, h_bar = rng.random(model.n_visible), rng.random(model.n_hidden)
    plain, _, _ = estimate(model, data, start, 5)
    centred, _, _ = estimate(model, data, start, 5, offsets=(x_bar, h_bar))
    weights = (
        plain["weights"]
        - np.outer(x_bar, plain["hidden_bias"])
        - np.outer(plain["visible_bias"], h_bar)
    )
    np.testing.assert_allclose(centred["weights"], weights, atol=1e-13)
    np.testing.assert_allclose(
        centred["visible_bias"], plain["visible_bias"] - weights @ h_bar, atol=1e-13
    )
    np.testing.assert_allclose(
        centred["hidden_bias"], plain["hidden_bias"] - weights.T @ x_bar, atol=1e-13
    )
    np.testing.assert_array_equal(centred["upper"], plain["upper"])


def test_float32_estimate_follows_float64():
    data = exact_draws(model_of("mixed"), 30, seed=1)
    start = exact_draws(model_of("mixed"), 40, seed=2)
    shapes = {}
    for dtype in (np.float32, np.float64):
        model = model_of("mixed", dtype)
        _, phase, _ = estimate(model, data, start, 5)
        shapes[dtype] = phase.means()
    np.testing.assert_allclose(shapes[np.float32], shapes[np.float64], rtol=2e-5, atol=1e-6)


def test_contrastive_divergence_starts_at_the_data():
    # With k sweeps of a model without weights, the chains forget where they started; the hidden
    # draws they start from must be given the data: their mean is the data phase's mean.
    model = model_of("[0,1]")
    data = np.tile([[1.0, 0, 1, 0, 1]], (20_000, 1))
    layers = model.layers()
    phase, chains = gibbs.Phase.new(data, 4), gibbs.Chains.new(np.zeros_like(data), 4)
    rule = Steps(tf.training.SGD()).rule(0.0)
    paces, none = np.zeros((1, updates.PACES)), np.empty(0)
    course = updates.Course(
        *(paces, rule, updates.FROM_DATA, True, 1, 0, 0, none, none[None]),
        for_kernels(None, float),
    )
    with one_blas_thread():
        gibbs.hidden_statistics(layers, phase)
        updates.run_chains_from(layers, phase, chains, course, 0, 0, 0)
    variance = model.hidden_moments(data[:1]).variance[0]
    z = (chains.hidden.mean(axis=0) - phase.mean[0]) / np.sqrt(variance / 20_000)
    assert abs(z).max() < 5
