"""Integrals of exp(r'h - h'Ph / 2) over boxes of up to three dimensions, to rounding.

One coordinate is integrated in closed form (the log-normaliser of a TruG unit, for any real
P_jj), the others by Gauss-Legendre panels.  Where mass piles up at an end it does so on the scale
of 1 / G, with G a bound on the slope of the exponent, so panels shrink towards both ends down to
that scale.  Inside, no peak can be narrower than 1 / sqrt(P_kk): between two nodes a gap g apart
the logarithm of a marginal density rises by at most P_kk g^2 / 8 above them.  Panels that could
hide mass by that measure are split until none is left, and then all that hold mass until nothing
changes.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.numerics import log_sum_exp, read_only
from trug_fast._common.threads import computing, work
from trug_fast.kernels.rbm import gibbs
from trug_fast.kernels.rbm.visible import one_kind
from trug_fast.models.hidden_units import TruGHidden, log_norms

NODES = 16  # of a panel
PANELS = 8  # of an axis at first, beside those that shrink towards its ends
RISE = 1.0  # largest rise of a log-density between two nodes
NOTHING = 1e-17  # share of the mass that no panel need be split for
AGREE = 1e-11  # of two successive grids, relative to the largest exponent
BEYOND = 40.0  # standard deviations after which an infinite interval may end: exp(-800)
LIMIT = 5_000_000  # points of a grid

Array = NDArray[Any]


class Box(NamedTuple):
    """The exponent linear.h - h'form h / 2 and the box that h lies in."""

    form: Array  # (units, units)
    linear: Array  # (units,)
    lower: Array  # (units,)
    upper: Array  # (units,)

    def at(self, unit: int, value: float) -> tuple[Box, float]:
        """Return the box of the other units where one is held, and what that adds."""
        rest = np.delete(np.arange(len(self.linear)), unit)
        linear = self.linear[rest] - self.form[rest, unit] * value
        own = self.linear[unit] * value - 0.5 * self.form[unit, unit] * value**2
        form = self.form[np.ix_(rest, rest)]
        return Box(form, linear, self.lower[rest], self.upper[rest]), float(own)


class BoxMoments(NamedTuple):
    """The log of an integral, and the first two moments of its density."""

    log_total: float
    mean: Array  # (units,)
    second: Array  # (units, units), E[h h']


def moments(box: Box) -> BoxMoments:
    """Return the log of the integral over a box, and its density's moments.

    Raises
    ------
    ValueError
        If the sums of ever finer grids do not agree.
    """
    if len(box.linear) == 0:
        return BoxMoments(0.0, np.zeros(0), np.zeros((0, 0)))
    whole, inner = _finite(box), _steepest(box)
    axes = [_edges(whole, k) for k in range(len(box.linear)) if k != inner]
    before = None
    while True:
        grid = _Grid(box, inner, axes)
        finer = grid.unresolved()
        if finer is None:
            if before is not None and abs(grid.log_total - before) <= AGREE * grid.scale:
                return grid.moments()
            before, finer = grid.log_total, grid.halved()
        axes = finer
        points = np.prod([(len(edges) - 1) * NODES for edges in axes], dtype=float)
        if points > LIMIT:
            raise ValueError(
                "the exact integral over the hidden units did not converge on "
                f"{LIMIT:,} points: the density is too rugged; use log_partition"
            )


def end_log_density(box: Box, unit: int, value: float, log_total: float) -> float:
    """Return the log of a unit's marginal density at an end of its interval."""
    rest, own = box.at(unit, value)
    return own + moments(rest).log_total - log_total


class _Grid:
    """Panels along all axes but the inner one, and the density at their nodes."""

    def __init__(self, box: Box, inner: int, axes: list[Array]) -> None:
        self._box, self._inner, self._axes = box, inner, axes
        self._rest = np.delete(np.arange(len(box.linear)), inner)
        rules = [_nodes(edges) for edges in axes]
        self._shape = tuple(len(points) for points, _ in rules)
        self._points = np.stack(
            [p.ravel() for p in np.meshgrid(*(p for p, _ in rules), indexing="ij")], 1
        ) if rules else np.zeros((1, 0))  # fmt: skip
        self._log_weights = reduce(np.add.outer, (w for _, w in rules), np.zeros(()))
        rest, h = box.form[np.ix_(self._rest, self._rest)], self._points
        exponent = h @ box.linear[self._rest] - 0.5 * ((h @ rest) * h).sum(axis=1)
        log_norm, self._mean, self._variance = _unit(box, inner, self._rest, h)
        self._log_density = (exponent + log_norm).reshape(self._shape)
        self.scale = 1.0 + float(np.abs(exponent).max() + np.abs(log_norm).max())
        self.log_total = log_sum_exp((self._log_density + self._log_weights).ravel())

    def unresolved(self) -> list[Array] | None:
        """Return axes with those panels split that may hide mass between nodes; None if none."""
        finer, split = [], False
        for axis, edges in enumerate(self._axes):
            unit = self._rest[axis]
            points, log_weights = _nodes(edges)
            gaps = np.diff(points)
            rise = np.maximum(self._box.form[unit, unit], 0.0) * gaps**2 / 8
            marginal = self._marginal(axis) - log_weights
            highest = np.maximum(marginal[1:], marginal[:-1]) + rise + np.log(gaps)
            hides = (rise > RISE) & (highest > self.log_total + np.log(NOTHING))
            middle = 0.5 * (points[1:] + points[:-1])
            marked = np.unique(np.searchsorted(edges, middle[hides]) - 1)
            finer.append(_split(edges, marked))
            split |= marked.size > 0
        return finer if split else None

    def halved(self) -> list[Array]:
        """Return axes with all panels split that hold mass."""
        finer = []
        for axis, edges in enumerate(self._axes):
            share = np.exp(self._marginal(axis) - self.log_total)
            held = share.reshape(len(edges) - 1, NODES).sum(axis=1)
            finer.append(_split(edges, np.flatnonzero(held > NOTHING)))
        return finer

    def moments(self) -> BoxMoments:
        """Return the integral's logarithm and the moments."""
        units, rest, inner = len(self._box.linear), self._rest, self._inner
        share = np.exp((self._log_density + self._log_weights).ravel() - self.log_total)
        share /= share.sum()  # 1 but for rounding, which grows with the exponents
        mean, second = np.zeros(units), np.zeros((units, units))
        mean[rest], mean[inner] = share @ self._points, share @ self._mean
        weighted = self._points * share[:, None]
        second[np.ix_(rest, rest)] = self._points.T @ weighted
        second[rest, inner] = second[inner, rest] = self._mean @ weighted
        second[inner, inner] = share @ (self._variance + self._mean**2)
        return BoxMoments(self.log_total, mean, second)

    def _marginal(self, axis: int) -> Array:
        """Return the log of the sums over all other axes, one for each node."""
        terms = np.moveaxis(self._log_density + self._log_weights, axis, 0)
        terms = terms.reshape(self._shape[axis], -1)
        highest = np.maximum(terms.max(axis=1), -1e300)
        return np.asarray(highest + np.log(np.exp(terms - highest[:, None]).sum(axis=1)))


def _unit(box: Box, inner: int, rest: Array, points: Array) -> tuple[Array, Array, Array]:
    """Return log-normaliser, mean and variance of the inner unit given the others."""
    # As a hidden layer of one unit whose visible units are the others.
    rows = np.ascontiguousarray(points) if len(rest) else np.zeros((len(points), 1))
    weights = -box.form[rest, inner][:, None] if len(rest) else np.zeros((1, 1))
    own = (np.array([v]) for v in (box.form[inner, inner], box.lower[inner], box.upper[inner]))
    layers = gibbs.Layers(
        read_only(np.ascontiguousarray(weights)),
        np.zeros((1, weights.shape[0])),
        np.array([[box.linear[inner]]]),
        *TruGHidden(*own).for_kernels(),
        one_kind(weights.shape[0], np.empty(0)),
    )
    with computing(work(len(rows), weights.shape[0], 1)):
        found = gibbs.hidden_moments(layers, rows)
        log_norm = log_norms(layers, rows)
    return log_norm, found.mean[:, 0], found.variance[:, 0]


def _nodes(edges: Array) -> tuple[Array, Array]:
    """Return the nodes of all panels and the logs of their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    points = 0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes
    return points.ravel(), np.log(half * weights).ravel()


def _edges(box: Box, unit: int) -> Array:
    """Return panels of one axis, shrinking towards both ends down to the scale of the slopes."""
    low, high = box.lower[unit], box.upper[unit]
    width = high - low
    farthest = np.maximum(np.abs(box.lower), np.abs(box.upper))
    slope = abs(box.linear[unit]) + np.abs(box.form[unit]) @ farthest
    halvings = int(np.ceil(np.log2(max(slope * width, 2.0) / PANELS).clip(0, 60)))
    near = width / PANELS * 0.5 ** np.arange(halvings, 0, -1)
    inside = np.linspace(0.0, width, PANELS + 1)[1:-1]
    return np.unique(np.concatenate([[low], low + near, low + inside, high - near, [high]]))


def _split(edges: Array, panels: Array) -> Array:
    """Return the edges with some panels cut in two."""
    return np.sort(np.concatenate([edges, 0.5 * (edges[panels] + edges[panels + 1])]))


def _steepest(box: Box) -> int:
    """Return the coordinate to integrate in closed form: an infinite one, or the most rugged."""
    width = box.upper - box.lower
    return int(np.argmax(np.where(np.isinf(width), np.inf, np.abs(np.diag(box.form)) * width**2)))


def _finite(box: Box) -> Box:
    """Return a box with finite ends that holds all but exp(-800) of the mass."""
    loose = np.isinf(box.lower) | np.isinf(box.upper)
    if not loose.any() or len(box.linear) == 1:
        return box
    smallest = float(np.linalg.eigvalsh(box.form)[0])
    if smallest <= 0:
        raise ValueError("exact results with infinite ends need a positive definite form")
    # |h - P^-1 r| < BEYOND / sqrt(smallest), where the unconstrained mode may lie far outside.
    mode = np.linalg.solve(box.form, box.linear)
    nearest = np.clip(mode, box.lower, box.upper)
    reach = float(np.linalg.norm(nearest - mode)) + BEYOND / np.sqrt(smallest)
    return box._replace(
        lower=np.where(np.isfinite(box.lower), box.lower, mode - reach),
        upper=np.where(np.isfinite(box.upper), box.upper, mode + reach),
    )
