"""Whether data have phases that a map takes into each other, as turning all spins over does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.threads import one_blas_thread
from trug_fast.kernels.compiling import want
from trug_fast.kernels.rbm.turning import TURNED, Turns
from trug_fast.units.kinds import Runs, kind_named

__all__ = ["Turns", "for_kernels", "mirrored", "turns_of"]

# How much farther from the nearest other row a turned row may be than a row itself, in squared
# distances by their medians.
FARTHER = 1.2


def turns_of(rows: NDArray[np.generic], runs: Runs) -> Turns | None:
    """Return the map that turns over what differs between the two sides of rows, or none.

    Sides are those of the direction along which rows vary most.  Spins, bits and numbers between
    two ends are reflected where their means lie on both sides of the middle, states of categorical
    units go round where the most frequent ones differ, other numbers are reflected between their
    means.  It must make of rows what looks like rows: be as near to another one.
    """
    X = np.asarray(rows, np.float64)
    means = np.nanmean(X, axis=0)
    X = np.where(np.isnan(X), means, X)
    with one_blas_thread():
        along = np.linalg.svd(X - means, full_matrices=False)[0][:, 0]
        above, below = X[along > 0].mean(axis=0), X[along <= 0].mean(axis=0)
        turns = _between(above, below, runs)
        if turns is None:
            return None
        turned = turns.shift + turns.sign * X[:, turns.source[0]]
        return turns if _alike(turned, X) else None


def mirrored(rows: NDArray[np.generic]) -> bool:
    """Tell whether rows look like rows if each column is reflected between its ends."""
    X = np.asarray(rows, np.float64)
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    low, high = X.min(axis=0), X.max(axis=0)
    with one_blas_thread():
        return bool((low < high).any()) and _alike(low + high - X, X)


def for_kernels(turns: Turns | None, dtype: Any) -> Turns:
    """Return the map, or one of nothing, as kernels take it."""
    if turns is None:
        none = np.empty(0)
        turns = Turns(np.empty((2, 0), np.int64), none, none, none, none)
    else:
        want(TURNED)
    sign, shift, along, middle = (each.astype(dtype) for each in turns[1:5])
    return Turns(turns.source, sign, shift, along, middle, bool((sign < 0).all()))


def _between(above: NDArray[np.float64], below: NDArray[np.float64], runs: Runs) -> Turns | None:
    """Return the map from one mean row towards the other, if they differ by one."""
    source = np.tile(np.arange(above.size), (2, 1))
    sign, shift, first = np.ones(above.size), np.zeros(above.size), 0
    for run in runs:
        own = slice(first, first + run.columns)
        first += run.columns
        high, low = above[own], below[own]
        if run.states > 1:
            high, low = (each.reshape(run.sites, -1).argmax(axis=1) for each in (high, low))
            columns = np.arange(own.start, own.stop).reshape(run.sites, -1)
            for way, step in enumerate((1, -1)):
                rolled = np.where((high != low)[:, None], np.roll(columns, step, axis=1), columns)
                source[way, own] = rolled.ravel()
            continue
        ends = kind_named(run.kind).ends(run)
        total = high + low if np.isinf(ends).all() else np.full(run.columns, sum(ends))
        over = np.isfinite(total) & ((high - total / 2) * (low - total / 2) <= 0)
        sign[own] = np.where(over, -1.0, 1.0)
        shift[own] = np.where(over, total, 0.0)
    changes = (sign < 0).any() or (source[0] != np.arange(above.size)).any()
    along, middle = above - below, above / 2 + below / 2
    return Turns(source, sign, shift, along, middle) if changes else None


def _alike(turned: NDArray[np.float64], rows: NDArray[np.float64]) -> bool:
    """Tell whether turned rows are about as near to others as rows are."""
    return bool(np.median(nearest(turned, rows)) <= FARTHER * np.median(nearest(rows, rows)))


def nearest(rows: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance from each row to the nearest of others but the same place's."""
    squares = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * rows @ others.T
    np.fill_diagonal(squares, np.inf)
    return np.asarray(squares.min(axis=1).clip(0))
