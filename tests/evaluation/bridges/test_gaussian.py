"""Annealing of models with Gaussian visible units."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.gaussian import KINDS, gaussian_draws, gaussian_model
from trug_fast.evaluation.bridges import mean_field, paths
from trug_fast.evaluation.bridges.bridge import Bridge


@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
@pytest.mark.parametrize("path", ["quad", "quad2"])
@pytest.mark.parametrize("kind", KINDS)
def test_annealing_agrees_with_exact_results_in_both_directions(kind, path, weights_on):
    # 20 cases of three numbers at 4.5 sigma.
    model = gaussian_model(kind)
    base = gaussian_draws(model, 300, seed=3) if path == "quad" else None
    found = tf.log_partition(
        model,
        n_chains=300,
        n_temperatures=60,
        path=path,
        weights_on=weights_on,
        base=base,
        start=gaussian_draws(model, 300, seed=4),
        n_gibbs=5,
        direction="both",
        rng=1,
    )
    exact = tf.exact.log_partition(model)
    for side in (found, found.forward, found.reverse):
        assert abs(side.log_z - exact) < 4.5 * side.std_error
        assert 1e-5 < side.std_error < 0.05
    assert found.mean_field < exact and not found.warnings


@pytest.mark.parametrize("weights_on", ["visible", "hidden"])
@pytest.mark.parametrize("kind", ["mixed", "flat", "bernoulli"])
@pytest.mark.parametrize("temperatures", [1, 3])
def test_weights_are_unbiased_however_few_temperatures(kind, temperatures, weights_on):
    model = gaussian_model(kind, norm=0.3)
    found = tf.log_partition(
        model, n_chains=20_000, n_temperatures=temperatures, weights_on=weights_on, rng=2
    )
    relative = np.exp(found.log_weights - tf.exact.log_partition(model))
    error = relative.std(ddof=1) / np.sqrt(relative.size)
    assert abs(relative.mean() - 1) < 5 * error
    assert error < 0.05


def test_the_papers_path_and_float32_agree_too():
    model = gaussian_model("mixed", np.float32)
    exact = tf.exact.log_partition(model)
    for options in ({"path": "paper"}, {"path": "quad2"}):
        found = tf.log_partition(model, n_chains=500, n_temperatures=100, rng=0, **options)
        assert abs(found.log_z - exact) < 4.5 * found.std_error < 0.2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("times", [(0.4, 0.401), (0.0, 1.0), (0.8, 0.4)])
def test_gain_of_a_step_on_the_hidden_layer(times, dtype):
    model = gaussian_model("mixed", dtype)
    h = model.sample_hidden(gaussian_draws(model, 20, seed=1), rng=0)
    path = paths.along("quad2", np.array(times), np.array([0.3, -1.0, 2.0]))
    gain = Bridge(model.layers(), path, 1, True).at(h).travel(1).log_weight

    def log_p(k):  # mathematics 3.2 with x integrated out
        t, s = path.hidden_scale[k], path.bias_scale[k]
        net = (
            (1 - s) * path.base_bias
            + s * model.visible_bias
            + t * h.astype(float) @ model.weights.T
        )
        return t * h @ model.hidden_bias + (net**2 / (2 * model.visible_precision)).sum(axis=1)

    tight = dtype == np.float64
    np.testing.assert_allclose(gain, log_p(1) - log_p(0), rtol=1e-5, atol=1e-12 if tight else 1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_mean_field_stays_below(kind):
    for seed in range(5):
        model = gaussian_model(kind, seed=seed, norm=0.8)
        start = mean_field.starting_points(model, None, 0)
        assert mean_field.bound(model, start) < tf.exact.log_partition(model)


def test_what_gaussian_units_have_not():
    model = gaussian_model("[0,1]")
    with pytest.raises(ValueError, match="pseudo-log-likelihood is not for Gaussian visible"):
        tf.pseudo_log_likelihood(model, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="base must have 3 columns"):
        tf.log_partition(model, base=np.zeros((2, 2)))
