"""From what a user passes to a normal vector and what cuts it, checked: by covariance or precision.

Tested in tests/distributions/multivariate/test_checking.py and test_precision.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks

from ..broadcasting import is_python_number

Array = NDArray[Any]
SYMMETRIC_64, SYMMETRIC_32 = 1e-9, 1e-4  # difference of two halves, over the deviations
SINGULAR = 1e-13  # least variance of a coordinate given others, over its own
TINY, HUGE = 1e-305, 1e305  # variances: all digits of their products and of sums are kept
LARGEST = 1e150  # deviations from 0: squares are within what floats hold
FARTHEST = 1e90  # for conditionals: sums of numbers up to it, times weights, are within reach


class CutNormal(NamedTuple):
    """A normal vector x of a mean and a covariance, held to lower <= A x <= upper.

    Without A the ends are those of x itself.  Arrays are float64, contiguous and new; ``dtype`` is
    the float type of what is returned: float32 if every array that was given is.
    """

    mean: Array  # (d,)
    cov: Array  # (d, d), symmetric
    lower: Array  # (m,), m = d without A
    upper: Array
    A: Array | None  # (m, d)
    dtype: Any


def cut_normal(
    mean: ArrayLike | None,
    cov: ArrayLike,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
    A: ArrayLike | None = None,
) -> CutNormal:
    """Return what was given, checked; for shapes and meaning see the arguments of truncmvn."""
    if cov is None:
        raise TypeError("cov must hold real numbers, got None")
    if A is not None and lower is None and upper is None:
        raise ValueError("with A lower or upper must be given, got neither")
    arrays, dtype = _arrays(mean=mean, cov=cov, lower=lower, upper=upper, A=A)
    matrix = None if A is None else _constraints(arrays["A"])
    d = _dimension(arrays, matrix)
    centre, low, high = _mean_and_ends(arrays, d, d if matrix is None else matrix.shape[0])
    return CutNormal(centre, covariance(arrays["cov"], d), low, high, matrix, dtype)


def _arrays(**given: Any) -> tuple[dict[str, Array], Any]:
    """Return what is not None as arrays, and the float type: float32 if every array is."""
    arrays = {name: checks.numbers(name, v) for name, v in given.items() if v is not None}
    typed = [array.dtype for name, array in arrays.items() if not is_python_number(given[name])]
    single = bool(typed) and all(t == np.float32 for t in typed)
    return arrays, np.dtype(np.float32 if single else np.float64)


def _mean_and_ends(arrays: dict[str, Array], d: int, m: int) -> tuple[Array, Array, Array]:
    centre = checks.vector("mean", arrays.get("mean", 0.0), d, np.float64, infinite=False)
    low = checks.vector("lower", arrays.get("lower", -np.inf), m, np.float64, infinite=True)
    high = checks.vector("upper", arrays.get("upper", np.inf), m, np.float64, infinite=True)
    empty = ~(low < high)
    if empty.any():
        j = int(np.argmax(empty))
        raise ValueError(
            f"lower must be below upper, got lower={low[j]}, upper={high[j]} at index {j}"
        )
    return centre, low, high


def _constraints(array: Array) -> Array:
    matrix = checks.matrix("A", array)
    some = (matrix != 0).any(1)
    if not some.all():
        raise ValueError(f"A must have no row of zeros, got one at row {int(np.argmin(some))}")
    return np.array(matrix, np.float64, order="C")


def _dimension(arrays: dict[str, Array], matrix: Array | None) -> int:
    """Return the length of x, by the first array that tells it."""
    if arrays["cov"].ndim > 2:
        raise ValueError(
            f"cov must be a number, a vector or a matrix, got shape {arrays['cov'].shape}"
        )
    told = ("cov", "mean") if matrix is not None else ("cov", "mean", "lower", "upper")
    lengths = [(n, arrays[n].shape[0]) for n in told if n in arrays and arrays[n].ndim > 0]
    lengths += [] if matrix is None else [("A", matrix.shape[1])]
    name, d = lengths[0] if lengths else ("cov", 1)
    if d == 0:
        raise ValueError(f"{name} must be of at least one dimension, got 0")
    if matrix is not None and matrix.shape[1] != d:
        raise ValueError(f"A must have a column for each of {d} dimensions, got {matrix.shape[1]}")
    return int(d)


def covariance(array: Array, d: int, name: str = "cov") -> Array:
    """Return a covariance, or a precision, as a symmetric, positive definite matrix (d, d)."""
    checks._finite(name, array)
    if array.ndim < 2:
        variances = checks.vector(name, array, d, np.float64, infinite=False)
        require_variances(name, variances)
        return np.diag(variances)
    if array.shape != (d, d):
        raise ValueError(f"{name} must have shape ({d}, {d}), got {array.shape}")
    cov = np.array(array, np.float64, order="C")
    variances = np.diagonal(cov)
    require_variances(f"the diagonal of {name}", variances)
    scale = np.sqrt(variances)
    if not (cov == cov.T).all():
        cov = _halved(cov, scale, name, SYMMETRIC_32 if array.dtype == np.float32 else SYMMETRIC_64)
    with np.errstate(over="ignore"):
        correlation = cov / np.outer(scale, scale)
    try:
        pivots = np.diagonal(np.linalg.cholesky(correlation)) ** 2
    except np.linalg.LinAlgError:
        pivots = np.zeros(1)
    if not pivots.min() > SINGULAR:
        finite = bool(np.isfinite(correlation).all())
        least = float(np.linalg.eigvalsh(correlation)[0]) if finite else -np.inf
        raise ValueError(
            f"{name} must be positive definite, and not to rounding singular: the least eigenvalue "
            f"of its correlations is {least:.3g}"
        )
    return cov


def _halved(cov: Array, scale: Array, name: str, tolerance: float) -> Array:
    """Return the average of both halves of a matrix, which may differ by rounding."""
    with np.errstate(over="ignore"):
        apart = np.abs(cov - cov.T) / np.outer(scale, scale)
    if apart.max() > tolerance:
        i, j = (int(k) for k in np.unravel_index(np.argmax(apart), apart.shape))
        raise ValueError(
            f"{name} must be symmetric, got {cov[i, j]} at ({i}, {j}) and {cov[j, i]} at ({j}, {i})"
        )
    return 0.5 * cov + 0.5 * cov.T


def require_variances(name: str, values: Array) -> None:
    """Check that variances, or precisions, are positive, and within what is computed with."""
    checks.positive(name, values)
    good = (values >= TINY) & (values <= HUGE)
    if not good.all():
        j = int(np.argmin(good))
        raise ValueError(
            f"{name} must lie between {TINY:g} and {HUGE:g}, got {values[j]} at index {j}: take "
            "other units"
        )


def in_units(cut: CutNormal) -> tuple[CutNormal, NDArray[np.int64]]:
    """Return the same vector in its own units, and their exponents: unit j is 2**exponent[j].

    Rows of A are scaled too, so that their largest number is near 1.  Nothing is rounded.  Ends
    that are out of sight become infinite.
    """
    exponents = np.rint(0.5 * np.log2(np.diagonal(cut.cov))).astype(np.int64)
    A, rows = cut.A, exponents
    if A is not None:
        with np.errstate(divide="ignore"):
            sizes = np.log2(np.abs(A)) + exponents
        rows = np.rint(sizes.max(axis=1)).astype(np.int64)
        A = _times_power(A, exponents - rows[:, None])
    mean, lower, upper = _vectors_in_units(cut, exponents, rows, LARGEST)
    cov = _times_power(cut.cov, -(exponents[:, None] + exponents))
    return CutNormal(mean, cov, lower, upper, A, cut.dtype), exponents


def _vectors_in_units(
    cut: CutNormal | CutPrecision, own: NDArray[np.int64], rows: NDArray[np.int64], most: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    mean = _times_power(cut.mean, -own)
    lower, upper = _times_power(cut.lower, -rows), _times_power(cut.upper, -rows)
    for name, good, given in (
        ("mean", np.abs(mean) <= most, cut.mean),
        ("lower", lower <= most, cut.lower),
        ("upper", upper >= -most, cut.upper),
    ):
        if not good.all():
            j = int(np.argmin(good))
            raise ValueError(
                f"{name} must come within {most:g} deviations of 0, got {given[j]} at index {j}"
            )
    lower[lower < -most] = -np.inf
    upper[upper > most] = np.inf
    return mean, lower, upper


def _times_power(values: NDArray[np.float64], exponents: NDArray[np.int64]) -> NDArray[np.float64]:
    if not exponents.any():
        return values.copy()
    with np.errstate(over="ignore", under="ignore"):
        result: NDArray[np.float64] = np.ldexp(values, exponents)
    return result


class CutPrecision(NamedTuple):
    """A normal vector of a mean and a precision, held to lower <= x <= upper; float64."""

    mean: Array  # (d,)
    precision: Any  # (d, d), an array or a scipy.sparse.csr_array with sorted rows
    diagonal: Array  # (d,), of the precision
    lower: Array  # (d,)
    upper: Array
    dtype: Any  # of what is returned: float32 if every array that was given is


def _require_one(cov: ArrayLike | None, precision: Any) -> None:
    if (cov is None) == (precision is None):
        got = "neither" if cov is None else "both"
        raise ValueError(f"cov or precision must be given, one of the two, got {got}")


def cut_precision(
    mean: ArrayLike | None,
    cov: ArrayLike | None,
    precision: Any,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
) -> CutPrecision:
    """Return what was given by a covariance or a precision, which stays sparse if it is."""
    _require_one(cov, precision)
    if cov is not None:
        normal = cut_normal(mean, cov, lower, upper)
        inverse: Any = inverted(normal.cov)
        centre, low, high, dtype = normal.mean, normal.lower, normal.upper, normal.dtype
    else:
        inverse, own = precision_matrix(precision)
        none_of_it = np.empty(0, own)
        arrays, dtype = _arrays(mean=mean, lower=lower, upper=upper, precision=none_of_it)
        centre, low, high = _mean_and_ends(arrays, inverse.shape[0], inverse.shape[0])
    diagonal = np.array(inverse.diagonal(), np.float64)
    require_variances("the diagonal of the precision", diagonal)
    return CutPrecision(centre, inverse, diagonal, low, high, dtype)


def cut_covariance(
    mean: ArrayLike | None,
    cov: ArrayLike | None,
    precision: Any,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
    A: ArrayLike | None,
) -> CutNormal:
    """Return what was given by a covariance or a precision, dense."""
    _require_one(cov, precision)
    if cov is not None:
        return cut_normal(mean, cov, lower, upper, A)
    matrix, dtype = precision_matrix(precision)
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    stand_in = cut_normal(mean, np.ones(len(dense), dtype), lower, upper, A)
    return stand_in._replace(cov=inverted(dense))


def scaled(cut: CutPrecision) -> tuple[CutPrecision, Array]:
    """Return the same in units in which conditional variances are near 1, and the units."""
    exponents = -np.rint(0.5 * np.log2(cut.diagonal)).astype(np.int64)
    mean, lower, upper = _vectors_in_units(cut, exponents, exponents, FARTHEST)
    units = np.ldexp(1.0, exponents)
    if isinstance(cut.precision, np.ndarray):
        precision: Any = _times_power(cut.precision, exponents[:, None] + exponents)
    else:
        precision = cut.precision.multiply(units[:, None]).multiply(units).tocsr()
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


def inverted(matrix: Array) -> Array:
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
