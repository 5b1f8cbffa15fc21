"""Balls found in videos whose balls are known."""

import numpy as np
import pytest

import trug_fast as tf

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_balls", [0, 1, 2, 3, 4])
def test_the_simulator_s_balls_are_found(n_balls):
    videos = tf.datasets.bouncing_balls(4, 40, n_balls=max(n_balls, 1), rng=n_balls)
    found = tf.track_balls(videos if n_balls else 0 * videos)
    assert (found.counts == n_balls).all() and found.videos_with(n_balls, 1.0) == 1.0
    assert abs(found.mass - n_balls).max() <= 0.04 * n_balls  # balls that touch share light
    if not n_balls:
        assert np.isnan(found.speed).all()
        return
    # The joint speed is 0.5 but within frames in which balls bounce.
    assert found.speed.shape == (4, 39)
    assert abs(np.median(found.speed) - 0.5) < 0.005 and found.speed.max() < 0.6


def test_pixels_that_are_drawn_and_other_shapes():
    videos = tf.datasets.bouncing_balls(3, 30, size=20, n_balls=2, radius=1.5, rng=1)
    drawn = RNG.random(videos.shape) < videos
    found = tf.track_balls(drawn.astype(float), radius=1.5)
    assert (found.counts == 2).mean() > 0.97
    wide = videos.reshape(3, 30, 20, 20)[:, :, :10].reshape(3, 30, 200)  # the upper half
    half = tf.track_balls(wide, size=20, radius=1.5)
    assert (half.counts <= 2).all() and half.mass.max() < 2.1


def test_balls_that_vanish_or_come():
    videos = tf.datasets.bouncing_balls(2, 10, n_balls=1, rng=3)
    videos[0, 5:] = 0.0
    found = tf.track_balls(videos)
    np.testing.assert_array_equal(found.counts[0], [1] * 5 + [0] * 5)
    np.testing.assert_array_equal(np.isnan(found.speed[0]), [False] * 4 + [True] * 5)
    np.testing.assert_array_equal(found.frames_with(1), [0.5, 1.0])
    assert found.videos_with(1) == 0.5 and found.videos_with(1, 0.5) == 1.0


@pytest.mark.parametrize(
    ("videos", "options", "words"),
    [
        (np.zeros((2, 1, 9)), {}, "videos must have shape"),
        (np.zeros((2, 9)), {}, "videos must have shape"),
        (np.full((2, 2, 9), 1.5), {}, "values from 0 to 1"),
        (np.zeros((2, 2, 8)), {}, "size must divide the 8 pixels"),
        (np.zeros((2, 2, 9)), {"size": 4}, "size must divide the 9 pixels"),
        (np.zeros((2, 2, 9)), {"radius": 0.1}, "half a pixel or more"),
    ],
)
def test_bad_videos(videos, options, words):
    with pytest.raises(ValueError, match=words):
        tf.track_balls(videos, **options)


def test_bad_questions_of_what_was_found():
    found = tf.track_balls(np.zeros((2, 2, 25)))
    with pytest.raises(ValueError, match="n_balls must be at least 0, got -1"):
        found.frames_with(-1)
    with pytest.raises(TypeError, match="n_balls must be an int, got 2.5"):
        found.videos_with(2.5)
    with pytest.raises(ValueError, match="share must be at most 1.0, got 95.0"):
        found.videos_with(0, 95)
