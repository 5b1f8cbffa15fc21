"""Work that an executor of the caller's hands out, done by the caller's version of the package.

A worker may be a process on another computer with another version, or one that began after an
update: its numbers would be others, in silence.  So each job travels sealed, and only a worker that
runs the caller's sources opens it; the reply says who the worker is.  As nothing is asked
beforehand, a worker that joins late is found out too.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

from trug_fast.kernels.caching import FOLDER, STAMP

from .config import loaded

PACKAGE = Path(__file__).parents[1]


def sources_of(package: Path) -> str:
    """Return a hash of all sources of a package: versions differ by less than their number."""
    found = hashlib.sha256(STAMP)
    for folder, inner, names in os.walk(package):
        inner[:] = sorted({*inner} - {"__pycache__", FOLDER.name})
        for name in sorted(each for each in names if each.endswith(".py")):
            with open(os.path.join(folder, name), "rb") as source:
                found.update(source.read())
    return found.hexdigest()


# At import, since later the files may be others than those that run: 4 ms.
SOURCES = sources_of(PACKAGE)

Who = dict[str, Any]  # plain, as any other version must be able to read it
Reply = tuple[Who, Any]

AGAIN = "call, or give the command, again; what has a checkpoint goes on from where it is"
INSTALL = f"install one version everywhere, start the workers anew and {AGAIN}"


class WorkersError(RuntimeError):
    """What is wrong with workers, and what to do about it."""


@cache
def identity() -> Who:
    """Return who computes here: version and sources, where they lie, and what is beneath them."""
    processor = numba.config.CPU_NAME or get_host_cpu_name()  # type: ignore[attr-defined]
    features = numba.config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = get_host_cpu_features().flatten()
    try:
        number = version("trug_fast")
    except PackageNotFoundError:  # a copy that is on the path, not installed
        number = "of no version"
    kernels = {f"{library.name} {library.kernels}".strip() for library in loaded()}
    return {
        "version": number,
        "sources": SOURCES,
        "place": f"{PACKAGE} on {platform.node()}",
        "beneath": {
            "NumPy": np.__version__,
            "Numba": numba.__version__,
            "SciPy": scipy.__version__,
            "BLAS kernels": ", ".join(sorted(kernels)),
            "processor": f"{processor} ({hashlib.sha256(features.encode()).hexdigest()[:4]})",
        },
    }


class _Job:
    """A function of a module and its arguments, as a call without arguments.

    To another process it travels as a call of ``pickle.loads``: whatever is amiss there is then
    told as an error of the job.  Dask's workers end where a class cannot be found on arrival, and
    its scheduler would need this package.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._work = function, arguments
        self.__name__ = function.__name__  # shown by Dask's dashboard

    def __call__(self) -> Reply:
        function, arguments = self._work
        return identity(), function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        # Dask and loky bring this one, which takes functions of scripts and lambdas too.
        pickler: Any = sys.modules.get("cloudpickle", pickle)
        opened = _Opened(SOURCES, pickler.dumps(self._work))
        return partial, (pickle.loads, pickle.dumps(opened))


class _Opened(NamedTuple):
    """What a pickle becomes where it is loaded: the reply of whoever loads it."""

    sources: str
    work: bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return work, tuple(self)


def work(sources: str, sealed: bytes) -> Reply:
    """Do a job of another process, if that runs the same sources; say who does it in any case.

    What other versions rely on: the name, the arguments, and the reply.
    """
    who = identity()
    if sources != who["sources"]:
        return who, None
    function, arguments = pickle.loads(sealed)
    return who, function(*arguments)


def submit(executor: Executor, function: Callable[..., Any], *arguments: Any) -> Future[Reply]:
    """Hand out what a function of a module makes of arguments; ``result`` opens the reply."""
    with told(""):
        return executor.submit(_Job(function, arguments))


def result(future: Future[Reply], doing: str = "") -> Any:
    """Wait for what has been handed out; a WorkersError says what is wrong with who does it.

    Errors tell what it is, ``doing``, which begins with a comma.
    """
    with told(doing):
        who, found = future.result()
    here = identity()
    if who is not here:  # as in a thread
        if who["sources"] != here["sources"]:
            raise WorkersError(
                f"a worker has another trug_fast{doing}: {_described(who)}, not {_described(here)}"
                f"; {INSTALL}"
            )
        _tell_of_differences(who["beneath"], here["beneath"])
    return found


def _described(who: Who) -> str:
    return f"{who['version']} (sources {who['sources'][:8]}) in {who['place']}"


@contextmanager
def told(doing: str) -> Iterator[None]:
    """Say what has happened to workers, and what to do, where an executor says little."""
    try:
        yield
    except BrokenExecutor as error:
        raise WorkersError(
            f"a worker process of the executor died{doing}; in a script, what starts processes "
            "must stand under `if __name__ == '__main__'`"
        ) from error
    except WorkersError as error:  # of a worker's own workers: its frames say nothing
        raise WorkersError(*error.args) from None
    except Exception as error:
        # Dask's, which may not be installed, has no class above it but Exception.
        if isinstance(error, CancelledError) or type(error).__name__ == "ClosedClientError":
            raise WorkersError(
                f"the executor has given up its work{doing}: the scheduler of its workers is gone, "
                f"or it was shut down; start it anew and {AGAIN}"
            ) from None
        if _is_of_a_stranger(error):
            raise WorkersError(
                f"a worker has no trug_fast, or none that takes jobs of this one{doing}: {error}; "
                f"{INSTALL}"
            ) from None
        raise


def _is_of_a_stranger(error: Exception) -> bool:
    """Tell whether a worker does not have this package, or one older than ``work``."""
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").partition(".")[0] == PACKAGE.name
    found = f"attribute '{work.__name__}' on <module '{__name__}'"
    return isinstance(error, AttributeError) and found in str(error)


_known: set[str] = set()


def _tell_of_differences(there: dict[str, str], here: dict[str, str]) -> None:
    """Warn, once, of what a worker has that may change the last bits of its numbers."""
    differ = [name for name in here if there.get(name) != here[name]]
    said = ", ".join(f"{name} {there.get(name)} (here {here[name]})" for name in differ)
    if differ and said not in _known:
        _known.add(said)
        warnings.warn(
            f"a worker has {said}: the last bits of the numbers may depend on who computes what",
            RuntimeWarning,
            stacklevel=2,
        )


def gathered(
    executor: Executor,
    function: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    look: Callable[[], None] = lambda: None,
) -> list[Any]:
    """Return what a function of a module makes of each job, in their order, by many workers.

    What has not begun when one fails, or at Ctrl-C, never does; ``look`` is called after each.
    """
    futures: list[Future[Reply]] = []
    found = []
    try:
        futures.extend(submit(executor, _on_one_thread, function, job) for job in jobs)
        for future in futures:
            found.append(result(future))
            look()
    finally:
        for future in futures:
            future.cancel()
        # Not for those cancelled, whose end Dask does not always tell: that took for ever.
        wait([future for future in futures if not future.cancelled()])
    return found


def _on_one_thread(function: Callable[..., Any], job: tuple[Any, ...]) -> Any:
    """Do a job in a worker, of which there may be many."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        return function(*job)
    finally:
        numba.set_num_threads(before)
