"""From what a user passes to a normal vector by its precision, dense or sparse, checked.

Tested in tests/distributions/multivariate/test_precision.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from .checking import (
    SINGULAR,
    SYMMETRIC_32,
    SYMMETRIC_64,
    covariance,
    cut_normal,
    float_type,
    mean_and_ends,
    require_variances,
)

LARGEST = 1e90  # sums of numbers up to it, times weights, are within what kernels take


class CutPrecision(NamedTuple):
    """A normal vector of a mean and a precision, held to lower <= x <= upper; float64."""

    mean: NDArray[Any]  # (d,)
    precision: Any  # (d, d), an array or a scipy.sparse.csr_array with sorted rows
    diagonal: NDArray[Any]  # (d,), of the precision
    lower: NDArray[Any]  # (d,)
    upper: NDArray[Any]
    dtype: Any  # of what is returned: float32 if every array that was given is


def cut_precision(
    mean: ArrayLike | None,
    cov: ArrayLike | None,
    precision: Any,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
) -> CutPrecision:
    """Return what was given, of which ``cov`` and ``precision`` are two ways, checked.

    Raises
    ------
    TypeError
        If one does not hold real numbers.
    ValueError
        If not one of the two is given, or as of ``checking.cut_normal``.
    """
    if (cov is None) == (precision is None):
        got = "neither" if cov is None else "both"
        raise ValueError(f"cov or precision must be given, one of the two, got {got}")
    if cov is not None:
        normal = cut_normal(mean, cov, lower, upper)
        inverse: Any = inverted(normal.cov)
        centre, low, high, dtype = normal.mean, normal.lower, normal.upper, normal.dtype
    else:
        inverse, own = precision_matrix(precision)
        given: dict[str, Any] = {"mean": mean, "lower": lower, "upper": upper}
        given = {name: value for name, value in given.items() if value is not None}
        arrays = {name: checks.numbers(name, value) for name, value in given.items()}
        centre, low, high = mean_and_ends(arrays, inverse.shape[0], inverse.shape[0])
        itself = {"precision": np.empty(0, own)}
        dtype = float_type(given | itself, arrays | itself)
    diagonal = np.array(inverse.diagonal(), np.float64)
    return CutPrecision(centre, inverse, diagonal, low, high, dtype)


def scaled(cut: CutPrecision) -> tuple[CutPrecision, NDArray[Any]]:
    """Return the same in units in which conditional variances are near 1, and how many are in one.

    Units are powers of two, so nothing is rounded.  Ends that are out of sight become infinite.

    Raises
    ------
    ValueError
        If a number is larger than kernels take.
    """
    with np.errstate(all="ignore"):
        units = np.exp2(np.round(0.5 * np.log2(cut.diagonal)))
        mean, lower, upper = units * cut.mean, units * cut.lower, units * cut.upper
    good = (np.abs(mean) <= LARGEST) & (lower <= LARGEST) & (upper >= -LARGEST)
    good &= np.isfinite(units) & (units > 0)
    if not good.all():
        j = int(np.argmin(good))
        raise ValueError(
            f"mean, lower and upper must come within {LARGEST:g} conditional deviations of 0, got "
            f"mean={cut.mean[j]}, lower={cut.lower[j]}, upper={cut.upper[j]}, "
            f"precision={cut.diagonal[j]} at index {j}"
        )
    lower, upper = (
        np.where(lower < -LARGEST, -np.inf, lower),
        np.where(upper > LARGEST, np.inf, upper),
    )
    if isinstance(cut.precision, np.ndarray):
        precision: Any = cut.precision / units[:, None] / units
    else:
        precision = cut.precision.multiply(1 / units[:, None]).multiply(1 / units).tocsr()
        precision.sort_indices()
    diagonal = np.array(precision.diagonal(), np.float64)
    return CutPrecision(mean, precision, diagonal, lower, upper, cut.dtype), units


def precision_matrix(precision: Any) -> tuple[Any, Any]:
    """Return a precision in float64, symmetric and positive definite, and its own float type."""
    sparse = issparse(precision)
    given = _compressed(precision) if sparse else checks.numbers("precision", precision)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise ValueError(f"precision must have shape (d, d), got {given.shape}")
    if given.shape[0] == 0:
        raise ValueError("precision must be of at least one dimension, got 0")
    dtype = given.dtype if given.dtype == np.float32 else np.dtype(np.float64)
    return _definite(given) if sparse else covariance(given, given.shape[0], "precision"), dtype


def issparse(value: object) -> bool:
    """Tell whether this is one of SciPy's sparse matrices, without importing them."""
    return type(value).__module__.startswith("scipy.sparse")


def inverted(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return the inverse of a symmetric, positive definite matrix."""
    from scipy.linalg import cho_factor, cho_solve

    inverse = cho_solve(cho_factor(matrix), np.eye(len(matrix)))
    return np.asarray(0.5 * (inverse + inverse.T))


def _compressed(precision: Any) -> Any:
    """Return a sparse matrix as a csr_array of its own, whose numbers are checked."""
    from scipy.sparse import csr_array

    matrix = csr_array(precision, copy=True)
    matrix.sum_duplicates()
    data = checks.numbers("the entries of precision", matrix.data)
    matrix.data = data if data.dtype.kind == "f" else data.astype(np.float64)
    if not np.isfinite(matrix.data).all():
        wrong = matrix.data[~np.isfinite(matrix.data)][0]
        raise ValueError(f"precision must be finite, got an entry {wrong}")
    return matrix


def _definite(matrix: Any) -> Any:
    """Return a sparse precision in float64, symmetric and positive definite."""
    tolerance = SYMMETRIC_32 if matrix.dtype == np.float32 else SYMMETRIC_64
    matrix = matrix.astype(np.float64)
    diagonal = matrix.diagonal()
    require_variances("the diagonal of precision", diagonal)
    scale = 1.0 / np.sqrt(diagonal)
    scaled = matrix.multiply(scale[:, None]).multiply(scale).tocsr()
    apart = abs(scaled - scaled.T)
    if apart.nnz and apart.max() > tolerance:
        entries = apart.tocoo()
        i, j = (int(index[np.argmax(entries.data)]) for index in (entries.row, entries.col))
        raise ValueError(
            f"precision must be symmetric, got {matrix[i, j]} at ({i}, {j}) and {matrix[j, i]} "
            f"at ({j}, {i})"
        )
    others = abs(matrix).sum(axis=1) - diagonal
    if not (others < (1.0 - SINGULAR) * diagonal).all() and not _least_pivot(scaled) > SINGULAR:
        raise ValueError(
            "precision must be positive definite, and not to rounding singular: it has no "
            "Cholesky factor"
        )
    symmetric = (0.5 * (matrix + matrix.T)).tocsr()
    symmetric.sort_indices()
    return symmetric


def _least_pivot(matrix: Any) -> float:
    """Return the least pivot of elimination, in an order that keeps the factor sparse."""
    from scipy.sparse.linalg import splu

    try:
        factor = splu(
            matrix.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return 0.0
    moved = bool((factor.perm_r != factor.perm_c).any())  # a pivot of 0 was passed over
    return 0.0 if moved else float(factor.U.diagonal().min())
