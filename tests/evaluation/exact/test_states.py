"""All states of a few units."""

import numpy as np
import pytest

import trug_fast as tf


def test_every_state_comes_once_in_the_order_of_binary_numbers():
    states = tf.exact.binary_states(5)
    assert states.shape == (32, 5) and states.dtype == np.float64
    assert np.array_equal(states @ 2 ** np.arange(5), np.arange(32))


@pytest.mark.parametrize(
    ("units", "kind", "words"),
    [
        (23, ValueError, "n_units must be at most 22, got 23"),
        (0, ValueError, "n_units must be at least 1, got 0"),
        (2.0, TypeError, "n_units must be an int, got 2.0"),
    ],
)
def test_numbers_of_units_that_make_no_table(units, kind, words):
    with pytest.raises(kind, match=words):
        tf.exact.binary_states(units)
