"""Balls found in videos whose balls are known."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import balls, discs
from reproduction.ball_figures import ball_motion
from reproduction.balls import track_balls

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_balls", [0, 1, 2, 3, 4])
def test_the_simulator_s_balls_are_found(n_balls):
    videos = tf.datasets.bouncing_balls(4, 40, n_balls=max(n_balls, 1), rng=n_balls)
    found = track_balls(videos if n_balls else 0 * videos)
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
    assert track_balls(videos, radius=1.5).residual.max() < 0.012
    found = track_balls(drawn.astype(float), radius=1.5)
    assert (found.counts == 2).mean() > 0.97
    wide = videos.reshape(3, 30, 20, 20)[:, :, :10].reshape(3, 30, 200)  # the upper half
    half = track_balls(wide, size=20, radius=1.5)
    assert (half.counts <= 2).all() and half.mass.max() < 2.1


def test_balls_that_vanish_or_come():
    videos = tf.datasets.bouncing_balls(2, 10, n_balls=1, rng=3)
    videos[0, 5:] = 0.0
    found = track_balls(videos)
    np.testing.assert_array_equal(found.counts[0], [1] * 5 + [0] * 5)
    np.testing.assert_array_equal(np.isnan(found.speed[0]), [False] * 4 + [True] * 5)
    np.testing.assert_array_equal(found.frames_with(1), [0.5, 1.0])
    assert found.videos_with(1) == 0.5 and found.videos_with(1, 0.5) == 1.0


def bar(length, width, angle):
    """Return a bar with round ends, (30, 30), drawn as balls are."""
    rows, columns = np.mgrid[:30, :30] - 14.5
    along = rows * np.sin(angle) + columns * np.cos(angle)
    across = columns * np.sin(angle) - rows * np.cos(angle)
    beyond = np.maximum(abs(along) - (length - width) / 2, 0.0)
    return np.exp(-((np.hypot(beyond, across) / (width / 2)) ** 8))


@pytest.mark.parametrize(
    ("length", "width"), [(21.0, 5.5), (20.0, 6.0), (17.2, 7.2), (15.3, 8.4), (13.6, 10.0)]
)
def test_smears_of_the_mass_of_three_balls_are_none(length, width):
    found = track_balls([[bar(length, width, angle).ravel() for angle in (0.0, 0.4, 1.0)]])
    assert (np.round(found.mass) == 3).all() and (found.parts == 1).all()
    assert (found.counts == -1).all() and np.isnan(found.speed).all()
    assert all(found.videos_with(n, 0.01) == 0.0 for n in range(5))


def test_a_single_smear_beside_balls_and_a_great_disc_are_none():
    videos = tf.datasets.bouncing_balls(1, 2, n_balls=1, radius=1.2 * 3**0.5, rng=0)
    found = track_balls(videos)
    assert abs(found.mass - 3).max() < 0.1 and (found.counts == -1).all()
    rows, columns = np.mgrid[:30, :30]
    near = [((rows - r) ** 2 + (columns - c) ** 2) / 3.6**2 for r, c in ((6, 6), (22, 7))]
    long = ((rows - 15) / 6.5) ** 2 + ((columns - 23) / 2.0) ** 2  # a ball's mass
    frame = sum(np.exp(-(each**4)) for each in (*near, long)).clip(0, 1).ravel()
    found = track_balls([[frame, frame]])
    assert (found.parts == 3).all() and (found.counts == -1).all() and found.residual.min() > 0.1


def test_balls_that_touch_are_balls():
    videos = tf.datasets.bouncing_balls(15, 100, rng=2)
    found = track_balls(videos)
    one = found.parts == 1
    assert one.sum() > 5 and (found.counts[one] == 3).all() and (found.counts == 3).all()
    assert found.residual.max() <= 0.012
    touching = videos[one][: one.sum() // 2 * 2].reshape(2, -1, 900)
    drawn = track_balls((RNG.random(touching.shape) < touching).astype(float))
    assert (drawn.counts == 3).mean() > 0.8  # of 0.995


def test_light_that_is_not_balls():
    noise = track_balls(RNG.random((1, 3, 900)))
    assert (noise.counts == -1).all() and (noise.residual > 0.1).all()
    fog = track_balls(np.full((1, 2, 900), 0.25))
    assert (fog.counts == -1).all() and (fog.parts == 0).all()
    dim = track_balls(0.7 * tf.datasets.bouncing_balls(1, 3, rng=0))
    assert (dim.counts == -1).all()
    empty = track_balls(np.zeros((1, 2, 900)))
    assert (empty.counts == 0).all() and (empty.residual == 0).all() and empty.videos_with(0) == 1
    with pytest.raises(ValueError, match="videos"):
        track_balls(np.full((1, 2, 9), np.nan))


def test_discs_are_drawn_as_the_simulator_s_and_found_again():
    true = np.array([[8.3, 7.1], [13.0, 12.2], [24.4, 0.5]])
    frame = discs.draw(true, (30, 30), 3.6)
    alone = discs.draw(np.array([[15.2, 14.7]]), (30, 30), 3.6)
    assert abs(alone.sum() / discs.mass(3.6) - 1) < 1e-3
    found = discs.refine(frame, true + RNG.uniform(-1.5, 1.5, true.shape), 3.6)
    np.testing.assert_allclose(found, true, atol=0.02)
    assert discs.misfit(frame, true, 3.6, 1.0) == 0.0
    assert abs(discs.misfit(alone, np.zeros((0, 2)), 3.6, 1.0) - 1) < 0.02
    video = tf.datasets.bouncing_balls(1, 2, n_balls=1, radius=2.0, rng=5)[0]
    start = balls._read(video[0].reshape(30, 30).astype(float), 6.0, 1 / 3)
    exact = discs.refine(video[0].reshape(30, 30), start.centres, 6.0)
    assert abs(discs.draw(exact, (30, 30), 6.0) - video[0].reshape(30, 30)).max() < 0.01


@pytest.mark.parametrize(
    ("videos", "options", "words"),
    [
        (np.zeros((2, 1, 9)), {}, "videos must have shape"),
        (np.zeros((2, 9)), {}, "videos must have shape"),
        (np.full((2, 2, 9), 1.5), {}, "values from 0 to 1"),
        (np.zeros((2, 2, 8)), {}, "size must divide the 8 pixels"),
        (np.zeros((2, 2, 9)), {"size": 4}, "size must divide the 9 pixels"),
        (np.zeros((2, 2, 9)), {"radius": 0.1}, "a pixel or more"),
    ],
)
def test_bad_videos(videos, options, words):
    with pytest.raises(ValueError, match=words):
        track_balls(videos, **options)


def test_bad_questions_of_what_was_found():
    found = track_balls(np.zeros((2, 2, 100)))
    with pytest.raises(ValueError, match="n_balls must be at least 0, got -1"):
        found.frames_with(-1)
    with pytest.raises(TypeError, match="n_balls must be an int, got 2.5"):
        found.videos_with(2.5)
    with pytest.raises(ValueError, match="share must be at most 1.0, got 95.0"):
        found.videos_with(0, 95)


def test_what_became_of_balls():
    pytest.importorskip("matplotlib")
    videos = tf.datasets.bouncing_balls(3, 12, n_balls=2, rng=0)
    videos[0, 6:] = 0.0
    gone = track_balls(videos)
    figure = ball_motion({"gone": gone, "none": track_balls(0 * videos)}, 2)
    shares, masses, speeds = figure.axes
    np.testing.assert_allclose(shares.lines[0].get_ydata(), [1] * 6 + [2 / 3] * 6)
    np.testing.assert_allclose(masses.lines[0].get_ydata(), gone.mass.mean(axis=0))
    assert np.isnan(speeds.lines[1].get_ydata()).all()
    figure.canvas.draw()
    for wrong in ({}, {"a": videos}, [gone]):
        with pytest.raises((TypeError, ValueError), match="found"):
            ball_motion(wrong)
