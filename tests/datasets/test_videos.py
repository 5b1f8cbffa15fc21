"""Bouncing balls."""

import numba
import numpy as np
import pytest

import trug_fast as tf


def test_balls_agree_with_published_figures():
    # Of 100 videos of another program of this description: mean pixel 0.1230, squared error of
    # repeating the last frame 11.87, of linear extrapolation 6.78.  Between sets of 200 videos
    # the standard deviations are about 0.0001, 0.06 and 0.07.
    videos = tf.datasets.bouncing_balls(200, rng=0)
    assert videos.shape == (200, 100, 900) and videos.dtype == np.float32
    assert videos.min() >= 0 and videos.max() <= 1
    assert abs(videos.mean() - 0.1230) < 0.0006
    step = np.square(videos[:, 1:] - videos[:, :-1]).sum(axis=-1).mean()
    assert abs(step - 11.87) < 0.3
    ahead = np.clip(2 * videos[:, 1:-1] - videos[:, :-2], 0, 1)
    assert abs(np.square(videos[:, 2:] - ahead).sum(axis=-1).mean() - 6.78) < 0.35


def test_balls_stay_whole_and_inside():
    # The brightness of a ball does not change while it moves alone in the box.
    videos = tf.datasets.bouncing_balls(20, 60, n_balls=1, rng=3)
    total = videos.sum(axis=-1)
    assert total.std() / total.mean() < 0.01


def test_videos_depend_on_the_seed_alone():
    first = tf.datasets.bouncing_balls(5, 4, size=10, rng=7)
    numba.set_num_threads(1)
    np.testing.assert_array_equal(first[:3], tf.datasets.bouncing_balls(3, 4, size=10, rng=7))
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert not np.array_equal(first, tf.datasets.bouncing_balls(5, 4, size=10, rng=8))


def test_balls_that_do_not_fit():
    with pytest.raises(ValueError, match="do not fit"):
        tf.datasets.bouncing_balls(1, 2, n_balls=40)
    with pytest.raises(ValueError, match="radius"):
        tf.datasets.bouncing_balls(1, 2, radius=6.0)
