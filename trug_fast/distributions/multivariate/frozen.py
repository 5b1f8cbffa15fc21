"""A truncated normal vector whose parameters are fixed.

Tested in tests/distributions/multivariate/test_family.py.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike, seed_from

from .checking import cut_normal, in_units
from .draws import FactorSource, accepted, factor_source, through_factor
from .moments import Estimate, marginal_log_density, moments_by_factor, moments_by_points
from .one_factor import OneFactor, one_factor, tolerance_of
from .probability import LEAST_REPLICATES, BoxProbability, by_factor, by_points
from .reduction import BoxForm, box_form
from .tilting import Tilting, tilting

Method = Literal["auto", "factor", "tilting"]
METHODS: tuple[Method, ...] = get_args(Method)
N_POINTS = 10_000
MOST = 2**48  # draws of a call
LOG_TWO_PI = float(np.log(2 * np.pi))


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
        if A is not None and lower is None and upper is None:
            raise ValueError("with A lower or upper must be given, got neither")
        self._cut = cut_normal(mean, cov, lower, upper, A)
        self._own, self._exponents = in_units(self._cut)
        self._tolerance = None if method == "tilting" else tolerance_of(cov)
        if method == "factor" and self._factor is None:
            raise ValueError(
                "method='factor' takes what has ends to have a covariance of one factor, "
                "diag(D) + b b', right to its last digits, got another: method='tilting' takes any"
            )

    def __repr__(self) -> str:
        rows = int((np.isfinite(self._cut.lower) | np.isfinite(self._cut.upper)).sum())
        return f"FrozenVector(dimension={self._cut.dimension}, constraints={rows})"

    @cached_property
    def _form(self) -> BoxForm:
        return box_form(self._own)

    @cached_property
    def _factor(self) -> OneFactor | None:
        return one_factor(self._form, self._tolerance)

    @cached_property
    def _source(self) -> FactorSource | None:
        return None if self._factor is None else factor_source(self._form, self._factor)

    @property
    def method(self) -> str:
        """How it is computed: ``"factor"`` or ``"tilting"``."""
        return "tilting" if self._factor is None else "factor"

    @cached_property
    def _tilted(self) -> Tilting:
        form = self._form
        return tilting(form.mean, form.cov, form.lower, form.upper)

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("_cut", "_own", "_exponents", "_tolerance")}

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        *,
        rng: RngLike = None,
        return_info: bool = False,
    ) -> Any:
        """Draw exactly; see :func:`trug_fast.truncmvn.rvs`."""
        checks.flag("return_info", return_info)
        sizes = () if size is None else np.atleast_1d(size).tolist()
        shape = tuple(checks.count("size", n, 0) for n in sizes)
        key = seed_from(rng, "truncmvn.rvs")
        count = prod(shape)
        if count > MOST:
            raise ValueError(f"size must be of at most {MOST} vectors, got {size}")
        if self._source is None:
            draws, info = accepted(self._form, self._tilted, count, key)
        else:
            draws, info = through_factor(self._source, count, key)
        if self._exponents.any():
            draws *= np.ldexp(1.0, self._exponents)  # exact, in a tenth of ldexp's time
        draws = self._narrowed(draws)
        draws = draws.reshape(*shape, self._cut.dimension)
        return (draws, info) if return_info else draws

    def _narrowed(self, draws: NDArray[Any]) -> NDArray[Any]:
        """Return draws in the float type of the parameters, between the ends."""
        cut = self._cut
        if draws.dtype == cut.dtype:
            return draws
        narrow = draws.astype(cut.dtype)
        if cut.A is not None:
            return narrow
        ends = cut.lower.astype(cut.dtype), cut.upper.astype(cut.dtype)
        clipped: NDArray[Any] = np.clip(narrow, *ends)
        return clipped

    def logprob(self, *, n_points: int = N_POINTS, rng: RngLike = None) -> BoxProbability:
        """Log of the probability; see :func:`trug_fast.truncmvn.logprob`."""
        _check_points(n_points)
        key = seed_from(rng, "truncmvn.logprob")
        if self._factor is not None:
            return by_factor(self._factor)
        return by_points(self._tilted, self._form.bounded.size, n_points, key)

    def logpdf(self, x: ArrayLike, *, n_points: int = N_POINTS, rng: RngLike = None) -> Any:
        """Log of the density; see :func:`trug_fast.truncmvn.logpdf`."""
        cut = self._cut
        points = self._points(x)
        log = self.logprob(n_points=n_points, rng=rng).log
        own, d = self._own, cut.dimension
        root = np.linalg.cholesky(own.cov)
        known = np.isfinite(points).all(-1)
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

    def _points(self, x: ArrayLike) -> NDArray[Any]:
        points = checks.numbers("x", x).astype(np.float64)
        d = self._cut.dimension
        if points.ndim == 0 or points.shape[-1] != d:
            raise ValueError(f"x must have {d} numbers in its last axis, got shape {points.shape}")
        return points

    def mean(self, *, n_points: int = N_POINTS, rng: RngLike = None) -> Estimate:
        """Mean, with its error; see :func:`trug_fast.truncmvn.mean`."""
        return self._moments(n_points, rng)[0]

    def cov(self, *, n_points: int = N_POINTS, rng: RngLike = None) -> Estimate:
        """Covariance, with its error; see :func:`trug_fast.truncmvn.cov`."""
        return self._moments(n_points, rng)[1]

    def _moments(self, n_points: int, rng: RngLike) -> tuple[Estimate, Estimate]:
        _check_points(n_points)
        key, own = seed_from(rng, "truncmvn.moments"), self._own
        form, factor = self._form, self._factor
        mean, cov = (
            moments_by_points(form, self._tilted, own.mean, own.cov, n_points, key)
            if factor is None
            else moments_by_factor(form, factor, own.mean, own.cov)
        )
        powers = self._exponents
        return (
            Estimate(*(np.ldexp(part, powers) for part in mean)),
            Estimate(*(np.ldexp(part, powers[:, None] + powers) for part in cov)),
        )

    def marginal_logpdf(
        self, index: int, x: ArrayLike, *, n_points: int = N_POINTS, rng: RngLike = None
    ) -> Estimate:
        """Log of one coordinate's density; see :func:`trug_fast.truncmvn.marginal_logpdf`."""
        _check_points(n_points)
        d = self._cut.dimension
        i = checks.count("index", index, 0)
        if i >= d:
            raise ValueError(f"index must be below the dimension {d}, got {i}")
        points = checks.numbers("x", x).astype(np.float64)
        whole = self.logprob(n_points=n_points, rng=(key := seed_from(rng, "truncmvn.marginal")))
        points = np.where(np.isnan(points), points, np.ldexp(points, -self._exponents[i]))
        found = marginal_log_density(self._own, i, points, whole, self._tolerance, n_points, key)
        return Estimate(found.value - self._exponents[i] * np.log(2.0), found.error)


def _check_points(n_points: int) -> None:
    checks.count("n_points", n_points, LEAST_REPLICATES)
