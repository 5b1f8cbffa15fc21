"""Cut normal vectors as boxes, and what is told of them.

Under linear constraints that is the constrained vector y = A x, and what is free beside it.
Tested in tests/distributions/multivariate/test_reduction.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .checking import SINGULAR, Array, CutNormal


class BoxProbability(NamedTuple):
    """Log of a probability, with its doubt.

    Attributes
    ----------
    log : float
        Log of the probability.
    relative_error : float
        Error of the probability over itself, which is that of ``log``: three times it is exceeded
        once in 370 times.  By ``"factor"``, what rounding and quadrature may leave.  inf where no
        point has found the box, whose ``log`` is then -inf.
    log_bound : float
        Log of a number that the probability does not exceed; inf where rounding kept it from being
        found.
    n_points : int
        Points that it was estimated from; 0 by ``"factor"``.
    method : str
        ``"factor"``, an integral over one factor, or ``"tilting"``, an average over points.
    """

    log: float
    relative_error: float
    log_bound: float
    n_points: int
    method: str

    def __repr__(self) -> str:
        """Return the numbers with the digits that are known."""
        log = f"{self.log:.15g}"
        if 0.0 < self.relative_error < np.inf:  # to the second digit of the error
            digits = 1 - int(np.floor(np.log10(self.relative_error)))
            log = f"{self.log:.{digits}f}" if 0 <= digits < 12 else log
        return (
            f"BoxProbability(log={log}, relative_error={self.relative_error:.2g}, "
            f"log_bound={self.log_bound:.6g}, n_points={self.n_points}, "
            f"method={self.method!r})"
        )


class Estimate(NamedTuple):
    """Estimated numbers, each with its error.

    Attributes
    ----------
    value : numpy.ndarray
        Estimates.
    error : numpy.ndarray
        Their errors, of the same shape; three times one is exceeded once in 370 times.
    """

    value: Array
    error: Array


class DrawInfo(NamedTuple):
    """What exact draws came to.

    Attributes
    ----------
    acceptance : float
        Share of the proposals accepted: by ``"tilting"``, the mean of their chances.
    n_proposals : int
        How many were made, by ``"factor"`` of the factor alone.
    log_bound : float
        Log of the bound on the probability of the box; the acceptance is the probability over it.
    method : str
        ``"factor"``, coordinates given one factor, or ``"tilting"``.
    """

    acceptance: float
    n_proposals: int
    log_bound: float
    method: str


class BoxForm(NamedTuple):
    """A cut normal vector as one that is cut by a box alone.

    The vector w of ``mean`` and ``cov`` between ``lower`` and ``upper`` gives
    x = offset + back @ w; without constraints it is x.  ``gain`` gives
    E[x | y] = E[x] + gain @ (y - E[y]) for the coordinates y of w that have an end, and ``rest`` is
    what then is left of the covariance.
    """

    mean: Array  # (k,)
    cov: Array  # (k, k)
    lower: Array  # (k,)
    upper: Array
    offset: Array | None  # (d,)
    back: Array | None  # (d, k)
    bounded: Array  # (m,) indices of y in w
    gain: Array  # (d, m)
    rest: Array  # (d, d), covariance of x given y


def box_form(cut: CutNormal) -> BoxForm:
    """Return a cut normal vector in this form, of constraints that do not depend on each other."""
    held = np.flatnonzero(np.isfinite(cut.lower) | np.isfinite(cut.upper))
    if cut.A is None and held.size == cut.mean.size:
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
