"""Grids of Gauss-Legendre panels that are split until no mass can hide between their nodes.

Where mass piles up at an end it does so on the scale of 1 / G, with G a bound on the slope of the
exponent, so panels shrink towards both ends down to that scale.  Inside, no peak can be narrower
than 1 / sqrt(P), where -P bounds the curvature of the exponent along an axis from below: between
two nodes a gap g apart the logarithm of a marginal density rises by at most P g^2 / 8 above them.
Panels that could hide mass by that measure are split until none is left, and then all that hold
mass until nothing changes.

Tested in tests/evaluation/exact/test_gaussian.py and tests/support/test_truncated_exact.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

NODES = 16  # of a panel
PANELS = 8  # of an axis at first, beside those that shrink towards its ends
RISE = 1.0  # largest rise of a log-density between two nodes
NOTHING = 1e-17  # share of the mass that no panel need be split for
AGREE = 1e-11  # of two successive grids, relative to the largest exponent
LIMIT = 5_000_000  # points of a grid

Array = NDArray[Any]
Own = TypeVar("Own", bound="Panels")


class Panels:
    """Panels along some axes, and the nodes of all of them together."""

    log_density: Array  # the exponent at the nodes, which a class of such grids sets
    log_total: float  # log of the integral
    scale: float  # the largest exponent, about
    curvature: Array  # (axes,), P of each axis

    def __init__(self, axes: list[Array]) -> None:
        self.axes = axes
        rules = [nodes(edges) for edges in axes]
        self.shape = tuple(len(points) for points, _ in rules)
        self.points = np.stack(
            [p.ravel() for p in np.meshgrid(*(p for p, _ in rules), indexing="ij")], 1
        ) if rules else np.zeros((1, 0))  # fmt: skip
        self.log_weights = reduce(np.add.outer, (w for _, w in rules), np.zeros(()))

    def unresolved(self) -> list[Array] | None:
        """Return axes with those panels split that may hide mass between nodes; None if none."""
        finer, any_split = [], False
        for axis, edges in enumerate(self.axes):
            points, log_weights = nodes(edges)
            gaps = np.diff(points)
            rise = np.maximum(self.curvature[axis], 0.0) * gaps**2 / 8
            marginal = self._marginal(axis) - log_weights
            highest = np.maximum(marginal[1:], marginal[:-1]) + rise + np.log(gaps)
            hides = (rise > RISE) & (highest > self.log_total + np.log(NOTHING))
            middle = 0.5 * (points[1:] + points[:-1])
            marked = np.unique(np.searchsorted(edges, middle[hides]) - 1)
            finer.append(split(edges, marked))
            any_split |= marked.size > 0
        return finer if any_split else None

    def halved(self) -> list[Array]:
        """Return axes with all panels split that hold mass."""
        finer = []
        for axis, edges in enumerate(self.axes):
            share = np.exp(self._marginal(axis) - self.log_total)
            held = share.reshape(len(edges) - 1, NODES).sum(axis=1)
            finer.append(split(edges, np.flatnonzero(held > NOTHING)))
        return finer

    def _marginal(self, axis: int) -> Array:
        """Return the log of the sums over all other axes, one for each node."""
        terms = np.moveaxis(self.log_density + self.log_weights, axis, 0)
        terms = terms.reshape(self.shape[axis], -1)
        highest = np.maximum(terms.max(axis=1), -1e300)
        return np.asarray(highest + np.log(np.exp(terms - highest[:, None]).sum(axis=1)))


def converged(make: Callable[[list[Array]], Own], axes: list[Array], over: str) -> Own:
    """Return a grid whose sum no finer one changes; ``over`` says over what units it is."""
    before = None
    while True:
        grid = make(axes)
        finer = grid.unresolved()
        if finer is None:
            if before is not None and abs(grid.log_total - before) <= AGREE * grid.scale:
                return grid
            before, finer = grid.log_total, grid.halved()
        axes = finer
        points = np.prod([(len(edges) - 1) * NODES for edges in axes], dtype=float)
        if points > LIMIT:
            raise ValueError(
                f"the exact integral over the {over} units did not converge on "
                f"{LIMIT:,} points: the density is too rugged; use log_partition"
            )


def nodes(edges: Array) -> tuple[Array, Array]:
    """Return the nodes of all panels and the logs of their weights."""
    at, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    points = 0.5 * (edges[1:] + edges[:-1])[:, None] + half * at
    return points.ravel(), np.log(half * weights).ravel()


def first_edges(low: float, high: float, slope: float) -> Array:
    """Return panels of one axis, shrinking towards both ends down to the scale of the slopes."""
    width = high - low
    halvings = int(np.ceil(np.log2(max(slope * width, 2.0) / PANELS).clip(0, 60)))
    near = width / PANELS * 0.5 ** np.arange(halvings, 0, -1)
    inside = np.linspace(0.0, width, PANELS + 1)[1:-1]
    return np.unique(np.concatenate([[low], low + near, low + inside, high - near, [high]]))


def split(edges: Array, panels: Array) -> Array:
    """Return the edges with some panels cut in two."""
    return np.sort(np.concatenate([edges, 0.5 * (edges[panels] + edges[panels + 1])]))
