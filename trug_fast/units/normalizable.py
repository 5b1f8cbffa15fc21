"""Which models with Gaussian visible units and infinite ends have a density (mathematics 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trug_fast._common import checks
from trug_fast._common.checks import FloatArray

from .layer import Layer

ROUNDS = 30  # of the search for a direction in which energy falls
NORM = 0.98  # of A^-1/2 W D^-1/2 at most in training, where 1 may be too much


def scaled(
    weights: FloatArray, precision: FloatArray, visible_precision: FloatArray
) -> NDArray[np.float64]:
    """Return A^-1/2 W D^-1/2 of the visible units that have a precision."""
    one, real = np.float64(1), visible_precision > 0
    return np.asarray(
        weights[real] / np.sqrt(one * visible_precision[real])[:, None] / np.sqrt(one * precision)
    )


def without_end(
    weights: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    visible_precision: FloatArray,
    visible_ends: NDArray[np.float64] | None,
) -> tuple[FloatArray, FloatArray]:
    """Return weights that bound from above what units without an end do to each other.

    Also the visible precisions, 0 of units with two ends.  Where both units have one end only, a
    weight counts if it drives both away from it.
    """
    if visible_ends is None:
        return weights, visible_precision
    side = _way(*visible_ends)[:, None] * _way(lower, upper)
    pushing = np.where(side == 0, weights, side * np.maximum(side * weights, 0.0))
    return pushing, np.where(np.isinf(visible_ends).any(axis=0), visible_precision, 0.0)


def require_normalizable(weights: FloatArray, visible: Layer, hidden: Layer) -> None:
    """Refuse units that are none, and weights with which layers without an end have no density.

    Their energy must grow in all directions in which they can go.  It does if any of four forms is
    positive definite (mathematics 4.1); it does not if a direction is found in which it falls.
    What lies between is refused too, in other words.

    weights : by columns
    """
    lower, upper = hidden.ends
    precision, visible_precision = hidden.precision, visible.precision
    checks.intervals(precision, lower, upper)
    loose = np.isinf(lower) | np.isinf(upper)
    if not loose.any():
        return
    growing = visible.endless & ~visible.real
    if growing.any():
        raise ValueError(
            f"no density is known of {visible.name} visible units, which have no end (column "
            f"{int(np.argmax(growing))}), beside hidden units without one: use finite ends"
        )
    if not visible.some("real"):
        return
    visible_ends = visible.cut_ends
    weights, lower, upper, precision = (
        part[..., loose] for part in (weights, lower, upper, precision)
    )
    way = _way(lower, upper)
    pushing, open_precision = without_end(weights, lower, upper, visible_precision, visible_ends)
    least = scaled(pushing, precision, open_precision)
    whole = scaled(weights, precision, open_precision)
    if any(_grows(matrix, way) for matrix in (least, whole)):
        return
    seen = np.zeros(len(whole)) if visible_ends is None else _way(*visible_ends)[open_precision > 0]
    alone, together = _pushes(whole, seen, way)
    worst = int(np.argmax(alone))
    where = "the density of visible units without an end and hidden unit"
    if alone[worst] >= 1:
        unit, push = int(np.flatnonzero(loose)[worst]), alone[worst] ** 2 * precision[worst]
        raise ValueError(
            f"weights are too large to normalize {where} {unit}, which has an infinite end: the "
            f"sum of W^2 / visible_precision over weights that drive both on is {push:.4g}, it "
            f"must be below the unit's precision {precision[worst]:.4g}; scale them down, or use "
            "finite ends"
        )
    norm = np.linalg.norm(least, 2)
    if together >= 1:
        raise ValueError(
            f"weights are too large to normalize {where}s with an infinite end: together they "
            f"drive each other on {together:.4g} times as strongly as their precisions hold them, "
            f"it must be below 1; the norm of A^-1/2 W D^-1/2 is {norm:.4g}, below 1 is safe; "
            "scale them down, or use finite ends"
        )
    raise ValueError(
        f"weights may be too large to normalize {where}s with an infinite end: no direction was "
        f"found in which it grows (the most they drive each other on is {together:.4g}, 1 would be "
        f"too much), nor is it shown that there is none: the norm of A^-1/2 W D^-1/2 is "
        f"{norm:.4g}, below 1 is safe; scale them down, or use finite ends"
    )


def _way(lower: FloatArray, upper: FloatArray) -> NDArray[np.int64]:
    """Return where units can go without end: 1 up, -1 down, 0 both ways or neither."""
    return np.isinf(upper).astype(np.int64) - np.isinf(lower)


def _grows(matrix: NDArray[np.float64], way: NDArray[np.int64]) -> bool:
    """Tell whether I - M'M is positive where hidden units can go, by what is sure to say so."""
    form = np.eye(matrix.shape[1]) - matrix.T @ matrix
    if np.linalg.eigvalsh(form)[0] > 0:
        return True
    form *= np.outer(way, way)  # all go up now
    fewer = np.where(np.eye(len(form), dtype=bool), form, np.minimum(form, 0.0))
    return bool(way.all() and np.linalg.eigvalsh(fewer)[0] > 0)


def _pushes(
    matrix: NDArray[np.float64], seen: NDArray[Any], way: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float]:
    """Return the greatest x'Mh with h along each unit, and one with all, |x| = |h| = 1.

    x and h go only where they can; each in turn is the best for the other, which finds a greatest
    one near where it begins.
    """

    def onwards(rows: NDArray[np.float64], ways: NDArray[Any]) -> NDArray[np.float64]:
        return np.where(ways * rows < 0, 0.0, rows)

    def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1)[:, None], 1e-300))

    one = np.eye(len(way))
    hidden = np.concatenate([onwards(one, way), onwards(-one, way)])
    alone = np.linalg.norm(onwards(hidden @ matrix.T, seen), axis=1).reshape(2, -1).max(axis=0)
    top = np.linalg.svd(matrix, full_matrices=False)[2]
    hidden = np.concatenate([hidden, onwards(top, way), onwards(-top, way)])
    for _ in range(ROUNDS):
        visible = unit(onwards(hidden @ matrix.T, seen))
        hidden = unit(onwards(visible @ matrix, way))
    return alone, float(np.linalg.norm(onwards(hidden @ matrix.T, seen), axis=1).max())


def keep_normalizable(
    weights: FloatArray,
    precision: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    visible_precision: FloatArray,
    visible_ends: NDArray[np.float64] | None = None,
) -> None:
    """Scale weights down, in place, where units with infinite ends might leave no density.

    Weights that are no longer finite are left to those who look for divergence.
    """
    own = without_end(weights, lower, upper, visible_precision, visible_ends)
    matrix = scaled(own[0], precision, own[1])
    gram = matrix.T @ matrix if matrix.shape[0] > matrix.shape[1] else matrix @ matrix.T
    if not np.isfinite(gram).all():
        return
    norm = float(np.sqrt(np.linalg.eigvalsh(gram)[-1]))
    if norm > NORM:
        weights *= NORM / norm
