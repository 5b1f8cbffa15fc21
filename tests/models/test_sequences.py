"""Sequences of frames: what is refused; how they are laid out is tested in test_filter.py."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import temporal_model


def test_bad_sequences():
    model = temporal_model()
    with pytest.raises(ValueError, match="shape"):
        tf.prediction_error(model, np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"sequences\[1\] must have 4 columns"):
        tf.prediction_error(model, [np.zeros((3, 4)), np.zeros((3, 5))])
    with pytest.raises(ValueError, match="two frames"):
        tf.prediction_error(model, [np.zeros((3, 4)), np.zeros((1, 4))])
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]"):
        model.filter(np.full((2, 4), 1.5))
