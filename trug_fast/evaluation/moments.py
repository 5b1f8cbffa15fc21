"""What is common and goes together in rows of letters, and how near samples come to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.checks import as_weights
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.datasets.alignments import states

Floats = NDArray[np.float64]
GROUPS = 20  # of rows, each of which is left out once for standard errors
MOST_STATES = 256
BLOCK = 1 << 15  # rows compared at a time, whose counts stay in the cache


class CorrelationAgreement(NamedTuple):
    """How samples' connected correlations agree with those of data, with standard errors.

    ``slope`` is that of the line fitted by least squares to the samples' correlations over the
    data's, ``pearson`` the correlation coefficient of the two.  ``slope_error`` and
    ``pearson_error`` are their standard errors over rows of both.
    """

    slope: float
    pearson: float
    slope_error: float
    pearson_error: float


class _Rows(NamedTuple):
    """Rows site by site, (sites, rows), what they count for, and the group of each."""

    sites: NDArray[np.int64]
    weights: Floats | None
    groups: NDArray[np.int64]
    n_groups: int


def site_frequencies(
    X: ArrayLike,
    n_states: int | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pseudocount: float = 0.0,
) -> Floats:
    """Return how often each state stands at each site (mathematics 2.13).

    Parameters
    ----------
    X : array_like, shape (rows, sites)
        Whole numbers from 0, such as the letters of aligned sequences.
    n_states : int, optional
        By default the largest number in X and one.
    sample_weight : array_like, shape (rows,), optional
        What each row counts for, such as :func:`datasets.similarity_weights`.
    pseudocount : float
        Share, from 0 to 1, of equal frequencies that are mixed in.

    Returns
    -------
    ndarray, shape (sites, n_states), float64
        Each row sums to 1.

    Raises
    ------
    TypeError, ValueError
        If X does not hold such numbers, or weights are no weights of its rows.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.evaluation.site_frequencies([[0, 1], [0, 2], [1, 2], [0, 2]])
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.25, 0.75]])
    """
    own, states_ = _checked("X", X, n_states, sample_weight)
    share = checks.number("pseudocount", pseudocount, least=0.0, most=1.0)
    return np.asarray((1 - share) * _singles(own, states_).sum(axis=0) + share / states_)


def pair_correlations(
    X: ArrayLike, n_states: int | None = None, *, sample_weight: ArrayLike | None = None
) -> Floats:
    """Return the connected correlations of the states of all pairs of sites (mathematics 2.13).

    Parameters
    ----------
    X, n_states, sample_weight
        As of :func:`site_frequencies`.

    Returns
    -------
    ndarray, shape (pairs, n_states, n_states), float64
        f(a, b) - f(a) f(b) for state a of the first site and b of the second; of the pairs
        ``np.triu_indices(sites, 1)``, in that order.

    Raises
    ------
    TypeError, ValueError
        As :func:`site_frequencies` does, and if there is one site only.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.evaluation.pair_correlations([[0, 1], [1, 0]])
    array([[[-0.25,  0.25],
            [ 0.25, -0.25]]])
    """
    own, n = _checked("X", X, n_states, sample_weight, pairs=True)
    return np.concatenate(list(_pairs(own, n)))


def compare_correlations(
    data: ArrayLike,
    samples: ArrayLike,
    n_states: int | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    rng: RngLike = None,
) -> CorrelationAgreement:
    """Return how well samples of a model show the pairwise correlations of data.

    All pairs of sites and states count, as in :func:`pair_correlations`.  A perfect model has a
    slope of 1; but noise in the correlations of few rows takes something off both numbers.  What
    can be reached is seen by comparing one half of the data with the other.

    Parameters
    ----------
    data, samples : array_like, shape (rows, sites) and (other rows, sites)
        Whole numbers from 0, such as the letters of aligned sequences.
    n_states : int, optional
        By default the largest number in both and one.
    sample_weight : array_like, shape (rows,), optional
        What each row of the data counts for.
    rng : None, int or numpy.random.Generator
        Of the groups of rows that the standard errors are from.

    Returns
    -------
    CorrelationAgreement
        Standard errors are of rows that were drawn independently, from a jackknife over twenty
        random groups of each (mathematics 2.13).

    Raises
    ------
    TypeError, ValueError
        If one does not hold such numbers, has less than two rows, other sites than the other, or
        no correlations.

    Examples
    --------
    >>> import numpy as np, trug_fast as tf
    >>> X = np.random.default_rng(0).integers(0, 3, (500, 4))
    >>> X[:, 1] = X[:, 0]
    >>> found = tf.evaluation.compare_correlations(X, X, rng=0)
    >>> round(found.slope, 6), round(found.pearson, 6)
    (1.0, 1.0)
    """
    first, n_first = _checked("data", data, n_states, sample_weight, pairs=True)
    second, n_second = _checked("samples", samples, n_states, None, pairs=True)
    n = max(n_first, n_second)
    if len(first.sites) != len(second.sites):
        raise ValueError(
            f"samples must have as many sites as data, {len(first.sites)}, got {len(second.sites)}"
        )
    generator = np.random.default_rng(seed_from(rng, "compare_correlations"))
    first, second = _grouped("data", first, generator), _grouped("samples", second, generator)
    # Sums over all entries of 1, x, y, x^2, y^2, x y: of all rows, and without each group.
    sums = np.zeros((2, GROUPS + 1, 6))
    for x, y in zip(_pairs(first, n), _pairs(second, n), strict=True):
        for k, (a, b) in enumerate(((x, y[:1]), (x[:1], y))):
            rows = max(len(a), len(b))
            sums[k, :rows] += moment_sums(a.reshape(len(a), -1), b.reshape(len(b), -1))
    of_data, of_samples = (
        line_of(sums[0, : first.n_groups + 1]),
        line_of(sums[1, : second.n_groups + 1]),
    )
    if not np.isfinite([of_data[:, 0], of_samples[:, 0]]).all():
        raise ValueError("data and samples must vary together: there are no correlations in one")
    slope, pearson = of_data[:, 0]
    variance = sum(jackknife(each[:, 1:]) for each in (of_data, of_samples))
    slope_error, pearson_error = np.sqrt(variance)
    return CorrelationAgreement(*map(float, (slope, pearson, slope_error, pearson_error)))


def nearest_distances(X: ArrayLike, reference: ArrayLike | None = None) -> NDArray[np.int64]:
    """Return how many sites of each row differ from those of the nearest row of others.

    Of samples it says whether a model makes new sequences or repeats its training data.

    Parameters
    ----------
    X : array_like, shape (rows, sites)
        Whole numbers from 0 to 255, such as the letters of aligned sequences.
    reference : array_like, shape (n, sites), optional
        What they are compared with, such as the training data; by default the other rows of X.

    Returns
    -------
    ndarray, shape (rows,), int64
        The smallest Hamming distance of each.

    Raises
    ------
    TypeError, ValueError
        If one does not hold such numbers, they have other sites, or a row has no other.

    Examples
    --------
    >>> import trug_fast as tf
    >>> tf.evaluation.nearest_distances([[0, 1, 2], [2, 2, 2]], [[0, 1, 1], [0, 2, 2]])
    array([1, 1])
    """
    rows = states("X", X, MOST_STATES).astype(np.uint8, copy=False)
    others = rows if reference is None else states("reference", reference, MOST_STATES)
    if others.shape[1] != rows.shape[1]:
        raise ValueError(f"reference must have {rows.shape[1]} columns, got {others.shape[1]}")
    if reference is None and len(rows) < 2:
        raise ValueError("X must have two rows or more without a reference, got 1")
    sites = np.ascontiguousarray(others.T, np.uint8)
    count = np.uint8 if len(sites) < 256 else np.uint32
    nearest = np.full(len(rows), len(sites), np.int64)
    for start in range(0, len(others), BLOCK):
        block = np.ascontiguousarray(sites[:, start : start + BLOCK])
        for k, row in enumerate(rows):
            found: NDArray[Any] = np.zeros(block.shape[1], count)  # how many sites differ
            for site, letter in zip(block, row, strict=True):
                found += site != letter
            if reference is None and start <= k < start + block.shape[1]:
                found[k - start] = len(sites)  # itself
            nearest[k] = min(nearest[k], int(found.min()))
    return nearest


def _checked(
    name: str, X: ArrayLike, n_states: int | None, weights: ArrayLike | None, pairs: bool = False
) -> tuple[_Rows, int]:
    """Return rows as the counts need them, all of one group, and the number of states."""
    most = MOST_STATES if n_states is None else checks.count("n_states", n_states)
    matrix = states(name, X, most)
    if pairs and matrix.shape[1] < 2:
        raise ValueError(f"{name} must have two sites or more, got {matrix.shape[1]}")
    own = as_weights(weights, len(matrix))
    if own is not None:
        own = own / own.max()
        own /= own.sum()
    sites = np.ascontiguousarray(matrix.T, np.int64)
    found = int(sites.max()) + 1 if n_states is None else most
    return _Rows(sites, own, np.zeros(len(matrix), np.int64), 1), found


def _grouped(name: str, own: _Rows, generator: np.random.Generator) -> _Rows:
    """Put rows into groups of one size, at random."""
    rows = own.sites.shape[1]
    if rows < 2:
        raise ValueError(f"{name} must have two rows or more, got {rows}")
    count = min(GROUPS, rows)
    return own._replace(groups=generator.permutation(np.arange(rows) % count), n_groups=count)


def _counted(own: _Rows, codes: NDArray[np.int64], size: int) -> Floats:
    """Return the share of each code in each group; (groups, size), in all 1."""
    counts = np.bincount(own.groups * size + codes, own.weights, own.n_groups * size)
    return counts.reshape(own.n_groups, size) / (1 if own.weights is not None else codes.size)


def _singles(own: _Rows, n: int) -> Floats:
    """Return the shares of states in each group; (groups, sites, n)."""
    return np.stack([_counted(own, site, n) for site in own.sites], axis=1)


def _pairs(own: _Rows, n: int) -> Iterator[Floats]:
    """Yield connected correlations of each pair of sites, of all rows and without each group.

    Each is (1 + groups, n, n), or (1, n, n) where all rows are one group.
    """
    single = _left(_singles(own, n))
    mass = single[:, :1].sum(axis=2, keepdims=True)  # of the rows that are left
    single = single / mass
    for i in range(len(own.sites)):
        for j in range(i + 1, len(own.sites)):
            both = _left(_counted(own, own.sites[i] * n + own.sites[j], n * n))
            joint = both.reshape(-1, n, n) / mass
            yield joint - single[:, i, :, None] * single[:, j, None, :]


def _left(groups: Floats) -> Floats:
    """Return the sum over groups, and the sums without each if there are several."""
    total = groups.sum(axis=0, keepdims=True)
    return total if len(groups) == 1 else np.concatenate([total, total - groups])


def moment_sums(x: Floats, y: Floats) -> Floats:
    """Return sums of 1, x, y, x^2, y^2 and x y over the last axis; the first may be one long."""
    sums = (
        np.full(1, float(x.shape[1])),
        x.sum(axis=1),
        y.sum(axis=1),
        np.einsum("ij,ij->i", x, x),
        np.einsum("ij,ij->i", y, y),
        (x * y).sum(axis=1),
    )
    return np.stack(np.broadcast_arrays(*sums), axis=1)


def line_of(sums: Floats) -> Floats:
    """Return slopes and correlation coefficients, (2, ...), from sums; NaN where there are none."""
    count, x, y, xx, yy, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        across = xy - x * y / count
        spread, other = xx - x * x / count, yy - y * y / count
        return np.stack([across / spread, across / np.sqrt(spread * other)])


def jackknife(values: Floats) -> Floats:
    """Return the variance of what was computed without each group in turn; (..., groups)."""
    return np.asarray((values.shape[-1] - 1) * values.var(axis=-1))
