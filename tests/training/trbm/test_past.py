"""A past that is a model's own, or noisy: where it is, and the gradient given it."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import biases_after, temporal_model
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.lags import of_lags
from trug_fast.models.sequences import Sequences, as_sequences
from trug_fast.training.trbm import learner, own_frames
from trug_fast.training.trbm.gradients import Draws, Offsets, estimate
from trug_fast.training.trbm.own_frames import with_own_frames

from .test_gradients import COPIES, exact_starts

X = np.random.default_rng(5).integers(0, 2, (3, 4)).astype(float)
KNOWN = np.concatenate([X[:1], 1 - X[1:]])  # another past than what is to be learned


def objective(model):
    """Return the sum of log p(x_t | past), the past being that of KNOWN."""
    hidden = model.filter(KNOWN)
    total = 0.0
    for t in range(len(X)):
        b, c = biases_after(model, KNOWN[:t], hidden[:t])
        total += temporal_exact.frame(model, b, c, X[t]).log_likelihood
    return total


def slope(model, name, step=1e-5):
    """Return its derivatives by one of the model's arrays, 0 where that is infinite."""
    arrays = {key: np.array(value, float) for key, value in model.arrays().items()}
    result = np.zeros(arrays[name].shape)
    for place in map(tuple, np.argwhere(np.isfinite(arrays[name]))):
        ends = []
        for sign in (1, -1):
            moved = {key: value.copy() for key, value in arrays.items()}
            moved[name][place] += sign * step
            ends.append(objective(type(model)(**moved)))
        result[place] = (ends[0] - ends[1]) / (2 * step)
    return result


@pytest.mark.parametrize("n_lags", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_the_gradient_given_another_past(n_lags):
    # As in test_gradients: 4.5 standard errors of 40 repetitions; the seeds are fixed.
    model = temporal_model("mixed", scale=0.5, n_lags=n_lags)
    given, known = (
        as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="bernoulli") for x in (X, KNOWN)
    )
    batch, own, runs = given.batch(np.arange(COPIES)), model.parameters(), []
    offsets = Offsets(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    for repeat in range(40):
        start = exact_starts(model, KNOWN, COPIES, 10 * repeat).transpose(1, 0, 2)
        start = np.ascontiguousarray(start.reshape(-1, model.n_hidden))
        draws = Draws(2, repeat, 0, 0)
        with one_blas_thread():
            options = {"start": start, "known": known}
            runs.append(estimate(own, given, batch, offsets, tf.SequenceCD(), draws, **options))
    for name in ("weights", "visible_to_hidden", "hidden_to_hidden", "hidden_bias", "upper"):
        drawn = np.array([run[name] for run in runs], float) * len(X)
        if name.endswith("_to_hidden"):
            drawn = np.array([of_lags(each, n_lags) for each in drawn])
        error = drawn.std(axis=0, ddof=1) / np.sqrt(len(runs))
        off = abs(drawn.mean(axis=0) - slope(model, name))
        assert (off <= 4.5 * error + 1e-7)[np.isfinite(getattr(model, name))].all(), name
        assert error.max() < 0.03, name  # tight enough to notice a wrong factor or sign


def test_the_same_past_changes_nothing():
    model = temporal_model("mixed", scale=0.5, n_lags=2)
    given = as_sequences("x", np.tile(X, (9, 1, 1)), visible="bernoulli")
    batch, draws = given.batch(np.arange(9)), Draws(2, 1, 0, 0)
    offsets = Offsets(np.full(model.n_visible, 0.3), np.full(model.n_hidden, 0.2))
    same = Sequences(given.frames.copy(), given.lengths)
    with one_blas_thread():
        found = [
            estimate(model.parameters(), given, batch, offsets, tf.SequenceCD(), draws, known=past)
            for past in (None, same)
        ]
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name], value, rtol=0, atol=1e-14, err_msg=name)


def chain(weights, visible_to_visible):
    """Return a model without noise: what weights of 80 lead to is certain."""
    n, none = len(weights), np.zeros((len(weights), len(weights)))
    biases = -0.5 * (weights + visible_to_visible).sum(axis=1), -0.5 * weights.sum(axis=0), 0.0, 0.0
    return tf.BernoulliTRBM(weights, none, visible_to_visible, np.zeros((n, n)), *biases)


@pytest.fixture
def given():
    rng, lengths = np.random.default_rng(0), np.array([12, 5, 1, 9])
    return Sequences(rng.integers(0, 2, (lengths.sum(), 6)).astype(float), lengths)


OWN = {"most": 3, "seed": 3, "number": 7}


def test_own_frames_start_at_the_given_frame_and_know_its_past(given):
    batch, none = given.batch(np.arange(4)), np.zeros((6, 6))
    # Hidden units copy the frame, and the frame is drawn from them: sweeps leave it where it was.
    copies = chain(80 * np.eye(6), none)
    known = with_own_frames(copies.parameters(), given, batch, share=1.0, **OWN)
    np.testing.assert_allclose(known.frames, given.frames, atol=1e-12)
    # Each frame is that before it, moved by one place, whatever is given; the first stays.
    moves = chain(none, 80 * np.roll(np.eye(6), 1, axis=0))
    known = with_own_frames(moves.parameters(), given, batch, share=1.0, **OWN)
    for before, after in zip(given.split(given.frames), given.split(known.frames), strict=True):
        np.testing.assert_array_equal(after[0], before[0])
        np.testing.assert_allclose(after[1:], np.roll(before[:-1], 1, axis=1), atol=1e-12)


def test_own_frames_are_some_and_the_same_again(given):
    batch, model = given.batch(np.arange(4)), chain(np.zeros((6, 6)), np.zeros((6, 6)))
    own = model.parameters()
    changed = []
    for number in range(40):
        options = OWN | {"number": number, "share": 0.3}
        known = with_own_frames(own, given, batch, **options)
        again = with_own_frames(own, given, batch, **options)
        np.testing.assert_array_equal(again.frames, known.frames)
        rows = (known.frames != given.frames).any(axis=1)
        np.testing.assert_array_equal(known.frames[rows], 0.5)
        changed.append(rows)
    several = 40 * (given.lengths.sum() - 4)
    assert abs(np.sum(changed) / several - 0.3) < 4 * np.sqrt(0.21 / several)  # four deviations
    assert with_own_frames(own, given, batch, share=0.0, **OWN) is given


def test_sweeps_of_own_frames_are_up_to_as_many_as_said(given, monkeypatch):
    found = []

    def watched(layers, chains, n_gibbs, *address):
        found.append(n_gibbs)

    monkeypatch.setattr(own_frames.gibbs, "run_chains", watched)
    own, batch = chain(np.eye(6), np.eye(6)).parameters(), given.batch(np.arange(4))
    for number in range(30):
        with_own_frames(own, given, batch, share=1.0, most=3, seed=0, number=number)
    assert set(found) == {1, 2, 3}


@pytest.fixture
def seen(monkeypatch):
    """Return a list of the frames that each update is to learn, and of those that it knows."""
    found = []

    def watched(own, sequences, *arguments, known=None, **options):
        found.append((sequences.frames.copy(), known.frames.copy()))
        return estimate(own, sequences, *arguments, known=known, **options)

    monkeypatch.setattr(learner, "estimate", watched)
    return found


def train(frames, **options):
    sampler = tf.SequenceCD(n_gibbs=1, **options)
    tf.train_trbm(frames, 3, epochs=2, batch_size=4, sampler=sampler, monitor=None, rng=0)


def test_noise_is_on_the_past_alone(seen):
    frames = np.random.default_rng(0).integers(0, 2, (4, 20, 100)).astype(np.float32)
    train(frames, past_noise=0.2)
    (clean, noisy), (_, other) = seen
    assert sorted(map(bytes, clean)) == sorted(map(bytes, frames.reshape(-1, 100)))
    assert not np.array_equal(noisy, other)
    assert abs((clean != noisy).mean() - 0.1) < 5 * np.sqrt(0.09 / clean.size)  # five deviations


def test_bridges_are_on_the_past_alone(seen):
    frames = tf.datasets.bouncing_balls(4, 20, size=10, rng=0).astype(np.float32)
    train(frames, past_bridges=1.0)
    (clean, bridged), (_, other) = seen
    assert sorted(map(bytes, clean)) == sorted(map(bytes, frames.reshape(-1, 100)))
    assert (bridged >= clean).all() and (bridged > clean).any(axis=1).mean() > 0.5
    assert not np.array_equal(bridged, other)
