"""Parameters averaged over the latest updates, which make a better model than the last ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast.kernels.optimizer import approach

from .checkpoints import State

STRIDE = 10  # updates between two that enter the average: costs 2 % of an update instead of 20


class Averages:
    """Averages of parameters over a share of the updates so far, the latest ones most.

    Their weights grow like a power of the number of the update (Shamir and Zhang, 2013), so this
    needs to know neither the length of the run nor when to begin.

    Parameters
    ----------
    parameters : mapping of arrays
        What is averaged, which an update changes in place.
    share : float
        0 keeps no averages.
    places : mapping of arrays
        Where averages are to lie.  They are in float64, since steps towards a parameter become
        smaller than float32's grid.
    """

    def __init__(
        self, parameters: Mapping[str, NDArray[Any]], share: float, places: State | None = None
    ) -> None:
        self._parameters, self._share = dict(parameters), share
        self._averages: State = {}
        for name, values in parameters.items() if share else ():
            self._averages[name] = (places or {}).get(name, np.empty(values.shape))
            self._averages[name][...] = values

    def share(self, updates: int) -> float:
        """Return the parameters' share in their averages after so many updates: 0 out of turn."""
        if not self._share or updates % STRIDE:
            return 0.0
        return 1.0 / max(1.0, self._share * updates / STRIDE)

    def follow(self, updates: int) -> None:
        """Take the parameters in, if it is their turn after so many updates."""
        share = self.share(updates)
        if share:
            for name, average in self._averages.items():
                approach(average.reshape(-1), self._parameters[name].reshape(-1), share)

    def parameters(self, updates: int) -> State:
        """Return the parameters averaged, as of their own types, once there are averages."""
        if updates < STRIDE:
            return {}
        return {k: v.astype(self._parameters[k].dtype) for k, v in self._averages.items()}

    def arrays(self) -> State:
        """Return all arrays that this depends on, by names of their own."""
        return {f"average.{name}": average for name, average in self._averages.items()}
