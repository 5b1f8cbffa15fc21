"""Work that an executor of the caller's hands out, one thread each; what is said of the dead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from typing import Any

import numba


@contextmanager
def telling_of_the_dead(doing: str = "") -> Iterator[None]:
    """Say why workers die, and what this one was doing, where an executor only says that one did.

    Raises
    ------
    RuntimeError
        In place of BrokenExecutor.
    """
    try:
        yield
    except BrokenExecutor as error:
        raise RuntimeError(
            f"a worker process of the executor died{doing}; in a script, what starts processes "
            "must stand under `if __name__ == '__main__'`"
        ) from error


def gathered(
    executor: Executor,
    function: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    look: Callable[[], None] = lambda: None,
) -> list[Any]:
    """Return what a function of a module makes of each job, in their order, by many workers.

    What has not begun when one fails, or at Ctrl-C, never does; ``look`` is called after each.

    Raises
    ------
    RuntimeError
        If a worker process died.
    """
    futures: list[Future[Any]] = []
    found = []
    try:
        with telling_of_the_dead():
            futures.extend(executor.submit(_on_one_thread, function, job) for job in jobs)
            for future in futures:
                found.append(future.result())
                look()
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
    return found


def _on_one_thread(function: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    """Do a job in a worker, of which there may be many."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        return function(*job)
    finally:
        numba.set_num_threads(before)
