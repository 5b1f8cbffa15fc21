"""Choices that only the regression's training has."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.tggm.options import as_noise, as_objective, as_validation


def test_words_stand_for_values():
    assert as_objective("ml") == tf.training.MeanField(n_cycles=10, tolerance=0.1)
    assert as_objective("bp") == "bp"
    assert as_noise("shared") == tf.training.Noise() and as_noise("separate") == tf.training.Noise(
        "separate"
    )
    assert as_validation(0.25) == tf.training.HoldOut(0.25, refit=True)
    assert as_validation(np.float32(0.25)) == tf.training.HoldOut(0.25)
    assert as_validation(None) is None
    assert as_validation(("X", "y")) == ("X", "y")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.training.MeanField(n_cycles=0), "n_cycles must be at least 1"),
        (lambda: tf.training.MeanField(tolerance=-0.1), "tolerance must be at least 0"),
        (lambda: tf.training.Noise("none"), "kind must be one of 'shared', 'separate'"),
        (lambda: tf.training.Noise(variance=0.0), "variance must be positive"),
        (
            lambda: tf.training.Noise("separate", hidden_variance=0),
            "hidden_variance must be positive",
        ),
        (
            lambda: tf.training.Noise(hidden_variance=0.1),
            "hidden_variance has no effect on kind='shared'",
        ),
        (lambda: tf.training.HoldOut(0.0), "fraction must be positive"),
        (lambda: tf.training.HoldOut(1.0), "fraction must be below 1"),
        (lambda: tf.training.RateSearch([]), "rates must hold learning rates, got none"),
        (lambda: as_validation(0.0), "validation must be positive"),
        (lambda: as_validation((1, 2, 3)), "validation must be a pair .X, y., got 3 things"),
        (lambda: as_objective("em"), "objective must be one of 'ml', 'moments', 'bp'"),
    ],
)
def test_bad_fields(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.training.HoldOut(refit="no"), "refit must be True or False"),
        (
            lambda: tf.training.RateSearch(0.1),
            "rates must be a sequence of learning rates, got 0.1",
        ),
        (
            lambda: tf.training.RateSearch(lambda share: 0.1),
            "rates must be a sequence of learning rates",
        ),
        (lambda: tf.training.Noise(learn=1), "learn must be True or False"),
        (
            lambda: as_objective(tf.training.Noise()),
            "objective must be one of .* or made by MeanField",
        ),
        (lambda: as_noise(0.1), "noise must be one of .* or made by Noise"),
        (lambda: as_validation("0.1"), "validation must be a fraction, a HoldOut, a pair"),
        (lambda: as_validation(True), "validation must be a fraction, a HoldOut, a pair"),
    ],
)
def test_bad_kinds(make, message):
    with pytest.raises(TypeError, match=message):
        make()
