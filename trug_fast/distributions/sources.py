"""Where draws take their randomness from if a call does not say: SciPy's ``random_state``.

Tested in tests/distributions/test_draws.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trug_fast._common.randomness import RngLike, checked_rng, seed_from

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

    def __reduce__(self) -> tuple[Any, ...]:
        # Said here, as a pickle would else be of the class that SciPy is told (scipys.py).
        return object.__new__, (type(self),), self.__getstate__()

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
