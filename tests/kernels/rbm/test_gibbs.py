"""Block Gibbs sampling leaves the exact distribution where it is, whatever the threads."""

import numba
import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from tests.support.models import KINDS, exact_draws, exact_states, model_of
from trug_fast.models import gibbs_sampling as sampling

CHAINS = 60_000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_sweeps_are_stationary(kind, dtype):
    # Chains that start at the exactly enumerated distribution must stay there, however slowly
    # they mix.  Chi-square over all 32 states; fails by chance in 1e-6 of seeds, each of the 14.
    model = model_of(kind, dtype)
    start = exact_draws(model, CHAINS, seed=1)
    end, _ = sampling.run(model, start, None, n_gibbs=2, seed=5)
    states, probability = exact_states(model)
    code = (end @ (1 << np.arange(model.n_visible))).astype(int)
    counts = np.bincount(code, minlength=len(states))
    assert stats.chisquare(counts, probability * CHAINS).pvalue > 1e-6
    assert (end != start).mean() > 0.1  # the chains did move


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_draws_have_the_conditional_moments(kind):
    model = model_of(kind)
    x = np.ones((CHAINS, model.n_visible))
    hidden = model.sample_hidden(x, rng=3)
    mean, variance = (m[0] for m in model.hidden_moments(x[:1]))
    error = np.sqrt(variance / CHAINS)
    # 5 sigma over at most 28 means: chance of failure 2e-5 a suite; variance by its own error.
    assert (abs(hidden.mean(axis=0) - mean) < 5 * error).all()
    fourth = ((hidden - mean) ** 4).mean(axis=0)
    spread = np.sqrt((fourth - variance**2) / CHAINS)
    assert (abs(((hidden - mean) ** 2).mean(axis=0) - variance) < 5 * spread + 1e-12).all()


def test_visible_draws_have_the_conditional_mean():
    model = model_of("[0,1]")
    h = np.tile([0.1, 0.9, 0.5, 0.0], (CHAINS, 1))
    probability = 1 / (1 + np.exp(-(model.weights @ h[0] + model.visible_bias)))
    error = np.sqrt(probability * (1 - probability) / CHAINS)
    draws = model.sample_visible(h, rng=2)
    assert (abs(draws.mean(axis=0) - probability) < 5 * error).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["[0,4]", "flat", "bernoulli"])
def test_one_thread_equals_all(kind, dtype):
    # Sizes that leave ragged tiles in every direction.
    model = model_of(kind, dtype, n_visible=131, n_hidden=203)
    runs = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        runs.append(model.sample(300, n_gibbs=3, rng=0))
    assert np.array_equal(runs[0], runs[1])


def test_clamped_pixels_stay_and_free_ones_follow_the_conditional():
    model = model_of("mixed")
    clamp = np.array([1.0, np.nan, 0.0, np.nan, np.nan])
    draws = model.sample(20_000, n_gibbs=40, rng=1, clamp=clamp)
    assert (draws[:, 0] == 1).all() and (draws[:, 2] == 0).all()
    states, probability = exact_states(model)
    agrees = (states[:, 0] == 1) & (states[:, 2] == 0)
    conditional = probability[agrees] / probability[agrees].sum()
    expected = conditional @ states[agrees]
    free = [1, 3, 4]
    error = np.sqrt(expected[free] * (1 - expected[free]) / 20_000)
    assert (abs(draws.mean(axis=0) - expected)[free] < 5 * error).all()


def test_a_run_depends_on_the_seed_and_on_nothing_else():
    model = model_of("[0,1]")
    assert np.array_equal(model.sample(50, n_gibbs=5, rng=7), model.sample(50, n_gibbs=5, rng=7))
    assert not np.array_equal(
        model.sample(50, n_gibbs=5, rng=7), model.sample(50, n_gibbs=5, rng=8)
    )
    generator = np.random.default_rng(0)
    first = model.sample(50, n_gibbs=5, rng=generator)
    assert not np.array_equal(first, model.sample(50, n_gibbs=5, rng=generator))


def test_sampling_keeps_dtype_and_arguments():
    model = model_of("[0,1]", np.float32)
    start = np.zeros((3, 5), dtype=np.uint8)
    draws = model.sample(start=start, n_gibbs=2, rng=0)
    assert draws.dtype == np.float32 and draws.shape == (3, 5)
    assert not start.any()
    assert isinstance(model, tf.TruGRBM)


def test_biases_may_differ_per_row():
    # The temporal model's half steps: row r has its own biases, or all rows share one.
    from trug_fast._common.threads import one_blas_thread
    from trug_fast.kernels.rbm import gibbs

    model = model_of("mixed", n_visible=70, n_hidden=140)
    layers, rng = model.layers(), np.random.default_rng(0)
    rows = 300  # more than one tile
    x, h = rng.random((rows, 70)), rng.random((rows, 140))
    per_row = layers._replace(
        visible_bias=rng.normal(size=(rows, 70)), hidden_bias=rng.normal(size=(rows, 140))
    )
    net, hidden = np.empty((rows, 140)), np.empty((rows, 140))
    mean, visible = np.empty((rows, 70)), np.empty((rows, 70))
    address = gibbs.Address(1, 0, 0, 0)
    with one_blas_thread():
        gibbs.step_hidden(per_row, x, address, net, hidden)
        gibbs.step_visible(per_row, h, address, mean, visible)
    np.testing.assert_allclose(net, x @ model.weights + per_row.hidden_bias, atol=1e-12)
    logits = h @ model.weights.T + per_row.visible_bias
    np.testing.assert_allclose(mean, 1 / (1 + np.exp(-logits)), atol=1e-14)
    assert set(np.unique(visible)) == {0.0, 1.0}
    assert ((hidden >= model.lower) & (hidden <= model.upper)).all()
