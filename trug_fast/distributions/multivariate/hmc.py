"""Hamiltonian paths of truncated normal vectors, which bounce from walls; linear constraints.

Tested in tests/distributions/multivariate/test_hmc.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.kernels.describing import described
from trug_fast.kernels.multivariate import bounces as kernels

from .chains import (
    COURSE,
    NORMAL,
    SOURCE,
    TruncMVNChains,
    checked_start,
    run_chains,
    sizes_of,
)
from .checking import Array, CutNormal, cut_covariance, in_units

PRODUCTS = 4096  # walls up to which their products with each other are kept
OUTSIDE = 1e-8  # deviations that rounding may take a draw past a wall
BOUNCES = 1_000_000  # of a path
ROUNDS = 4  # of linear programs, each to the digits that the one before it lost
FINER = 1e-6
WORK = 20  # multiply-adds that take as long as what a bounce does for each wall


class _Region(NamedTuple):
    """The cut normal as x = mean + factor z of a standard normal z between walls."""

    mean: Array
    factor: Array  # (d, d), lower triangular
    walls: kernels.Walls
    rows: Array  # (walls, d), the constraints on x
    lower: Array  # (walls,), of rows x
    upper: Array
    inside: Array  # (d,), a point x away from all walls
    near: Array  # (d,), the same as z


@described(
    NORMAL
    | {
        "lower, upper : array_like, shape (d,), or with A (m,), optional": """
        ``lower <= x <= upper``, or with A ``lower <= A x <= upper``; a number stands for all.  By
        default, and where infinite, there is no wall.""",
        "A : array_like, shape (m, d), optional": "Linear constraints, any number of rows.",
        "precision : array_like or scipy.sparse array or matrix, shape (d, d), optional": """
        The inverse of the covariance, in its place; made dense.""",
    }
    | COURSE
    | {
        "start : array_like, shape (d,) or (n_chains, d), optional": """
        Where chains begin, in the region.  By default near the mean in a box; with A the mean, or
        where that is outside a point away from all walls, found by linear programming."""
    }
    | SOURCE,
    kind="TruncMVNChains",
    returns="""
    With ``samples``, shape (n_chains, n_samples, d), all in the region, and what they are worth.
    """,
    raises="""
    TypeError, ValueError, RuntimeError
    If an argument is of another kind, not one of cov and precision is given, or it is not symmetric
    and positive definite, a number is NaN, the region has no room, ``start`` is outside, A has
    neither lower nor upper, or shapes do not fit; RuntimeError if a path bounces a million times.
    """,
    notes="""
    Formulas: mathematics 1.17.  Reference: A. Pakman and L. Paninski, "Exact Hamiltonian Monte
    Carlo for truncated multivariate Gaussians", Journal of Computational and Graphical Statistics
    23 (2014).
    """,
    example="""
    Four numbers in rising order:

    >>> import numpy as np, trug_fast as tf
    >>> rises = np.diff(np.eye(4), axis=0)
    >>> chains = tf.distributions.truncmvn_hmc([3, 2, 1, 0], 1.0, 0, A=rises, n_samples=100, rng=1)
    >>> chains.samples.shape, bool((np.diff(chains.samples) >= 0).all())
    ((4, 100, 4), True)
    """,
)
def truncmvn_hmc(
    mean: ArrayLike | None = None,
    cov: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    A: ArrayLike | None = None,
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
    """Draw normal vectors under linear constraints, by exact Hamiltonian paths.

    A step is a path that follows the normal's own motion for about a quarter of its period and
    bounces from the walls it meets.  Nothing is approximated and nothing rejected.  Where few walls
    are met, draws hardly depend on each other, however strongly coordinates are correlated.  A path
    that is held ``h`` deviations from the mean, or between walls ``1 / h`` apart, bounces some
    ``h`` times.
    """
    from scipy.linalg import solve_triangular

    cut = cut_covariance(mean, cov, precision, lower, upper, A)
    sizes = sizes_of(n_chains, n_samples, n_burn, thin, progress)
    begin = checked_start(start, n_chains, cut)
    own, exponents = in_units(cut)
    region = _region(own)
    states = np.tile(region.near, (n_chains, 1))
    if begin is not None:
        away = (np.ldexp(begin, -exponents) - region.mean).T
        states = np.array(solve_triangular(region.factor, away, lower=True).T, order="C")
    seed = seed_from(rng, "truncmvn_hmc")
    met = np.zeros(n_chains, np.int64)

    def run(rows: Array, step: int, burn: int, thin: int) -> None:
        paths = kernels.Paths(seed, step, burn, thin, BOUNCES)
        kernels.run_paths(region.walls, states, rows, met, paths)
        if met.max(initial=0) > BOUNCES:
            raise RuntimeError(
                f"a path of chain {int(np.argmax(met))} bounced more than {BOUNCES} times: "
                "the region is too far from the mean, or too narrow; truncmvn_gibbs takes any box"
            )
        rows[...] = np.ldexp(_kept_inside(region, region.mean + rows @ region.factor.T), exponents)

    work = (len(region.rows) + 1.0) * (cut.mean.size + WORK * cut.mean.size)
    return run_chains(run, states, sizes, work, cut.dtype)


def _region(cut: CutNormal) -> _Region:
    d = cut.mean.size
    used = np.isfinite(cut.lower) | np.isfinite(cut.upper)
    rows = (np.eye(d) if cut.A is None else cut.A)[used]
    lower, upper = cut.lower[used], cut.upper[used]
    factor = np.linalg.cholesky(cut.cov)
    normals = rows @ factor
    lengths = np.linalg.norm(normals, axis=1)
    normals /= lengths[:, None]
    centre = rows @ cut.mean
    walls = kernels.Walls(
        np.ascontiguousarray(normals),
        np.ascontiguousarray(normals.T),
        np.ascontiguousarray(normals @ normals.T) if len(rows) <= PRODUCTS else np.empty((0, 0)),
        (lower - centre) / lengths,
        (upper - centre) / lengths,
    )
    near = np.zeros(d) if cut.A is not None else _point_of_box(cut, factor)
    z = point_inside(walls, near)
    return _Region(cut.mean, factor, walls, rows, lower, upper, cut.mean + factor @ z, z)


def _point_of_box(cut: CutNormal, factor: Array) -> NDArray[np.float64]:
    """Return the point nearest the mean that is a deviation from all ends, or half the width."""
    from scipy.linalg import solve_triangular

    margin = np.minimum(np.sqrt(np.diagonal(cut.cov)), 0.5 * (cut.upper - cut.lower))
    x = np.clip(cut.mean, cut.lower + margin, cut.upper - margin)
    return np.asarray(solve_triangular(factor, x - cut.mean, lower=True))


def point_inside(walls: kernels.Walls, near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``near`` if that is inside, else a point as far from all walls as there is, up to 1.

    Solved to absolute tolerances of 1e-7, the linear program is repeated around its answer on a
    finer scale until that is inside.
    """
    from scipy.optimize import linprog

    m, d = walls.normals.shape
    z, scale = near, 1.0
    for _ in range(ROUNDS):
        place = walls.normals @ z
        if ((walls.lower < place) & (place < walls.upper)).all():
            return z
        sides = np.concatenate([walls.normals, -walls.normals])
        room = np.concatenate([walls.upper - place, place - walls.lower]) / scale
        finite = np.isfinite(room)
        found = linprog(
            np.append(np.zeros(d), -1.0),
            A_ub=np.column_stack([sides, np.ones(2 * m)])[finite],
            b_ub=room[finite],
            bounds=[(None, None)] * d + [(0.0, 1.0)],
        )
        if found.status != 0:
            break
        z = z + scale * found.x[:d]
        scale *= FINER
    place = walls.normals @ z
    if ((walls.lower < place) & (place < walls.upper)).all():
        return z
    raise ValueError(
        "lower <= A x <= upper must leave room, got a region that is empty, has no inside, or lies "
        "too far from the mean to be found; truncmvn_gibbs takes any box"
    )


def _kept_inside(region: _Region, x: Array) -> Array:
    """Return draws that rounding took past a wall moved towards the point inside."""
    for step in (*(10.0**k for k in range(-15, -8)), OUTSIDE, 0.0):
        place = x @ region.rows.T
        outside = ~((region.lower <= place) & (place <= region.upper)).all(axis=-1)
        if not outside.any():
            return x
        x[outside] += step * (region.inside - x[outside])
    raise RuntimeError("rounding took a draw out of the region: constraints nearly parallel")
