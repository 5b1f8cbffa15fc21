"""The gradient given another past than the frames that are to be learned."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.temporal import biases_after, temporal_model
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.exact import trbm as temporal_exact
from trug_fast.models.filter import of_lags
from trug_fast.models.sequences import Sequences, as_sequences
from trug_fast.training.trbm.gradients import Draws, Offsets, estimate

from .test_gradients import COPIES, exact_starts

X = np.random.default_rng(5).integers(0, 2, (3, 4)).astype(float)
KNOWN = np.concatenate([X[:1], 1 - X[1:]])  # another past than what is to be learned


def objective(model):
    """Return the sum of log p(x_t | past), the past being that of KNOWN."""
    hidden = model.filter(KNOWN)
    total = 0.0
    for t in range(len(X)):
        b, c = biases_after(model, KNOWN[:t], hidden[:t])
        total += temporal_exact.frame(model, b, c, X[t]).log_likelihood
    return total


def slope(model, name, step=1e-5):
    """Return its derivatives by one of the model's arrays, 0 where that is infinite."""
    arrays = {key: np.array(value, float) for key, value in model.arrays().items()}
    result = np.zeros(arrays[name].shape)
    for place in map(tuple, np.argwhere(np.isfinite(arrays[name]))):
        ends = []
        for sign in (1, -1):
            moved = {key: value.copy() for key, value in arrays.items()}
            moved[name][place] += sign * step
            ends.append(objective(type(model)(**moved)))
        result[place] = (ends[0] - ends[1]) / (2 * step)
    return result


@pytest.mark.parametrize("n_lags", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_the_gradient_given_another_past(n_lags):
    # As in test_gradients: 4.5 standard errors of 40 repetitions; the seeds are fixed.
    model = temporal_model("mixed", scale=0.5, n_lags=n_lags)
    given, known = (
        as_sequences("x", np.tile(x, (COPIES, 1, 1)), visible="bernoulli") for x in (X, KNOWN)
    )
    batch, own, runs = given.batch(np.arange(COPIES)), model.parameters(), []
    offsets = Offsets(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    for repeat in range(40):
        start = exact_starts(model, KNOWN, COPIES, 10 * repeat).transpose(1, 0, 2)
        start = np.ascontiguousarray(start.reshape(-1, model.n_hidden))
        draws = Draws(2, repeat, 0, 0)
        with one_blas_thread():
            options = {"start": start, "known": known}
            runs.append(
                estimate(own, given, batch, offsets, tf.training.SequenceCD(), draws, **options)
            )
    for name in ("weights", "visible_to_hidden", "hidden_to_hidden", "hidden_bias", "upper"):
        drawn = np.array([run[name] for run in runs], float) * len(X)
        if name.endswith("_to_hidden"):
            drawn = np.array([of_lags(each, n_lags) for each in drawn])
        error = drawn.std(axis=0, ddof=1) / np.sqrt(len(runs))
        off = abs(drawn.mean(axis=0) - slope(model, name))
        assert (off <= 4.5 * error + 1e-7)[np.isfinite(getattr(model, name))].all(), name
        assert error.max() < 0.03, name  # tight enough to notice a wrong factor or sign


def test_the_same_past_changes_nothing():
    model = temporal_model("mixed", scale=0.5, n_lags=2)
    given = as_sequences("x", np.tile(X, (9, 1, 1)), visible="bernoulli")
    batch, draws = given.batch(np.arange(9)), Draws(2, 1, 0, 0)
    offsets = Offsets(np.full(model.n_visible, 0.3), np.full(model.n_hidden, 0.2))
    same = Sequences(given.frames.copy(), given.lengths)
    with one_blas_thread():
        found = [
            estimate(
                model.parameters(),
                given,
                batch,
                offsets,
                tf.training.SequenceCD(),
                draws,
                known=past,
            )
            for past in (None, same)
        ]
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name], value, rtol=0, atol=1e-14, err_msg=name)
