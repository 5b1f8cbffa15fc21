"""Evaluation refuses what is not the model's: another model's log Z, and data out of range."""

from dataclasses import replace

import numpy as np
import pytest

import trug_fast as tf
from tests.support.models import KINDS, exact_draws, model_of

FEW = {"n_chains": 20, "n_temperatures": 20, "rng": 0, "progress": False}
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_log_z_belongs_to_its_model(kind, dtype, tmp_path):
    model, X = model_of(kind, dtype), exact_draws(model_of(kind), 3, seed=0)
    both = tf.log_partition(model, direction="both", **FEW)
    model.save(tmp_path / "model.npz")
    again = type(model).load(tmp_path / "model.npz")
    wide = type(model)(**{n: getattr(model, n).astype(np.float64) for n in model.names})
    for same in (again, wide):  # the same numbers, wherever they are kept
        for estimate in (both, both.forward, both.reverse):
            found = tf.log_likelihood(same, X, estimate)
            np.testing.assert_array_equal(found, tf.log_likelihood(same, X, estimate.log_z))
    for name in model.names:
        moved = np.nextafter(getattr(model, name), -np.inf)
        fields = {n: getattr(model, n) for n in model.names} | {name: moved}
        with pytest.raises(ValueError, match=r"log_z must be of this model, \w+RBM .*, got one of"):
            tf.log_likelihood(type(model)(**fields), X, both)


def test_a_model_with_other_visible_units_is_another():
    ordinary = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0)
    real = tf.BernoulliRBM(np.zeros((3, 2)), 0.0, 0.0, visible_precision=1.0)
    with pytest.raises(ValueError, match="log_z must be of this model"):
        tf.log_likelihood(real, np.zeros((1, 3)), tf.log_partition(ordinary, **FEW))


EVALUATIONS = {
    "free_energy": lambda m, X: m.free_energy(X),
    "hidden_moments": lambda m, X: m.hidden_moments(X),
    "sample_hidden": lambda m, X: m.sample_hidden(X, rng=0),
    "log_likelihood": lambda m, X: tf.log_likelihood(m, X, 99.0),
    "exact.log_likelihood": lambda m, X: tf.exact.log_likelihood(m, X),
    "exact.gradient": lambda m, X: tf.exact.gradient(m, X),
    "pseudo_log_likelihood": lambda m, X: tf.pseudo_log_likelihood(m, X, rng=0),
}


@pytest.mark.parametrize("evaluate", EVALUATIONS.values(), ids=EVALUATIONS)
def test_data_must_be_what_visible_units_are(evaluate):
    model, X = model_of("[0,4]"), np.array([[0, 1, 0, 1, 1]])
    for wrong, words in (
        (X * 255, r"X must lie in \[0, 1\], got 255 at row 0, column 1"),
        (X - 0.5, r"X must lie in \[0, 1\], got -0.5 at row 0, column 0"),
        (X * np.nan, "X must be finite"),
        (X[:, :4], "X must have 5 columns, got 4"),
    ):
        with pytest.raises(ValueError, match=words):
            evaluate(model, wrong)
    evaluate(model, X)
    evaluate(model, X * 0.3)  # probabilities
    if evaluate is not EVALUATIONS["pseudo_log_likelihood"]:
        real = tf.TruGRBM(np.full((5, 1), 0.1), 0, 0, 1, 0, 4, visible_precision=1.0)
        evaluate(real, X * 255)
        with pytest.raises(ValueError, match="X must be finite, got inf"):
            evaluate(real, np.full((1, 5), np.inf))


def test_swapped_arguments_are_named():
    model, X = model_of("bernoulli"), np.zeros((2, 5))
    for call, words in (
        (
            lambda: tf.log_likelihood(X, model, 0.0),
            r"log_likelihood\(model, X, log_z\): model must",
        ),
        (lambda: tf.pseudo_log_likelihood(X, model), r"pseudo_log_likelihood\(model, X\): model"),
        (lambda: tf.exact.log_likelihood(X, model), r"exact.log_likelihood\(model, X\): model"),
        (lambda: tf.exact.gradient(X, model), r"exact.gradient\(model, X\): model must be"),
        (lambda: tf.exact.log_partition(X), "model must be a TruGRBM or BernoulliRBM, got ndarray"),
        (lambda: tf.log_partition(X), r"log_partition\(model\): model must be .*, got ndarray"),
    ):
        with pytest.raises(TypeError, match=words):
            call()


@pytest.mark.parametrize("kind", ["[0,4]", "bernoulli", "spin", "categorical"])
def test_a_probability_above_one_means_that_log_z_is_wrong(kind):
    model = model_of("[0,4]")
    if kind == "bernoulli":
        model = model_of("bernoulli")
    elif kind != "[0,4]":
        model = tf.BernoulliRBM(
            np.full((5, 2, 3)[: 2 + (kind == "categorical")], 0.3), 0, 0, visible=kind
        )
    X = model.sample(20, rng=0)
    right = tf.exact.log_partition(model)
    most = float(tf.log_likelihood(model, X, right).max())
    assert most < 0
    np.testing.assert_allclose(tf.log_likelihood(model, X, right + most).max(), 0, atol=1e-9)
    words = r"log_z is too low: row \d+ has the log-probability \+0.1, and no probability is above"
    with pytest.raises(ValueError, match=words):
        tf.log_likelihood(model, X, right + most - 0.1)
    estimate = replace(tf.log_partition(model, **FEW), log_z=right + most - 0.1, std_error=0.04)
    assert tf.log_likelihood(model, X, estimate).max() == pytest.approx(0.1)
    with pytest.warns(tf.evaluation.PartitionWarning, match=words):
        tf.log_likelihood(model, X, replace(estimate, std_error=0.03))


def test_a_density_may_be_above_one():
    model = tf.BernoulliRBM(np.zeros((2, 1)), 0.0, 0.0, visible_precision=100.0)
    exact = tf.exact.log_partition(model)
    assert tf.log_likelihood(model, np.zeros((1, 2)), exact)[0] > 2
