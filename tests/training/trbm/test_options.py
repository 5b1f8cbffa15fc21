"""The values that only the training on sequences takes check their own fields."""

import numpy as np
import pytest

import trug_fast as tf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.SequenceCD(gradient="whole"), "gradient must be one of"),
        (lambda: tf.SequenceCD(begin="noise"), "begin must be one of"),
        (lambda: tf.SequenceCD(n_gibbs=(1, 2.5, 3)), "n_gibbs must be an int, got 2.5"),
        (lambda: tf.SequenceCD(n_gibbs=0), "n_gibbs must be at least 1"),
        (lambda: tf.SequenceCD(centred=2), "centred must be"),
        (lambda: tf.SequenceCD(own_frames=1.5), "own_frames must be at most 1"),
        (lambda: tf.SequenceCD(own_frames=(0.0, 0.5)), "both ends or none are 0"),
        (lambda: tf.SequenceCD(own_frames=(0.1, 1.5, "linear")), "own_frames must be at most 1"),
        (
            lambda: tf.SequenceCD(own_frames=(0, 0, "linear"), own_sweeps=2),
            "own_sweeps has no effect without own_frames",
        ),
        (lambda: tf.SequenceCD(past_noise=-0.1), "past_noise must be at least 0"),
        (lambda: tf.SequenceCD(past_bridges=(0.1, 1.1)), "past_bridges must be at most 1"),
        (lambda: tf.SequenceCD(own_sweeps=2), "own_sweeps has no effect without own_frames"),
        (lambda: tf.SequenceCD(own_frames=0.5, own_sweeps=0), "own_sweeps must be at least 1"),
        (lambda: tf.LinearStart(scale=-1.0), "scale must be at least 0"),
        (lambda: tf.LinearStart(order=0), "order must be at least 1"),
    ],
)
def test_wrong_fields(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_a_sampler_of_the_rbm_is_refused():
    videos = tf.datasets.bouncing_balls(2, 5, size=4, n_balls=1, rng=0)
    with pytest.raises(TypeError, match="sampler must be"):
        tf.train_trbm(videos, 4, sampler=tf.CD())
    with pytest.raises(TypeError, match="sampler must be"):
        tf.train_trbm(videos, 4, sampler="cd")


def test_noise_on_pixels_is_a_share():
    videos = tf.datasets.bouncing_balls(2, 5, size=4, n_balls=1, rng=0)
    with pytest.raises(ValueError, match="past_noise of Bernoulli units is a share"):
        tf.train_trbm(videos, 4, sampler=tf.SequenceCD(past_noise=(0.5, 2.0)))
    with pytest.raises(ValueError, match=r"own_frames\(0.75\) must be at most 1"):
        tf.train_trbm(videos, 4, sampler=tf.SequenceCD(own_frames=lambda done: 2 * done))


def test_bridges_are_for_square_pictures_of_bernoulli_units():
    sampler = tf.SequenceCD(past_bridges=0.5)
    frames = np.zeros((3, 5, 6))
    with pytest.raises(ValueError, match="square pictures, got visible='bernoulli' and 6 columns"):
        tf.train_trbm(frames, 4, sampler=sampler)
    with pytest.raises(ValueError, match="past_bridges is for Bernoulli visible units"):
        tf.train_trbm(frames[..., :4], 4, visible="gaussian", sampler=sampler)
