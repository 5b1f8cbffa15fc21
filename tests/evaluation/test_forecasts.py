"""Forecasts by simple rules."""

import os

import numpy as np
import pytest

import trug_fast as tf

DATA = os.environ.get("TRUG_FAST_DATA")


def test_linear_forecast_finds_a_linear_law():
    rng = np.random.default_rng(0)
    law = np.array([[0.9, 0.3], [-0.3, 0.9]])
    x = np.empty((6, 40, 2))
    x[:, 0] = rng.normal(size=(6, 2))
    for t in range(1, 40):
        x[:, t] = x[:, t - 1] @ law + 0.5
    errors = tf.forecast_errors(x[:4], list(x[4:]), ridge=0.0)
    assert (errors["linear, order 1"] < 1e-12).all()
    assert (errors["copy last"] > 1e-3).all()
    assert (errors["mean frame"] > errors["copy last"]).all()


@pytest.mark.skipif(DATA is None, reason="TRUG_FAST_DATA names no folder of data sets")
def test_forecasts_of_motion_agree_with_another_program():
    motion = tf.datasets.load_cmu_motion()
    errors = tf.forecast_errors(motion.train, motion.test)
    for name, run, walk in (
        ("copy last", 18.7, 6.4),
        ("mean frame", 157, 52),
        ("linear, order 1", 9.9, 4.6),
        ("linear, order 2", 7.5, 4.1),
    ):
        np.testing.assert_allclose(errors[name], [run, walk], rtol=0.025, err_msg=name)
