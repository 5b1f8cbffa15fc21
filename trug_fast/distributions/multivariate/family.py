"""The object ``truncmvn``: all functions of truncated normal vectors under one name.

Tested in tests/distributions/multivariate/test_family.py.
"""

from __future__ import annotations

from functools import cached_property, partial
from math import prod
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from
from trug_fast.distributions.facade import functions_of, told

from .boxes import BoxForm, BoxProbability, Estimate, box_form
from .checking import Array, CutNormal, cut_normal, in_units
from .one_factor import ByFactor, one_factor, tolerance_of
from .tilting import LEAST_REPLICATES, ByTilting

Method = Literal["auto", "factor", "tilting"]
METHODS: tuple[Method, ...] = get_args(Method)
N_POINTS = 10_000
MOST = 2**48  # draws of a call
LOG_TWO_PI = float(np.log(2 * np.pi))
R = TypeVar("R", covariant=True)
N = ArrayLike
M = ArrayLike | None

GIVEN = {
    "mean : array_like of shape (d,), or float, optional": """
        Mean of the normal before truncation; a number stands for all coordinates, None for 0.""",
    "cov : array_like of shape (d, d) or (d,), or float, optional": """
        Covariance of the normal before truncation; a vector stands for a diagonal, a number for a
        multiple of the identity.""",
    "lower, upper : array_like of shape (d,), with A (m,), or float, optional": """
        Ends of the box, infinite where there is none; a number stands for all, None for no end.""",
    "A : array_like of shape (m, d), optional": "Makes the constraints lower <= A x <= upper.",
}
POINTS = {
    "n_points : int, optional": """
        Points at most, of 9 to 17 random scramblings of a Sobol' sequence; at least 9.  Where the
        covariance is of one factor (:class:`FrozenVector`), none are needed.""",
    "rng : None, int or numpy.random.Generator, optional": "Source of the scramblings.",
}
RAISES = """TypeError, ValueError
    If an argument does not hold real numbers, shapes do not fit, an interval is empty, a number
    is NaN, cov is not symmetric and positive definite, variances are not between 1e-305 and
    1e305, mean, lower or upper lie more than 1e150 deviations out, A has neither lower nor
    upper, or rows of A with an end depend on each other."""
row = partial(told, imports=">>> import numpy as np\n>>> import trug_fast as tf", raises=RAISES)


class FrozenVector:
    """A normal vector of a mean and a covariance, held to lower <= A x <= upper.

    Parameters
    ----------
    mean, cov, lower, upper, A : array_like
        As of :func:`trug_fast.truncmvn.rvs`; copied.
    method : "auto", "factor" or "tilting", optional
        ``"factor"``: draws are those of coordinates given one factor, numbers integrals over it, to
        rounding; for coordinates with ends whose covariance is diag(D) + b b', to 1e-13 of their
        correlations (1e-6 if cov is of float32).  ``"tilting"``: rejection and points, for any.
        ``"auto"`` takes the first where it can.

    Raises
    ------
    TypeError, ValueError
        As of :func:`trug_fast.truncmvn.rvs`; ``method="factor"`` with another covariance.

    Examples
    --------
    >>> import numpy as np
    >>> import trug_fast as tf
    >>> orthant = tf.truncmvn(np.zeros(3), 0.5 * (np.eye(3) + 1), lower=0)
    >>> orthant
    FrozenVector(dimension=3, constraints=3)
    >>> orthant.method, float(np.exp(orthant.logprob().log).round(14))
    ('factor', 0.25)
    """

    def __init__(
        self,
        mean: ArrayLike | None = None,
        cov: ArrayLike = 1,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        A: ArrayLike | None = None,
        *,
        method: Method = "auto",
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        self._cut = cut_normal(mean, cov, lower, upper, A)
        self._own, self._exponents = in_units(self._cut)
        self._tolerance = None if method == "tilting" else tolerance_of(cov)
        if method == "factor" and self.method != method:
            raise ValueError(
                "method='factor' takes what has ends to have a covariance of one factor, "
                "diag(D) + b b', right to its last digits, got another: method='tilting' takes any"
            )

    def __repr__(self) -> str:
        rows = int((np.isfinite(self._cut.lower) | np.isfinite(self._cut.upper)).sum())
        return f"FrozenVector(dimension={self._cut.mean.size}, constraints={rows})"

    @cached_property
    def _way(self) -> ByFactor | ByTilting:
        return _way_of(box_form(self._own), self._tolerance)

    @property
    def method(self) -> str:
        """How it is computed: ``"factor"`` or ``"tilting"``."""
        return self._way.method

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("_cut", "_own", "_exponents", "_tolerance")}

    @row(
        rest={
            "size : int or tuple of int, optional": "How many; None gives one, of shape (d,).",
            "rng : None, int or numpy.random.Generator, optional": """
        An int gives the same draws in every call, for any number of threads, and a shorter call the
        first of a longer one's.  A Generator is advanced by one number a call.""",
            "return_info : bool, optional": """
        Return a :class:`DrawInfo` as well, with the share of proposals accepted.""",
        },
        kind="numpy.ndarray",
        returns="""
        Shape size + (d,): independent draws.  Those of a box lie in it; A x may miss an end by
        rounding.
        """,
        raises=RAISES.replace("ValueError", "ValueError, RuntimeError")
        + """
    RuntimeError if fewer than 1e-5 of the proposals are accepted, as in some hundreds of
    dimensions with strong correlations that are not of one factor; or if the box is so far out,
    or cov so near to singular, that rounding of the ends alone changes log densities by 0.01.""",
        notes="""
        Botev, "The normal law under linear restrictions", JRSS B 79 (2017); mathematics 1.15.
        """,
        example="""
        >>> x, info = tf.truncmvn.rvs(
        ...     [0, 1], [[1, 0.5], [0.5, 2]], lower=[8, -np.inf], size=500, rng=3, return_info=True
        ... )
        >>> x.shape, bool(x[:, 0].min() >= 8), info.acceptance > 0.99
        ((500, 2), True, True)
        """,
    )
    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        *,
        rng: RngLike = None,
        return_info: bool = False,
    ) -> Any:
        """Draw exactly: through one factor, or by rejection with minimax tilting."""
        checks.flag("return_info", return_info)
        sizes = () if size is None else np.atleast_1d(size).tolist()
        shape = tuple(checks.count("size", n, 0) for n in sizes)
        key = seed_from(rng, "truncmvn.rvs")
        count = prod(shape)
        if count > MOST:
            raise ValueError(f"size must be of at most {MOST} vectors, got {size}")
        draws, info = self._way.draws(count, key)
        if self._exponents.any():
            draws *= np.ldexp(1.0, self._exponents)  # exact, in a tenth of ldexp's time
        draws = self._narrowed(draws)
        draws = draws.reshape(*shape, self._cut.mean.size)
        return (draws, info) if return_info else draws

    def _narrowed(self, draws: Array) -> Array:
        """Return draws in the float type of the parameters, between the ends."""
        cut = self._cut
        if draws.dtype == cut.dtype:
            return draws
        narrow = draws.astype(cut.dtype)
        if cut.A is not None:
            return narrow
        ends = cut.lower.astype(cut.dtype), cut.upper.astype(cut.dtype)
        clipped: Array = np.clip(narrow, *ends)
        return clipped

    @row(
        rest=POINTS,
        kind="BoxProbability",
        returns="""
        ``log``, ``relative_error``, ``log_bound``, ``n_points`` and ``method``.  A covariance
        diag(D) + b b', and so any two constraints, takes no points but an integral.
        """,
        example="""
        >>> pair = tf.truncmvn.logprob(cov=[[1, 0.5], [0.5, 1]], lower=0)  # 1/3
        >>> print(f"{pair.log:.12f}")
        -1.098612288668
        """,
    )
    def logprob(self, *, n_points: int = N_POINTS, rng: RngLike = None) -> BoxProbability:
        """Return the log of the probability that the untruncated normal meets the constraints."""
        checks.count("n_points", n_points, LEAST_REPLICATES)
        return self._way.probability(n_points, seed_from(rng, "truncmvn.logprob"))

    @row(
        {"x : array_like of shape (..., d)": "Points."},
        POINTS,
        kind="numpy.ndarray or NumPy float",
        returns="""
        Shape (...); -inf where a constraint is not met.  All values share the error of one
        :func:`logprob`.
        """,
        example="""
        >>> print(f"{tf.truncmvn.logpdf([0.5, 2.0], cov=[1.0, 1.0], lower=0):.9f}")
        -2.576582705
        """,
    )
    def logpdf(self, x: ArrayLike, *, n_points: int = N_POINTS, rng: RngLike = None) -> Any:
        """Return the log of the density."""
        cut = self._cut
        points = self._points(x)
        log = self.logprob(n_points=n_points, rng=rng).log
        own, d = self._own, cut.mean.size
        root = np.linalg.cholesky(own.cov)
        known = np.asarray(np.isfinite(points).all(-1))
        place = np.ldexp(np.where(known[..., None], points, 0.0), -self._exponents)
        with np.errstate(over="ignore"):
            white = np.linalg.solve(root, (place - own.mean).reshape(-1, d).T)
            square = (white**2).sum(0).reshape(points.shape[:-1])
        scales = np.ldexp(np.diagonal(root), self._exponents)
        constant = np.log(scales).sum() + 0.5 * d * LOG_TWO_PI + log
        held, ends = (points, cut) if own.A is None else (place @ own.A.T, own)
        inside = known & ((held >= ends.lower) & (held <= ends.upper)).all(-1)
        value = np.where(inside, -0.5 * square - constant, -np.inf)
        return np.where(np.isnan(points).any(-1), np.nan, value).astype(cut.dtype)[()]

    def _points(self, x: ArrayLike) -> Array:
        points = checks.numbers("x", x).astype(np.float64)
        d = self._cut.mean.size
        if points.ndim == 0 or points.shape[-1] != d:
            raise ValueError(f"x must have {d} numbers in its last axis, got shape {points.shape}")
        return points

    @row(
        rest=POINTS,
        kind="Estimate",
        returns="``value`` and ``error``, each of shape (d,).",
        example="""
        >>> mean = tf.truncmvn.mean(cov=[1.0, 1.0], lower=0, rng=1)  # sqrt(2/pi) = 0.79788...
        >>> print(mean.value.round(3), bool((mean.error < 1e-3).all()))
        [0.798 0.798] True
        """,
    )
    def mean(self, *, n_points: int = N_POINTS, rng: RngLike = None) -> Estimate:
        """Return the mean of the truncated vector: an integral, or estimated by weighed points."""
        return self._moments(n_points, rng)[0]

    @row(
        rest=POINTS,
        kind="Estimate",
        returns="``value`` and ``error``, each of shape (d, d).",
        example="""
        >>> cov = tf.truncmvn.cov(cov=[1.0, 4.0], lower=[0, -float("inf")], rng=1)
        >>> print(cov.value.round(3).tolist())  # 1 - 2/pi, and what no end has touched
        [[0.363, 0.0], [0.0, 4.0]]
        """,
    )
    def cov(self, *, n_points: int = N_POINTS, rng: RngLike = None) -> Estimate:
        """Return the covariance of the truncated vector, by what gives :func:`mean`."""
        return self._moments(n_points, rng)[1]

    def _moments(self, n_points: int, rng: RngLike) -> tuple[Estimate, Estimate]:
        checks.count("n_points", n_points, LEAST_REPLICATES)
        key = seed_from(rng, "truncmvn.moments")
        own, powers = self._own, self._exponents
        if self._way.form.bounded.size:
            mean, cov = self._way.moments(own.mean, own.cov, n_points, key)
        else:
            mean, cov = (Estimate(part, np.zeros_like(part)) for part in (own.mean, own.cov))
        return (
            Estimate(*(np.ldexp(part, powers) for part in mean)),
            Estimate(*(np.ldexp(part, powers[:, None] + powers) for part in cov)),
        )

    @row(
        {
            "index : int": "Which coordinate, from 0.",
            "x : array_like": "Points; each takes a probability of the other coordinates.",
        },
        POINTS,
        kind="Estimate",
        returns="``value`` and ``error``, each of the shape of x; -inf and 0 outside.",
        example="""
        >>> pair = tf.truncmvn(cov=[[1, 0.5], [0.5, 1]], lower=0)
        >>> log = pair.marginal_logpdf(0, [0.0, 1.0]).value
        >>> print(log.round(6).tolist())
        [-0.513473, -0.651405]
        """,
    )
    def marginal_logpdf(
        self, index: int, x: ArrayLike, *, n_points: int = N_POINTS, rng: RngLike = None
    ) -> Estimate:
        """Return the log of the density of one coordinate of the truncated vector."""
        checks.count("n_points", n_points, LEAST_REPLICATES)
        d = self._cut.mean.size
        i = checks.count("index", index, 0)
        if i >= d:
            raise ValueError(f"index must be below the dimension {d}, got {i}")
        points = checks.numbers("x", x).astype(np.float64)
        whole = self.logprob(n_points=n_points, rng=(key := seed_from(rng, "truncmvn.marginal")))
        points = np.where(np.isnan(points), points, np.ldexp(points, -self._exponents[i]))
        # The density of the normal there, times the probability of the rest given it, over that of
        # all; where that is of one factor, the rest is, too.
        own, value, error = self._own, np.full(points.shape, -np.inf), np.zeros(points.shape)
        variance = own.cov[i, i]
        for place, point in np.ndenumerate(points):
            if np.isnan(point):
                value[place] = error[place] = np.nan
                continue
            away = float(point) - own.mean[i]
            with np.errstate(over="ignore"):
                square = away * away / variance
            rest = None if np.isinf(square) else _given(own, i, float(point))
            if rest is None:
                continue
            log, doubt = 0.0, 0.0
            if rest.mean.size:
                found = _way_of(box_form(rest), self._tolerance).probability(n_points, key)
                log, doubt = found.log, found.relative_error
            log -= 0.5 * (square + np.log(2 * np.pi * variance))
            value[place] = log - whole.log
            error[place] = np.hypot(doubt, whole.relative_error)
        return Estimate(value - self._exponents[i] * np.log(2.0), error)


def _way_of(form: BoxForm, tolerance: float | None) -> ByFactor | ByTilting:
    factor = one_factor(form, tolerance)
    return ByTilting(form) if factor is None else ByFactor(form, factor)


def _given(cut: CutNormal, index: int, value: float) -> CutNormal | None:
    """Return the other coordinates given one, cut; None where that one is outside."""
    rest = np.arange(cut.mean.size) != index
    slope = cut.cov[rest, index] / cut.cov[index, index]
    mean = cut.mean[rest] + slope * (value - cut.mean[index])
    cov = cut.cov[np.ix_(rest, rest)] - np.outer(slope, cut.cov[index, rest])
    if cut.A is None:
        if not cut.lower[index] <= value <= cut.upper[index]:
            return None
        return CutNormal(mean, cov, cut.lower[rest], cut.upper[rest], None, cut.dtype)
    A, moved = cut.A[:, rest], cut.A[:, index] * value
    lower, upper = cut.lower - moved, cut.upper - moved
    alone = ~(A != 0).any(1)  # constraints on that one coordinate
    if ((lower[alone] > 0) | (upper[alone] < 0)).any():
        return None
    return CutNormal(mean, cov, lower[~alone], upper[~alone], A[~alone], cut.dtype)


# fmt: off
class _Draws(Protocol):
    def __call__(
        self, mean: M = None, cov: N = 1, lower: M = None, upper: M = None, A: M = None, *,
        size: int | tuple[int, ...] | None = None, rng: RngLike = None, return_info: bool = False
    ) -> Any: ...


class _OfModel(Protocol[R]):
    def __call__(
        self, mean: M = None, cov: N = 1, lower: M = None,
        upper: M = None, A: M = None, *, n_points: int = N_POINTS, rng: RngLike = None
    ) -> R: ...


class _OfVectors(Protocol):
    def __call__(
        self, x: N, mean: M = None, cov: N = 1, lower: M = None,
        upper: M = None, A: M = None, *, n_points: int = N_POINTS, rng: RngLike = None
    ) -> Any: ...


class _OfCoordinate(Protocol):
    def __call__(
        self, index: int, x: N, mean: M = None, cov: N = 1, lower: M = None,
        upper: M = None, A: M = None, *, n_points: int = N_POINTS, rng: RngLike = None
    ) -> Estimate: ...
# fmt: on


@functions_of(FrozenVector, FrozenVector, GIVEN, named=True)
class VectorFamily:
    """Normal vectors cut by a box or by linear constraints, with exact draws and probabilities.

    ``truncmvn(mean, cov, lower, upper, A)`` is a distribution with these parameters, a
    :class:`FrozenVector`; the functions take them as arguments.  A frozen distribution keeps what
    was found out about the box, so that a second call is faster.

    float32 arrays alone, or with Python numbers, give float32 draws and densities; all is computed
    in float64.  Results do not depend on the number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> import trug_fast as tf
    >>> x = tf.truncmvn.rvs(cov=0.5 * (np.eye(5) + 1), lower=np.full(5, 2.0), size=1000, rng=1)
    >>> x.shape, bool((x >= 2).all())
    ((1000, 5), True)
    """

    rvs: _Draws
    logprob: _OfModel[BoxProbability]
    logpdf: _OfVectors
    mean: _OfModel[Estimate]
    cov: _OfModel[Estimate]
    marginal_logpdf: _OfCoordinate

    def __call__(
        self,
        mean: M = None,
        cov: ArrayLike = 1,
        lower: M = None,
        upper: M = None,
        A: M = None,
        *,
        method: Method = "auto",
    ) -> FrozenVector:
        """Return the distribution with these parameters; see :class:`FrozenVector`."""
        return FrozenVector(mean, cov, lower, upper, A, method=method)

    freeze = __call__

    def __repr__(self) -> str:
        return "trug_fast.truncmvn"


truncmvn = VectorFamily()
