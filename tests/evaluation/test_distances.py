"""Hamming distances to the nearest row against all pairs compared."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.evaluation import moments

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("sites", [1, 7, 300])
def test_nearest(sites, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 16)
    X, others = RNG.integers(0, 3, (20, sites)), RNG.integers(0, 3, (50, sites))
    found = tf.evaluation.nearest_distances(X, others)
    expected = (X[:, None] != others).sum(axis=2)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected.min(axis=1))
    own = (others[:, None] != others).sum(axis=2) + np.eye(50, dtype=int) * sites
    np.testing.assert_array_equal(tf.evaluation.nearest_distances(others), own.min(axis=1))
    assert not tf.evaluation.nearest_distances(others.astype(np.float32), others).any()


def test_what_is_refused():
    with pytest.raises(ValueError, match="reference must have 2 columns, got 3"):
        tf.evaluation.nearest_distances([[0, 1]], [[0, 1, 2]])
    with pytest.raises(ValueError, match="two rows or more without a reference"):
        tf.evaluation.nearest_distances([[0, 1]])
    with pytest.raises(ValueError, match="X must hold whole numbers from 0 to 255, got -1"):
        tf.evaluation.nearest_distances([[0, -1]], [[0, 1]])
