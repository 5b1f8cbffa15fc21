"""How a training is seen to have failed; what each says is in the test_watch.py of its room."""

import numpy as np
import pytest

from tests.support.clusters import columns
from trug_fast.training import diagnosis
from trug_fast.training.diagnosis import Columns, Rise


def test_the_bound_counts_what_a_unit_feels():
    # Gaussian units: net inputs of x1000 data are a million times as large, and mean the same.
    for scale in (1e-3, 1.0, 1e3):
        rows, a = columns(scale=scale), np.full(4, 1 / scale**2)
        room = Columns.of(rows, True).scale(a) * a * rows.std(axis=0)
        np.testing.assert_allclose(room, 1.0 if scale >= 1 else room)
        assert (room <= 1 + 1e-12).all()


def test_a_rise_and_its_noise():
    rng = np.random.default_rng(0)
    before = rng.normal(0, 3, 1000)
    after = before + rng.normal(0.1, 0.1, 1000)
    plain, paired = Rise.of(before, after), Rise.paired(before, after)
    assert plain.error == pytest.approx(np.sqrt(18 / 1000), rel=0.1) and not plain.clear
    assert paired.error == pytest.approx(0.1 / np.sqrt(1000), rel=0.1) and paired.clear
    assert Rise.of(after, before - 1).fell and not Rise.of(before, before + np.nan).clear


def test_what_is_not_standardised():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    assert diagnosis.off_scale("X", np.c_[rows, np.ones(200)]) is None
    for factors in ([1, 1, 30], [0.03, 1, 1], [1e9, 1e9, 1e9]):
        words = diagnosis.off_scale("X", 7 + rows * factors)
        assert f"{(rows * factors).std(axis=0).max():.3g}: subtract" in words
