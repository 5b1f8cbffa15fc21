"""Forecasts by simple rules."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.evaluation.forecasts import linear_fit
from trug_fast.models.sequences import as_sequences


def test_linear_forecast_finds_a_linear_law():
    rng = np.random.default_rng(0)
    law = np.array([[0.9, 0.3], [-0.3, 0.9]])
    x = np.empty((6, 40, 2))
    x[:, 0] = rng.normal(size=(6, 2))
    for t in range(1, 40):
        x[:, t] = x[:, t - 1] @ law + 0.5
    errors = tf.evaluation.forecast_errors(x[:4], list(x[4:]), ridge=0.0)
    assert (errors["linear, order 1"] < 1e-12).all()
    assert (errors["copy last"] > 1e-3).all()
    assert (errors["mean frame"] > errors["copy last"]).all()


def test_simple_forecasts_of_several_frames_ahead():
    rng = np.random.default_rng(0)
    train = [rng.normal(size=(t, 2)).cumsum(axis=0) for t in (9, 30, 12)]
    test = [rng.normal(size=(t, 2)).cumsum(axis=0) for t in (3, 8, 2)]
    found = tf.evaluation.forecast_horizon_errors(train, test, 4, orders=(1, 3))
    fits = {p: linear_fit(as_sequences("x", train, visible="gaussian"), p, 1.0).coefficients
            for p in (1, 2, 3)}  # fmt: skip
    off = {k: [] for k in range(4)}
    for x in test:
        for t in range(1, len(x)):
            path = list(x[:t])
            for k in range(4):
                p = min(3, len(path))
                path.append(np.concatenate([[1.0], *path[: -p - 1 : -1]]) @ fits[p])
                if t + k < len(x):
                    off[k].append(path[-1] - x[t + k])
    expected = [np.sqrt(np.mean(np.square(each))) for each in off.values()]
    np.testing.assert_allclose(found["linear, order 3"], expected)
    # One frame ahead they are those of forecast_errors; the last frame's are a model's yardstick.
    one = tf.evaluation.forecast_errors(train, test, orders=(1, 3))
    weights = np.array([len(x) - 1 for x in test])
    for name, each in found.items():
        assert each[0] == pytest.approx(np.sqrt(weights @ one[name] / weights.sum() / 2))
    zero = np.zeros
    model = tf.BernoulliTRBM(zero((2, 1)), zero((1, 2)), zero((2, 2)), [[0]], 0, 0, 0, 0, 1.0)
    other = tf.evaluation.horizon_errors(
        model, test, 4, n_samples=2, n_gibbs=1, every=2, rng=0
    ).last_frame
    every = tf.evaluation.forecast_horizon_errors(train, test, 4, every=2)["copy last"]
    np.testing.assert_allclose(other, every)
    with pytest.raises(ValueError, match="n_frames must be less than the longest .* 8, got 8"):
        tf.evaluation.forecast_horizon_errors(train, test, 8)
