"""Enumeration of RBMs, and which models it takes.  Exact cases: tests/models/test_rbm.py."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import model_of


def test_few_hidden_units_are_enumerated_where_pixels_are_many():
    rng = np.random.default_rng(0)
    model = tf.BernoulliRBM(
        rng.normal(size=(40, 5)).astype(np.float32), rng.normal(size=40), rng.normal(size=5)
    )
    w, b, c = (getattr(model, n).astype(float) for n in model.names)
    states = tf.exact.binary_states(5)
    terms = states @ c + np.logaddexp(0, states @ w.T + b).sum(axis=1)
    assert tf.exact.log_partition(model) == pytest.approx(np.logaddexp.reduce(terms), rel=1e-14)
    X = model.sample(4, n_gibbs=5, rng=0)
    np.testing.assert_allclose(
        tf.exact.log_likelihood(model, X), -model.free_energy(X) - np.logaddexp.reduce(terms)
    )


def test_a_rule_is_for_models_with_a_past():
    with pytest.raises(ValueError, match="rule is for temporal models, got 'full' for a TruGRBM"):
        tf.exact.gradient(model_of("[0,1]"), np.zeros((1, 5)), rule="full")


@pytest.mark.parametrize("call", [tf.exact.log_likelihood, tf.exact.gradient])
def test_other_models_are_refused_by_name(call):
    model = tf.TruGTGGM(np.zeros((2, 3)), 0.0, np.zeros((1, 2)), 0.0, 1.0, 0.0, 1.0)
    with pytest.raises(TypeError, match="TruGTRBM or BernoulliTRBM, got TruGTGGM"):
        call(model, np.zeros((1, 3)))
