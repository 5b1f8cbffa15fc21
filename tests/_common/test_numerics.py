"""Sums in logarithms, and views that cannot be written to."""

import numpy as np
import pytest

from trug_fast._common.numerics import log_sum_exp, read_only


def test_sums_of_exponentials_neither_overflow_nor_vanish():
    assert log_sum_exp(np.array([1000.0, 1000.0])) == pytest.approx(1000.0 + np.log(2.0))
    assert log_sum_exp(np.array([-1000.0, -np.inf])) == -1000.0
    assert log_sum_exp(np.full(2, -np.inf)) == -np.inf


def test_a_view_cannot_be_written_to_and_shares_memory():
    weights = np.zeros(3)
    view = read_only(weights)
    weights[0] = 1.0
    assert view[0] == 1.0 and weights.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2.0
