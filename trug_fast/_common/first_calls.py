"""How much a public function compiles at its first call, and how long that may take.

What the functions need stands in ``first_call_kernels.py``, measured by
``tools/count_first_calls.py``; here it is held against what lies on this computer's disk, and
against its speed.

Tested in tests/_common/test_announcing.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from trug_fast import kernels

ROOM = f"{kernels.__name__}."


class Kernel(NamedTuple):
    """A kernel for one kind of arguments, as far as the table tells them apart."""

    name: str  # with its module's, from trug_fast.kernels on
    single: bool  # whether float32 is among the types of its arguments


def kernel_of(dispatcher: Any, arguments: Sequence[Any]) -> Kernel:
    """Return what a function is, compiled for these types."""
    function = dispatcher.py_func
    name = f"{function.__module__}.{function.__qualname__}".removeprefix(ROOM)
    return Kernel(name, _single(arguments))


def _single(arguments: Sequence[Any]) -> bool:
    return "float32" in repr(arguments)


def needs(call: str | None) -> dict[Kernel, tuple[int, float]]:
    """Return how many of each kernel a call needs, and the seconds for one, where measured."""
    from .first_call_kernels import CALLS, KERNELS

    found: dict[Kernel, tuple[int, float]] = {}
    if call not in CALLS:
        return found
    number = str(CALLS.index(call))
    for line in KERNELS.strip().splitlines():
        name, bits, seconds, *calls = line.split()
        counts = dict(word.split(":") if ":" in word else (word, "1") for word in calls)
        if number in counts:
            found[Kernel(name, bits == "32")] = int(counts[number]), float(seconds)
    return found


def missing(calls: Sequence[str]) -> int:
    """Return about how many kernels calls have still to compile between them."""
    wanted: dict[Kernel, int] = {}
    for call in calls:
        for kernel, (count, _) in needs(call).items():
            wanted[kernel] = max(count, wanted.get(kernel, 0))
    return sum(max(0, count - known(kernel)) for kernel, count in wanted.items())


def known(kernel: Kernel) -> int:
    """Return for how many choices of types a kernel is compiled, in this process or on disk."""
    place, _, name = kernel.name.rpartition(".")
    with suppress(ImportError, AttributeError):  # a table older than the kernels
        dispatcher = getattr(importlib.import_module(ROOM + place), name)
        types = {tuple(arguments) for arguments in dispatcher.overloads}
        processor = dispatcher.targetctx.codegen().magic_tuple()
        for file in dispatcher._cache._files:
            with suppress(Exception):  # damaged: as good as none
                keys = [key for key in file._load_index() if key[1] == processor]
                types |= {tuple(getattr(key[0], "args", key[0])) for key in keys}
        return sum(_single(arguments) == kernel.single for arguments in types)
    return 0


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
        self._left = {k: max(0, n - known(k)) for k, (n, _) in self._needs.items()}
        self._done = sum(self._seconds(kernel) for kernel in compiled)
        self._judge(spent)

    def take(self, kernel: Kernel, spent: float) -> None:
        """Note that a kernel has been compiled."""
        if self._left.get(kernel, 0):
            self._left[kernel] -= 1
        self._done += self._seconds(kernel)
        self._judge(spent)

    def words(self, done: int, spent: float) -> str | None:
        """Return how many of how many are compiled, and the time that the others take, if known."""
        if not self._needs:
            return None
        seconds = max(1.0, self._end - spent)
        return f"{done} of about {done + sum(self._left.values())}, about {seconds:.0f} s left"

    def _judge(self, spent: float) -> None:
        """Set the end: at the speed so far."""
        left = sum(count * self._seconds(kernel) for kernel, count in self._left.items())
        self._end = spent + left * (spent / self._done if self._done else 1.0)

    def _seconds(self, kernel: Kernel) -> float:
        return self._needs.get(kernel, (0, 0.0))[1]
