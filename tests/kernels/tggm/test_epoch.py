"""An epoch of the regression: its steps are those of the gradients, its scores the model's."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import COMMON, PER_UNIT, gradient, learner, plain
from trug_fast.training.rates import Schedule, Time
from trug_fast.training.tggm.data import Examples


def at(rate):
    """Return a rate that stays."""
    return Schedule("rate", rate, rate)


def data(rows=23):
    rng = np.random.default_rng(0)
    return Examples(rng.normal(size=(rows, 3)), rng.normal(size=(rows, 2)), np.ones(rows))


@pytest.mark.parametrize("noise", ["separate", "by_input"])
@pytest.mark.parametrize("truncation", [PER_UNIT, COMMON, tf.Truncation(0.0, np.inf)])
def test_an_epoch_takes_a_step_along_the_gradient_for_each_batch(truncation, noise):
    # 10, 10 and 3 rows, at rates of their own, with weight decay of the weights alone.
    options = {"truncation": truncation, "optimizer": tf.training.SGD(weight_decay=0.05)}
    options |= {"learning_rate": at(0.1), "truncation_rate": at(0.02)}
    if truncation.learn is None:
        del options["truncation_rate"]
    run, ours = (learner("moments", noise, **options) for _ in range(2))
    rows, order = data(), np.random.default_rng(1).permutation(23)
    run.update(rows, [order], [Time(0.0, 1)])
    total = 0.0
    for start in (0, 10, 20):
        batch = rows.at(order[start : start + 10])
        value, slope = gradient(ours, *batch)
        total += value * len(batch.inputs)
        own = ours.parts()
        for name in ("input_weights", "output_weights", "noise_weights"):
            weights = getattr(own, name)
            weights += 0.1 * (getattr(slope, name) - 0.05 * weights)
        for name in ("input_bias", "output_bias", "log_noise"):
            getattr(own, name)[:] += 0.1 * getattr(slope, name)
        if truncation.learn is not None:
            by_lower, by_upper = slope.low_end, slope.log_width  # by the two ends
            share = 4 if truncation.learn == "shared" else 1
            width = np.exp(own.log_width)
            own.low_end[:] += 0.02 * (by_lower + by_upper) / share
            own.log_width[:] += 0.02 * width * by_upper / share
            ours.trained.lower[:] = own.low_end
            ours.trained.upper[:] = own.low_end + np.exp(own.log_width)
    np.testing.assert_allclose(run.trained.theta, ours.trained.theta, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.trained.upper, ours.trained.upper, rtol=1e-12)
    assert run.objective == pytest.approx(total / 23, rel=1e-12)
    assert (run.updates, run.taken) == (1, 3)


@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("kind", ["shared", "by_input"])
def test_noise_is_learned_or_kept(kind, learn):
    run = learner(
        "moments", tf.training.Noise(kind, learn=learn, variance=0.3), learning_rate=at(0.1)
    )
    run.update(data(), [np.arange(23)], [Time(0.0, 1)])
    assert (run.parts().log_noise != np.log(0.3)).all() == learn
    assert run.parts().noise_weights.any() == (learn and kind == "by_input")


@pytest.mark.parametrize("noise", ["separate", "by_input"])
@pytest.mark.parametrize("rows", [1, 256, 300])
def test_scores_are_those_of_the_model(rows, noise):
    run, given = learner("moments", noise), data(rows)
    run.parts().noise_weights[:] = [[0.5, -1.0, 0.2, 0.7]]
    error, likelihood = run.score(given)
    mean, std = run.model(scales=plain(3, 2)).predict(given.inputs, return_std=True)
    square = (given.targets - mean) ** 2
    assert error == pytest.approx(np.sqrt(square.mean()), rel=1e-12)
    each = -0.5 * (np.log(2 * np.pi * std**2) + square / std**2)
    assert likelihood == pytest.approx(each.sum(axis=1).mean(), rel=1e-12)
