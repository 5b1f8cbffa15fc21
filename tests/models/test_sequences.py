"""Sequences of frames: what is refused, and how those of different lengths are laid out."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import temporal_model
from trug_fast.models.sequences import as_sequences


def test_sequences_of_different_lengths_filter_alone():
    model = temporal_model()
    rng = np.random.default_rng(0)
    x = [rng.random((t, 4)) for t in (3, 7, 1, 7, 5)]
    sequences = as_sequences("x", x, visible="bernoulli")
    batch = sequences.batch(np.array([4, 0, 1, 2, 3]))
    seen = model.parameters().filter(sequences, batch)
    for k, part in enumerate(x):
        rows = [
            int(np.flatnonzero(batch.rows == sequences.offsets[k] + t)[0]) for t in range(len(part))
        ]
        np.testing.assert_allclose(seen.state[rows], model.filter(part), atol=1e-14)
        np.testing.assert_allclose(seen.visible[rows], part)


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
