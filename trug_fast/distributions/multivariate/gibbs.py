"""Gibbs sampling of truncated normal vectors, by their precision; chains side by side.

Tested in tests/distributions/multivariate/test_gibbs.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common.randomness import RngLike, seed_from
from trug_fast._common.threads import UNIT
from trug_fast.distributions.family import truncnorm
from trug_fast.kernels.describing import described
from trug_fast.kernels.multivariate import gibbs as kernels

from .chains import (
    COURSE,
    NORMAL,
    SOURCE,
    TruncMVNChains,
    checked_start,
    run_chains,
    sizes_of,
)
from .checking import Array, CutPrecision, cut_precision, scaled


class _Problem(NamedTuple):
    """What kernels are given, in the order of a sweep."""

    coordinates: kernels.Coordinates
    others: Any  # the dense precision without its diagonal, or kernels.Neighbours
    run: Any
    work: float  # multiply-adds of a sweep of one chain


@described(
    NORMAL
    | {
        "lower, upper : array_like, shape (d,), optional": """
        Ends of the box, or a number for all; by default, and where infinite, there is none.""",
        "precision : array_like or scipy.sparse array or matrix, shape (d, d), optional": """
        The inverse of the covariance, in its place.  A sweep of a sparse one takes one
        multiply-add for each of its entries, and so reaches a million dimensions.""",
    }
    | COURSE
    | {
        "start : array_like, shape (d,) or (n_chains, d), optional": """
        Where chains begin, in the box.  By default each at draws of its own, in which coordinates
        are independent, of their means and of their variances given the others."""
    }
    | SOURCE,
    kind="TruncMVNChains",
    returns="""
    With ``samples``, shape (n_chains, n_samples, d), and what they are worth; 32 chains or more
    take the least time a draw.
    """,
    raises="""
    TypeError, ValueError
    If an argument is of another kind, not one of cov and precision is given, or it is not symmetric
    and positive definite, an interval is empty, a number NaN, ``start`` outside the box, or shapes
    do not fit.
    """,
    notes="""
    Formulas: mathematics 1.16.  Sparse coordinates are drawn colour by colour: no two of a colour
    are neighbours.  Reference: C. P. Robert, "Simulation of truncated normal variables", Statistics
    and Computing 5 (1995).
    """,
    example="""
    A random walk that stays above 0, observed at both ends:

    >>> import numpy as np, scipy.sparse, trug_fast as tf
    >>> one = np.ones(99)
    >>> steps = scipy.sparse.diags([one, -one], offsets=[1, 0], shape=(99, 100))
    >>> ends = scipy.sparse.diags(np.isin(np.arange(100), [0, 99]) * 10.0)
    >>> precision = steps.T @ steps + ends
    >>> chains = tf.distributions.truncmvn_gibbs(precision=precision, lower=0, n_samples=50, rng=1)
    >>> chains.samples.shape, bool((chains.samples >= 0).all())
    ((4, 50, 100), True)
    """,
)
def truncmvn_gibbs(
    mean: ArrayLike | None = None,
    cov: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    precision: Any = None,
    n_samples: int = 1000,
    n_chains: int = 4,
    n_burn: int = 100,
    thin: int = 1,
    start: ArrayLike | None = None,
    rng: RngLike = None,
    progress: bool | None = None,
) -> TruncMVNChains:
    """Draw normal vectors that are cut to a box, by Gibbs sampling.

    A step is a sweep: each coordinate in turn is drawn from its univariate truncated normal given
    all others, which is exact however far the box lies from the mean.  Draws of a chain depend on
    each other, the more so the stronger coordinates are correlated: see ``rhat`` and ``ess`` of the
    result.  Independent draws are ``truncmvn.rvs``'s, in up to some hundred dimensions;
    :func:`truncmvn_hmc` moves all coordinates at once, and takes linear constraints.
    """
    cut = cut_precision(mean, cov, precision, lower, upper)
    sizes = sizes_of(n_chains, n_samples, n_burn, thin, progress)
    begin = checked_start(start, n_chains, cut)
    seed = seed_from(rng, "truncmvn_gibbs")
    own, units = scaled(cut)
    states = _independent_draws(own, n_chains, seed) if begin is None else begin / units
    problem = _problem_of(own)

    def run(rows: Array, step: int, burn: int, thin: int) -> None:
        sweeps = kernels.Sweeps(seed, step, burn, thin)
        problem.run(problem.coordinates, problem.others, states, rows, sweeps)
        rows *= units

    return run_chains(run, states, sizes, problem.work, cut.dtype)


def _independent_draws(cut: CutPrecision, chains: int, seed: int) -> Array:
    """Return a draw of each coordinate as if there were no others, of its variance given them."""
    scale = 1.0 / np.sqrt(cut.diagonal)
    ends = (cut.lower - cut.mean) / scale, (cut.upper - cut.mean) / scale
    draws = truncnorm.rvs(*ends, cut.mean, scale, size=(chains, cut.mean.size), rng=seed)
    return np.asarray(np.clip(draws, cut.lower, cut.upper))


def _problem_of(cut: CutPrecision) -> _Problem:
    d = cut.mean.size
    if isinstance(cut.precision, np.ndarray):
        others = cut.precision.copy()
        np.fill_diagonal(others, 0.0)
        return _Problem(_coordinates(cut, np.arange(d)), others, kernels.run_dense, d * (d + UNIT))
    others = cut.precision.copy()
    others.setdiag(0.0)
    others.eliminate_zeros()
    colours = np.empty(d, np.int64)
    kernels.colour(others.indptr.astype(np.int64), others.indices.astype(np.int64), colours)
    order = np.argsort(colours, kind="stable")
    others = others[order][:, order]
    sorted_colours = colours[order]
    ends = np.searchsorted(sorted_colours, sorted_colours, side="right")
    neighbours = kernels.Neighbours(
        others.indptr.astype(np.int64),
        others.indices.astype(np.int64),
        np.ascontiguousarray(others.data),
        ends.astype(np.int64),
    )
    work = float(others.nnz + d * UNIT)
    return _Problem(_coordinates(cut, order), neighbours, kernels.run_sparse, work)


def _coordinates(cut: CutPrecision, order: Array) -> kernels.Coordinates:
    return kernels.Coordinates(
        (cut.precision @ cut.mean)[order],
        cut.diagonal[order],
        cut.lower[order],
        cut.upper[order],
        order.astype(np.int64),
    )
