"""Parallel tempering: every temperature keeps its distribution, exchanges included."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import exact_draws, model_of
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.exact import binary_states as states_of
from trug_fast.kernels.rbm import tempering
from trug_fast.training.rbm.negatives import Replicas

BETAS = (0.0, 0.3, 0.6, 1.0)
CHAINS = 20_000
BASE = np.array([0.3, -0.8, 0.5, 0.0, 1.0])


def tempered(model, t):
    """Return the exact distribution over all visible states at t, from mathematics 3.2."""
    states = states_of(model.n_visible)
    scaled = dict(weights=t * model.weights, hidden_bias=t * model.hidden_bias)
    common = {name: getattr(model, name) for name in model.names}
    bias = (1 - t) * BASE + t * model.visible_bias
    at_t = type(model)(**(common | scaled | {"visible_bias": bias}))
    log_p = -at_t.free_energy(states)
    p = np.exp(log_p - log_p.max())
    return states, p / p.sum()


def replicas(model, seed=0):
    """Return replicas in their exact distributions, and their layers."""
    result = Replicas(BETAS, CHAINS, BASE.astype(model.dtype), model.n_hidden)
    rng = np.random.default_rng(seed)
    rows = []
    for t in BETAS:
        states, p = tempered(model, t)
        rows.append(states[rng.choice(len(states), CHAINS, p=p)])
    layers = model.layers()
    net = np.concatenate(rows).astype(model.dtype) @ model.weights + model.hidden_bias
    with one_blas_thread():
        result.start(layers, net, seed=11, step=0)
    return result, layers


def states_at(model, t, visible, net, accepted):
    """Return replicas in these states; what an exchange does not use is empty."""
    none = np.empty((0, 0))
    tilt = model.visible_bias - BASE
    return tempering.ReplicaStates(t, tilt, none, visible, none, net, accepted)


@pytest.mark.parametrize("kind", ["[0,4]", "mixed", "flat", "bernoulli"])
def test_every_temperature_keeps_its_distribution(kind):
    # Chi-square of 20,000 independent chains over 32 states at 4 temperatures: above 85 (31
    # degrees of freedom) by chance in 1 of 10^6 cases of 16.
    model = model_of(kind)
    chains, layers = replicas(model)
    with one_blas_thread():
        chains.sweep(layers, 6, 3, 1)
    rates = chains.rates(6)
    assert (rates > 0.2).all() and (rates < 1).all()  # exchanges happen, and are refused
    powers = 2 ** np.arange(model.n_visible)
    for at, t in enumerate(BETAS):
        visible = chains.states.visible[at * CHAINS : (at + 1) * CHAINS]
        states, p = tempered(model, t)
        order = np.argsort(states @ powers)
        counts = np.bincount((visible @ powers).astype(int), minlength=len(states))
        expected = CHAINS * p[order]
        assert ((counts - expected) ** 2 / expected).sum() < 85


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_exchanges_accept_as_metropolis_says(kind):
    # The share accepted, given two known states, is the ratio of the four probabilities.
    model = model_of(kind)
    p = {
        t: dict(zip(map(tuple, s), w, strict=True)) for t in BETAS for s, w in [tempered(model, t)]
    }
    states = states_of(model.n_visible)
    rng = np.random.default_rng(3)
    for _ in range(5):
        hot, cold = (states[rng.integers(len(states))] for _ in range(2))
        t = np.repeat([0.3, 0.6], CHAINS)
        visible = np.repeat([hot, cold], CHAINS, axis=0).astype(float)
        net = visible @ model.weights + model.hidden_bias
        accepted = np.zeros((1, CHAINS), np.int64)
        tempering.exchange(model.layers(), states_at(model, t, visible, net, accepted), 5, 0)
        a, b = tuple(hot), tuple(cold)
        expected = min(1.0, p[0.3][b] * p[0.6][a] / (p[0.3][a] * p[0.6][b]))
        share = accepted.mean()
        # Five standard errors: exceeded by chance once in 10^6 cases.
        assert abs(share - expected) <= 5 * np.sqrt(expected * (1 - expected) / CHAINS) + 1e-12
        # What was accepted, and nothing else, has moved, visibles together with net inputs.
        moved = accepted[0] == 1
        np.testing.assert_array_equal(visible[:CHAINS][moved], np.tile(cold, (moved.sum(), 1)))
        np.testing.assert_array_equal(visible[:CHAINS][~moved], np.tile(hot, ((~moved).sum(), 1)))
        np.testing.assert_array_equal(visible[CHAINS:][moved], np.tile(hot, (moved.sum(), 1)))
        expected_net = visible @ model.weights + model.hidden_bias
        np.testing.assert_allclose(net, expected_net, atol=1e-13)


def test_pairs_take_turns():
    model = model_of("mixed")
    t = np.repeat(BETAS, 3)
    for step in (0, 1, 2):
        visible = np.ones((12, 5))  # equal states: every exchange is accepted
        net = visible @ model.weights + model.hidden_bias
        accepted = np.zeros((3, 3), np.int64)
        tempering.exchange(model.layers(), states_at(model, t, visible, net, accepted), 0, step)
        assert accepted.tolist() == [[1 - (step + r) % 2] * 3 for r in range(3)]


def test_the_gradient_at_the_target_is_exact_on_average():
    # As in test_gradients: replicas in their distributions give an unbiased model side.
    model = model_of("mixed")
    states, p = tempered(model, 1.0)
    chains, layers = replicas(model, seed=7)
    with one_blas_thread():
        phase = chains.sweep(layers, 3, 5, 1)
    moments = model.hidden_moments(states)
    mean, second = p @ moments.mean, p @ (moments.variance + moments.mean**2)
    spread = np.sqrt(p @ moments.mean**2 - mean**2)
    # Five standard errors of CHAINS independent rows.
    assert (abs(phase.means()[0] - mean) < 5 * spread / np.sqrt(CHAINS)).all()
    assert phase.visible.shape == (CHAINS, 5)
    np.testing.assert_allclose(phase.means()[1], second, rtol=0.05)


def test_replicas_carry_chains_between_modes():
    # Two modes 25 nats apart: plain chains stay in the one they start in, tempered ones forget it.
    weights = np.full((10, 4), 5.0)
    model = tf.BernoulliRBM(weights, -weights.sum(axis=1) / 2, -weights.sum(axis=0) / 2)
    start = np.ones((50, 10))
    assert model.sample(start=start, n_gibbs=600, rng=0).mean() > 0.99
    chains = Replicas(tf.training.ParallelTempering(12).ladder, 50, np.zeros(10), 4)
    layers = model.layers()
    with one_blas_thread():
        chains.start(layers, np.ones((50, 10)) @ weights + model.hidden_bias, 1, 0)
        seen = [chains.sweep(layers, 1, 1, step).visible.mean() for step in range(1, 601)]
    # In equilibrium half of all states lie in each mode; 300 correlated sweeps of 50 chains.
    assert abs(np.mean(seen[300:]) - 0.5) < 0.1


def test_training_by_tempering_reports_its_exchanges():
    data = exact_draws(model_of("mixed"), 100, seed=0)
    sampler = tf.training.ParallelTempering([0.2, 0.7, 1.0], n_chains=4)
    options = {"epochs": 2, "batch_size": 10, "monitor": None, "rng": 0}
    fit = tf.train_rbm(data, 3, sampler=sampler, **options)
    assert ((fit.history["swap_min"] > 0) & (fit.history["swap_mean"] <= 1)).all()
    assert tf.training.ParallelTempering(3).ladder == (0.0, 0.5, 1.0)
