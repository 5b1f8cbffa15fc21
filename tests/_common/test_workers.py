"""Jobs handed out: results in order, one thread each, and what is said of workers."""

import math
import pickle
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numba
import pytest

from trug_fast._common import workers
from trug_fast._common.workers import WorkersError, gathered, identity, result, submit


def threads_and(number, less):
    return numba.get_num_threads(), number - less


def reply(error=None, **changes):
    """Return the future of a job that has failed, or was done by such a worker."""
    future = Future()
    if error is None:
        future.set_result((identity() | changes, 3))
    else:
        future.set_exception(error)
    return future


def test_results_come_in_order_from_one_thread_each():
    looks = []
    with ThreadPoolExecutor(3) as pool:
        jobs = [(10 * k, k) for k in range(20)]
        found = gathered(pool, threads_and, jobs, lambda: looks.append(1))
    assert found == [(1, 9 * k) for k in range(20)] and len(looks) == 20


def test_of_the_dead_is_told_and_what_has_not_begun_never_does():
    done = []

    def work(kind):
        if kind == "dies":
            raise BrokenProcessPool("a process ended abruptly")
        time.sleep(0.2 if kind == "lasts" else 0.0)
        done.append(kind)

    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(RuntimeError, match=r"a worker process of the executor died; in a script"),
    ):
        gathered(pool, work, [("dies",), ("lasts",), *[("short",)] * 50])
    assert done in ([], ["lasts"])


def test_other_errors_are_theirs():
    with ThreadPoolExecutor(2) as pool, pytest.raises(TypeError, match="unsupported operand"):
        gathered(pool, threads_and, [("a", 1), (1, 1)])
    with pytest.raises(WorkersError, match=r"died, training model 3; in a script"):
        result(reply(BrokenProcessPool()), ", training model 3")
    for error in (ModuleNotFoundError("other", name="other"), AttributeError("work")):
        with pytest.raises(type(error)):
            result(reply(error))


def test_a_worker_of_other_sources_is_refused_without_its_frames():
    there = {"version": "9.9", "sources": "0123456789", "place": "/opt/trug_fast on node7"}
    with pytest.raises(WorkersError) as caught:
        result(reply(**there), ", computing digits")
    said = str(caught.value)
    assert "computing digits: 9.9 (sources 01234567) in /opt/trug_fast on node7, not " in said
    assert f"{identity()['version']} (sources {workers.SOURCES[:8]}) in {workers.PACKAGE}" in said
    remedy = "; install one version everywhere, start the workers anew and "
    assert said.endswith(f"{remedy}{workers.AGAIN}")
    theirs = WorkersError("a worker's worker is ill; cure it")
    with pytest.raises(WorkersError, match="^a worker's worker is ill; cure it$") as caught:
        result(reply(pickle.loads(pickle.dumps(theirs))))
    assert caught.value.__suppress_context__ and caught.value.__cause__ is None


def test_a_job_is_opened_by_the_same_sources_only(monkeypatch):
    job = pickle.dumps(submit_nothing(divmod, 7, 2))
    assert pickle.loads(job)() == (identity(), (3, 1))
    monkeypatch.setattr(workers, "SOURCES", "other")
    lost = pickle.dumps(submit_nothing(Lost, 1))
    monkeypatch.undo()
    monkeypatch.delattr(f"{__name__}.Lost")
    assert pickle.loads(lost)() == (identity(), None)  # without a look at what it does not know


class Lost:
    """What another version may lack."""

    def __init__(self, number):
        self.number = number


def submit_nothing(function, *arguments):
    """Return what an executor is given."""
    given = []

    class Taker(ThreadPoolExecutor):
        def submit(self, *all_of_it):
            given.extend(all_of_it)

    submit(Taker(1), function, *arguments)
    (job,) = given
    return job


def test_where_the_package_is_missing_the_job_says_so(tmp_path):
    """Not the process that takes it, as Dask's workers end then and its scheduler must not."""
    (tmp_path / "job").write_bytes(pickle.dumps(submit_nothing(divmod, 7, 2)))
    script = (
        "import pickle, sys; sys.modules['trug_fast'] = None; job = pickle.load(open('job', 'rb'))"
        "\ntry: job()\nexcept ModuleNotFoundError as error: pickle.dump(error, open('error', 'wb'))"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    error = pickle.loads((tmp_path / "error").read_bytes())
    with pytest.raises(WorkersError, match="has no trug_fast, or none that takes .*; install one"):
        result(reply(error))


def test_other_libraries_and_processors_are_told_once(monkeypatch):
    monkeypatch.setattr(workers, "_known", set())
    beneath = identity()["beneath"] | {"NumPy": "1.0", "processor": "abacus"}
    words = r"a worker has NumPy 1\.0 \(here .*\), processor abacus \(here .*\): the last bits"
    with pytest.warns(RuntimeWarning, match=words):
        assert result(reply(beneath=beneath)) == 3
    assert result(reply(beneath=beneath)) == 3  # silently: warnings are errors in tests
    assert result(reply(beneath=dict(identity()["beneath"]))) == 3
    with pytest.warns(RuntimeWarning, match=r"a worker has SciPy 1\.0"):
        result(reply(beneath=identity()["beneath"] | {"SciPy": "1.0"}))


def test_an_executor_that_gives_up_is_told():
    words = r"given up its work.*scheduler of its workers is gone.*; start it anew and call, or"
    cancelled = Future()
    cancelled.cancel()
    with pytest.raises(WorkersError, match=words):
        result(cancelled)

    class ClosedClientError(Exception):
        """As Dask has it."""

    with pytest.raises(WorkersError, match=words):
        result(reply(ClosedClientError("Client is closed.")))


def test_what_is_cancelled_is_not_waited_for():
    class Deaf(Executor):  # as Dask's may be: it never says that it has left out what was cancelled
        def submit(self, function, /, *arguments, **options):
            future = Future()
            if not begun:
                future.set_exception(ValueError("no"))
            begun.append(future)
            return future

    begun = []
    with pytest.raises(ValueError, match="no"):
        gathered(Deaf(), math.sqrt, [(1.0,), (4.0,)])
    assert begun[1].cancelled()
