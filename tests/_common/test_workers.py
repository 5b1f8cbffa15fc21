"""Jobs handed out: results in order, one thread each, and what is said when a worker dies."""

import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numba
import pytest

from trug_fast._common.workers import gathered, telling_of_the_dead


def threads_and(number, less):
    return numba.get_num_threads(), number - less


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
    with (
        pytest.raises(RuntimeError, match=r"died, training model 3; in a script"),
        telling_of_the_dead(", training model 3"),
    ):
        raise BrokenProcessPool
