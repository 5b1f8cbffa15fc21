"""Exact results of spins, categorical and mixed visible units: ways that agree, and slopes."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.kinds import NAMES, every_state, model_of_kinds
from trug_fast._common.numerics import log_sum_exp
from trug_fast.evaluation.exact import rbm as exact


@pytest.mark.parametrize("name", ["categorical", "spin", "discrete"])
@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_log_partition_is_the_sum_over_all_states(name, hidden):
    model = model_of_kinds(name, hidden)
    total = log_sum_exp(-model.free_energy(every_state(model)))
    assert tf.exact.log_partition(model) == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_ways_agree(name):
    model = model_of_kinds(name, "bernoulli")
    ways = [exact._OverHidden(model)]
    ways.append(exact.OverDiscrete(model) if name == "mixed" else exact._OverVisible(model))
    assert ways[0].log_z == pytest.approx(ways[1].log_z, rel=1e-13)
    found, other = (way.expectations() for way in ways)
    for key in model.names:
        np.testing.assert_allclose(found[key], other[key], atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_gradient_is_the_slope(name, hidden):
    model = model_of_kinds(name, hidden)
    X = model.sample(6, n_gibbs=5, rng=1)
    found = tf.exact.gradient(model, X)
    assert found.keys() == set(model.names)
    rng, step = np.random.default_rng(0), 1e-5
    for key in model.names:
        values = getattr(model, key)
        assert found[key].shape == values.shape
        if key == "visible_precision":
            assert np.flatnonzero(found[key]).tolist() == [4]
        places = list(np.ndindex(values.shape))
        for k in rng.choice(len(places), min(4, len(places)), replace=False):
            place = (4,) if key == "visible_precision" else places[k]
            if (name, hidden, k % 2) == ("mixed", "trug", 0):  # integrals take time
                continue
            if not np.isfinite(values[place]):
                continue
            ends = []
            for sign in (1, -1):
                own = {name: np.array(array) for name, array in model.arrays().items()}
                own[key][place] += sign * step
                moved = type(model)(**own, visible=model.runs)
                ends.append(tf.exact.log_likelihood(moved, X).mean())
            slope = (ends[0] - ends[1]) / (2 * step)
            assert found[key][place] == pytest.approx(slope, abs=1e-8)


def test_too_many_states_are_refused():
    model = tf.TruGRBM(np.zeros((9, 7, 2)), 0, 0, 1, 0, 1, visible="categorical")
    with pytest.raises(ValueError, match=r"at most 4,194,304 states .* got 4.04e\+07"):
        tf.exact.log_partition(model)
    ordinary = tf.BernoulliRBM(np.zeros((9, 7, 2)), 0, 0, visible="categorical")
    assert tf.exact.log_partition(ordinary) == pytest.approx(9 * np.log(7) + 2 * np.log(2))
