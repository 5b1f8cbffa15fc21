"""Conditional log-probabilities against enumeration, with errors that cover what is off."""

import numpy as np
import pytest

import trug_fast as tf
from tests.support.gaussian import gaussian_model
from tests.support.models import KINDS, exact_states, model_of
from tests.support.temporal import temporal_model
from trug_fast.evaluation.exact import trbm as temporal_exact

KNOWN = np.array([True, False, True, False, False])


def exact_conditional(model, known):
    """Return all states, and the log-probability of what is unknown of each given the rest."""
    states, share = exact_states(model)
    same = (states[:, None, known] == states[None, :, known]).all(axis=2)
    return states, np.log(share / (same @ share))


@pytest.mark.parametrize("kind", KINDS)
def test_exact_and_annealed_values_are_those_of_enumeration(kind):
    model = model_of(kind)
    states, expected = exact_conditional(model, KNOWN)
    found = tf.log_conditional(model, states, KNOWN)
    np.testing.assert_allclose(found.value, expected, atol=1e-12)
    assert (found.std_error == 0).all() and found.warnings == ()
    some = slice(0, 32, 4)
    annealed = tf.log_conditional(
        model, states[some], KNOWN, method="annealing", n_temperatures=100, rng=0
    )
    # Five standard errors of eight numbers.
    assert (abs(annealed.value - expected[some]) < 5 * annealed.std_error).all()
    assert (annealed.std_error > 0).all() and (annealed.std_error < 0.05).all()


def test_each_row_may_have_its_own_mask_and_rows_do_not_depend_on_each_other():
    model = model_of("mixed")
    states, _ = exact_states(model)
    masks = np.random.default_rng(0).random((32, 5)) < 0.5
    masks[:, 0] = False
    found = tf.log_conditional(model, states, masks).value
    for k in range(0, 32, 5):
        expected = exact_conditional(model, masks[k])[1][k]
        assert found[k] == pytest.approx(expected, abs=1e-12)
    # The chain rule: two steps are one.
    first = tf.log_conditional(model, states, KNOWN).value
    more = KNOWN | np.array([False, True, False, False, False])
    both = tf.log_conditional(model, states, more).value
    middle = model.clamped([states[9, 0], np.nan, states[9, 2], np.nan, np.nan])
    of_one = tf.exact.log_likelihood(middle, exact_states(middle)[0])
    rest = exact_states(middle)[0][:, 0] == states[9, 1]
    assert first[9] - both[9] == pytest.approx(np.log(np.exp(of_one)[rest].sum()), abs=1e-12)


def test_gaussian_units_by_integration_and_annealing():
    model = gaussian_model("[0,1]")
    X = np.random.default_rng(0).normal(size=(3, model.n_visible))
    known = np.arange(model.n_visible) == 1
    found = tf.log_conditional(model, X, known, method="exact").value
    # p(free | held) = p(all) / p(held); the density of one unit by a fine grid of the others.
    given = model.clamped(np.where(known, X[0], np.nan))
    whole = tf.exact.log_likelihood(model, X[:1])[0] - tf.exact.log_likelihood(given, X[:1, ~known])
    grid = np.repeat(X[:1], 400, axis=0)
    axis = np.linspace(-12, 12, 400)
    total = 0.0
    for other in axis:
        grid[:, 0], grid[:, 2] = axis, other
        total += np.exp(tf.exact.log_likelihood(model, grid)).sum() * (axis[1] - axis[0]) ** 2
    assert whole[0] == pytest.approx(np.log(total), abs=1e-6)
    annealed = tf.log_conditional(model, X, known, n_temperatures=200, rng=1)
    assert (abs(annealed.value - found) < 5 * annealed.std_error + 1e-6).all()


@pytest.mark.parametrize("kind", ["mixed", "bernoulli"])
def test_frames_of_sequences(kind):
    model = temporal_model(kind)
    x = [np.random.default_rng(0).integers(0, 2, (5, 4)), np.ones((2, 4))]
    found = tf.evaluation.frame_log_likelihood(model, x)
    assert [len(part) for part in found.value] == [5, 2]
    exact = tf.exact.log_likelihood(model, x)
    np.testing.assert_allclose([part.sum() for part in found.value], exact, atol=1e-12)
    annealed = tf.evaluation.frame_log_likelihood(
        model, x, method="annealing", n_temperatures=100, rng=0
    )
    for ours, theirs, error in zip(annealed.value, found.value, annealed.std_error, strict=True):
        assert (abs(ours - theirs) < 5 * error).all()


def test_gaussian_frames():
    model = temporal_model("gaussian", n_visible=2, n_hidden=2)
    x = np.random.default_rng(3).normal(size=(1, 3, 2))
    exact = tf.evaluation.frame_log_likelihood(model, x, method="exact").value[0]
    hidden = model.filter(x[0])
    b, c = temporal_exact.biases(model, x[0, 0], hidden[0])
    frame = temporal_exact.frame(model, b, c, x[0, 1])
    assert exact[1] == pytest.approx(frame.log_likelihood, abs=1e-12)
    annealed = tf.evaluation.frame_log_likelihood(model, x, n_temperatures=200, rng=0)
    assert (abs(annealed.value[0] - exact) < 5 * annealed.std_error[0] + 1e-6).all()


def test_estimates_not_to_be_trusted_say_so():
    # All pixels on, or all off: what is between the two has no mass, and annealing begins there.
    model = tf.BernoulliRBM(np.full((24, 1), 4.0), -2.0, -48.0)
    with pytest.warns(
        tf.evaluation.PartitionWarning, match="2 of 2 estimates cannot be trusted, the first of"
    ):
        found = tf.log_conditional(
            model, np.ones((2, 24)), np.arange(24) < 0, n_temperatures=3, rng=0
        )
    assert len(found.warnings) == 2 and found.warnings[1].startswith("row 1: ")


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"model": None}, TypeError, "model must be a TruGRBM"),
        ({"known": [1, 0, 1, 0, 0]}, TypeError, "known must hold True and False, got dtype int"),
        ({"known": [True]}, ValueError, r"known must have shape \(5,\) or \(2, 5\), got \(1,\)"),
        ({"known": np.ones(5, bool)}, ValueError, "known must leave a unit free in each row"),
        ({"method": "best"}, ValueError, "method must be one of 'auto'"),
        ({"direction": "up"}, ValueError, "direction must be one of"),
        ({"n_chains": 1}, ValueError, "n_chains must be at least 2"),
        ({"progress": 1}, TypeError, "progress must be None, True or False"),
    ],
)
def test_bad_arguments(change, kind, words):
    good = {"model": model_of("[0,1]"), "X": np.ones((2, 5)), "known": KNOWN}
    with pytest.raises(kind, match=words):
        tf.log_conditional(**(good | change))
