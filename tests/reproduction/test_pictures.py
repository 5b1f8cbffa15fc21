"""The first pictures of the pages are drawn."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import pictures

pytest.importorskip("matplotlib")


def test_balls(tmp_path):
    weights = np.random.default_rng(0).normal(0, 0.1, (36, 2))
    model = tf.BernoulliTRBM(weights, weights.T, np.eye(36), np.eye(2), 0, 0, 0, 0)
    model.save(tmp_path / "balls.npz")
    pictures.main(["balls", str(tmp_path / "balls.npz"), str(tmp_path / "balls.png")])
    assert (tmp_path / "balls.png").read_bytes()[:4] == b"\x89PNG"


def test_digits(tmp_path):
    weights = np.random.default_rng(0).normal(0, 0.1, (64, 3))
    tf.TruGRBM(weights, 0, 0, 1.0, 0.0, [1, 2, 4]).save(tmp_path / "digits.npz")
    pictures.main(["digits", str(tmp_path / "digits.npz"), str(tmp_path / "digits.png")])
    assert (tmp_path / "digits.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="TruGRBM"):
        pictures.main(["balls", str(tmp_path / "digits.npz"), str(tmp_path / "x.png")])
