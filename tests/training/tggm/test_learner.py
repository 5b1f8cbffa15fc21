"""State of the regression's training: scales folded into the model, and where training starts."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.regressions import learner, plain, regression, rows
from trug_fast.training.rates import Time
from trug_fast.training.tggm.data import Scales

BOTH = tf.Truncation(-1.0, 1.0, learn="per_unit", learn_lower=True)


def test_standardisation_is_folded_into_the_model_and_back():
    rng = np.random.default_rng(0)
    X, y = rng.normal([5, -3, 1e4], [2, 0.1, 3.0], (30, 3)), rng.normal([7, 0], [3, 1e-3], (30, 2))
    scales = Scales.of(X, y)
    for noise, goal in (("separate", "ml"), ("shared", "ml"), ("by_input", "moments")):
        run = learner(goal, noise, scales=scales)
        run.parts().noise_weights[:] = 0.3
        standard = run.model(scales=plain(3, 2))
        model = run.model()
        mean, std = standard.predict(scales.inputs.apply(X, np.dtype(float)), return_std=True)
        found, spread = model.predict(X, return_std=True)
        deviation = y.std(axis=0)
        np.testing.assert_allclose(found, mean * deviation + y.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(spread, std * deviation, rtol=1e-9)
        again = learner(goal, noise, scales=scales, start=model, seed=1)  # other random weights
        np.testing.assert_allclose(again.trained.theta, run.trained.theta, rtol=1e-9, atol=1e-9)


def test_starting_at_a_model_keeps_its_predictions_whatever_the_unit_of_the_hidden_layer():
    model = regression("separate", outputs=1, hidden=4)
    X, _ = rows(model, 10)
    bent = regression("by_input", outputs=1, hidden=4)
    own = {"hidden_variance": 0.4}
    for goal, noise, start in (
        ("ml", tf.training.Noise("separate", **own), model),
        ("ml", "shared", model),
        ("bp", tf.training.Noise("by_input", **own), bent),
    ):
        run, model = learner(goal, noise, sizes=(3, 4, 1), start=start), start
        again = run.model(scales=plain(3, 1))
        for a, b in zip(again.predict(X, True), model.predict(X, True), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_all_parameters_are_watched():
    for name in learner(truncation=BOTH).parts()._fields:
        run = learner("moments", "by_input", truncation=BOTH)
        assert run.fault() is None
        getattr(run.parts(), name).flat[-1] = np.inf
        assert "no longer finite" in run.fault()


def test_a_state_is_all_that_later_epochs_depend_on():
    model = regression("separate", outputs=1, hidden=4)
    X, y = rows(model, 35)
    data, other = plain(3, 1).apply(X, y, np.dtype(float)), learner(sizes=(3, 4, 1), seed=3)
    run = learner(sizes=(3, 4, 1))
    time = Time(0.0, 1)
    run.update(data, [np.arange(35)], [time])
    other.restore({name: values.copy() for name, values in run.state().items()})
    for each in (run, other):
        each.update(data, [np.arange(35)], [time])
    assert run.objective == other.objective and run.taken == other.taken == 8
    np.testing.assert_array_equal(run.trained.theta, other.trained.theta)
    with pytest.raises(ValueError, match="it says 0 steps in 3 epochs"):
        other.restore(run.state() | {"counters": np.array([3, 0])})
