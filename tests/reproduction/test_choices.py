"""Choices written flat stand for the library's arguments."""

import pytest

import trug_fast as tf
from reproduction.choices import APART, arguments_of, choices


def test_flat_choices_become_values():
    found = arguments_of(
        tf.train_rbm,
        {
            "n_hidden": 5,
            "truncation": {"lower": 0, "upper": 4, "learn": "per_unit"},
            "sampler": "pt",
            "n_gibbs": [1, 3],
            "average": 0.2,
            "optimizer": "adam",
            "hidden": "trug",
            "score": "ais",
            "every": 5,
            "start_scale": 0.01,
            "learning_rate": [0.1, 0.01],
        },
    )
    assert found == {
        "n_hidden": 5,
        "truncation": tf.Truncation(0, 4, learn="per_unit"),
        "sampler": tf.training.ParallelTempering(n_gibbs=(1, 3)),
        "optimizer": tf.training.Adam(average=0.2),
        "hidden": "trug",
        "monitor": tf.training.Monitor("ais", every=5),
        "start": tf.training.RandomWeights(0.01),
        "learning_rate": (0.1, 0.01),
    }
    named = {"weight_decay": {"weights": [0.1, 0.01]}, "l1": [0.1, 0.2]}
    assert arguments_of(tf.train_rbm, named) == {
        "optimizer": tf.training.SGD(weight_decay={"weights": (0.1, 0.01)}, l1=(0.1, 0.2))
    }
    assert arguments_of(tf.train_rbm, {"score": "none"}) == {"monitor": None}
    flat = {"begin": "data", "start_order": 1, "start_ridge": 9.0}
    assert arguments_of(tf.train_trbm, flat) == {
        "sampler": tf.training.SequenceCD(begin="data"),
        "start": tf.training.LinearStart(order=1, ridge=9.0),
    }
    assert arguments_of(
        tf.train_tggm,
        {"noise": "separate", "learn_noise": False, "validation": 0.2, "refit": False},
    ) == {
        "noise": tf.training.Noise("separate", learn=False),
        "validation": tf.training.HoldOut(0.2, refit=False),
    }


def test_a_word_for_an_interval_takes_the_other_choices_of_its_units():
    flat = {"visible": "relu", "learn_visible_precision": True, "visible_precision": 2.0}
    units = tf.TruncatedUnits("relu", precision=2.0, learn_precision=True)
    assert arguments_of(tf.train_rbm, flat) == {"visible": units}
    assert arguments_of(tf.train_rbm, {"visible": "relu"}) == {"visible": "relu"}


def test_nothing_is_chosen_where_nothing_is_said():
    for train in (tf.train_rbm, tf.train_trbm, tf.train_tggm):
        assert arguments_of(train, {}) == {}


def test_names_are_the_librarys():
    for train in (tf.train_rbm, tf.train_trbm, tf.train_tggm):
        found = choices(train)
        assert len(set(found)) == len(found) and not set(APART) & set(found) - {"validation"}
        assert {"epochs", "dtype", "optimizer", "batch_size", "score", "momentum"} <= set(found)
        assert arguments_of(train, {"score": "none"}) == {"monitor": None}
    assert "betas" in choices(tf.train_rbm) and "monitor" not in choices(tf.train_rbm)
    assert "search" in choices(tf.train_tggm) and "learning_rate" in choices(tf.train_tggm)


@pytest.mark.parametrize(
    ("flat", "message"),
    [
        ({"betas": 3}, "betas is for sampler 'pt', not 'pcd'"),
        ({"sampler": "gibbs"}, "sampler must be one of 'pcd', 'cd', 'pt', 'ptt', got 'gibbs'"),
        ({"score": "none", "patience": 3}, "patience has no effect without scores"),
        ({"n_gibbs": 0}, "n_gibbs must be at least 1, got 0"),
        (
            {"visible": "relu", "visible_truncation": (0, 1)},
            "visible_truncation is for visible 'truncated', not 'relu'",
        ),
    ],
)
def test_choices_without_effect_are_errors(flat, message):
    with pytest.raises(ValueError, match=message):
        arguments_of(tf.train_rbm, flat)
