"""Classes by the signs of regressions, alone and as scikit-learn's users meet them."""

import inspect

import numba
import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import check_estimator

import trug_fast as tf
from tests.test_estimators import REPEATED
from trug_fast.estimators import TGGMClassifier, TGGMRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 2))
RING = np.where((X**2).sum(axis=1) > 1.4, "out", "in")  # no line tells them apart


@pytest.fixture(autouse=True)
def one_thread():
    """Models this small gain nothing from a second thread, and lose beside other processes."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


@pytest.mark.filterwarnings("ignore")  # some checks warn about themselves
def test_scikit_learns_own_checks():
    estimator = TGGMClassifier(epochs=60)
    try:
        results = check_estimator(estimator, on_skip=None, expected_failed_checks=REPEATED)
    except TypeError:  # before scikit-learn 1.6, which raises at the first failure
        check_estimator(estimator)
        return
    assert len(results) > 40


@pytest.mark.parametrize("n_models", [1, 3])
def test_it_bends_where_a_line_cannot(n_models):
    found = TGGMClassifier(10, epochs=80, n_models=n_models, random_state=0)
    found.fit(X[:400], RING[:400])
    assert found.score(X[400:], RING[400:]) > 0.93
    assert LogisticRegression().fit(X[:400], RING[:400]).score(X[400:], RING[400:]) < 0.7
    probabilities = found.predict_proba(X[400:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities[:, 1], found.model_.probability_above(X[400:]))
    assert log_loss(RING[400:], probabilities, labels=found.classes_) < 0.25


def test_probabilities_are_those_of_a_known_probit():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(4000, 1))
    true = tf.TruGTGGM([[2.0]], 0.0, [[2.0]], -0.9, 0.2, 0.0, 1.0)
    signs = np.sign(true.sample(rows, rng=0))
    model = tf.train_tggm(
        rows, signs, 5, objective="probit", epochs=40, progress=False, rng=0
    ).model
    apart = model.probability_above(rows) - true.probability_above(rows)
    assert abs(apart).mean() < 0.03  # twice what 4,000 signs know of two numbers


def test_three_classes_have_an_output_each():
    centres = np.array([[0, 0], [3, 0], [0, 3]])
    y = RNG.integers(3, size=300)
    rows = centres[y] + RNG.normal(size=(300, 2))
    found = TGGMClassifier(10, epochs=40, random_state=0).fit(rows, y + 5)
    assert found.model_.n_outputs == 3 and list(found.classes_) == [5, 6, 7]
    assert found.score(rows, y + 5) > 0.87
    one = TGGMClassifier(3, epochs=1)
    with pytest.raises(ValueError, match="y must have two classes or more, got only 1.0"):
        one.fit(rows, np.ones(300))
    with pytest.raises(ValueError, match="n_jobs=2 has no effect on one model"):
        TGGMClassifier(n_jobs=2).fit(rows, y)


def test_parameters_are_the_regressors():
    own, others = (inspect.signature(kind).parameters for kind in (TGGMClassifier, TGGMRegressor))
    assert set(others) - set(own) == {"objective", "noise", "warm_start"}
    assert all(own[name].default == others[name].default for name in own)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"y": np.zeros(600)}, r"y must be \+1 or -1 for objective='probit', got 0.0"),
        ({"noise": "by_input"}, "noise='by_input' has no effect on objective='probit'"),
        (
            {"noise": tf.training.Noise(variance=0.2)},
            "learn=True, which has no effect on objective='probit'",
        ),
        (
            {"validation": tf.training.HoldOut(calibrate="cross_validation")},
            "calibrate='cross_validation' has no effect on",
        ),
        ({"validation": (X[:9], np.arange(9.0))}, r"y of validation must be \+1 or -1"),
    ],
)
def test_what_is_no_training_of_signs(more, words):
    given = {"X": X, "y": np.where(RING == "in", 1.0, -1.0), "n_hidden": 3, "epochs": 1} | more
    with pytest.raises(ValueError, match=words):
        tf.train_tggm(objective="probit", **given)


def test_a_training_of_signs_continues_to_the_same_bits(tmp_path):
    signs = np.where(RING == "in", 1.0, -1.0)
    options = {"n_hidden": 4, "objective": "probit", "epochs": 4, "progress": False, "rng": 0}
    whole = tf.train_tggm(X, signs, **options)
    assert (whole.history["validation_log_likelihood"] < 0).all()
    path = tmp_path / "run.npz"

    def stop(event):
        if event.epoch == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="was interrupted"):
        part = tf.train_tggm(
            X, signs, callbacks=[stop], checkpoint=tf.training.Checkpoint(path), **options
        )
    assert part.interrupted
    again = tf.train_tggm(X, signs, checkpoint=tf.training.Checkpoint(path, resume=True), **options)
    np.testing.assert_array_equal(again.model.output_weights, whole.model.output_weights)


def test_one_class_is_named():
    with pytest.raises(ValueError, match="two classes or more, got only in$"):
        TGGMClassifier(3, epochs=1).fit(X, np.full(len(X), "in"))
