"""The picture of bouncing balls is drawn."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import pictures

pytest.importorskip("matplotlib")


def test_balls(tmp_path):
    weights = np.random.default_rng(0).normal(0, 0.1, (36, 2))
    model = tf.BernoulliTRBM(weights, weights.T, np.eye(36), np.eye(2), 0, 0, 0, 0)
    model.save(tmp_path / "balls.npz")
    pictures.main([str(tmp_path / "balls.npz"), str(tmp_path / "balls.png")])
    assert (tmp_path / "balls.png").read_bytes()[:4] == b"\x89PNG"
