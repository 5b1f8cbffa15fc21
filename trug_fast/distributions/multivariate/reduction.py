"""From linear constraints to a box: the constrained vector y = A x, and what is free beside it.

Tested in tests/distributions/multivariate/test_reduction.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .checking import SINGULAR, CutNormal


class BoxForm(NamedTuple):
    """A cut normal vector as one that is cut by a box alone.

    The vector w of ``mean`` and ``cov`` between ``lower`` and ``upper`` gives
    x = offset + back @ w; without constraints it is x.  ``gain`` gives
    E[x | y] = E[x] + gain @ (y - E[y]) for the coordinates y of w that have an end, and ``rest`` is
    what then is left of the covariance.
    """

    mean: NDArray[Any]  # (k,)
    cov: NDArray[Any]  # (k, k)
    lower: NDArray[Any]  # (k,)
    upper: NDArray[Any]
    offset: NDArray[Any] | None  # (d,)
    back: NDArray[Any] | None  # (d, k)
    bounded: NDArray[Any]  # (m,) indices of y in w
    gain: NDArray[Any]  # (d, m)
    rest: NDArray[Any]  # (d, d), covariance of x given y


def box_form(cut: CutNormal) -> BoxForm:
    """Return a cut normal vector in this form.

    Raises
    ------
    ValueError
        If constraints with an end are more than x has dimensions, or depend on each other.
    """
    held = np.flatnonzero(np.isfinite(cut.lower) | np.isfinite(cut.upper))
    if cut.A is None and held.size == cut.dimension:
        gain, rest = np.eye(held.size), np.zeros_like(cut.cov)
        return BoxForm(cut.mean, cut.cov, cut.lower, cut.upper, None, None, held, gain, rest)
    if cut.A is None:
        gain = np.linalg.solve(cut.cov[np.ix_(held, held)], cut.cov[held]).T
        rest = cut.cov - gain @ cut.cov[held]
        gain[held], rest[held], rest[:, held] = np.eye(held.size), 0.0, 0.0
        return BoxForm(cut.mean, cut.cov, cut.lower, cut.upper, None, None, held, gain, rest)
    A, lower, upper = cut.A[held], cut.lower[held], cut.upper[held]
    (m, d), root = A.shape, np.linalg.cholesky(cut.cov)
    if m > d:
        raise ValueError(_refusal(f"{m} constraints of {d} dimensions"))
    across = A @ root
    frame, triangle = np.linalg.qr(across.T, mode="complete")
    pivots = np.diagonal(triangle) ** 2
    if m and not (pivots > SINGULAR * (across**2).sum(1)).all():
        raise ValueError(_refusal(f"rows of A of rank {np.linalg.matrix_rank(across)} below {m}"))
    back = root @ frame
    back[:, :m] = np.linalg.solve(triangle[:m], back[:, :m].T).T
    centre, cov = np.zeros(d), np.eye(d)
    centre[:m], cov[:m, :m] = A @ cut.mean, across @ across.T
    ends = np.full((2, d), [[-np.inf], [np.inf]])
    ends[:, :m] = lower, upper
    offset = cut.mean - back[:, :m] @ centre[:m]
    gain, rest = back[:, :m], back[:, m:] @ back[:, m:].T
    return BoxForm(centre, cov, ends[0], ends[1], offset, back, np.arange(m), gain, rest)


def _refusal(got: str) -> str:
    return (
        "A must have independent rows, no more than x has dimensions, for exact draws and "
        f"probabilities, got {got}; tf.distributions.truncmvn_hmc draws chains of x for any A"
    )
