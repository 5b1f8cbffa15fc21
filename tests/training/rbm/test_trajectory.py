"""Trajectory tempering: log Z within its error, modes that are kept, and what it refuses."""

from contextlib import nullcontext

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import strong_model
from tools.magnets import log_probability, magnet
from trug_fast._common.threads import computing
from trug_fast.kernels.rbm import gibbs
from trug_fast.training.diagnosis import spread
from trug_fast.training.rates import sweeps
from trug_fast.training.rbm.negatives import BRAKE, LogZ, Trajectory
from trug_fast.training.rbm.watch import optimistic

# What most of these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")

SMALL = {"epochs": 2, "batch_size": 20, "sampler": "ptt"}
KINDS = {
    "ordinary": {"n_hidden": 6, "hidden": "bernoulli"},
    "per unit": {"n_hidden": 8},
    "sigmoid": {"n_hidden": 12, "truncation": "sigmoid"},
    "relu": {"n_hidden": 6, "truncation": "relu"},
    "gaussian": {"n_hidden": 6, "hidden": "bernoulli", "visible": "gaussian"},
}


def rows(n, seed, kind="ordinary"):
    """Return noisy copies of four patterns of ten pixels, or real data of six columns."""
    rng = np.random.default_rng(seed)
    if kind == "gaussian":
        return rng.normal(size=(n, 6)) @ rng.normal(size=(6, 6)) / 2.5
    patterns = rng.random((4, 10)) < 0.5
    return (patterns[rng.integers(4, size=n)] ^ (rng.random((n, 10)) < 0.05)).astype(np.float32)


def scaled(kind, seed, n=400, **options):
    """Return by how many standard errors the last score is off."""
    X = rows(n, seed, kind)
    fit = tf.train_rbm(X, **(SMALL | KINDS[kind] | options), rng=seed)
    exact = tf.exact.log_likelihood(fit.model, spread(X)).mean()
    return (fit.history["score"][-1] - exact) / fit.history["score_error"][-1]


def test_the_curve_lies_within_its_error():
    # The sum of the squares of five normal numbers exceeds 25 by chance once in 7,000 times.
    assert sum(scaled(kind, 1) ** 2 for kind in KINDS) < 25


@pytest.mark.slow
def test_thirty_curves_lie_within_their_errors():
    off = np.array([scaled(k, s, 2000, epochs=8) for k in KINDS for s in range(6)])
    # 30 normal numbers: the sum of squares exceeds 67 once in 8,000 times; 7 beyond two of their
    # standard deviations once in 3,000.
    assert (off**2).sum() < 67 and (abs(off) > 2).sum() < 7


def trajectory_of(model, chains=400, seed=3, **options):
    """Return chains whose last rung is a weaker model."""
    parts = model.arrays()
    base = type(model)(**(parts | {"weights": 0 * model.weights, "hidden_bias": 0.0}))
    near = type(model)(**(parts | {"weights": 0.8 * model.weights}))
    none = np.empty((0, base.n_columns), base.dtype)
    sampler = tf.training.TrajectoryTempering(reservoir=10, **options)
    found = Trajectory(sampler, sweeps(sampler.n_gibbs, 1), base, none, chains, seed)
    found.freeze(near, 0)
    return found


def test_chains_reach_the_models_own_distribution():
    model = strong_model()
    states = tf.exact.binary_states(8)
    p = np.exp(tf.exact.log_likelihood(model, states))
    chains, layers = trajectory_of(model), model.layers()
    total = 0.0
    with computing(0):
        for update in range(60):
            chains.exchange(layers, 1, 5, 1 + update, update)
            phase = chains.chains.phase
            total += phase.visible.mean(axis=0) / 40 if update >= 20 else 0.0
    mean = p @ states
    # Five standard errors of as many independent draws as the reservoir has: 4,000.
    assert (abs(total - mean) < 5 * np.sqrt(mean * (1 - mean) / 4000)).all()
    assert 0.3 < chains.acceptance < 1.0


def test_draws_are_made_anew_in_time():
    found = trajectory_of(strong_model(), chains=20, renew=3)
    due, first = 3 * len(found.ladder), found.grown()["ladder.reservoir"]
    for update in (0, 1, due - 1, due + 1):
        found.renew(update)
        np.testing.assert_array_equal(found.grown()["ladder.reservoir"], first)
    found.renew(due)
    second = found.grown()["ladder.reservoir"]
    assert second.shape == first.shape and (second != first).any()
    again = trajectory_of(strong_model(), chains=20, renew=3)
    again.restore(found.grown())
    for each in (found, again):
        each.renew(2 * due)
    np.testing.assert_array_equal(again.grown()["ladder.reservoir"], found._all)
    assert (found._all != second).any()


@pytest.mark.parametrize(("apart", "warnings"), [(10, 1), (30, 0)])
def test_rungs_that_follow_each_other_closely_are_told_once(apart, warnings):
    model = strong_model()
    found = trajectory_of(model, chains=20)
    near = type(model)(**(model.arrays() | {"weights": 0.7 * model.weights}))
    with pytest.warns(tf.training.TrainingWarning) if warnings else nullcontext([]) as said:
        for rung in range(1, 10):
            found.freeze((model, near)[rung % 2], rung * apart)
            if rung in (1, 7):  # killed and resumed, before the warning and after
                state, found = found.grown(), trajectory_of(model, chains=20)
                found.restore(state)
    assert len(said) == warnings
    if warnings:
        words = str(said[0].message)
        assert "every 10 updates" in words and "lower learning_rate" in words


def test_the_phase_is_that_of_the_states():
    model = strong_model()
    chains, layers = trajectory_of(model, chains=31), model.layers()
    with computing(0):
        for update in (0, 1):  # one half of the chains, and the other
            chains.exchange(layers, 2, 5, 1 + 2 * update, update)
            phase = chains.chains.phase
            np.testing.assert_allclose(
                phase.net, phase.visible @ model.weights + model.hidden_bias, rtol=1e-12, atol=1e-12
            )
            again = gibbs.Phase.new(phase.visible, model.n_hidden)
            np.testing.assert_allclose(
                phase.mean, model.hidden_moments(again.visible).mean, rtol=1e-9
            )
            np.testing.assert_allclose(phase.means()[0], phase.mean.mean(axis=0), rtol=1e-12)


def test_what_the_fit_says():
    X = rows(200, 0)
    watched = tf.training.Monitor("log_likelihood", every=2)
    fit = tf.train_rbm(X, 5, validation=X[:50], monitor=watched, rng=0, **(SMALL | {"epochs": 3}))
    error = fit.history["score_error"]
    assert np.isnan(error[0]) and (error[1:] > 0).all()
    assert np.isfinite(fit.history["validation_score"][1:]).all()
    assert fit.history["rungs"][-1] == len(fit.ladder) >= 1
    assert ((fit.history["swap_mean"] > 0) & (fit.history["swap_mean"] <= 1)).all()
    assert not fit.ladder.models[0].weights.any()
    assert tf.train_rbm(X, 5, epochs=1, monitor=None, rng=0).ladder is None


def test_training_goes_on_from_a_model():
    X = rows(400, 0)
    first = tf.train_rbm(X, 5, epochs=3, rng=0)
    fit = tf.train_rbm(X, start=first.model, rng=1, **SMALL)
    exact = tf.exact.log_likelihood(fit.model, spread(X)).mean()
    assert len(fit.ladder) > 1
    assert abs(fit.history["score"][-1] - exact) < 4.5 * fit.history["score_error"][-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "pcd", "monitor": "log_likelihood"}, r"needs sampler=TrajectoryTempering"),
        (
            {"visible": tf.BernoulliUnits(missing=2), "monitor": "log_likelihood"},
            "needs whole rows",
        ),
    ],
)
def test_a_certified_score_needs_its_ladder(options, message):
    X = np.array(rows(50, 0), float)
    X[0, 0] = np.nan if "visible" in options else 0
    with pytest.raises(ValueError, match=message):
        tf.train_rbm(X, 5, **(SMALL | options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"freeze": 0}, "freeze must be above 0"),
        ({"freeze": 1.0}, "freeze must be"),
        ({"n_chains": 5}, "n_chains must be at least 10"),
        ({"reservoir": 0}, "reservoir must be at least 1"),
        ({"renew": 0}, "renew must be at least 1"),
    ],
)
def test_bad_samplers(options, message):
    with pytest.raises(ValueError, match=message):
        tf.training.TrajectoryTempering(**options)


@pytest.mark.parametrize("kind", ["ordinary", "per unit", "relu", "gaussian"])
def test_a_log_likelihood_that_is_too_high_is_told(kind):
    X = rows(400, 0, kind)
    model = tf.train_rbm(X, **(SMALL | KINDS[kind] | {"sampler": "pcd", "epochs": 5}), rng=0).model
    log_z = tf.exact.log_partition(model)
    assert optimistic(model, X, LogZ(log_z, 0.05), seed=0) is None
    said = optimistic(model, X, LogZ(log_z - 1.5, 0.05), seed=0)
    assert "nats above that by annealing back" in said and "missed modes" in said


def test_soft_pixels_are_judged_by_draws_of_them():
    soft = 0.1 + 0.8 * rows(200, 0)
    options = SMALL | {"visible": tf.BernoulliUnits(soft=True)}
    fit = tf.train_rbm(soft, 5, **options, rng=0)
    assert optimistic(fit.model, soft, fit.ladder.log_partition(fit.model, rng=0), seed=0) is None


def test_rungs_that_follow_each_other_closely_slow_the_model_down():
    model = strong_model()
    found = trajectory_of(model, chains=20)
    near = type(model)(**(model.arrays() | {"weights": 0.7 * model.weights}))
    assert found.brake == 1
    found.freeze(near, 100)  # far from the last
    assert found.brake == 1
    found.freeze(model, 110)
    slow = found.brake
    assert slow == pytest.approx(1 / BRAKE)
    with computing(0):
        for update in range(50):
            found.exchange(model.layers(), 1, 5, 1 + update, update)
        assert slow < found.brake < 1
        for update in range(50, 1500):
            found.exchange(model.layers(), 1, 5, 1 + update, update)
    assert found.brake == 1


@pytest.mark.slow
def test_a_magnet_at_the_default_rate():
    # It ended in FloatingPointError after eight minutes, in epoch 12.
    rows = magnet(16, 2.2, 6000, 5, 0)
    for hidden in ("trug", "bernoulli"):
        options = {"visible": "spin", "hidden": hidden, "sampler": "ptt", "epochs": 20, "rng": 0}
        fit = tf.train_rbm(rows[:5000], 64, **options)
        truth = log_probability(rows[5000:], 2.2).mean()
        log_z = tf.log_partition(fit.model, base=rows[:5000], direction="both", rng=0)
        score = tf.log_likelihood(fit.model, rows[5000:], log_z).mean()
        assert not fit.interrupted and truth - 30 < score < truth
