"""Random numbers."""

from __future__ import annotations

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

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def key_of(random_state: Source, rng: RngLike) -> int:
    """Return the key of a call's streams; NumPy's global state is advanced if both are None."""
    if rng is not None and random_state is not None:
        raise ValueError("give rng or random_state, not both")
    source = random_state if rng is None else rng
    source = _global_state() if source is None else source
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


def rvs(
    a: ArrayLike,
    b: ArrayLike,
    loc: ArrayLike = 0,
    scale: ArrayLike = 1,
    size: int | tuple[int, ...] | None = None,
    random_state: Source = None,
    *,
    rng: RngLike = None,
    out: NDArray[Any] | None = None,
) -> Any:
    """Draw random numbers.

    Parameters
    ----------
    a, b : array_like
        Ends of the interval, in standard deviations from loc; infinite ends are allowed.
    loc, scale : array_like, optional
        Mean and standard deviation of the normal before truncation.
    size : int or tuple of int, optional
        Shape of the result, to which the parameters must broadcast; by default their own shape.
    random_state, rng : None, int or numpy.random.Generator, optional
        Two names for the source of randomness, of which one may be given; ``random_state`` takes a
        numpy.random.RandomState too.  An int gives the same draws in every call, on every machine,
        for any number of threads.  A Generator or RandomState is advanced by one number a call.
        None stands for the attribute ``random_state`` of ``truncnorm``, or of the distribution
        whose method this is; unless set, that is NumPy's global state, as in SciPy.
    out : numpy.ndarray, optional
        Where to put the draws: an array of the result's shape and float type.

    Returns
    -------
    numpy.ndarray or NumPy float
        Draws in ``[a*scale + loc, b*scale + loc]``; float32 if the parameters are float32 arrays
        alone, or with Python numbers, else float64.  Element i in C order depends on the seed, on i
        and on its own parameters alone: a shorter call gives the first draws of a longer one.

    Raises
    ------
    ValueError
        If a < b or scale >= 0 fails somewhere, if an interval begins over 1e100 (float32: 1e12)
        standard deviations out, if shapes do not fit, or ``out`` has another shape or dtype.

    Notes
    -----
    Each draw inverts the distribution function at one number of a counter-based stream
    (Philox4x32-10), so nothing is ever rejected.  scale = 0 gives loc.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> x = truncnorm.rvs(8.0, [9.0, float("inf")], size=(1000, 2), rng=1)
    >>> x.shape, bool((x >= 8).all()), bool((x[:, 0] <= 9).all())
    ((1000, 2), True, True)
    """
    if out is not None and not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a numpy.ndarray, got {type(out).__name__}")
    wanted = _wanted_shape(size, out)
    columns, shape, dtype = columns_of(NAMES, (a, b, loc, scale), wanted)
    _check_parameters(columns, dtype)
    given, filled = _places(out, shape, dtype, columns)
    seed = key_of(random_state, rng)

    draws: Any = arrays.rvs_of_one if all(column.size == 1 for column in columns) else arrays.rvs

    def kernel(first: int, *vectors: NDArray[Any]) -> None:
        draws(seed, first, *vectors)

    spread(kernel, columns, filled.reshape(-1))
    if filled is not given:
        given[...] = filled
    return given if out is not None or given.ndim else given[()]


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
