"""Random numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, checked_rng, seed_from
from trug_fast.kernels import arrays

from .broadcasting import NAMES, Columns, columns_of, spread

Source = RngLike | np.random.RandomState


class Sourced:
    """An object with SciPy's attribute ``random_state``, which calls without a source draw from."""

    _random_state: np.random.RandomState | np.random.Generator | None = None

    @property
    def random_state(self) -> np.random.RandomState | np.random.Generator:
        """What calls without a source of their own draw from, as in SciPy.

        Set it to an int (that seeds a ``numpy.random.RandomState``), a RandomState, a Generator, or
        None or ``numpy.random``: NumPy's global state, the one that ``numpy.random.seed`` sets.
        Each call of ``rvs`` takes one number from it.  It travels with a pickle, where the global
        state is copied.
        """
        return _global_state() if self._random_state is None else self._random_state

    @random_state.setter
    def random_state(self, source: Source) -> None:
        # Into __dict__, as a Frozen refuses assignments.
        if source is np.random:  # type: ignore[comparison-overlap]
            source = None
        if source is None or isinstance(source, np.random.RandomState | np.random.Generator):
            self.__dict__["_random_state"] = source
        else:
            seed = _checked("random_state", source)
            self.__dict__["_random_state"] = np.random.RandomState(seed)  # noqa: NPY002

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_random_state": self.random_state}

    def _draws(
        self,
        parameters: tuple[ArrayLike, ...],
        size: int | tuple[int, ...] | None,
        random_state: Source,
        rng: RngLike,
        out: NDArray[Any] | None,
    ) -> Any:
        if out is not None and not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a numpy.ndarray, got {type(out).__name__}")
        wanted = _wanted_shape(size, out)
        columns, shape, dtype = columns_of(NAMES, parameters, wanted)
        _check_parameters(columns, dtype)
        given, filled = _places(out, shape, dtype, columns)
        seed = self._key(random_state, rng)

        kernel: Any = arrays.rvs_of_one if all(c.size == 1 for c in columns) else arrays.rvs
        spread(partial(kernel, seed), columns, filled.reshape(-1))
        if filled is not given:
            given[...] = filled
        return given if out is not None or given.ndim else given[()]

    def _key(self, random_state: Source, rng: RngLike) -> int:
        """Return the key of a call's streams; without a source the object's own is advanced."""
        if rng is not None and random_state is not None:
            raise ValueError("give rng or random_state, not both")
        source = random_state if rng is None else rng
        source = self.random_state if source is None else source
        if isinstance(source, np.random.RandomState):
            source = int(source.randint(2**63, dtype=np.uint64))
        else:
            source = _checked("random_state" if rng is None else "rng", source)
        return seed_from(source, "truncnorm.rvs")


def _global_state() -> np.random.RandomState:
    return np.random.mtrand._rand


def _checked(name: str, source: Any) -> Any:
    try:
        return checked_rng(source)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("rng", name, 1)) from None


def _wanted_shape(
    size: int | tuple[int, ...] | None, out: NDArray[Any] | None
) -> tuple[int, ...] | None:
    if size is None:
        return None if out is None else out.shape
    return tuple(checks.count("size", n, 0) for n in np.atleast_1d(size).tolist())


def _check_parameters(columns: Columns, dtype: Any) -> None:
    a, b, _, scale = columns
    if arrays.count_without_draws(a, b, scale) == 0:
        return
    farthest = arrays.FARTHEST_32 if dtype == np.float32 else arrays.FARTHEST_64
    good = (a < b) & (scale >= 0) & (a <= farthest) & (b >= -farthest)
    i = int(np.argmin(good))
    low, high, width = (column[i % column.size] for column in (a, b, scale))
    if not low < high:
        wanted = "a must be below b"
    elif not width >= 0:
        wanted = "scale must not be negative"
    else:
        wanted = f"a must be at most {farthest:g} and b at least {-farthest:g}"
    raise ValueError(f"{wanted}, got a={low}, b={high}, scale={width} in element {i}")


def _places(
    out: NDArray[Any] | None, shape: tuple[int, ...], dtype: Any, columns: Columns
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the array to give back, and the one to fill, which may be the same."""
    if out is None:
        new = np.empty(shape, dtype)
        return new, new
    if out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        kind = "" if out.flags.writeable else ", read-only"
        raise ValueError(
            f"out must be a writeable array of shape {shape} and dtype {np.dtype(dtype)}, "
            f"got shape {out.shape} and dtype {out.dtype}{kind}"
        )
    apart = not any(np.may_share_memory(out, column) for column in columns)
    return out, out if apart and out.flags.c_contiguous else np.empty(shape, dtype)
