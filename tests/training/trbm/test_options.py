"""The values that only the training on sequences takes check their own fields."""

import pytest

import trug_fast as tf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tf.training.SequenceCD(gradient="whole"), "gradient must be one of"),
        (lambda: tf.training.SequenceCD(begin="noise"), "begin must be one of"),
        (lambda: tf.training.SequenceCD(n_gibbs=(1, 2.5, 3)), "n_gibbs must be an int, got 2.5"),
        (lambda: tf.training.SequenceCD(n_gibbs=0), "n_gibbs must be at least 1"),
        (lambda: tf.training.SequenceCD(centred=2), "centred must be"),
        (lambda: tf.training.LinearStart(scale=-1.0), "scale must be at least 0"),
        (lambda: tf.training.LinearStart(order=0), "order must be at least 1"),
        (lambda: tf.training.LinearStart(ridge=-1.0), "ridge must be at least 0"),
    ],
)
def test_wrong_fields(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_a_sampler_of_the_rbm_is_refused():
    videos = tf.datasets.bouncing_balls(2, 5, size=4, n_balls=1, rng=0)
    with pytest.raises(TypeError, match="sampler must be"):
        tf.train_trbm(videos, 4, sampler=tf.training.CD())
    with pytest.raises(TypeError, match="sampler must be"):
        tf.train_trbm(videos, 4, sampler="cd")
