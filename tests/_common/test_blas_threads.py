"""BLAS on one thread while anything computes, in whichever thread of the program, and forks."""

import importlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl

import trug_fast as tf
from tests._common.test_threads import in_new_process, several
from trug_fast._common import threads

pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")


def gaussian(hidden=500):
    """Return a machine and rows large enough for BLAS to take several threads."""
    rng = np.random.default_rng(5)
    weights = rng.normal(0.0, 0.02, (784, hidden)).astype(np.float32)
    ones = {"visible": "gaussian", "visible_precision": 1.0}
    model = tf.TruGRBM(weights, 0.0, 0.0, 1.0, 0.0, 1.0, **ones)
    return model, rng.normal(size=(200, 784)).astype(np.float32)


def large_calls():
    """Return large calls of a Gaussian machine, as functions that return arrays."""
    model, rows = gaussian()
    chains = {"n_chains": 200, "n_temperatures": 4, "rng": 0, "progress": False}
    short = {"visible": "gaussian", "epochs": 1, "batch_size": 100, "learning_rate": 1e-4}
    train = lambda: tf.train_rbm(rows, 500, rng=0, progress=False, **short).model  # noqa: E731
    return {
        "training": lambda: train().weights,
        "hidden_moments": lambda: np.stack(model.hidden_moments(rows)[:2]),
        "free_energy": lambda: model.free_energy(rows),
        "log_partition": lambda: tf.log_partition(model, **chains).log_weights,
    }


def libraries():
    """Return the BLAS libraries, also that of compiled kernels."""
    importlib.import_module("scipy.linalg.cython_blas")
    return threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers


def counts():
    """Return the threads of each BLAS library."""
    return [library.get_num_threads() for library in libraries()]


def set_counts(numbers):
    """Give each BLAS library so many threads, whichever thread of the program did so before."""
    for library, number in zip(libraries(), numbers, strict=True):
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


@pytest.fixture
def two_blas_threads():
    """BLAS on two threads, where it has them."""
    before = counts()
    set_counts([2] * len(before))
    if set(counts()) != {2}:
        pytest.skip("BLAS has no threads that can be set")
    yield
    set_counts(before)


@several
@pytest.mark.filterwarnings("ignore::trug_fast.training.TrainingWarning")
def test_other_python_threads_compute_the_same_bits(two_blas_threads):
    calls = large_calls()
    with threads.computing(0.0):  # as the first thread that sets BLAS's
        pass
    here = {name: call() for name, call in calls.items()}
    with ThreadPoolExecutor(1) as alone, ThreadPoolExecutor(4) as together:
        for pool in (alone, together):
            there = dict(zip(calls, pool.map(lambda call: call(), calls.values()), strict=True))
            assert [name for name in calls if not np.array_equal(here[name], there[name])] == []
    assert set(counts()) == {2}


@several
def test_an_executor_of_threads_gives_what_none_gives(two_blas_threads):
    model, _ = gaussian()
    chains = {"n_chains": 300, "n_temperatures": 4, "rng": 0, "progress": False}
    alone = tf.log_partition(model, **chains)
    with ThreadPoolExecutor(3) as executor, ThreadPoolExecutor(1) as caller:
        by_threads = caller.submit(tf.log_partition, model, executor=executor, **chains).result()
    assert np.array_equal(alone.log_weights, by_threads.log_weights)
    assert set(counts()) == {2}


def test_blas_is_held_and_given_back_whichever_thread_leaves_last(two_blas_threads):
    inside, leave, seen = threading.Event(), threading.Event(), []

    def other():
        with threads.computing(0.0):
            inside.set()
            leave.wait(60)
            seen.append(counts())

    thread = threading.Thread(target=other)
    with threads.computing(0.0), threads.computing(0.0):
        assert set(counts()) == {1}
        thread.start()
        assert inside.wait(60)
    assert set(counts()) == {1}  # the other is inside
    leave.set()
    thread.join()
    assert set(seen[0]) == {1} and set(counts()) == {2}
    alone = threading.Thread(target=other)
    alone.start()
    alone.join()
    assert set(seen[1]) == {1} and set(counts()) == {2}


class Library:
    """A library as threadpoolctl shows it; OpenMP's numbers are each thread's."""

    internal_api, threading_layer = "openblas", "openmp"

    def __init__(self):
        own = threading.local()
        self.dynlib = SimpleNamespace(
            omp_get_max_threads=lambda: getattr(own, "number", 4),
            omp_set_num_threads=lambda number: setattr(own, "number", number),
            openblas_get_num_threads=None,
        )


def test_numbers_that_each_thread_has_are_held_in_each(monkeypatch):
    library = threads._as_blas(Library())
    monkeypatch.setattr(threads, "_blas", lambda: ([], [library]))
    held, seen = threads._OneThread(), []

    def other():
        with held, held:
            seen.append(library.get())
        seen.append(library.get())

    with held:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        seen.append(library.get())
    assert [*seen, library.get()] == [1, 4, 1, 4]


FORKS = """
import os, sys, threading, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {root!r})
import trug_fast as tf
from tests._common.test_blas_threads import gaussian
from trug_fast._common import threads
model, _ = gaussian()
def estimate():
    tf.log_partition(model, n_chains=100, n_temperatures=30, rng=0, progress=False)
estimate()
callers = [threading.Thread(target=estimate, daemon=True) for _ in range(2)]
for caller in callers: caller.start()
count, end = 0, time.monotonic() + 100
while any(caller.is_alive() for caller in callers) and time.monotonic() < end:
    child = os.fork()
    if child == 0: os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    count += 1
    time.sleep(0.003)
print("stopped" if time.monotonic() >= end else "went on", count > 3, threads._ONE_THREAD.inside)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_threads_go_on_while_another_forks():
    assert in_new_process(FORKS) == "went on True {}\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_forgets_the_threads_that_it_lacks():
    held = threads._OneThread()
    held.inside, held._before = {threading.get_ident(): 2, -1: 1}, [2]
    held.after_fork()
    assert held.inside == {threading.get_ident(): 2} and held._before == [2]
