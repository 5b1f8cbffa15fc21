"""Kinds of units as values: their words, and errors that name the field."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.units import as_hidden, as_visible

NAN = float("nan")
BAD = [
    (lambda: tf.TruGUnits(precision=NAN), ValueError, r"precision must be finite"),
    (lambda: tf.TruGUnits(precision="1"), TypeError, r"precision must be a number, got '1'"),
    (
        lambda: tf.TruGUnits(learn_precision=np.array([True, False])),
        TypeError,
        r"learn_precision must be True or False",
    ),
    (lambda: tf.TruGUnits(precision_rate=1), ValueError, r"precision_rate has no effect without"),
    (lambda: tf.GaussianUnits(precision_rate=1), ValueError, r"precision_rate has no effect with"),
    (lambda: tf.TruGUnits(1, True, -1), ValueError, r"precision_rate must be at least 0"),
    (lambda: tf.TruGUnits(1, True, (1, 0)), ValueError, r"precision_rate decays geometrically"),
    (lambda: tf.GaussianUnits(precision=0), ValueError, r"precision must be positive, got 0"),
    (lambda: tf.GaussianUnits(precision="1"), TypeError, r"precision must be a number"),
    (lambda: tf.BernoulliUnits(missing="mean"), ValueError, r"missing must be one of 'draw', got"),
    (lambda: tf.GaussianUnits(missing=0), ValueError, r"missing must be at least 1, got 0"),
    (lambda: tf.BernoulliUnits(missing=True), TypeError, r"missing must be an int, got True"),
    (lambda: tf.BernoulliUnits(soft=1), TypeError, r"soft must be True or False, got 1"),
]


@pytest.mark.parametrize(("make", "kind", "words"), BAD)
def test_a_bad_field_is_named(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_words_stand_for_values():
    assert as_hidden("trug") == tf.TruGUnits() and as_hidden("bernoulli") is None
    assert as_visible("bernoulli") == tf.BernoulliUnits()
    assert as_visible("gaussian") == tf.GaussianUnits()
    own = tf.TruGUnits(np.float32(2), learn_precision=True, precision_rate=[3.0, 0.3])
    assert as_hidden(own) is own and own.precision_rate == (3.0, 0.3) and hash(own)
    with pytest.raises(TypeError, match="visible must be one of .*'categorical', .*or made"):
        as_visible(own)
