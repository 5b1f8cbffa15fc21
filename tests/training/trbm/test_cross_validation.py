"""Cross-validation over sequences, and early stopping by those that are held out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import same
from trug_fast._common.randomness import seed_from
from trug_fast.training.trbm import cross_validation

VIDEOS = [
    video[: 6 + k] for k, video in enumerate(tf.datasets.bouncing_balls(7, 14, size=6, rng=0))
]
WAYS = {
    "plain": {"n_hidden": 5, "epochs": 2},
    "still": {"n_hidden": 5, "epochs": 2, "learning_rate": 1e-6},
}


def test_each_sequence_is_held_out_once_and_numbers_are_those_of_trainings_by_hand(monkeypatch):
    seen = []
    run = cross_validation._error

    def watched(rest, held_out, options):
        seen.append(({len(x) for x in rest}, {len(x) for x in held_out}))
        return run(rest, held_out, options)

    monkeypatch.setattr(cross_validation, "_error", watched)
    found = tf.training.cross_validate(VIDEOS, WAYS, n_folds=3, rng=4)
    lengths = {len(x) for x in VIDEOS}
    assert seen[:3] == seen[3:] and [len(out) for _, out in seen[:3]] == [3, 2, 2]
    assert set.union(*(out for _, out in seen[:3])) == lengths
    assert all(rest == lengths - out for rest, out in seen)
    rest, held_out = ([x for x in VIDEOS if len(x) in part] for part in seen[1])
    seed = seed_from(seed_from(4, "cross_validate"), "fold 1")
    model = tf.train_trbm(rest, **WAYS["plain"], monitor=None, rng=seed).model
    error = tf.prediction_error(model, held_out, method="mean_field").mean()
    assert found.folds[0, 1] == pytest.approx(error, rel=1e-12)
    np.testing.assert_allclose(found.mean, found.folds.mean(axis=1))
    np.testing.assert_allclose(found.std_error, found.folds.std(axis=1, ddof=1) / 3**0.5)
    best = int(found.mean.argmin())
    assert found.best == found.choices[best] and found.choices == ("plain", "still")
    assert found.difference[best] == found.difference_error[best] == 0
    above = found.folds[1 - best] - found.folds[best]
    assert found.difference[1 - best] == pytest.approx(above.mean()) and above.mean() > 0
    error = above.std(ddof=1) / 3**0.5
    assert found.difference_error[1 - best] == pytest.approx(error) and error > 0
    assert str(found).startswith(f"{found.best}  ") and str(found).count("above the best") == 2


def test_an_executor_changes_no_number():
    alone = tf.training.cross_validate(VIDEOS, WAYS, n_folds=2, rng=0)
    with ThreadPoolExecutor(2) as executor:
        found = tf.training.cross_validate(VIDEOS, WAYS, n_folds=2, executor=executor, rng=0)
    np.testing.assert_array_equal(alone.folds, found.folds)


BAD = [
    ({"choices": {}}, ValueError, "choices must hold a choice or more"),
    ({"choices": [{}]}, TypeError, "choices must be"),
    ({"choices": {"a": {"hiden": 3}}}, ValueError, "'a' has 'hiden', which is no choice"),
    ({"choices": {"a": {"rng": 3}}}, ValueError, "'a' has 'rng', .* but made here"),
    ({"choices": {"a": {}, "b": {"visible": "gaussian"}}}, ValueError, "units of one kind"),
    ({"n_folds": 1}, ValueError, "n_folds must be at least 2"),
    ({"n_folds": 8}, ValueError, "n_folds must be at most the number of sequences, 7, got 8"),
    ({"sequences": [*VIDEOS, VIDEOS[0][:1]]}, ValueError, "got one frame in sequence 7"),
    ({"executor": "many"}, TypeError, "executor must be"),
]


@pytest.mark.parametrize(("changed", "kind", "words"), BAD)
def test_a_bad_argument_is_named(changed, kind, words):
    arguments = {"sequences": VIDEOS, "choices": WAYS, "rng": 0} | changed
    with pytest.raises(kind, match=words):
        tf.training.cross_validate(
            arguments.pop("sequences"), arguments.pop("choices"), **arguments
        )


def test_patience_ends_a_temporal_training_and_returns_the_model_of_the_best_score():
    scores = iter([1.0, 3.0, 2.0, 2.5, 9.0])  # of held-out sequences

    def told(model, some):
        return next(scores) if len(some) == 2 else 0.0

    options = {"n_hidden": 5, "learning_rate": 0.01, "rng": 0}
    monitor = tf.training.Monitor(told, patience=2)
    fit = tf.train_trbm(VIDEOS[2:], epochs=9, validation=VIDEOS[:2], monitor=monitor, **options)
    assert list(fit.history["validation_score"]) == [1.0, 3.0, 2.0, 2.5]
    rates = {
        "optimizer": tf.training.Adam(truncation_rate=0.001),
        "sampler": tf.training.SequenceCD(n_gibbs=3),
    }
    scores = iter([1.0, 3.0, 2.0, 2.5])
    fit = tf.train_trbm(
        VIDEOS[2:], epochs=9, validation=VIDEOS[:2], monitor=monitor, **options, **rates
    )
    best = tf.train_trbm(VIDEOS[2:], epochs=2, monitor=None, **options, **rates).model
    assert same(fit.model, best)
