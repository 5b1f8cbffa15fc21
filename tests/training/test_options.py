"""Values that say how to train: their words, and errors that name the field."""

import dataclasses

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.options import as_monitor, as_optimizer
from trug_fast.training.samplers import as_sampler

BAD = [
    (lambda: tf.training.PCD(n_gibbs=0), ValueError, r"n_gibbs must be at least 1"),
    (lambda: tf.training.CD(n_gibbs=(1, 2, 0)), ValueError, r"n_gibbs must be at least 1, got 0"),
    (
        lambda: tf.training.CD(n_gibbs=()),
        ValueError,
        r"n_gibbs must be a number, a pair \(start, end\)",
    ),
    (
        lambda: tf.training.ParallelTempering(n_gibbs=(1, 2.5)),
        TypeError,
        r"n_gibbs must be an int, got 2.5",
    ),
    (lambda: tf.training.PCD(n_chains=-3), ValueError, r"n_chains must be at least 1, got -3"),
    (
        lambda: tf.training.ParallelTempering(n_chains=0),
        ValueError,
        r"n_chains must be at least 1, got 0",
    ),
    (lambda: tf.training.PCD(centred="no"), TypeError, r"centred must be True or False, got 'no'"),
    (lambda: tf.training.CD(centred=1), TypeError, r"centred must be True or False, got 1"),
    (lambda: tf.training.ParallelTempering(1), ValueError, r"betas must be at least 2, got 1"),
    (
        lambda: tf.training.ParallelTempering([0, 2]),
        ValueError,
        r"betas must rise from 0 or above to 1",
    ),
    (
        lambda: tf.training.ParallelTempering([0.5, 0.2, 1]),
        ValueError,
        r"betas must rise from 0 or above",
    ),
    (
        lambda: tf.training.ParallelTempering("hot"),
        TypeError,
        r"betas must hold real numbers, got str",
    ),
    (lambda: tf.training.SGD(momentum=1.0), ValueError, r"momentum must be below 1.0, got 1.0"),
    (lambda: tf.training.Adam(momentum=-0.1), ValueError, r"momentum must be at least 0"),
    (lambda: tf.training.RMSprop(weight_decay=-1), ValueError, r"weight_decay must be at least 0"),
    (lambda: tf.training.SGD(average=1.5), ValueError, r"average must be at most 1.0, got 1.5"),
    (lambda: tf.training.Adam(average=-1), ValueError, r"average must be at least 0"),
    (lambda: tf.training.Monitor("loss"), ValueError, r"score must be one of"),
    (lambda: tf.training.Monitor(every=0), ValueError, r"every must be at least 1"),
    (lambda: tf.training.Monitor(patience=0), ValueError, r"patience must be at least 1"),
    (lambda: tf.training.RandomWeights("big"), TypeError, r"scale must be a number, got 'big'"),
    (lambda: tf.training.RandomWeights(-1), ValueError, r"scale must be at least 0"),
]


@pytest.mark.parametrize(("make", "kind", "words"), BAD)
def test_a_bad_field_is_named(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_what_has_no_effect_cannot_be_written():
    for kind, names in (
        (tf.training.PCD, {"betas"}),
        (tf.training.CD, {"betas", "n_chains"}),
        (tf.training.RMSprop, {"momentum"}),
    ):
        assert not names & {field.name for field in dataclasses.fields(kind)}


def test_words_stand_for_values():
    assert as_sampler("pcd") == tf.training.PCD() == tf.training.PCD(n_gibbs=np.int64(1))
    assert (
        as_sampler("cd") == tf.training.CD() and as_sampler("pt") == tf.training.ParallelTempering()
    )
    assert as_optimizer("sgd") == tf.training.SGD() and as_optimizer("adam") == tf.training.Adam(
        momentum=0.9
    )
    assert as_optimizer("rmsprop") == tf.training.RMSprop()
    own = tf.training.CD(n_gibbs=[2, 3])
    assert as_sampler(own) is own and own.n_gibbs == (2, 3)
    with pytest.raises(
        ValueError, match="sampler must be one of 'pcd', 'cd', 'pt', 'ptt', got 'dcp'"
    ):
        as_sampler("dcp")
    with pytest.raises(TypeError, match="optimizer must be one of 'sgd'.*made by SGD or RMSprop"):
        as_optimizer(tf.training.PCD())


def test_values_are_values():
    # Numbers of NumPy become Python's, so that a checkpoint knows the same choice again.
    one, other = tf.training.SGD(np.float32(0.5), weight_decay=np.int64(0)), tf.training.SGD(0.5)
    assert one == other and repr(one) == repr(other) and hash(one) == hash(other)
    ladder = tf.training.ParallelTempering(np.array([0.0, 0.5, 1.0]))
    assert ladder == tf.training.ParallelTempering([0, 0.5, 1]) and hash(ladder)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.momentum = 0.9


def test_inverse_temperatures():
    assert tf.training.ParallelTempering(3).ladder == (0.0, 0.5, 1.0)
    assert tf.training.ParallelTempering([0.2, 1]).ladder == (0.2, 1.0)


def test_a_monitor_of_the_scores_that_there_are():
    scores = ("pseudo", "ais")
    assert as_monitor(None, scores) is None
    assert as_monitor("auto", scores) == tf.training.Monitor("pseudo")
    assert as_monitor("ais", scores) == tf.training.Monitor("ais")
    assert as_monitor(tf.training.Monitor(every=3, patience=2), scores) == tf.training.Monitor(
        "pseudo", 3, 2
    )
    with pytest.raises(ValueError, match="monitor must be one of 'auto', 'pseudo', 'ais', got"):
        as_monitor("rmse", scores)
    with pytest.raises(ValueError, match="score must be one of 'auto', 'pseudo', 'ais', got"):
        as_monitor(tf.training.Monitor("rmse"), scores)
