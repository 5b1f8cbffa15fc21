"""Threads, forks and threading layers: every parallel kernel is called in one context."""

import os
import subprocess
import sys
import threading
import time

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import trug_fast as tf
from tests.support.calls import (
    CALLS,
    REAL,
)
from tests.support.data import ROOT
from trug_fast._common import threads
from trug_fast.kernels import datasets, loops, optimizer, tiles
from trug_fast.kernels.linking import Inner
from trug_fast.kernels.rbm import annealing, gibbs, gradients, tempering
from trug_fast.kernels.tggm import mean_field
from trug_fast.kernels.trbm import filter, frames

MODULES = (
    annealing, datasets, filter, frames, gibbs, gradients, mean_field, optimizer,
    tempering, tiles,
)  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::trug_fast.evaluation.PartitionWarning")
several = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")


@pytest.fixture
def forked(monkeypatch):
    """As in a process that was forked from one that had computed."""
    monkeypatch.setattr(threads, "_forked", True)


@pytest.mark.parametrize("name", CALLS)
def test_after_a_fork_every_parallel_call_says_what_to_do(name, forked):
    with pytest.raises(RuntimeError, match="processes must be spawned"):
        CALLS[name]()


def test_after_a_fork_a_regression_is_refused_before_its_first_epoch(forked):
    with pytest.raises(RuntimeError, match="processes must be spawned"):
        tf.train_tggm(REAL, REAL[:, 0], n_hidden=3, callbacks=[lambda end: pytest.fail()], rng=0)


def test_after_a_fork_calls_on_one_thread_go_on(forked):
    tf.truncnorm.rvs(0.0, 1.0, size=100_000, random_state=np.random.default_rng(0))


def parallel_kernels(kinds=Dispatcher):
    """Return module, name and kernel of all that run or call a parallel loop."""
    every = [(m, n, v) for m in MODULES for n, v in vars(m).items() if isinstance(v, Dispatcher)]
    found = set()
    while True:
        more = {kernel for _, _, kernel in every if runs_in_parallel(kernel, found)}
        if more == found:
            return [(m, n, v) for m, n, v in every if v in found and isinstance(v, kinds)]
        found = more


def runs_in_parallel(kernel, known):
    """Tell whether a kernel has a parallel loop or calls one that is known to."""
    function = kernel.py_func
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    return loops.each in called or any(isinstance(c, Dispatcher) and c in known for c in called)


def test_every_call_of_a_parallel_kernel_is_in_the_context(monkeypatch):
    for call in CALLS.values():
        call()  # compiled now: what follows replaces names that a compilation would look up
    seen = set()

    def watched(name, kernel):
        def call(*args):
            assert threads._ONE_THREAD.inside and numba.get_num_threads() == 1, name
            seen.add(name)
            return kernel(*args)

        return call

    kernels = [entry for entry in parallel_kernels() if not isinstance(entry[2], Inner)]
    package = [m for name, m in sys.modules.items() if name.startswith("trug_fast")]
    for _, name, kernel in kernels:
        for module in package:  # whoever has imported it
            for own, value in list(vars(module).items()):
                if value is kernel:
                    monkeypatch.setattr(module, own, watched(name, kernel))
    for call in CALLS.values():
        call()
    assert len(kernels) > 8
    assert {name for _, name, _ in kernels} - seen == set()


@pytest.mark.parametrize("name", CALLS)
def test_python_calls_only_what_is_compiled_for_it(name, monkeypatch):
    """Another kernel is compiled once more for it: in vain, but where all its work is calls.

    Or where it is short: the temporal model's training moves ends and averages from Python, and
    starts at means of units.
    """
    short = {"approach", "move_ends", "move_precision", "mean_variance"}
    call, drivers = Inner.__call__, [kernel for _, _, kernel in parallel_kernels(Inner)]

    def watched(kernel, *args):
        assert kernel in drivers or kernel.py_func.__name__ in short, kernel
        return call(kernel, *args)

    monkeypatch.setattr(Inner, "__call__", watched)
    CALLS[name]()


def test_a_long_call_is_judged_by_the_part_after_its_threads_have_settled():
    watch = threads._Watch()
    watch.note(0.1, 0.1)  # as long as one thread alone would have taken
    assert watch.crowded()
    watch = threads._Watch()
    watch.note(0.1, 0.18)
    assert not watch.crowded()


@several
def test_little_work_takes_one_thread_and_leaves_the_number_as_it_was(monkeypatch):
    monkeypatch.setattr(threads, "_watch", threads._Watch())
    numba.set_num_threads(2)
    try:
        with pytest.raises(KeyError), threads.computing(threads.WORTH_THREADS / 2):
            assert numba.get_num_threads() == 1
            with threads.computing(threads.WORTH_THREADS):
                assert numba.get_num_threads() == 1  # inside a call that has chosen
            raise KeyError
        with threads.computing(threads.WORTH_THREADS):
            assert numba.get_num_threads() == 2
            with threads.computing(0.0):
                assert numba.get_num_threads() == 1
            assert numba.get_num_threads() == 2
        assert numba.get_num_threads() == 2
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


@several
def test_threads_that_get_no_processors_make_room_for_one(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(threads.time, "perf_counter", lambda: now[0])
    watch = threads._Watch()

    def compute(seconds, share):
        for _ in range(round(seconds / 0.01)):
            now[0] += 0.01
            watch.note(0.01, 0.01 * share)

    compute(10.0, 1.6)
    assert not watch.crowded()
    compute(2 * threads.TRIAL + threads.SETTLE, 0.7)
    assert watch.crowded()
    now[0] += threads.PAUSE + threads.SHARE * 2 * threads.TRIAL
    assert not watch.crowded()  # another trial
    compute(threads.SETTLE, 0.7)  # waking up is no sign
    compute(10.0, 1.6)
    assert not watch.crowded()
    pauses = []
    for _ in range(8):
        while not watch.crowded():
            compute(0.01, 0.7)
        pauses.append(watch._until - now[0])
        now[0] = watch._until
    assert sorted(pauses) == pauses and pauses[-1] == threads.PAUSES


def test_callers_take_turns_where_the_layer_bears_one(monkeypatch):
    monkeypatch.setattr(threads, "_layer", lambda: "workqueue")
    inside = []

    def enter():
        with threads.computing(1.0), threads.computing(1.0):  # one thread may enter again
            inside.append(1)
            assert sum(inside) == 1
            time.sleep(0.01)
            inside.pop()

    callers = [threading.Thread(target=enter) for _ in range(5)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not inside


WORKQUEUE = """
import sys, threading, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {root!r})
import numba
from tests.support.calls import CALLS
done = []
def run(name):
    for _ in range(20):
        CALLS[name]()
    done.append(name)
names = ["train_rbm", "log_partition", "sample", "free_energy"]
callers = [threading.Thread(target=run, args=(name,)) for name in names]
for caller in callers: caller.start()
for caller in callers: caller.join()
assert len(done) == 4 and numba.threading_layer() == "workqueue", done
"""
FORK = """
import multiprocessing, sys, warnings
sys.path.insert(0, {root!r})
import numpy as np
from tests.support.calls import CALLS
def work(name):
    return CALLS[name]()
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2) as pool:  # before this process computes
        early = pool.map(work, ["free_energy", "sample"])
    here = [work("free_energy"), work("sample")]
    assert all(map(np.array_equal, early, here))
    with fork.Pool(1) as pool:
        try:
            late = pool.map(work, ["free_energy", "sample"])
        except RuntimeError as error:
            print(error)
        else:
            assert all(map(np.array_equal, late, here))
            print("went on")
"""


def in_new_process(script, **variables):
    """Run a script in a process of its own; return what it prints."""
    code = script.format(root=str(ROOT))
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_threads_compute_at_once_on_the_layer_that_bears_one():
    in_new_process(WORKQUEUE, NUMBA_THREADING_LAYER="workqueue", NUMBA_NUM_THREADS="2")


def test_the_threading_layer_is_there_before_a_kernel_is_loaded():
    """Else a kernel from disk that only calls parallel ones is a segmentation fault."""
    in_new_process(
        "import numba; from trug_fast._common import threads\n"
        "with threads.computing(1.0): print(numba.threading_layer())"
    )


LAYERS = """
import sys
for name in ("omppool", "tbbpool"):
    sys.modules["numba.np.ufunc." + name] = None  # as where their libraries are missing
import numba
from trug_fast._common import threads
try:
    with threads.computing(1.0): print(numba.threading_layer())
except ValueError as error:
    print(error)
"""


def test_where_there_is_no_openmp_workqueue_is_taken_unless_another_is_named():
    assert in_new_process(LAYERS, NUMBA_THREADING_LAYER="default") == "workqueue\n"
    said = in_new_process(LAYERS, NUMBA_THREADING_LAYER="omp")
    assert said.startswith("NUMBA_THREADING_LAYER is 'omp', which Numba does not have here")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU OpenMP")
def test_a_fork_before_the_first_call_computes_one_after_it_is_refused():
    pytest.importorskip("numba.np.ufunc.omppool", exc_type=ImportError)
    assert "processes must be spawned" in in_new_process(FORK, NUMBA_THREADING_LAYER="omp")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks")
def test_a_fork_goes_on_where_the_layer_bears_it():
    assert in_new_process(FORK, NUMBA_THREADING_LAYER="workqueue") == "went on\n"
