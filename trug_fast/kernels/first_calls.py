"""How much a public function compiles at its first call, and how long that may take.

What the functions need stands in ``first_calls.txt``, measured by
``tools/count_first_calls.py``; here it is held against what lies on this computer's disk, and
against its speed.

Tested in tests/kernels/test_announcing.py.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .numba_parts import PLAIN

ROOM = f"{__package__}."
TABLE = Path(__file__).with_name("first_calls.txt")  # no source: kernels do not depend on it


class Kernel(NamedTuple):
    """A kernel for one choice of types."""

    name: str  # with its module's, from trug_fast.kernels on
    types: str  # a digest


def kernel_of(dispatcher: Any, arguments: Sequence[Any]) -> Kernel:
    """Return what a function is, compiled for these types."""
    function = dispatcher.py_func
    name = f"{function.__module__}.{function.__qualname__}".removeprefix(ROOM)
    return Kernel(name, _digest(arguments))


def _digest(arguments: Sequence[Any]) -> str:
    words = re.sub("0x[0-9a-f]+", "", repr(tuple(arguments)))  # functions' addresses
    return hashlib.sha256(words.encode()).hexdigest()[:4]


@cache
def table() -> list[list[str]]:
    """Return the words of the lines of the table."""
    if PLAIN:  # it was measured the linked way, and what Numba has on disk is not for us to see
        return [[""]]
    try:
        lines = TABLE.read_text("utf-8").splitlines()
    except OSError:  # only the notice knows less then
        lines = [""]
    return [line.split() for line in lines if not line.startswith("#")]


def needs(call: str | None) -> dict[Kernel, float]:
    """Return the kernels that a call needs, with the seconds to compile each, where measured."""
    calls_of, *kernels = table()
    found: dict[Kernel, float] = {}
    if call not in calls_of:
        return found
    number = str(calls_of.index(call))
    for line in kernels:
        name, seconds, *choices = line
        for choice in choices:
            types, _, calls = choice.partition(":")
            if number in calls.split(","):
                found[Kernel(name, types)] = float(seconds)
    return found


def missing(kernels: Iterable[Kernel]) -> set[Kernel]:
    """Return those kernels that are compiled neither in this process nor on disk."""
    wanted = set(kernels)
    return {
        Kernel(name, types)
        for name in {kernel.name for kernel in wanted}
        for types in {kernel.types for kernel in wanted if kernel.name == name} - _known(name)
    }


def _known(kernel: str) -> set[str]:
    """Return for which types a kernel is compiled."""
    place, _, name = kernel.rpartition(".")
    with suppress(ImportError, AttributeError):  # a table older than the kernels
        dispatcher = getattr(importlib.import_module(ROOM + place), name)
        entry = getattr(dispatcher, "entry", None)  # for Python, where it has one of its own
        found = [_types(one) for one in (dispatcher, entry) if one is not None]
        return set(map(_digest, set().union(*found)))
    return set()


def is_known(kernel: str, types: str) -> bool:
    """Tell whether a kernel is compiled for these types."""
    return types in _known(kernel)


def _types(dispatcher: Any) -> set[tuple[Any, ...]]:
    """Return for which types a function is compiled, in this process or on disk."""
    types = {tuple(arguments) for arguments in dispatcher.overloads}
    processor = dispatcher.targetctx.codegen().magic_tuple()
    for file in dispatcher._cache._files:
        with suppress(Exception):  # damaged: as good as none
            keys = [key for key in file._load_index() if key[1] == processor]
            types |= {tuple(getattr(key[0], "args", key[0])) for key in keys}
    return types


class Left:
    """What a call has still to compile.

    Parameters
    ----------
    call : str or None
    compiled : sequence of Kernel
        What it has compiled.
    spent : float
        In so many seconds.
    """

    def __init__(self, call: str | None, compiled: Sequence[Kernel], spent: float) -> None:
        self._needs = needs(call)
        self._left = missing(self._needs)
        self._done = sum(self._seconds(kernel) for kernel in compiled)
        self._judge(spent)

    def take(self, kernel: Kernel, spent: float) -> None:
        """Note that a kernel has been compiled."""
        if kernel not in self._left:  # perhaps another version of Numba writes types otherwise
            kernel = next((one for one in self._left if one.name == kernel.name), kernel)
        self._left.discard(kernel)
        self._done += self._seconds(kernel)
        self._judge(spent)

    def words(self, done: int, spent: float) -> str | None:
        """Return how many of how many are compiled, and the time that the others take, if known."""
        if not self._needs:
            return None
        seconds = max(1.0, self._end - spent)
        return f"{done} of about {done + len(self._left)}, about {seconds:.0f} s left"

    def _judge(self, spent: float) -> None:
        """Set the end: at the speed so far."""
        left = sum(map(self._seconds, self._left))
        self._end = spent + left * (spent / self._done if self._done else 1.0)

    def _seconds(self, kernel: Kernel) -> float:
        return self._needs.get(kernel, 0.0)
