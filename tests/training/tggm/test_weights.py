"""Weighted rows of the regression: the same as repeated ones, in all that rows decide."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same
from tests.support.regressions import gradient, learner
from trug_fast.training.tggm.calibration import Residuals, calibrated
from trug_fast.training.tggm.data import Examples, Scales

RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 3))
Y = np.stack([np.tanh(X[:, 0]) + 0.1 * RNG.normal(size=24), X[:, 1] * X[:, 2]], axis=1)
WEIGHTS = RNG.integers(1, 5, 24).astype(float)
AGAIN = np.repeat(np.arange(24), WEIGHTS.astype(int))
ALL = {"batch_size": 1000, "epochs": 15, "validation": None, "dtype": "float64", "rng": 0}
OBJECTIVES = ["ml", "moments", "bp"]
pytestmark = pytest.mark.filterwarnings("ignore:training has come to a model")  # of few epochs


@pytest.mark.parametrize("noise", ["shared", "separate"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_gradient_is_that_of_the_weighted_objective(objective, noise):
    # Of repeated rows, and the sum of the rows' own.  (Without weights it is checked against finite
    # differences in tests/kernels/tggm/test_objectives.py.)
    run = learner(objective, noise, sizes=(3, 4, 2))
    value, own = gradient(run, X, Y, WEIGHTS / WEIGHTS.mean())
    twice, parts = gradient(run, X[AGAIN], Y[AGAIN])
    assert value == pytest.approx(twice, rel=1e-13)
    for name in own._fields:
        np.testing.assert_allclose(getattr(own, name), getattr(parts, name), atol=1e-13)
    light = np.where(np.arange(24) < 5, 0.0, RNG.random(24))
    value, own = gradient(run, X, Y, light)
    alone = [gradient(run, x[None], y[None]) for x, y in zip(X, Y, strict=True)]
    assert value == pytest.approx(light @ [each[0] for each in alone] / 24, rel=1e-13)
    for name in own._fields:
        total = sum(w * getattr(each[1], name) for w, each in zip(light, alone, strict=True))
        np.testing.assert_allclose(getattr(own, name), total / 24, atol=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_training_on_weighted_rows_is_one_on_repeated_rows(objective):
    # All rows in one batch: no draws, so that they differ by rounding alone.
    options = ALL | {"objective": objective, "n_hidden": 5}
    own = tf.train_tggm(X, Y, **options, sample_weight=WEIGHTS).model
    twice = tf.train_tggm(X[AGAIN], Y[AGAIN], **options).model
    for name in own.names:
        np.testing.assert_allclose(getattr(own, name), getattr(twice, name), rtol=1e-8, atol=1e-8)
    plain = tf.train_tggm(X, Y, **options).model
    assert not np.allclose(plain.output_bias, own.output_bias, rtol=1e-3)


def test_equal_weights_and_zeros():
    options = {"epochs": 6, "n_hidden": 4, "rng": 0, "batch_size": 5}
    plain = tf.train_tggm(X, Y, **options)
    assert_same(tf.train_tggm(X, Y, **options, sample_weight=np.full(24, 0.3)), plain)
    weights = np.where(np.arange(24) % 4 == 0, 0.0, WEIGHTS)
    kept = weights > 0
    own = tf.train_tggm(X, Y, **options, sample_weight=weights)
    assert_same(own, tf.train_tggm(X[kept], Y[kept], **options, sample_weight=weights[kept]))
    own = tf.train_tggm(X, Y, **options, sample_weight=kept)
    assert_same(own, tf.train_tggm(X[kept], Y[kept], **options))


def test_scales_scores_and_the_noise_are_those_of_repeated_rows():
    for ours, theirs in zip(Scales.of(X, Y, WEIGHTS), Scales.of(X[AGAIN], Y[AGAIN]), strict=True):
        np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-14)
        np.testing.assert_allclose(ours.deviation, theirs.deviation, rtol=1e-13)
    run = learner(sizes=(3, 4, 2))
    own = Examples(X, Y, WEIGHTS).evened()
    twice = Examples(X[AGAIN], Y[AGAIN], np.ones(AGAIN.size))
    assert own.weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(run.score(own), run.score(twice), rtol=1e-12)
    once, again = (calibrated([Residuals.of(run.model(), each)], each) for each in (own, twice))
    np.testing.assert_allclose(once, again, 1e-4)
    half = own.at(np.arange(12))
    assert half.weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(half.weights[0] / half.weights[1], WEIGHTS[0] / WEIGHTS[1])


def test_a_run_with_weights_goes_on_and_knows_them(tmp_path):
    options = {"epochs": 6, "n_hidden": 4, "rng": 0, "batch_size": 5, "sample_weight": WEIGHTS}
    path = tmp_path / "run.npz"
    whole = tf.train_tggm(X, Y, **options, checkpoint=path)
    resumed = tf.training.Checkpoint(path, resume=True)
    assert_same(tf.train_tggm(X, Y, **options, checkpoint=resumed), whole)
    with pytest.raises(ValueError, match="another run: .*sample_weight"):
        tf.train_tggm(X, Y, **options | {"sample_weight": None}, checkpoint=resumed)
