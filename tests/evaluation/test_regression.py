"""Scores of normal predictions."""

import numpy as np
import pytest
from scipy.stats import norm

from trug_fast.evaluation.regression import prediction_scores


def test_scores_are_their_definitions():
    y = np.array([0.0, 1.0, 3.0, 10.0])
    found = prediction_scores(y, np.zeros(4), np.array([1.0, 1.0, 2.0, 2.0]))
    assert found["rmse"] == pytest.approx(np.sqrt(110 / 4))
    assert found["coverage"] == 0.75

    logs = norm.logpdf(y, 0, [1, 1, 2, 2])
    assert found["log_likelihood"] == pytest.approx(logs.mean())
