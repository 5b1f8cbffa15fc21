"""Noise on what training sees is what it says, and new each time."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.models.sequences import Sequences
from trug_fast.training.trbm import learner
from trug_fast.training.trbm.corruption import add_bridges, corrupt


@pytest.mark.parametrize("visible", ["bernoulli", "gaussian"])
def test_corruption_is_what_it_says_and_new_each_time(visible, monkeypatch):
    seen = []

    def watched(data, *args, **kwargs):
        seen.append(corrupt(data, *args, **kwargs).frames.copy())
        return data

    monkeypatch.setattr(learner, "corrupt", watched)
    frames = np.random.default_rng(0).integers(0, 2, (4, 50, 100)).astype(np.float64)
    original = frames.copy()
    options = {"n_hidden": 3, "epochs": 2, "batch_size": 4, "monitor": None, "rng": 0}
    kind = tf.BernoulliUnits if visible == "bernoulli" else tf.GaussianUnits
    tf.train_trbm(frames, visible=kind(corruption=0.2), **options)
    np.testing.assert_array_equal(frames, original)
    start, first, second = seen
    assert not np.array_equal(first, second) and not np.array_equal(start, first)
    # A batch has another order: each is compared with all. Bounds are five deviations.
    if visible == "bernoulli":
        assert set(np.unique(first)) == {0.0, 1.0}
        found = np.array([[(a != b).mean() for b in frames] for a in first.reshape(4, 50, 100)])
        assert np.abs(found.min(axis=1) - 0.1).max() < 5 * np.sqrt(0.09 / 5000)
    else:
        found = np.array([[(a - b).std() for b in frames] for a in first.reshape(4, 50, 100)])
        assert np.abs(found.min(axis=1) - 0.2).max() < 5 * 0.2 / np.sqrt(2 * 5000)


def discs(centres, size=20, radius=3.0):
    """Return a picture with a lit disc at each of the centres, as a row."""
    places = np.indices((size, size))
    away = [np.hypot(places[0] - y, places[1] - x) for y, x in centres]
    return (np.min(away, axis=0) <= radius).astype(np.float32).ravel()


def bridged(pictures, share=1.0, number=0):
    """Return such sequences of one frame with bridges."""
    frames = np.array(pictures)
    lengths = np.ones(len(frames), np.int64)
    data = Sequences(frames.copy(), lengths, np.ones(len(frames)))
    found = add_bridges(data, share, seed=3, number=number)
    assert found.frames is data.frames and found.frames.dtype == frames.dtype
    return found.frames


def test_bridges_fill_gaps_and_leave_single_discs_alone():
    near, far = discs([(10, 5), (10, 13)]), discs([(4, 4), (15, 15)])
    corner, gap = discs([(0, 0)]), 10 * 20 + 9  # a disc beyond the border has no bridge to it
    given = np.stack([near, far, corner] * 40)
    gaps = []
    for number in range(40):
        found = bridged(given, number=number)
        assert ((found >= given) & (found <= 1.0)).all()
        np.testing.assert_array_equal(found[2::3], given[2::3])
        np.testing.assert_array_equal(found[1::3], given[1::3])
        gaps.append(found[::3, gap])
    gaps = np.concatenate(gaps)
    # The gap is of one pixel, which no disc fits: it is filled, by 0.3 to 1.
    assert gaps.min() >= 0.3 and abs(gaps.mean() - 0.65) < 5 * 0.7 / np.sqrt(12 * gaps.size)


def test_bridges_are_of_a_share_of_frames_and_new_each_time():
    given = np.stack([discs([(10, 5), (10, 13)])] * 4000)
    number = next(k for k in range(20) if (bridged(given[:1], number=k) != given[:1]).any())
    found = bridged(given, 0.3, number)
    share = (found != given).any(axis=1).mean()
    assert abs(share - 0.3) < 5 * np.sqrt(0.21 / 4000)  # five deviations
    np.testing.assert_array_equal(bridged(given, 0.3, number), found)
    assert not np.array_equal(bridged(given, 0.3, number + 1), found)
