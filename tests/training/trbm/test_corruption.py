"""Noise on what training sees is what it says, and new each time."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.trbm import learner
from trug_fast.training.trbm.corruption import corrupt


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
