"""Which path is taken, and its temperatures.  Densities along it: test_estimate.py, kernels."""

from typing import get_args

import numpy as np

import trug_fast as tf
from tests.support.models import model_of
from trug_fast.evaluation.bridges import paths


def test_auto_path_follows_the_width():
    assert paths.automatic(model_of("[0,1]")) == "quad"
    assert paths.automatic(model_of("[0,4]")) == "quad2"
    assert paths.automatic(model_of("[0,inf)")) == "quad2"
    assert paths.automatic(model_of("bernoulli")) == "quad"
    assert paths.automatic(model_of("bernoulli"), "paper") == "paper"
    assert get_args(paths.PathName) == ("auto", *paths.PATHS)


def test_adaptive_temperatures_are_ordered_whole_and_dense_where_weights_spread():
    model = model_of("[0,4]", n_visible=10, n_hidden=8)
    run = tf.log_partition(model, n_temperatures=400, n_chains=50, schedule="adaptive", rng=0)
    assert run.temperatures[0] == 0.0 and run.temperatures[-1] == 1.0
    assert run.temperatures.size == 401 and (np.diff(run.temperatures) > 0).all()
    assert np.diff(run.temperatures).max() > 1.2 * np.diff(run.temperatures).min()
    again = tf.log_partition(model, n_temperatures=400, n_chains=50, schedule="adaptive", rng=0)
    assert np.array_equal(run.log_weights, again.log_weights)
    assert abs(run.log_z - tf.exact.log_partition(model)) < 4.5 * run.std_error
