"""Hidden units: which states they have, and what kernels take of them."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import KINDS, exact_draws, model_of


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_draws_and_means_are_states(kind, dtype):
    model = model_of(kind, dtype)
    rows = exact_draws(model, 2000, seed=0)
    for hidden in (model.sample_hidden(rows, rng=1), model.hidden_moments(rows).mean):
        assert model.sample_visible(hidden, rng=2).shape == rows.shape
        double = model_of(kind)  # of the same parameters, before rounding
        assert model.sample_visible(double.sample_hidden(rows, rng=1), rng=2).dtype == dtype


@pytest.mark.parametrize(
    ("model", "wrong", "words"),
    [
        (model_of("[-1,1]"), -1.01, r"got -1\.01 at unit 2, which lies in \[-1\.0, 1\.0\]"),
        (model_of("[0,4]"), 4.5, r"got 4\.5 at unit 2, which lies in \[0\.0, 4\.0\]"),
        (model_of("[0,inf)"), -1.0, r"got -1\.0 at unit 2, which lies in \[0\.0, inf\]"),
        (model_of("bernoulli"), 2.0, r"got 2\.0 at unit 2, which lies in \[0\.0, 1\.0\]"),
    ],
)
def test_what_units_cannot_be_is_refused(model, wrong, words):
    hidden = np.full((3, 4), 0.5)
    hidden[1, 2] = wrong
    with pytest.raises(ValueError, match=f"H must lie where hidden units may be, {words}"):
        model.sample_visible(hidden)


def test_kernels_share_what_is_in_training_and_copy_another_type():
    model = model_of("flat")
    units = model.hidden_units
    same, other = units.as_hidden(), units.as_hidden(np.float32)
    assert same.lower is model.lower and other.lower.dtype == np.float32
    assert same[-1] == other[-1] == 3  # precisions that are not positive
    of_bits = tf.BernoulliRBM(np.zeros((3, 2), np.float32), 0, 0).hidden_units.as_hidden(np.float32)
    assert of_bits.precision.dtype == np.float32 and of_bits[-1] == 0
