"""Rows of the regression's training, and what they are for."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.tggm.data import RegressionRows, Scales

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20.0)


def sets(validation, seed=0, rows=20):
    data = RegressionRows.of(X[:rows], Y[:rows], None, validation)
    return data.sets(Scales.of(data.X, data.y).none(), np.dtype(float), seed)


@pytest.mark.parametrize(("fraction", "rows", "held"), [(0.3, 20, 6), (0.1, 3, 1), (0.5, 2, 1)])
def test_a_part_is_held_back_that_the_seed_draws(fraction, rows, held):
    found = sets(tf.training.HoldOut(fraction), rows=rows)
    assert len(found.held.inputs) == held and len(found.trained.inputs) == rows - held
    together = np.concatenate([found.held.targets, found.trained.targets])[:, 0]
    assert sorted(together) == Y[:rows].tolist()  # each row once
    np.testing.assert_array_equal(found.held.inputs, X[found.held.targets[:, 0].astype(int)])
    np.testing.assert_array_equal(found.every.inputs, X[:rows])
    if rows == 20:
        other = sets(tf.training.HoldOut(fraction), seed=1)
        assert (other.held.targets != found.held.targets).any()


def test_all_are_trained_on_without_it_or_with_rows_of_ones_own():
    alone, own = sets(None), sets((X[:3] + 1, Y[:3]))
    assert alone.held is None
    assert alone.trained.inputs is alone.every.inputs
    np.testing.assert_array_equal(own.trained.inputs, X)
    np.testing.assert_array_equal(own.held.inputs, X[:3] + 1)
    assert own.held.targets.shape == (3, 1)


def test_too_few_rows():
    with pytest.raises(ValueError, match="X has n_samples=1 rows, too few to hold 1 back"):
        sets(tf.training.HoldOut(), rows=1)
    with pytest.raises(ValueError, match="X has n_samples=3 rows, too few to hold 3 back"):
        sets(tf.training.HoldOut(0.9), rows=3)
