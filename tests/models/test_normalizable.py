"""Which models with Gaussian visible units have a density."""

import numpy as np
import pytest

import trug_fast as tf


def test_what_cannot_be_normalized_is_refused():
    def build(weights, upper=np.inf, d=1.0):
        return tf.TruGRBM(weights, 0, 0, d, 0.0, upper, visible_precision=[1.0, 4.0])

    with pytest.raises(
        ValueError, match=r"unit 1, which.* is 1\.25, .*below the unit's precision 1"
    ):
        build([[0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"norm of A\^-1/2 W D\^-1/2 is 1\.131, below 1 is safe"):
        build([[0.8, 0.8], [0.0, 0.0]])
    for model in (
        build([[0.0, 1.0], [0.0, 1.0]], upper=5.0),
        build([[0.0, 1.0], [0.0, 1.0]], d=1.3),
        build([[0.0, 1.0], [0.0, 1.0]], upper=[np.inf, 9.0]),
        build([[0.8, -0.8], [0.0, 0.0]]),  # copositive: the units keep each other in check
    ):
        assert np.isfinite(model.free_energy(np.zeros((1, 2)))).all()
    tf.BernoulliRBM([[9.0], [9.0]], 0, 0, visible_precision=1.0)
