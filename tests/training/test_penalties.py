"""Penalties on weights: what they converge to, what they leave at zero, what they are refused."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, same
from trug_fast.training.rates import Time, as_schedule
from trug_fast.training.steps import Shrinking, Steps, as_penalties

RNG = np.random.default_rng(0)
GROUP = np.arange(40) // 5  # of each pixel: there are 8 causes of 5 pixels each
PIXELS = (
    RNG.random((3000, 40)) < np.where((RNG.random((3000, 8)) < 0.4)[:, GROUP], 0.85, 0.15)
).astype(float)
FEW = {"n_hidden": 6, "epochs": 3, "batch_size": 100, "monitor": None, "rng": 0}


def ascend(optimizer, rate, objective_gradient, start, updates=4000):
    """Return where an optimizer comes to on a noise-free objective, with its penalties."""
    weights, steps = start.copy(), Steps(optimizer)
    shrinking = Shrinking(as_penalties(optimizer, ("weights",), 1), {"weights": weights})
    schedule = as_schedule("rate", rate, epochs=1)
    for i in range(updates):
        steps.taken += 1
        step, amounts = (
            schedule.at(i / updates, 1),
            shrinking.amounts("weights", Time(i / updates, 1)),
        )
        gradient = objective_gradient(weights) - amounts.weight_decay * weights
        steps.move_weights("weights", weights, gradient, step)
        second = steps.memory["weights"][1]
        shrinking.shrink("weights", weights, second, steps.rule(step), amounts, steps.taken)
    return shrinking.parameters({"weights": weights})["weights"]


@pytest.mark.parametrize(
    ("kind", "rate"),
    [(tf.training.SGD, (0.1, 1e-4)), (lambda **a: tf.training.SGD(momentum=0.8, **a), (0.02, 1e-4))]
    + [(tf.training.RMSprop, (0.03, 1e-5)), (tf.training.Adam, (0.03, 1e-5))],
)
def test_every_optimizer_comes_to_the_penalised_optimum(kind, rate):
    # Of -curvature (w - goal)^2 / 2 less the penalties: g = pull sign(w), or |g| <= pull where
    # w = 0.  At these rates 0.003 of the way is left.
    rng = np.random.default_rng(3)
    goal, curvature = rng.normal(size=(12, 3)), rng.uniform(0.5, 1.5, (12, 3))
    optimizer = kind(l1=0.3, l1_squared=0.4, weight_decay=0.3)
    found = ascend(optimizer, rate, lambda w: curvature * (goal - w), rng.normal(size=(12, 3)))
    gradient = curvature * (goal - found) - 0.3 * found
    pull = 0.3 + 0.4 * abs(found).sum(axis=0) / 12
    zero = found == 0
    assert zero.sum() == 14 and (abs(gradient) < pull - 0.04)[zero].all()
    np.testing.assert_allclose(gradient[~zero], (np.sign(found) * pull)[~zero], atol=4e-3)


@pytest.mark.parametrize("penalty", [{"l1": (5e-4, 0.05)}, {"l1_squared": (5e-3, 0.3)}])
def test_connections_that_are_not_there_become_exactly_zero(penalty):
    fit = tf.train_rbm(
        PIXELS,
        8,
        hidden="bernoulli",
        optimizer=tf.training.SGD(**penalty),
        epochs=20,
        monitor=None,
        rng=0,
    )
    weights = fit.model.weights
    own = abs(weights).reshape(8, 5, 8).mean(axis=1).argmax(axis=0)
    assert sorted(own) == list(range(8))
    there = GROUP[:, None] == own
    assert abs(weights[there]).min() > 2
    assert (weights[~there] == 0).mean() > 0.95 and abs(weights[~there]).max() < 0.02


def test_zero_penalties_change_nothing_and_others_what_they_say():
    plain = tf.train_rbm(PIXELS, **FEW).model
    nothing = {"l1": 0, "l1_squared": {"weights": 0.0}, "weight_decay": (0, 0)}
    assert same(plain, tf.train_rbm(PIXELS, optimizer=tf.training.SGD(**nothing), **FEW).model)
    steady = tf.train_rbm(PIXELS, optimizer=tf.training.SGD(weight_decay=0.01), **FEW).model
    for same_decay in (lambda share: 0.01, {"weights": (0.01, 0.01)}, np.full(3, 0.01)):
        optimizer = tf.training.SGD(weight_decay=same_decay)
        assert same(steady, tf.train_rbm(PIXELS, optimizer=optimizer, **FEW).model)
    assert not same(plain, steady)


def test_a_run_of_few_updates_has_its_penalties_too():
    options = {"n_hidden": 6, "epochs": 1, "learning_rate": 0.1, "monitor": None, "rng": 0}
    options |= {"hidden": "bernoulli", "batch_size": 100}
    plain = tf.train_rbm(
        PIXELS[:100], optimizer=tf.training.SGD(average=0), **options
    ).model.weights
    found = tf.train_rbm(
        PIXELS[:100], optimizer=tf.training.SGD(average=0, l1=0.1), **options
    ).model.weights
    expected = np.sign(plain) * np.maximum(abs(plain) - 0.1 * 0.1, 0)  # one update
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert 0.02 < (found == 0).mean() < 1
    whole = tf.train_rbm(PIXELS[:300], optimizer=tf.training.SGD(l1=3.0), **options).model  # three
    assert (whole.weights == 0).all()
    videos = tf.datasets.bouncing_balls(2, 12, size=8, rng=0)
    few = {
        "optimizer": tf.training.SGD(l1={"weights": 5.0}),
        "epochs": 2,
        "monitor": None,
        "rng": 0,
    }
    model = tf.train_trbm(videos, 4, **few).model
    assert (model.weights == 0).all() and model.visible_to_visible.any()


def test_penalties_of_named_matrices():
    videos = tf.datasets.bouncing_balls(6, 12, size=8, rng=0)
    options = {"n_hidden": 8, "epochs": 30, "monitor": None, "rng": 0}
    optimizer = tf.training.Adam(l1={"hidden_to_hidden": 5.0, "visible_to_visible": (1e-3, 1e-2)})
    model = tf.train_trbm(videos, optimizer=optimizer, **options).model
    assert (model.hidden_to_hidden == 0).all()
    assert 0 < (model.visible_to_visible == 0).mean() < 1
    assert (model.visible_to_hidden != 0).all() and (model.weights != 0).all()


def test_a_run_with_penalties_goes_on_and_knows_them(tmp_path):
    def stop(event):
        raise KeyboardInterrupt

    def optimizer(end):
        return tf.training.SGD(
            l1=lambda share: 1e-3 + end * share / 4, weight_decay={"weights": 1e-3}
        )

    whole = tf.train_rbm(PIXELS, optimizer=optimizer(0.3), **FEW)
    assert 0 < (whole.model.weights == 0).mean() < 1
    path = tmp_path / "run.npz"
    with pytest.warns(UserWarning, match="interrupted"):
        tf.train_rbm(PIXELS, optimizer=optimizer(0.3), checkpoint=path, callbacks=[stop], **FEW)
    resume = tf.training.Checkpoint(path, resume=True)
    with pytest.raises(ValueError, match="l1 of weights"):
        tf.train_rbm(PIXELS, optimizer=optimizer(0.2), checkpoint=resume, **FEW)
    assert_same(whole, tf.train_rbm(PIXELS, optimizer=optimizer(0.3), checkpoint=resume, **FEW))


BAD = [
    (lambda: tf.training.SGD(l1=-1), ValueError, r"l1 must be at least 0"),
    (lambda: tf.training.Adam(l1_squared=np.nan), ValueError, r"l1_squared must be"),
    (lambda: tf.training.RMSprop(l1_squared="much"), TypeError, r"l1_squared must be a number"),
    (lambda: tf.training.SGD(l1=(0.0, 0.1)), ValueError, r"l1 decays geometrically"),
    (
        lambda: tf.training.SGD(l1={"weights": -0.1}),
        ValueError,
        r"l1 of weights must be at least 0",
    ),
    (lambda: tf.training.SGD(l1={3: 0.1}), TypeError, r"l1 must name matrices by words, got 3"),
]


@pytest.mark.parametrize(("make", "kind", "words"), BAD)
def test_a_bad_penalty_is_named(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_penalties_are_values():
    one, other = (tf.training.SGD(l1={"weights": np.float32(0.5)}) for _ in range(2))
    assert one == other and hash(one) == hash(other) and one != tf.training.SGD(l1=0.5)
    assert repr(one.l1) == "{'weights': 0.5}"


def test_what_has_no_place_is_refused_before_anything_runs():
    def train(l1):
        tf.train_rbm(PIXELS, optimizer=tf.training.SGD(l1=l1), **FEW)

    with pytest.raises(ValueError, match="l1 is for weights; this model has no 'hidden_to_hidden'"):
        train({"hidden_to_hidden": 0.1})
    with pytest.raises(ValueError, match=r"l1\(0.6\) must be at least 0"):
        train(lambda share: 0.5 - share)
    with pytest.raises(ValueError, match="l1 must have a value for each of the 3 epochs, got 4"):
        train(np.ones(4))
    rows, goals = np.zeros((9, 2)), np.zeros(9)
    with pytest.raises(ValueError, match=r"optimizer has l1=0.1, which has no effect"):
        tf.train_tggm(rows, goals, 3, optimizer=tf.training.Adam(l1=0.1))
    with pytest.raises(TypeError, match="weight_decay of a regression must be a number"):
        tf.train_tggm(rows, goals, 3, optimizer=tf.training.Adam(weight_decay=(0.1, 0.01)))
