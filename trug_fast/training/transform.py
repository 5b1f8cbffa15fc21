"""A function of the caller's through which each batch goes before an update learns from it.

Tested in tests/training/test_transform.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast.kernels.random.philox import ORDER
from trug_fast.models.sequences import Sequences, as_sequences

from .chunks import Check
from .rates import without_functions

# Its stream's first counter: orders of epochs and starts of chains have lower ones.
FIRST = (1 << 50) + (1 << 40)
START, SCORED = -1, -2  # in place of the number of an update: what it begins at, what is scored
STARTED = 1000  # sequences at most on which a training on sequences starts: they are copied

Function = Callable[..., Any]  # of batch, generator and share, and maybe the model


class Call(NamedTuple):
    """Which call of the function it is."""

    seed: int
    update: int  # done before
    share: float  # of the run
    model: Callable[[], Any] | None = None  # returns the current one; None before there is one

    @property
    def name(self) -> str:
        """What a result is called in errors."""
        where = {START: "for the start", SCORED: "for the scores"}
        return f"transform {where.get(self.update, f'at update {self.update + 1}')}"


@dataclass(frozen=True)
class Transform:
    """The function, and how it is called and what it returns is checked.

    Attributes
    ----------
    function : callable
    sees_model : bool
        Whether it is given the current model: then updates are taken one by one.
    """

    function: Function
    sees_model: bool

    def identity(self) -> str:
        """Return what makes it the same function in a few words: its name, a dataclass's fields."""
        own = self.function
        if is_dataclass(own):
            shown = [each.name for each in fields(own) if each.repr]
            parts = {name: without_functions(getattr(own, name)) for name in shown}
            return f"{type(own).__qualname__}({', '.join(f'{k}={v!r}' for k, v in parts.items())})"
        while isinstance(own, partial):
            own = own.func
        return str(getattr(own, "__qualname__", type(own).__qualname__))

    def _call(self, batch: Any, call: Call) -> Any:
        bits = np.random.Philox(key=[call.seed, ORDER], counter=(FIRST + call.update) << 128)
        more = {"model": call.model()} if self.sees_model and call.model is not None else {}
        return self.function(batch, np.random.Generator(bits), call.share, **more)

    def rows(self, batch: NDArray[Any], call: Call, check: Check) -> NDArray[Any]:
        """Return what becomes of rows, which are a copy, as columns that kernels see."""
        shape, dtype = batch.shape, batch.dtype
        found = check(call.name, _array(call.name, self._call(batch, call), shape), shape[1])
        return checks.cast(call.name, found, dtype)

    def sequences(
        self, data: Sequences, call: Call, visible: str
    ) -> tuple[Sequences, Sequences | None]:
        """Return what becomes of sequences, which are a copy, and of what frames know of the past.

        The latter is None where it is the same.
        """
        shapes = [(int(length), data.shape[1]) for length in data.lengths]
        found, known = self._call(data.split(data.frames), call), None
        if isinstance(found, tuple) and len(found) == 2:
            found, known = found
            known = self._checked(known, shapes, data, call, visible)
        return self._checked(found, shapes, data, call, visible), known

    def _checked(
        self, found: Any, shapes: list[Any], data: Sequences, call: Call, visible: str
    ) -> Sequences:
        name = call.name
        wanted = f"{name} must return a list of {len(shapes)} sequences, or a pair of such lists"
        if not isinstance(found, list):
            raise TypeError(f"{wanted}, got {type(found).__name__}")
        if len(found) != len(shapes):
            raise ValueError(f"{wanted}, got {len(found)}")
        parts = zip(found, shapes, strict=True)
        whole = [_array(f"{name}: sequence {k}", x, n) for k, (x, n) in enumerate(parts)]
        checked = as_sequences(name, whole, data.shape[1], visible=visible).astype(
            data.frames.dtype
        )
        return Sequences(checked.frames, data.lengths, data.weights)


def transform_identity(transform: Transform | None) -> dict[str, str]:
    """Return what makes it the same function, where there is one."""
    return {} if transform is None else {"transform": transform.identity()}


def as_transform(value: Function | None) -> Transform | None:
    """Return a function to be called for each update, if there is one."""
    if value is not None and not callable(value):
        raise TypeError(
            "transform must be a function of a batch, a numpy.random.Generator and the share of "
            f"the run, got {value!r}"
        )
    if value is None:
        return None
    try:
        return Transform(value, "model" in inspect.signature(value).parameters)
    except ValueError:  # some compiled functions do not say
        return Transform(value, sees_model=False)


def _array(name: str, value: Any, shape: Sequence[int]) -> NDArray[Any]:
    wanted = f"{name} must return an array of shape {tuple(shape)}"
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{wanted}, got {type(value).__name__}")
    if value.shape != tuple(shape):
        raise ValueError(f"{wanted}, got shape {value.shape}")
    return value
