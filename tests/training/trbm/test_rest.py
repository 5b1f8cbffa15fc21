"""Penalties beside the centred gradient: biases move as without them, about the offsets."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.models.filter import stacked
from trug_fast.training.trbm.learner import TRBMLearner

VIDEOS = tf.datasets.bouncing_balls(6, 12, size=8, rng=0)
MATRICES = "weights", "visible_to_visible", "visible_to_hidden", "hidden_to_hidden"


def after_one_update(optimizer, n_lags, *, centred=True):
    """Return the model after one update, of float64, and the optimizer's own average off."""
    return tf.train_trbm(
        VIDEOS,
        5,
        n_lags=n_lags,
        hidden="bernoulli",
        sampler=tf.training.SequenceCD(centred=centred),
        optimizer=optimizer,
        learning_rate=0.05,
        batch_size=6,
        epochs=1,
        dtype="float64",
        monitor=None,
        start=tf.training.LinearStart(scale=0.5),
        rng=0,
    ).model


def about_offsets(model):
    """Return the biases in the coordinates of the centred gradient of the first update."""
    visible = VIDEOS.reshape(-1, VIDEOS.shape[-1]).mean(axis=0, dtype=np.float64)
    hidden = np.full(5, 0.5)

    def past(name, offset):
        matrix = getattr(model, name)
        return matrix.reshape(-1, *matrix.shape[-2:]).sum(axis=0) @ offset

    ours, theirs = model.weights @ hidden, visible @ model.weights
    return {
        "visible_bias": model.visible_bias + ours + past("visible_to_visible", visible),
        "hidden_bias": model.hidden_bias
        + theirs
        + past("visible_to_hidden", visible)
        + past("hidden_to_hidden", hidden),
        "initial_visible_bias": model.initial_visible_bias + ours,
        "initial_hidden_bias": model.initial_hidden_bias + theirs,
    }


@pytest.mark.parametrize("n_lags", [1, 2])
@pytest.mark.parametrize("penalty", ["weight_decay", "l1", "l1_squared"])
@pytest.mark.parametrize("matrix", MATRICES)
def test_penalties_move_weights_about_the_offsets(matrix, penalty, n_lags):
    # Of SGD biases follow their own plain gradients there, whatever is taken off the weights.
    plain = after_one_update(tf.training.SGD(average=0), n_lags)
    optimizer = tf.training.SGD(average=0, **{penalty: {matrix: 0.3}})
    found = after_one_update(optimizer, n_lags)
    assert abs(getattr(found, matrix) - getattr(plain, matrix)).max() > 1e-3
    expected = about_offsets(plain)
    for name, values in about_offsets(found).items():
        np.testing.assert_allclose(values, expected[name], rtol=0, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("penalty", ["weight_decay", "l1"])
def test_uncentred_biases_stay_as_without_penalties(penalty):
    plain = after_one_update(tf.training.SGD(average=0), 1, centred=False)
    found = after_one_update(tf.training.SGD(average=0, **{penalty: 0.3}), 1, centred=False)
    for name in about_offsets(plain):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))


@pytest.mark.parametrize("n_lags", [1, 2])
def test_biases_follow_what_is_taken_in_the_lengths_of_their_steps(n_lags, monkeypatch):
    learners, shrink = [], TRBMLearner._shrink
    monkeypatch.setattr(
        TRBMLearner, "_shrink", lambda self, *a: (learners.append(self), shrink(self, *a))
    )
    plain = after_one_update(tf.training.Adam(average=0), n_lags)
    optimizer = tf.training.Adam(average=0, l1={"hidden_to_hidden": 0.01})
    found = after_one_update(optimizer, n_lags)
    length = {k: np.sqrt(v / 0.001) + 1e-8 for k, (_, v) in learners[0].steps.memory.items()}
    before, after = (stacked(m.hidden_to_hidden) for m in (plain, found))
    taken = (before - after) * length["hidden_to_hidden"]
    assert abs(taken).max() > 1e-4
    expected = plain.hidden_bias + 0.5 * taken.sum(axis=0) / length["hidden_bias"]
    np.testing.assert_allclose(found.hidden_bias, expected, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(found.initial_hidden_bias, plain.initial_hidden_bias)


PENALTIES = {  # of the matrix that acts by rows on columns, as mathematics 2.14 has them
    "weight_decay": lambda w: 0.5 * (w**2).sum(),
    "l1": lambda w: abs(w).sum(),
    "l1_squared": lambda w: (abs(w).sum(axis=0) ** 2).sum() / (2 * len(w)),
}


@pytest.mark.parametrize("n_lags", [1, 2])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_precisions_count_the_penalty_on_what_follows_them(penalty, n_lags):
    rng = np.random.default_rng(3)
    own = rng.normal(0, 0.3, (n_lags, 3, 3))
    start = tf.BernoulliTRBM(
        weights=rng.normal(0, 0.1, (3, 2)),
        visible_to_hidden=np.zeros((n_lags, 2, 3)),
        visible_to_visible=own,
        hidden_to_hidden=np.zeros((n_lags, 2, 2)),
        visible_bias=np.zeros(3),
        hidden_bias=np.zeros(2),
        initial_visible_bias=np.zeros(3),
        initial_hidden_bias=np.zeros(2),
        visible_precision=np.ones(3),
    )
    frames, logs = rng.normal(size=(4, 9, 3)), {}
    for factor in (0.0, 0.3):
        optimizer = tf.training.SGD(average=0, **{penalty: {"visible_to_visible": factor}})
        visible = tf.GaussianUnits(learn_precision=True, precision_rate=0.01)
        options = {"start": start, "learning_rate": 0.01, "epochs": 1, "batch_size": 4, "rng": 0}
        model = tf.train_trbm(
            frames, visible=visible, optimizer=optimizer, dtype="float64", monitor=None, **options
        ).model
        logs[factor] = np.log(model.visible_precision)
    value, matrix, step = PENALTIES[penalty], stacked(start.visible_to_visible), 1e-6
    scaled = [matrix * np.exp(s * step * np.eye(3)[i]) for i in range(3) for s in (1, -1)]
    slope = np.array([value(each) for each in scaled]).reshape(3, 2) @ [1, -1] / (2 * step)
    np.testing.assert_allclose(logs[0.3] - logs[0.0], -0.01 * 0.3 * slope, rtol=1e-6)
