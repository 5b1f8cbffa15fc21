"""Missing values in the training data of an RBM: drawn given what is there, for every update.

The gradient of the log-likelihood of what is there is that of whole rows, averaged over what the
model says is missing: E[.|there] - E[.].

Tested in tests/training/rbm/test_missing.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.mapping import blocks
from trug_fast._common.randomness import seed_from
from trug_fast.evaluation.likelihood import pseudo_at
from trug_fast.kernels.rbm.gibbs import Chains, Layers
from trug_fast.models import gibbs_sampling
from trug_fast.models.rbm import BernoulliRBM, TruGRBM
from trug_fast.training.chunks import Check, RowSource
from trug_fast.training.gathering import column_means
from trug_fast.units.layer import Layer

FIRST_STEP = 1 << 41  # of the streams, far from those of the chains and of their starts

Data = NDArray[Any] | RowSource
Floats = NDArray[np.float64]


def check_of(units: Layer, *, soft: bool, missing: bool) -> Check:
    """Return what checks rows of such units, each of which needs a value, and gives columns."""

    def check(name: str, value: Any, columns: int | None = None) -> NDArray[Any]:
        rows = units.checked(name, value, columns, soft=soft, missing=missing)
        for start, part in blocks(rows) if missing else ():
            empty = np.isnan(part).all(axis=1)
            if empty.any():
                row = start + int(np.argmax(empty))
                raise ValueError(f"{name} must have a value in each row, got none in row {row}")
        return units.columns(rows)

    return check


def require_missing(X: Data, validation: Data | None) -> None:
    """Refuse to draw what is missing if nothing is, or a column of X has no value."""
    if not any(_some_missing(data) for data in (X, validation) if data is not None):
        raise ValueError("visible: missing has no effect, neither X nor validation has NaN")
    if not isinstance(X, RowSource):  # which has looked
        column_means("X", X)


def _some_missing(data: Data) -> bool:
    if isinstance(data, RowSource):
        return data.missing
    return any(np.isnan(part).any() for _, part in blocks(data))


@dataclass(frozen=True)
class Filling:
    """How missing values are drawn.

    Parameters
    ----------
    sweeps : int
    means : ndarray, shape (columns,)
        Where their chains begin.
    """

    sweeps: int
    means: Floats

    def fill(self, layers: Layers, rows: NDArray[Any], seed: int, update: int) -> None:
        """Draw what is missing in a batch, in place."""
        free = np.isnan(rows)
        if not free.any():
            return
        held = rows.copy()
        np.copyto(rows, self.means.astype(rows.dtype), where=free)
        chains = Chains.new(rows, layers.weights.shape[1], statistics=False)
        first = FIRST_STEP + self.sweeps * update
        gibbs_sampling.run_held(layers, chains, held, self.sweeps, seed, first)

    def by_means(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows with means in place of what is missing."""
        free = np.isnan(rows)
        return np.where(free, self.means, rows) if free.any() else rows

    def drawn(self, model: TruGRBM | BernoulliRBM, rows: NDArray[Any], seed: int) -> NDArray[Any]:
        """Return rows of which a model has drawn what is missing."""
        if not np.isnan(rows).any():
            return rows
        key = seed_from(seed, "missing values of scores")
        held = rows.astype(np.float64)
        found, _ = gibbs_sampling.run(model, self.by_means(held), held, self.sweeps, key)
        return found

    def pseudo(self, model: TruGRBM | BernoulliRBM, rows: NDArray[Any], seed: int) -> Floats:
        """Return the pseudo-log-likelihood of rows: a random pixel that is there stands for all.

        What is missing is drawn as if that pixel were missing too.  So on average this is a lower
        bound on what the model says of the pixel given all others that are there.
        """
        key = seed_from(seed, "pixels of scores")
        there = ~np.isnan(rows)
        pixel = np.where(there, np.random.default_rng(key).random(rows.shape), -1).argmax(axis=1)
        each, held = np.arange(len(rows)), rows.astype(np.float64)
        held[each, pixel] = np.nan
        found = self.drawn(model, held, seed).astype(np.float64)
        found[each, pixel] = rows[each, pixel]
        return pseudo_at(model, found, pixel)
