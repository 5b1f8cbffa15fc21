"""Which real-visible machines with infinite ends have a density (math.md 4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .checks import FloatArray


def coupling(
    weights: FloatArray, precision: FloatArray, visible_precision: FloatArray
) -> NDArray[np.float64]:
    """Return D^-1/2 W1' A^-1 W1 D^-1/2: what Gaussian visible units take from the hidden ones."""
    scaled = weights / np.sqrt(np.float64(1) * visible_precision)[:, None]
    scaled = scaled / np.sqrt(np.float64(1) * precision)
    matrix: NDArray[np.float64] = scaled.T @ scaled
    return matrix


def require_normalisable(
    weights: FloatArray,
    precision: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    visible_precision: FloatArray,
) -> None:
    """Refuse weights with which real visibles and infinite ends have no density (math.md 4.1).

    The quadratic form P = D - W1' A^-1 W1 of the units with an infinite end must be positive where
    they can go.  Positive definite, it is; so it is if it stays positive definite without its
    positive entries off the diagonal, when each of those units has one infinite end of one side.
    """
    loose = np.isinf(lower) | np.isinf(upper)
    if not loose.any() or visible_precision is None:
        return
    taken = coupling(weights[:, loose], precision[loose], visible_precision)
    form = np.eye(len(taken)) - taken
    one_sided = np.isfinite(lower[loose]).all() or np.isfinite(upper[loose]).all()
    without = np.where(np.eye(len(form), dtype=bool), form, np.minimum(form, 0.0))
    if np.linalg.eigvalsh(form)[0] > 0 or (one_sided and np.linalg.eigvalsh(without)[0] > 0):
        return
    norm = np.sqrt(np.linalg.eigvalsh(taken)[-1])
    raise ValueError(
        "weights are too large to normalise the density of real visible units and hidden units "
        f"with an infinite end: the norm of A^-1/2 W1 D^-1/2 is {norm:.4g}, below 1 is safe; "
        "scale them down, or use finite ends"
    )
