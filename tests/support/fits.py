"""What tests of trainings share: comparing fits, and stopping runs in the midst of an update."""

import signal

import numpy as np

from trug_fast.training import run
from trug_fast.training.rbm.learner import RBMLearner


def same(a, b):
    """Whether two models agree in every bit."""
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for n in a.names)


def assert_same(fit, other):
    """Assert that two fits agree in every bit but their times."""
    for name in fit.model.names:
        np.testing.assert_array_equal(getattr(fit.model, name), getattr(other.model, name), name)
    assert list(fit.history) == list(other.history)
    for name in fit.history.keys() - {"seconds"}:
        np.testing.assert_array_equal(fit.history[name], other.history[name], name)
    assert fit[2:] == other[2:]  # whether it was interrupted, and what was chosen


def one_by_one(monkeypatch):
    """Let the loop take updates in stretches of one."""
    monkeypatch.setattr(run, "STRETCH", 0.0)


def interrupt_after(monkeypatch, updates, number=signal.SIGINT, learner=RBMLearner):
    """Send this process a signal in the middle of one update."""
    one_by_one(monkeypatch)
    step, calls = learner._take, []

    def counted(self, *args):
        calls.append(1)
        if len(calls) == updates:
            signal.raise_signal(number)
        return step(self, *args)

    monkeypatch.setattr(learner, "_take", counted)


def spoil(monkeypatch, learner, name):
    """Let each update spoil a parameter, which soon spoils the rest, but not in the same update."""
    one_by_one(monkeypatch)
    move = learner._take

    def spoiled(self, *args):
        result = move(self, *args)
        self.parameters()[name][-1:] = np.nan
        return result

    monkeypatch.setattr(learner, "_take", spoiled)


def with_interrupts():
    """Let Ctrl-C raise KeyboardInterrupt for a while: shells have background jobs ignore it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)
