"""Weighted sequences of a temporal RBM: the gradient of the weighted likelihood."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same, same
from tests.support.temporal import temporal_model
from tests.training.trbm.test_gradients import exact_starts
from trug_fast._common.threads import one_blas_thread
from trug_fast.evaluation.forecasts import linear_fit
from trug_fast.models.sequences import as_sequences
from trug_fast.training.samplers import SequenceCD
from trug_fast.training.trbm.gradients import Draws, Offsets, estimate
from trug_fast.training.trbm.start import mean_frame

VIDEOS = tf.datasets.bouncing_balls(8, 12, size=6, rng=0)
WEIGHTS = np.array([1.0, 2, 3, 1, 2, 1, 4, 2])
AGAIN = np.repeat(VIDEOS, WEIGHTS.astype(int), axis=0)
FEW = {"n_hidden": 6, "epochs": 2, "rng": 0}
COPIES = 300


def slopes(model, sequences, weights, rule, seed=3, start=None, offsets=None):
    """Return one estimate of the gradient."""
    data = as_sequences("x", sequences, visible="gaussian" if rule == "real" else "bernoulli")
    data.weights = weights
    offsets = offsets or Offsets(np.zeros(model.n_visible), np.zeros(model.n_hidden))
    sampler = SequenceCD(gradient="full" if rule == "real" else rule)
    batch = data.batch(np.arange(data.shape[0]))
    with one_blas_thread():
        own = model.parameters()
        return estimate(own, data, batch, offsets, sampler, Draws(2, seed, 0, 0), start=start)


@pytest.mark.parametrize("kind", ["mixed", "bernoulli", "gaussian"])
@pytest.mark.parametrize("gradient", ["full", "paper", "paper-draws"])
def test_the_estimate_is_the_weighted_mean_of_the_sequences_own(kind, gradient):
    # All with the same draws, and centred: weights multiply what each sequence brings.
    model = temporal_model(kind, scale=0.5)
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (4, 3, model.n_visible)).astype(float)
    offsets = Offsets(np.full(model.n_visible, 0.4), np.full(model.n_hidden, 0.2))
    rule = "real" if kind == "gaussian" else gradient
    own = np.array([0.5, 0.0, 2.0, 1.2])
    parts = [slopes(model, x, row, rule, offsets=offsets) for row in np.eye(4)]
    found = slopes(model, x, own, rule, offsets=offsets)
    ones, none = (slopes(model, x, w, rule, offsets=offsets) for w in (np.ones(4), None))
    for name, value in found.items():
        if name != "hidden_offset":
            total = sum(w * part[name] for w, part in zip(own, parts, strict=True))
            np.testing.assert_allclose(value, total, atol=1e-13, err_msg=name)
        np.testing.assert_allclose(ones[name], none[name], rtol=1e-13, atol=1e-15, err_msg=name)
    states = np.array([part["hidden_offset"] for part in parts])
    np.testing.assert_allclose(found["hidden_offset"], np.average(states, axis=0, weights=own))


@pytest.mark.slow
def test_it_is_exact_on_average():
    # Chains start at the exact conditionals, as in test_gradients.py; 40 repetitions, of 130
    # comparisons one exceeds 4.5 standard errors by chance in 1 of 120 sets of seeds.
    model = temporal_model("mixed", scale=0.5)
    pair = np.random.default_rng(5).integers(0, 2, (2, 3, model.n_visible)).astype(float)
    weights = np.array([1.6, 0.4])
    parts = [tf.exact.gradient(model, [x], rule="full") for x in pair]
    x = np.concatenate([np.tile(each, (COPIES, 1, 1)) for each in pair])
    runs = []
    for repeat in range(40):
        starts = [exact_starts(model, each, COPIES, 10 * repeat + 7 * k) for k, each in
                  enumerate(pair)]  # fmt: skip
        start = np.concatenate(starts).transpose(1, 0, 2).reshape(-1, model.n_hidden)
        start = np.ascontiguousarray(start)
        runs.append(slopes(model, x, np.repeat(weights, COPIES), "full", repeat, start))
    for name in parts[0]:
        exact = sum(w * part[name] for w, part in zip(weights, parts, strict=True)) / 2
        draws = np.array([run[name] for run in runs], float)
        if name.endswith(("_to_hidden", "_to_visible")):
            draws = draws.swapaxes(1, 2)
        draws *= 1 if name.startswith("initial") else 3
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(runs))
        assert (abs(draws.mean(axis=0) - exact) <= 4.5 * error + 1e-12).all(), name
        assert error.max() < 0.02, name


@pytest.mark.parametrize("order", [1, 3])
def test_the_linear_start_is_that_of_repeated_sequences(order):
    ours, theirs = (as_sequences("x", x, visible="gaussian") for x in (VIDEOS, AGAIN))
    ours.weights = WEIGHTS
    found, wanted = (linear_fit(some, order, 1.0, whole=order > 1) for some in (ours, theirs))
    np.testing.assert_allclose(found.coefficients, wanted.coefficients, atol=1e-8)
    np.testing.assert_allclose(found.mean_square, wanted.mean_square, atol=1e-8)
    np.testing.assert_allclose(mean_frame(ours), mean_frame(theirs), atol=1e-13)


def test_equal_weights_and_zeros():
    plain = tf.train_trbm(VIDEOS, **FEW)
    assert_same(tf.train_trbm(VIDEOS, **FEW, sample_weight=np.full(8, 0.2)), plain)
    weights = np.where(np.arange(8) % 3 == 0, 0.0, WEIGHTS)
    kept = weights > 0
    own = tf.train_trbm(VIDEOS, **FEW, sample_weight=weights)
    assert_same(own, tf.train_trbm(VIDEOS[kept], **FEW, sample_weight=weights[kept]))
    assert not same(own.model, tf.train_trbm(VIDEOS[kept], **FEW).model)


def test_scores_are_weighted_and_runs_go_on(tmp_path):
    path, options = tmp_path / "run.npz", FEW | {"sample_weight": WEIGHTS}
    options |= {"transform": lambda x, generator, share: (x, [1 - each for each in x])}
    whole = tf.train_trbm(VIDEOS, **options, checkpoint=path)
    errors = tf.prediction_error(whole.model, VIDEOS)
    expected = -np.average(errors, weights=WEIGHTS)
    assert whole.history["score"][-1] == pytest.approx(expected, rel=1e-3)
    resumed = tf.training.Checkpoint(path, resume=True)
    assert_same(tf.train_trbm(VIDEOS, **options, checkpoint=resumed), whole)
    with pytest.raises(ValueError, match="another run: .*sample_weight"):
        tf.train_trbm(VIDEOS, **options | {"sample_weight": None}, checkpoint=resumed)


def test_weights_of_sequences_of_different_lengths_are_one_on_average_over_frames():
    parts = [VIDEOS[0], VIDEOS[1][:5], VIDEOS[2][:3]]
    fit = tf.train_trbm(parts, **FEW, sample_weight=[1, 2, 5])
    assert fit.model.n_visible == 36
    data = as_sequences("x", parts, visible="bernoulli")
    data.weights = np.array([1.0, 2, 5])
    np.testing.assert_array_equal(data.frame_weights(), np.repeat([1, 2, 5], [12, 5, 3]))
    np.testing.assert_array_equal(data.frame_weights(1), np.repeat([1, 2, 5], [11, 4, 2]))
    np.testing.assert_array_equal(data.take(np.array([2, 0])).weights, [5, 1])
