"""Regression data that is shipped."""

import numpy as np
import pytest

from trug_fast import datasets


def test_yacht_is_shipped():
    yacht = datasets.load_yacht()
    assert (yacht.name, yacht.X.shape, yacht.y.shape) == ("yacht", (308, 6), (308,))
    assert yacht.X[0].tolist() == [-2.3, 0.568, 4.78, 3.99, 3.17, 0.125] and yacht.y[0] == 0.11
    assert yacht.y.mean() == pytest.approx(10.4954, abs=5e-5)
    assert yacht.n_splits == 20
    for index in range(20):
        rows = np.concatenate([yacht.train_rows[index], yacht.test_rows[index]])
        assert sorted(rows) == list(range(308)) and len(yacht.test_rows[index]) == 31
    split = yacht.split(3)
    np.testing.assert_array_equal(split.X_test, yacht.X[yacht.test_rows[3]])
    with pytest.raises(IndexError, match="yacht has splits 0 to 19, got 20"):
        yacht.split(20)
