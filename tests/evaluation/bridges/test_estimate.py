"""Annealed importance sampling against enumeration."""

import numba
import numpy as np
import pytest

import trug_fast as tf
from tests.support.annealing import log_intermediate
from tests.support.data import exact_cases
from tests.support.models import KINDS, exact_draws, model_of
from trug_fast.evaluation.bridges import paths
from trug_fast.evaluation.exact import binary_states as states_of

CASES = exact_cases()
AIS_CASES = [case for case in CASES if case["kind"] == "ais"]
PATHS = ("quad", "quad2", "paper")


def of_case(case):
    """Return the model of an exact case."""
    p = {k: np.array(v, dtype=float) for k, v in case["params"].items()}
    return tf.TruGRBM(p["W"], p["b"], p["c"], p["d"], p["xi1"], p["xi2"])


@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_enumeration_within_its_error(kind, path, with_base):
    model = model_of(kind)
    base = exact_draws(model, 50, seed=3) if with_base else None
    exact = tf.exact.log_partition(model)
    estimate = tf.log_partition(
        model, n_chains=1000, n_temperatures=40, path=path, base=base, rng=11
    )
    # 42 cases at 4.5 sigma: chance of failure 3e-4; the log's bias is far below.
    assert abs(estimate.log_z - exact) < 4.5 * estimate.std_error
    assert estimate.std_error < 0.06
    assert 1 <= estimate.ess <= 1000
    assert estimate.log_weights.shape == (1000,)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "flat"])
@pytest.mark.parametrize("temperatures", [1, 3])
def test_weights_are_unbiased_however_few_temperatures(kind, path, temperatures):
    # E[w] = Z exactly for any number of steps: a wrong order of weight and move, a wrong kernel or
    # a lost constant shows here and nowhere else.
    model = model_of(kind)
    exact = tf.exact.log_partition(model)
    base = exact_draws(model, 50, seed=3)
    estimate = tf.log_partition(
        model, n_chains=20_000, n_temperatures=temperatures, path=path, base=base, rng=2
    )
    relative = np.exp(estimate.log_weights - exact)
    error = relative.std(ddof=1) / np.sqrt(relative.size)
    assert abs(relative.mean() - 1) < 5 * error
    assert error < 0.05


@pytest.mark.parametrize("case", AIS_CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("path", ["quad", "paper"])
def test_exact_cases(case, path):
    model, expected = of_case(case), case["expected"]
    assert tf.exact.log_partition(model) == pytest.approx(expected["logZ_B"], abs=1e-12)
    data = np.array(case["data"])
    bias = np.log((data.mean(axis=0) + case["eps"]) / (1 - data.mean(axis=0) + case["eps"]))
    np.testing.assert_allclose(bias, expected["bA"], atol=1e-12)
    np.testing.assert_allclose(paths.base_bias(model, data), bias, atol=1e-12)
    states = states_of(model.n_visible)
    every = paths.along(path, np.array(case["betas"]), bias)
    for k in range(len(case["betas"])):
        ours = log_intermediate(model, every, k, states)
        # The paper's x-independent factor, which cancels, is left out here.
        theirs = np.array(expected[path]["log_pstar"][k])
        np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], atol=1e-12)
    quad = paths.along("quad", np.array(case["betas"]), bias)
    assert paths.base_log_partition(model, quad) == pytest.approx(expected["logZ_A"], abs=1e-12)
    estimate = tf.log_partition(
        model, n_chains=2000, n_temperatures=200, path=path, base=data, rng=0
    )
    assert abs(estimate.log_z - expected["logZ_B"]) < 4.5 * estimate.std_error
    assert estimate.log_weights.var() < 4 * expected[path]["perfect_var_logw"]


def test_float32_model_gives_the_float64_answer():
    single, double = model_of("mixed", np.float32), model_of("mixed", np.float64)
    options = {"n_chains": 1000, "n_temperatures": 60, "rng": 4}
    a, b = tf.log_partition(single, **options), tf.log_partition(double, **options)
    assert a.log_weights.dtype == np.float64
    assert abs(a.log_z - b.log_z) < 5 * np.hypot(a.std_error, b.std_error)


@pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")  # few temperatures
@pytest.mark.parametrize("kind", ["[0,4]", "bernoulli"])
def test_one_thread_equals_all(kind):
    model = model_of(kind, np.float32, n_visible=131, n_hidden=203)
    weights = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        weights.append(tf.log_partition(model, n_chains=30, n_temperatures=20, rng=0).log_weights)
    assert np.array_equal(*weights)


def test_many_chains_fill_more_than_one_tile():
    model = model_of("mixed")
    few = tf.log_partition(model, n_chains=300, n_temperatures=10, rng=0)
    more = tf.log_partition(model, n_chains=700, n_temperatures=10, rng=0)
    np.testing.assert_allclose(more.log_weights[:300], few.log_weights, atol=1e-12)
