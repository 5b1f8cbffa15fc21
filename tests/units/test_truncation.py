"""Truncation points: names, pairs, and what is refused."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.units.truncation import as_truncation

TRUNCATION = [
    ({"learn": "each"}, ValueError, r"learn must be None, 'shared' or 'per_unit', got 'each'"),
    ({"learn": "shared", "upper": np.inf}, ValueError, r"learning needs finite ends"),
    ({"learn": "shared", "learn_upper": False}, ValueError, r"learn needs learn_lower or learn_up"),
    ({"lower": "0"}, TypeError, r"lower must be a number, got '0'"),
]


@pytest.mark.parametrize(("changed", "kind", "message"), TRUNCATION)
def test_truncation(changed, kind, message):
    with pytest.raises(kind, match=message):
        tf.Truncation(**changed)


def test_truncation_names_and_pairs():
    assert as_truncation("tanh") == tf.Truncation(-1.0, 1.0)
    assert as_truncation((0, np.inf)) == as_truncation("relu")
    assert as_truncation("s-learn").learn == "per_unit"
    assert as_truncation("c-learn").learn == "shared"
