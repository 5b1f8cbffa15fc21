"""The zero-sum gauge: another model of the same distribution."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.kinds import every_state, model_of_kinds


@pytest.mark.parametrize("name", ["categorical", "discrete", "mixed"])
@pytest.mark.parametrize("hidden", ["trug", "bernoulli"])
def test_the_distribution_stays_and_sums_are_zero(name, hidden):
    model = model_of_kinds(name, hidden).with_columns(None)
    X = every_state(model) if name != "mixed" else model.sample(20, n_gibbs=3, rng=0)
    other = model.zero_sum()
    changed = model.free_energy(X) - other.free_energy(X)
    np.testing.assert_allclose(changed, changed[0], atol=1e-12)
    first = 0
    for run in other.runs:
        stop = first + run.columns
        if run.kind == "categorical":
            for part in (other.column_weights[first:stop], other.column_bias[first:stop]):
                sums = part.reshape(run.sites, run.states, -1).sum(axis=1)
                np.testing.assert_allclose(sums, 0, atol=1e-14)
        else:
            np.testing.assert_array_equal(
                other.column_weights[first:stop], model.column_weights[first:stop]
            )
        first = stop
    np.testing.assert_allclose(
        tf.exact.log_likelihood(other, X), tf.exact.log_likelihood(model, X), rtol=1e-12
    )
    again = other.zero_sum()
    np.testing.assert_allclose(again.weights, other.weights, atol=1e-15)


def test_other_units_have_no_gauge():
    with pytest.raises(ValueError, match="zero_sum is for categorical visible units, .* spin"):
        model_of_kinds("spin").zero_sum()
