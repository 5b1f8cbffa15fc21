"""Offers from rows of data: they leave the model's distribution as it is, and join its modes."""

from itertools import product

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import files
from trug_fast.evaluation.bridges import climbing
from trug_fast.evaluation.bridges.climbing import RARE, Anchored, Climber

BITS = np.array(list(product([0.0, 1.0], repeat=8)))
LETTERS = np.array(list(product(range(3), repeat=4)))


def two_modes(kind):
    """Return a model of two modes, which plain chains hardly leave, and all its states."""
    rng = np.random.default_rng(1)
    if kind == "categorical":
        weights = np.zeros((4, 3, 2))
        weights[:, 0, 0], weights[:, 1, 1] = 6.0, 5.5
        return tf.BernoulliRBM(weights, 0.0, [-18.0, -15.5], visible="categorical"), LETTERS
    weights = np.repeat([[4.0, -4.0], [-4.0, 4.0]], 4, axis=0) + rng.normal(0, 0.2, (8, 2))
    if kind == "trug":
        return tf.TruGRBM(weights, 0.0, [0.0, 0.5], [-0.5, 2.0], 0.0, [1.0, 1.5]), BITS
    return tf.BernoulliRBM(weights, 0.0, [0.0, -0.5]), BITS


def drawn(model, anchors, chains, exchanges=30):
    """Return where chains are that all began at the first anchor."""
    anchors = model.visible_units.columns(anchors).astype(model.dtype)
    visible = np.repeat(anchors[:1], chains, axis=0)[None]
    Climber([model], visible, 3, 0, anchors).run(exchanges, 1)
    return model.visible_units.states(visible[0])


def statistic(model, states, rows):
    """Return Pearson's chi-squared of rows, less its mean, in its standard deviations."""
    share = np.exp(tf.exact.log_likelihood(model, states))
    code = {tuple(state): k for k, state in enumerate(states)}
    seen = np.bincount([code[tuple(row)] for row in rows], minlength=len(states))
    likely = len(rows) * share > 5
    seen = np.append(seen[likely], seen[~likely].sum())
    expected = len(rows) * np.append(share[likely], share[~likely].sum())
    degrees = likely.sum()
    return (((seen - expected) ** 2 / expected).sum() - degrees) / np.sqrt(2 * degrees)


@pytest.mark.parametrize("kind", ["bernoulli", "trug", "categorical"])
def test_chains_that_begin_in_one_mode_have_all_shares(kind):
    # The statistic exceeds five by chance less than once in 10,000 times.  Without anchors in the
    # other mode it is above a hundred.
    model, states = two_modes(kind)
    few = np.random.default_rng(0).choice(states, 6)
    anchors = np.concatenate([states[[0, -1]], few])  # by no means the model's own shares
    if kind == "categorical":
        anchors[1] = 1
    else:
        anchors[:2] = BITS[[0b11110000, 0b00001111]]
    assert statistic(model, states, drawn(model, anchors, 2000)) < 5
    assert statistic(model, states, drawn(model, anchors[:1], 2000)) > 100


def test_real_numbers_are_drawn_from_the_mixture_that_they_are():
    # Given h, Gaussian units are normal of mean (b + W h) / a: the mean's exact error is known.
    weights = np.repeat([[3.0, -3.0]], 3, axis=0)
    model = tf.BernoulliRBM(weights, 0.1, [-4.0, -5.0], visible_precision=1.0)
    H = np.array(list(product([0.0, 1.0], repeat=2)))
    net = H @ model.weights.T + model.visible_bias
    log_p = H @ model.hidden_bias + 0.5 * (net**2).sum(axis=1)
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    mean = p @ net
    variance = p @ (net**2 + 1) - mean**2
    anchors = np.array([[3.0] * 3, [-3.0] * 3])
    rows = drawn(model, anchors, 2000)
    assert min(p[1:3]) > 0.05  # both modes count
    assert (abs(rows.mean(axis=0) - mean) < 4.5 * np.sqrt(variance / 2000)).all()


def test_offers_are_rare_where_hardly_any_is_taken():
    # Of many units only the anchor that a state comes from fits it; an anchor alone says nothing.
    model, states = two_modes("bernoulli")
    anchors = states[[0b11110000, 0b00001111, 0]]
    assert Anchored(model, anchors, 100, 0).every == 1
    rng = np.random.default_rng(0)
    wide = tf.BernoulliRBM(rng.normal(0, 1.0, (100, 60)), 0.0, 0.0)
    rows = (rng.random((50, 100)) < 0.5).astype(float)
    assert Anchored(wide, rows, 100, 0).every == RARE
    visible, moved = np.repeat(rows[None, :20], 2, axis=0), []
    climber = Climber([wide, wide], visible, 0, 0, rows)
    climber._anchored.move = lambda chains, step, generator: moved.append(step)
    climber.run(2 * RARE + 1, 2)
    assert moved == [0, 2 * RARE, 4 * RARE]


def test_rare_offers_leave_the_distribution_as_it_is(monkeypatch):
    # The statistic exceeds five by chance less than once in 10,000 times.
    monkeypatch.setattr(climbing, "FEW", 2.0)  # above every share
    model, states = two_modes("trug")
    assert Anchored(model, states[:1], 5, 0).every == RARE
    anchors = states[[0b11110000, 0b00001111]]
    visible = np.repeat(anchors[:1], 2000, axis=0)[None]
    Climber([model], visible, 3, 0, anchors).run(12 * RARE, 1)
    assert statistic(model, states, visible[0]) < 5


FAST = {"epochs": 1, "sampler": "ptt", "monitor": None, "rng": 0, "progress": False}


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_training_takes_rows_that_are_evenly_spread_and_whole(tmp_path):
    X = np.zeros((1600, 3))
    X[:, 0], X[:, 1] = np.arange(1600) % 2, np.arange(1600) < 400  # sorted by a label
    fit = tf.train_rbm(X, 2, **FAST)
    anchors = fit.ladder.arrays()["anchors"]
    assert anchors.shape == (500, 3) and anchors.dtype == np.float32
    assert abs(anchors[:, 0].mean() - 0.5) < 0.1 and abs(anchors[:, 1].mean() - 0.25) < 0.01
    fit.ladder.save(tmp_path / "ladder.npz")
    read = tf.evaluation.Ladder.load(tmp_path / "ladder.npz")
    np.testing.assert_array_equal(read.sample(9, rng=0), fit.ladder.sample(9, rng=0))
    chunked = tf.train_rbm(tf.training.Chunks(X, rows=1600), 2, **FAST)
    assert chunked.ladder == fit.ladder
    few = X[:50].copy()
    few[::2, 0] = np.nan
    filled = tf.train_rbm(few, 2, visible=tf.BernoulliUnits(missing="draw"), **FAST)
    anchors = filled.ladder.arrays()["anchors"]
    np.testing.assert_allclose(anchors[::2, 0], np.nanmean(few[:, 0]), rtol=1e-6)
    np.testing.assert_array_equal(anchors[1::2], few[1::2])


def test_anchors_of_another_model_are_refused():
    model, states = two_modes("bernoulli")
    ladder = tf.evaluation.Ladder(type(model)(0 * model.weights, 0.0, 0.0), 10, 0, states)
    arrays = ladder.arrays()
    for wrong in (states[:, 1:], states.astype(np.float32), states + np.inf):
        with pytest.raises(ValueError, match="do not fit together"):
            tf.evaluation.Ladder.of_arrays(arrays | {"anchors": wrong})


def test_files_from_before_there_were_anchors_are_told_from_damaged_ones(tmp_path):
    model, states = two_modes("bernoulli")
    ladder = tf.evaluation.Ladder(type(model)(0 * model.weights, 0.0, 0.0), 10, 0, states)
    arrays = ladder.arrays()
    for lacking, words in (
        ("anchors", "of a former layout: its ladder keeps no rows of the data; train it anew"),
        ("chains", "damaged: a ladder lacks chains"),
    ):
        files.write(tmp_path / "x.npz", "Ladder", {k: v for k, v in arrays.items() if k != lacking})
        with pytest.raises(ValueError, match=rf"x\.npz is {words}$"):
            tf.evaluation.Ladder.load(tmp_path / "x.npz")


@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_a_checkpoint_from_before_there_were_anchors_is_told_from_a_damaged_one(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (60, 8)).astype(float)
    path = tmp_path / "run.npz"
    tf.train_rbm(X, 2, **FAST, checkpoint=path)
    found = files.read(path, "Training")
    old = {name: array for name, array in found.items() if not name.endswith("anchors")}
    assert len(old) == len(found) - 1
    files.write(path, "Training", old)
    words = r"checkpoint .*run\.npz is of a former layout: its ladder keeps no rows of the data"
    with pytest.raises(ValueError, match=words):
        tf.train_rbm(X, 2, **FAST, checkpoint=tf.training.Checkpoint(path, resume=True))
