"""Which models with Gaussian visible units and infinite ends have a density (mathematics 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast._common.checks import FloatArray

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
    below, above = np.isinf(visible_ends)
    way = above.astype(int) - below  # 1 of [l, inf), -1 of (-inf, u], 0 of two or no ends
    side = way[:, None] * (np.isinf(upper).astype(int) - np.isinf(lower))
    pushing = np.where(side == 0, weights, side * np.maximum(side * weights, 0.0))
    return pushing, np.where(below | above, visible_precision, 0.0)


def require_normalizable(
    weights: FloatArray,
    precision: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    visible_precision: FloatArray | None,
    visible_ends: NDArray[np.float64] | None = None,
) -> None:
    """Refuse weights with which Gaussian visibles and infinite ends have no density.

    The quadratic form P = D - W' A^-1 W of the units with an infinite end must be positive where
    they can go.  Positive definite, it is; so it is if it stays positive definite without its
    positive entries off the diagonal, when each of those units has one infinite end of one side.
    """
    loose = np.isinf(lower) | np.isinf(upper)
    if not loose.any() or visible_precision is None:
        return
    own = weights, lower, upper, visible_precision, visible_ends
    weights, visible_precision = without_end(*own)
    matrix = scaled(weights[:, loose], precision[loose], visible_precision)
    taken = matrix.T @ matrix
    worst = int(np.argmax(taken.diagonal()))
    if taken[worst, worst] >= 1:
        unit = int(np.flatnonzero(loose)[worst])
        raise ValueError(
            "weights are too large to normalize the density of Gaussian visible units and hidden "
            f"unit {unit}, which has an infinite end: the sum of W^2 / visible_precision over its "
            f"weights is {taken[worst, worst] * precision[unit]:.4g}, it must be below the unit's "
            f"precision {precision[unit]:.4g}; scale them down, or use finite ends"
        )
    form = np.eye(len(taken)) - taken
    one_sided = np.isfinite(lower[loose]).all() or np.isfinite(upper[loose]).all()
    without = np.where(np.eye(len(form), dtype=bool), form, np.minimum(form, 0.0))
    if np.linalg.eigvalsh(form)[0] > 0 or (one_sided and np.linalg.eigvalsh(without)[0] > 0):
        return
    norm = np.sqrt(np.linalg.eigvalsh(taken)[-1])
    raise ValueError(
        "weights are too large to normalize the density of Gaussian visible units and hidden units "
        f"with an infinite end: the norm of A^-1/2 W D^-1/2 is {norm:.4g}, below 1 is safe; "
        "scale them down, or use finite ends"
    )


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
