"""Bouncing balls, motion capture and simple forecasts."""

import os

import numba
import numpy as np
import pytest

import trug_fast as tf

DATA = os.environ.get("TRUG_FAST_DATA")


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


def test_linear_forecast_finds_a_linear_law():
    rng = np.random.default_rng(0)
    law = np.array([[0.9, 0.3], [-0.3, 0.9]])
    x = np.empty((6, 40, 2))
    x[:, 0] = rng.normal(size=(6, 2))
    for t in range(1, 40):
        x[:, t] = x[:, t - 1] @ law + 0.5
    errors = tf.forecast_errors(x[:4], list(x[4:]), ridge=0.0)
    assert (errors["linear, order 1"] < 1e-12).all()
    assert (errors["copy last"] > 1e-3).all()
    assert (errors["mean frame"] > errors["copy last"]).all()


@pytest.mark.skipif(DATA is None, reason="TRUG_FAST_DATA names no folder of data sets")
@pytest.mark.parametrize("raw", [False, True])
def test_motion(raw):
    motion = tf.datasets.load_cmu_motion(raw=raw)
    assert [len(motion.train), len(motion.test)] == [31, 2]
    assert dict(zip(motion.test_names, map(len, motion.test), strict=True)) == {
        "35_18": 44,
        "35_29": 125,
    }
    frames = np.concatenate(motion.train)
    assert frames.shape == (2644, 62)
    np.testing.assert_allclose(frames.mean(axis=0), 0, atol=1e-9)
    spread = frames.std(axis=0, ddof=1)
    assert (np.isclose(spread, 1) | (spread < 1e-6)).all()
    if raw:
        first = motion.restore(motion.train[0][0])[:4]
        np.testing.assert_allclose(first, [4.40047, 17.8934, -21.0986, -0.943965])


@pytest.mark.skipif(DATA is None, reason="TRUG_FAST_DATA names no folder of data sets")
def test_forecasts_of_motion_agree_with_another_program():
    motion = tf.datasets.load_cmu_motion()
    errors = tf.forecast_errors(motion.train, motion.test)
    for name, run, walk in (
        ("copy last", 18.7, 6.4),
        ("mean frame", 157, 52),
        ("linear, order 1", 9.9, 4.6),
        ("linear, order 2", 7.5, 4.1),
    ):
        np.testing.assert_allclose(errors[name], [run, walk], rtol=0.025, err_msg=name)
