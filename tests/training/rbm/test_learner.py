"""Updates of an RBM in stretches: how many there are in one call makes no difference."""

from types import SimpleNamespace

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same
from tests.support.rbm_runs import BASE, OPTIONS, digits
from trug_fast.training import run
from trug_fast.training.rbm.learner import RBMLearner

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
data = pytest.fixture(scope="module")(digits)


def stretches(monkeypatch, seconds):
    """Let stretches take so long; returns the list that fills with their lengths."""
    monkeypatch.setattr(run, "STRETCH", seconds)
    lengths, update = [], RBMLearner.update

    def counted(self, data, batches, times):
        lengths.append(len(batches))
        update(self, data, batches, times)

    monkeypatch.setattr(RBMLearner, "update", counted)
    return lengths


@pytest.mark.parametrize("name", OPTIONS)
def test_a_stretch_is_its_updates_one_by_one(name, data, monkeypatch):
    fits = []
    for seconds, expected in ((0.0, [1] * 21), (1e9, [1, 6, 7, 7])):
        with monkeypatch.context() as patch:
            lengths = stretches(patch, seconds)
            fits.append(tf.train_rbm(data, **BASE | OPTIONS[name]))
        assert lengths == expected
    assert_same(*fits)


def test_stretches_end_where_parameters_are_looked_at(data, monkeypatch):
    lengths = stretches(monkeypatch, 1e9)
    tf.train_rbm(data, **BASE | {"batch_size": 1, "epochs": 2})
    assert lengths == [1, 99, 30, 100, 30]


class Clock:
    """A learner whose every update takes 5 ms, the first of them a second, and the time it is."""

    updates = now = 0

    def n_batches(self, rows):
        return rows

    def update(self, data, batches, times):
        self.now += 0.005 * len(batches) + (self.updates == 0)
        self.updates += len(batches)


@pytest.mark.parametrize(("wait", "length"), [(60.0, 20), (0.023, 4), (0.0, 1)])
def test_stretches_take_a_tenth_of_a_second_or_until_it_is_time_to_save(monkeypatch, wait, length):
    # So long Ctrl-C may have to wait.
    clock, file = Clock(), SimpleNamespace(wait=lambda: wait)
    monkeypatch.setattr(run.time, "perf_counter", lambda: clock.now)
    one = run.Loop(np.zeros((90, 1)), clock, None, run.Plan(1, None))
    lengths = []
    for _ in range(3):
        lengths.append(one._length(file))
        one._update(one.data, [None] * lengths[-1])
    assert lengths == [1, 1, length]


def test_units_that_become_binary_in_the_midst_of_a_stretch(monkeypatch):
    # The kernels of units with precision <= 0 are compiled only then.
    rows = np.random.default_rng(0).random((60, 5)) < 0.5
    hidden = tf.TruGUnits(precision=0.01, learn_precision=True, precision_rate=1.0)
    fits = []
    for seconds in (0.0, 1e9):
        with monkeypatch.context() as patch:
            stretches(patch, seconds)
            fits.append(
                tf.train_rbm(rows, 4, hidden=hidden, truncation="sigmoid", batch_size=5, rng=1)
            )
    assert (fits[0].model.precision <= 0).any()
    assert_same(*fits)
