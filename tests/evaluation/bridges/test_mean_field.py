"""The lower bound on log Z.  With Gaussian visible units: test_gaussian.py."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import KINDS, model_of
from trug_fast.evaluation.bridges import mean_field


@pytest.mark.parametrize("kind", KINDS)
def test_mean_field_is_a_lower_bound_from_anywhere(kind):
    model = model_of(kind, np.float32, n_visible=8, n_hidden=6)
    exact = tf.exact.log_partition(model)
    for point in np.random.default_rng(0).random((20, 1, 8)):
        assert mean_field.bound(model, point) < exact + 1e-9
    # Where units do not interact the bound is the value.
    free = tf.BernoulliRBM(np.zeros((8, 6)), model.visible_bias, model.hidden_bias)
    assert mean_field.bound(free, np.zeros((1, 8))) == pytest.approx(
        tf.exact.log_partition(free), abs=1e-12
    )
