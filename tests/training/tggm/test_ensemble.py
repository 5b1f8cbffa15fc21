"""Training of ensembles: the same numbers whoever trains, however often it is stopped."""

import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import numpy as np
import pytest

import trug_fast as tf
from tests.support.fits import assert_same
from trug_fast._common import files
from trug_fast._common.randomness import seed_from
from trug_fast.training.tggm import ensemble
from trug_fast.training.tggm.learner import RegressionLearner

RNG = np.random.default_rng(1)
X = RNG.normal(size=(70, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=70)
BASE = {"n_models": 3, "n_hidden": 5, "epochs": 4, "batch_size": 16, "progress": False, "rng": 0}
SEARCH = {"learning_rate": tf.training.RateSearch([0.003, (0.01, 0.001)])}


@pytest.fixture(autouse=True)
def interruptible():
    """Let Ctrl-C raise KeyboardInterrupt: shells have background jobs ignore it."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def train(**more):
    return tf.train_ensemble(X, Y, **BASE | more)


def assert_all_same(fit, other):
    assert len(fit.fits) == len(other.fits) and fit.interrupted == other.interrupted
    for one, two in zip(fit.fits, other.fits, strict=True):
        assert_same(one, two)
    np.testing.assert_array_equal(fit.model.log_density(X, Y), other.model.log_density(X, Y))


def test_models_are_those_of_single_trainings():
    fit = train(**SEARCH)
    assert len(fit.model) == 3 and not fit.interrupted
    seed = seed_from(0, "train_ensemble")
    plan = {k: v for k, v in BASE.items() if k not in ("n_models", "rng")}
    for number, own in enumerate(fit.fits):
        alone = seed_from(seed, f"model {number}")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("trug_fast._common.checkpoints.seed_from", lambda *_, s=alone: s)
            assert_same(tf.train_tggm(X, Y, **plan, **SEARCH), own)
    assert not np.array_equal(*(fit.fits[k].history["validation_rmse"] for k in (0, 1)))
    assert -10 < fit.held_back_log_likelihood < 0
    fit = train(validation=tf.training.HoldOut(calibrate=None))
    assert fit.held_back_log_likelihood is fit.held_back_rmse is None


def test_the_error_of_rows_held_back_is_that_of_the_models_that_held_them_back():
    (own,) = (fit := tf.train_ensemble(X, 10 * Y, **BASE | {"n_models": 1})).fits
    expected = own.history["validation_rmse"][own.best_epoch - 1] * 10 * Y.std()
    assert fit.held_back_rmse == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("workers", [1, 3])
def test_threads_give_the_same_numbers(workers):
    whole = train()
    with ThreadPoolExecutor(workers) as executor:
        assert_all_same(whole, train(executor=executor))


def test_processes_give_the_same_numbers():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert_all_same(train(), train(executor=executor))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_continues_from_every_file_it_writes(workers, tmp_path, monkeypatch):
    """Whatever moment a process is killed at, one of these files is what it leaves."""
    more = SEARCH | {"n_models": 2, "epochs": 2}
    whole, left, write = train(**more), [], files.write

    def keep(path, *args):
        write(path, *args)
        left.append(path.read_bytes())

    pool = ThreadPoolExecutor(2) if workers else None
    with monkeypatch.context() as patch:
        patch.setattr(files, "write", keep)
        file = tf.training.Checkpoint(tmp_path / "run.npz", every=0)
        assert_all_same(whole, train(**more, checkpoint=file, executor=pool))
    assert len(left) in (3, 4) if workers else len(left) > 6  # by workers one a model
    for i, content in enumerate(left):
        path = tmp_path / f"{i}.npz"
        path.write_bytes(content)
        again = train(**more, checkpoint=tf.training.Checkpoint(path, resume=True), executor=pool)
        assert_all_same(whole, again)


def test_cross_validated_noise_is_that_of_the_mixture(tmp_path):
    more = {
        "validation": tf.training.HoldOut(calibrate="cross_validation"),
        "epochs": 2,
        "n_models": 2,
    }
    fit = train(**more)
    assert len({float(model.noise_variance[0]) for model in fit.model}) == 1  # of all alike
    assert len({float(own.model.noise_variance[0]) for own in fit.fits}) == 2
    path = tmp_path / "run.npz"
    assert_all_same(fit, train(**more, checkpoint=tf.training.Checkpoint(path, every=0)))
    assert_all_same(fit, train(**more, checkpoint=tf.training.Checkpoint(path, resume=True)))
    with ThreadPoolExecutor(2) as executor:
        assert_all_same(fit, train(**more, executor=executor))


def test_ctrl_c_leaves_the_models_that_were_begun(tmp_path, monkeypatch):
    update, calls, path = RegressionLearner.update, [], tmp_path / "run.npz"

    def counted(self, *args):
        calls.append(1)
        if len(calls) == 10:  # in the second model
            signal.raise_signal(signal.SIGINT)
        update(self, *args)

    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="npz continues"):
        patch.setattr(RegressionLearner, "update", counted)
        part = train(checkpoint=path)
    assert part.interrupted and len(part.model) == 2
    assert [fit.interrupted for fit in part.fits] == [False, True]
    assert_all_same(train(), train(checkpoint=tf.training.Checkpoint(path, resume=True)))


def test_at_ctrl_c_models_that_workers_have_begun_are_waited_for(tmp_path, monkeypatch):
    update, calls, path = RegressionLearner.update, [], tmp_path / "run.npz"

    def counted(self, *args):
        calls.append(1)
        if len(calls) == 2:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        update(self, *args)

    with monkeypatch.context() as patch, pytest.warns(UserWarning, match="npz continues"):
        patch.setattr(RegressionLearner, "update", counted)
        with ThreadPoolExecutor(1) as executor:
            part = train(checkpoint=path, executor=executor, n_models=9)
    assert part.interrupted and 1 <= len(part.model) < 9
    assert not any(fit.interrupted for fit in part.fits)
    again = tf.training.Checkpoint(path, resume=True)
    assert_all_same(train(n_models=9), train(n_models=9, checkpoint=again))


@pytest.mark.parametrize("workers", [0, 2])
def test_the_first_failure_is_named_with_its_model(workers, monkeypatch):
    seed = seed_from(seed_from(0, "train_ensemble"), "model 1")
    update = RegressionLearner.update

    def spoiled(self, *args):
        update(self, *args)
        if self.seed == seed:
            self.trained.theta[0] = np.nan

    monkeypatch.setattr(RegressionLearner, "update", spoiled)
    pool = ThreadPoolExecutor(workers) if workers else None
    with pytest.raises(FloatingPointError, match="model 2 of 3: .* lower learning_rate"):
        train(executor=pool)


class Dead(ThreadPoolExecutor):
    """Workers that die."""

    def submit(self, *args, **more):
        future = Future()
        future.set_exception(BrokenProcessPool("gone"))
        return future


def test_workers_that_die_are_named():
    with pytest.raises(RuntimeError, match="died, training model 1; in a script"):
        train(executor=Dead(1))


def test_verdicts_name_their_models(monkeypatch):
    words = iter(["bad", None, "worse"])
    monkeypatch.setattr(ensemble.Regression, "verdict", lambda self: next(words))
    with pytest.warns(tf.training.TrainingWarning, match="model 1 of 3: bad; much the same of 3"):
        train()


def test_one_bar_for_all(monkeypatch):
    seen = []
    monkeypatch.setattr(ensemble.Progress, "advance", lambda self, n, **_: seen.append((self, n)))
    lock = threading.Lock()
    with lock:
        train(**SEARCH)
    bars = {}
    for bar, steps in seen:
        bars.setdefault(id(bar), []).append(steps)
    assert 3 * 4 * 3 in {sum(steps) for steps in bars.values()}  # 2 rates and all rows


def test_other_runs_and_damaged_files_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    train(checkpoint=path)
    again = tf.training.Checkpoint(path, resume=True)
    with pytest.raises(ValueError, match="n_models is 3 there, 2 here"):
        train(checkpoint=again, n_models=2)
    with pytest.raises(ValueError, match="belongs to another run"):
        tf.train_tggm(X, Y, 5, epochs=4, batch_size=16, checkpoint=again, rng=0)
    content = files.read(path, "Training")
    for change in (
        {"begun": np.array([True, False])},
        {"begun": np.array([1, 1, 1])},
        {"1.place": np.array([5, 5])},
        {"2.1.theta": np.zeros(3, np.float32)},
    ):
        files.write(path, "Training", content | change)
        with pytest.raises(ValueError, match=r"run\.npz is damaged"):
            train(checkpoint=again)


def test_bad_arguments():
    with pytest.raises(ValueError, match="n_models must be at least 1"):
        train(n_models=0)
    with pytest.raises(TypeError, match="executor must be a Executor, got int"):
        train(executor=2)
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        train(epochs=0)
