"""One step of annealing against its formula, and what splits of a run must not change."""

import numpy as np
import pytest

from tests.support.annealing import log_intermediate
from tests.support.models import KINDS, exact_draws, model_of
from trug_fast.evaluation.bridges import paths
from trug_fast.evaluation.bridges.bridge import Bridge

BIAS = np.array([0.3, -1.0, 0.0, 2.0, -0.5])


def way(model, name="quad", on_hidden=False, times=(0.0, 1.0), seed=1):
    """Return a bridge over these temperatures."""
    return Bridge(model.layers(), paths.along(name, np.array(times), BIAS), seed, on_hidden)


def log_density_of_hidden(model, path, k, h):
    """Return log p_k*(h) but for the quadratic term, in float64 (mathematics 3.2, x summed out)."""
    t, s = path.hidden_scale[k], path.bias_scale[k]
    net = (1 - s) * path.base_bias + s * model.visible_bias + t * h @ model.weights.T
    return t * h @ model.hidden_bias + np.logaddexp(0.0, net).sum(axis=1)


# Steps of all three sizes: one point, two points, the difference of log-normalisers.
STEPS = [(0.4, 0.4005), (0.4, 0.47), (0.4, 0.8), (0.0, 1.0), (0.8, 0.4), (1.0, 1.0)]


def close(dtype):
    """Return the tolerances: one point leaves 5e-6 of a step that moves a tile's nets by 0.1."""
    return {"rtol": 1e-4, "atol": 1e-9 if dtype == np.float64 else 2e-6}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_gain_of_a_step_on_the_visible_layer(kind, times, dtype):
    model, x = model_of(kind, dtype), exact_draws(model_of(kind), 20, seed=1)
    for name in ("quad", "quad2") if times == (0.4, 0.47) else ("quad", "paper"):
        one = way(model, name, times=times)
        gain = one.at(x.astype(dtype)).travel(1).log_weight
        new, old = (log_intermediate(model, one.path, k, x) for k in (1, 0))
        np.testing.assert_allclose(gain, new - old, **close(dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", STEPS)
@pytest.mark.parametrize("name", ["quad", "quad2"])
@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_gain_of_a_step_on_the_hidden_layer(kind, name, times, dtype):
    model = model_of(kind, dtype)
    h = model.sample_hidden(exact_draws(model, 20, seed=1), rng=0)
    one = way(model, name, True, times)
    gain = one.at(h).travel(1).log_weight
    new, old = (log_density_of_hidden(model, one.path, k, h.astype(float)) for k in (1, 0))
    np.testing.assert_allclose(gain, new - old, **close(dtype))


@pytest.mark.parametrize("kind", ["[0,1]", "[0,4]", "bernoulli"])
def test_integrated_gains_sum_to_the_difference(kind):
    # A frozen state carried over 400 small steps: what single precision and one point leave adds
    # up to less than 1e-3 nats, of 40 to 900.
    model = model_of(kind, np.float32, n_visible=200, n_hidden=150)
    x = (np.random.default_rng(0).random((4, 200)) < 0.3).astype(np.float32)
    times = paths.uniform(400)
    bias = np.zeros(200)
    total = np.zeros(4)
    for k in range(1, 401):
        pair = Bridge(model.layers(), paths.along("quad", times[k - 1 : k + 1], bias), 1)
        total += pair.at(x).travel(1).log_weight
    whole = paths.along("quad", times, bias)
    new, old = (log_intermediate(model, whole, k, x) for k in (400, 0))
    assert np.abs(new - old).min() > 10
    np.testing.assert_allclose(total, new - old, atol=1e-3)


@pytest.mark.parametrize("on_hidden", [False, True])
def test_a_run_may_stop_anywhere(on_hidden):
    model = model_of("mixed", np.float32, n_visible=70, n_hidden=130)
    path = paths.along("quad", paths.uniform(30), np.zeros(70))
    begun = Bridge(model.layers(), path, 5, on_hidden).begun(60)
    at_once, stepwise = begun.travel(30), begun
    for stop in (1, 2, 17, 30):
        stepwise = stepwise.travel(stop)
    assert np.array_equal(stepwise.log_weight, at_once.log_weight)
    assert np.array_equal(stepwise.values, at_once.values)
    assert begun.step == 0 and not begun.log_weight.any()  # a bridge is not changed


@pytest.mark.parametrize("on_hidden", [False, True])
def test_staying_at_the_model_moves_no_weight_and_keeps_its_distribution(on_hidden):
    model = model_of("mixed")
    stay = Bridge(model.layers(), paths.at_model(5, np.zeros(5)), 3, on_hidden)
    draws = exact_draws(model, 20_000, seed=2)
    state = stay.begun(20_000, draws).travel(5)
    assert not state.log_weight.any()
    if on_hidden:
        draws, state = model.hidden_moments(draws).mean, state.values
        # The mean over x of E[h|x] has less spread than that of h: the latter's error is used.
        error = state.std(axis=0) / np.sqrt(len(state))
        assert (np.abs(draws.mean(axis=0) - state.mean(axis=0)) < 5 * np.sqrt(2) * error).all()
        return
    # Pixel means and all pairs, 15 numbers at 5 sigma of a difference: chance of failure 1e-5.
    pairs = [np.einsum("ni,nj->ij", v, v) / len(v) for v in (draws, state.values)]
    assert np.abs(pairs[0] - pairs[1]).max() < 5 * np.sqrt(2 * 0.25 / len(draws))
