"""Rates over a run."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast.training.rates import PerEpoch, as_schedule, sweeps

# What these runs are to show needs no run long enough to learn.
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")


def schedule_of(value, default=None, epochs=3):
    return as_schedule("rate", value, default, epochs=epochs)


def test_schedules_move_geometrically():
    schedule = schedule_of((1.0, 0.01), (0, 0))
    assert [schedule.at(t, 1) for t in (0, 0.5, 1)] == pytest.approx([1.0, 0.1, 0.01])
    assert schedule_of(0.3, (0, 0)).at(0.7, 1) == pytest.approx(0.3)
    assert schedule_of(0.0, (1, 1)).at(0.5, 1) == 0.0
    assert schedule_of(None, (2, 1)).at(0, 1) == 2.0
    assert schedule_of([0.2, 0.1]).identity() == [0.2, 0.1]


@pytest.mark.parametrize(
    ("form", "values"),
    [("linear", [0.2, 0.15, 0.1, 0.0]), ("cosine", [0.2, 0.1 + 0.05 * 2**0.5, 0.1, 0.0])],
)
def test_other_forms_than_the_geometric_one(form, values):
    schedule = schedule_of([0.2, 0.0, form])
    assert [schedule.at(share, 1) for share in (0, 0.25, 0.5, 1)] == pytest.approx(values)
    assert schedule.identity() == ["function", *(schedule.at(i / 10, 1) for i in range(11))]


@pytest.mark.parametrize("value", [np.array([2, 1, 0]), [2.0, 1.0, 0.0], (2, 1, np.float32(0))])
def test_a_value_for_each_epoch(value):
    schedule = schedule_of(value)
    assert (schedule.start, schedule.end) == (2.0, 0.0)
    assert [schedule.at(share, epoch) for share, epoch in ((0, 1), (0.9, 2), (0.7, 3))] == [2, 1, 0]
    # Known again by its values, whatever gives them.
    assert schedule.identity() == ["each epoch", 2.0, 1.0, 0.0]


def test_functions_are_of_the_share_of_the_run():
    schedule = schedule_of(lambda share: 3.0 - share)
    assert [schedule.at(share, 2) for share in (0.0, 0.25, 1.0)] == [3.0, 2.75, 2.0]
    assert schedule.identity() == ["function", *np.linspace(3.0, 2.0, 11)]
    late = schedule_of(lambda share: -1.0 if share == 0.55 else 1.0)  # between what is checked
    with pytest.raises(ValueError, match=r"rate\(0.55\) must be at least 0"):
        late.at(0.55, 2)


def test_two_epochs_are_no_pair():
    pair, each = schedule_of([1.0, 0.25], epochs=2), schedule_of(np.array([1.0, 0.25]), epochs=2)
    assert (pair.at(0.5, 2), each.at(0.5, 2)) == (0.5, 0.25)
    assert pair.identity() != each.identity()
    assert repr(PerEpoch((1, 2))) == "PerEpoch(1, 2)"


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (-0.1, ValueError, "rate must be at least 0"),
        ("fast", TypeError, "rate must be a number, got 'fast'"),
        (None, TypeError, "rate must be a number, got None"),
        ((1, 2, 3, 4), ValueError, "rate must have a value for each of the 3 epochs, got 4"),
        (np.ones(2), ValueError, "rate must have a value for each of the 3 epochs, got 2"),
        (np.ones((3, 1)), TypeError, "rate must be a number"),
        ((), ValueError, "rate must be a number, a pair .* a function or an array"),
        ((1, np.nan, 1), ValueError, "rate must be finite, got nan"),
        ((0.1, 0), ValueError, "rate decays geometrically"),
        ((0.1, 0, "cubic"), ValueError, "the form of rate must be one of 'linear', 'cosine'"),
        ((0.1, -1, "linear"), ValueError, "rate must be at least 0.0, got -1"),
        (lambda share: np.nan, ValueError, r"rate\(0\) must be finite, got nan"),
        (lambda share: 0.55 - share, ValueError, r"rate\(0.6\) must be at least 0"),
        (lambda share: "fast", TypeError, r"rate\(0\) must be a number, got 'fast'"),
        (len, TypeError, "object of type 'float' has no len"),
    ],
)
def test_bad_rates(value, kind, words):
    with pytest.raises(kind, match=words):
        schedule_of(value)


def test_sweeps():
    assert [round(sweeps((1, 16), 3).at(t, 1)) for t in (0, 0.5, 1)] == [1, 4, 16]
    assert sweeps(3, 3).at(0.4, 1) == 3.0
    each = sweeps(lambda share: 2 + round(6 * share), 3)
    assert each.values == (2, 4, 6) and hash(each) and each.most == 6
    assert [each.at(0.5, epoch) for epoch in (1, 2, 3)] == [2, 4, 6]
    for bad, words in (
        (lambda share: 2.5, r"n_gibbs\(0\) must be an int"),
        (lambda share: round(1 - share), r"n_gibbs\(0.666667\) must be at least 1"),
        (np.array([1, 2]), "n_gibbs must have a value for each of the 3 epochs, got 2"),
        ((1, 5, "linear"), "n_gibbs must be a number, .*: forms are for rates, got"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            sweeps(tf.training.CD(n_gibbs=bad).n_gibbs, 3)


def test_every_training_takes_a_value_for_each_epoch():
    rows = np.random.default_rng(0).random((40, 6)) < 0.5
    rate, sweep = np.array([0.1, 0.05, 0.0]), lambda share: 1 + round(3 * share)
    hidden = tf.TruGUnits(learn_precision=True, precision_rate=[0.01, 0.02, 0.03])
    options = {"epochs": 3, "monitor": None, "rng": 0, "learning_rate": rate}
    fits = [
        tf.train_rbm(rows, 3, hidden=hidden, sampler=tf.training.PCD(sweep), **options),
        tf.train_trbm(rows.reshape(4, 10, 6), 3, sampler=tf.training.SequenceCD(sweep), **options),
        tf.train_tggm(
            rows, rows[:, 0], 3, optimizer=tf.training.Adam(truncation_rate=rate), **options
        ),
    ]
    for fit in fits:
        assert fit.history["learning_rate"].tolist() == rate.tolist()
    assert fits[0].history["n_gibbs"].tolist() == fits[1].history["n_gibbs"].tolist() == [1, 2, 3]
    assert fits[0].history["precision_rate"].tolist() == [0.01, 0.02, 0.03]
    assert fits[2].history["truncation_rate"].tolist() == rate.tolist()
    with pytest.raises(ValueError, match="learning_rate must have a value for each of the 4 epoch"):
        tf.train_rbm(rows, 3, **options | {"epochs": 4})
