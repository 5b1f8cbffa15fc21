"""Motion capture as it is read."""

import os

import numpy as np
import pytest

import trug_fast as tf
from reproduction.datasets import load_cmu_motion

DATA = os.environ.get("TRUG_FAST_DATA")


@pytest.mark.skipif(DATA is None, reason="TRUG_FAST_DATA names no folder of data sets")
@pytest.mark.parametrize("raw", [False, True])
def test_motion(raw):
    motion = load_cmu_motion(raw=raw)
    assert [len(motion.train), len(motion.test)] == [31, 2]
    assert dict(zip(motion.test_names, map(len, motion.test), strict=True)) == {
        "35_18": 44,
        "35_29": 125,
    }
    frames = np.concatenate(motion.train)
    assert frames.shape == (2644, 62)
    np.testing.assert_allclose(frames.mean(axis=0), 0, atol=1e-9)
    spread = frames.std(axis=0, ddof=1)
    assert (np.isclose(spread, 1) | (spread < 1e-6)).all()
    if raw:
        first = motion.restore(motion.train[0][0])[:4]
        np.testing.assert_allclose(first, [4.40047, 17.8934, -21.0986, -0.943965])


@pytest.mark.skipif(DATA is None, reason="TRUG_FAST_DATA names no folder of data sets")
def test_forecasts_of_motion_agree_with_another_program():
    motion = load_cmu_motion()
    errors = tf.evaluation.forecast_errors(motion.train, motion.test)
    for name, run, walk in (
        ("copy last", 18.7, 6.4),
        ("mean frame", 157, 52),
        ("linear, order 1", 9.9, 4.6),
        ("linear, order 2", 7.5, 4.1),
    ):
        np.testing.assert_allclose(errors[name], [run, walk], rtol=0.025, err_msg=name)
