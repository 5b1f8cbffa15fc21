"""The object ``truncmvn``: all functions of truncated normal vectors under one name.

Tested in tests/distributions/multivariate/test_family.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from trug_fast._common.randomness import RngLike

from .frozen import N_POINTS, FrozenVector, Method
from .moments import Estimate
from .probability import BoxProbability

F = TypeVar("F", bound=Callable[..., object])

MODEL = """mean : array_like of shape (d,), or float, optional
        Mean of the normal before truncation; a number stands for all coordinates, None for 0.
    cov : array_like of shape (d, d) or (d,), or float, optional
        Covariance of the normal before truncation; a vector stands for a diagonal, a number for a
        multiple of the identity.
    lower, upper : array_like of shape (d,), with A (m,), or float, optional
        Ends of the box, infinite where there is none; a number stands for all, None for no end.
    A : array_like of shape (m, d), optional
        Makes the constraints lower <= A x <= upper."""
POINTS = """n_points : int, optional
        Points at most, of 9 to 17 random scramblings of a Sobol' sequence; at least 9.  Where the
        covariance is of one factor (:class:`FrozenVector`), none are needed.
    rng : None, int or numpy.random.Generator, optional
        Source of the scramblings."""
RAISES = """TypeError
        If an argument does not hold real numbers.
    ValueError
        If shapes do not fit, an interval is empty, a number is NaN, cov is not symmetric and
        positive definite, variances are not between 1e-305 and 1e305, mean, lower or upper lie more
        than 1e150 deviations out, A has neither lower nor upper, or rows of A with an end depend on
        each other."""


def worded(function: F) -> F:
    """Put the words in a docstring where their names stand."""
    text = function.__doc__ or ""
    for name, words in (("{MODEL}", MODEL), ("{POINTS}", POINTS), ("{RAISES}", RAISES)):
        margin = text.partition(name)[0].rpartition("\n")[2]  # Python 3.13 leaves none
        text = text.replace(name, words.replace("\n    ", "\n" + margin))
    function.__doc__ = text
    return function


Numbers = ArrayLike | None


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

    def __call__(
        self,
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        method: Method = "auto",
    ) -> FrozenVector:
        """Return the distribution with these parameters; see :class:`FrozenVector`."""
        return FrozenVector(mean, cov, lower, upper, A, method=method)

    freeze = __call__

    @staticmethod
    @worded
    def rvs(
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        size: int | tuple[int, ...] | None = None,
        rng: RngLike = None,
        return_info: bool = False,
    ) -> Any:
        """Draw exactly: through one factor, or by rejection from a proposal with minimax tilting.

        Parameters
        ----------
        {MODEL}
        size : int or tuple of int, optional
            How many vectors; None gives one, of shape (d,).
        rng : None, int or numpy.random.Generator, optional
            An int gives the same draws in every call, for any number of threads, and a shorter call
            the first of a longer one's.  A Generator is advanced by one number a call.
        return_info : bool, optional
            Return a :class:`DrawInfo` as well, with the share of proposals accepted.

        Returns
        -------
        numpy.ndarray
            Shape size + (d,): independent draws.  Those of a box lie in it; A x may miss an end by
            rounding.

        Raises
        ------
        {RAISES}
        RuntimeError
            If fewer than 1e-5 of the proposals are accepted, as in some hundreds of dimensions
            with strong correlations that are not of one factor; or if the box is so far out, or cov
            so near to singular, that rounding of the ends alone changes log densities by 0.01.

        Notes
        -----
        Botev, "The normal law under linear restrictions", JRSS B 79 (2017); mathematics 1.15.

        Examples
        --------
        >>> import numpy as np
        >>> import trug_fast as tf
        >>> x, info = tf.truncmvn.rvs(
        ...     [0, 1], [[1, 0.5], [0.5, 2]], lower=[8, -np.inf], size=500, rng=3, return_info=True
        ... )
        >>> x.shape, bool(x[:, 0].min() >= 8), info.acceptance > 0.99
        ((500, 2), True, True)
        """
        frozen = FrozenVector(mean, cov, lower, upper, A)
        return frozen.rvs(size, rng=rng, return_info=return_info)

    @staticmethod
    @worded
    def logprob(
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        n_points: int = N_POINTS,
        rng: RngLike = None,
    ) -> BoxProbability:
        """Return the log of the probability that the untruncated normal meets the constraints.

        Parameters
        ----------
        {MODEL}
        {POINTS}

        Returns
        -------
        BoxProbability
            ``log``, ``relative_error``, ``log_bound``, ``n_points`` and ``method``.  A covariance
            diag(D) + b b', and so any two constraints, takes no points but an integral.

        Raises
        ------
        {RAISES}

        Examples
        --------
        >>> import trug_fast as tf
        >>> pair = tf.truncmvn.logprob(cov=[[1, 0.5], [0.5, 1]], lower=0)  # 1/3
        >>> print(f"{pair.log:.12f}")
        -1.098612288668
        """
        return FrozenVector(mean, cov, lower, upper, A).logprob(n_points=n_points, rng=rng)

    @staticmethod
    @worded
    def logpdf(
        x: ArrayLike,
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        n_points: int = N_POINTS,
        rng: RngLike = None,
    ) -> Any:
        """Return the log of the density.

        Parameters
        ----------
        x : array_like of shape (..., d)
            Points.
        {MODEL}
        {POINTS}

        Returns
        -------
        numpy.ndarray or NumPy float
            Shape (...); -inf where a constraint is not met.  All values share the error of one
            :func:`logprob`.

        Raises
        ------
        {RAISES}

        Examples
        --------
        >>> import trug_fast as tf
        >>> print(f"{tf.truncmvn.logpdf([0.5, 2.0], cov=[1.0, 1.0], lower=0):.9f}")
        -2.576582705
        """
        return FrozenVector(mean, cov, lower, upper, A).logpdf(x, n_points=n_points, rng=rng)

    @staticmethod
    @worded
    def mean(
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        n_points: int = N_POINTS,
        rng: RngLike = None,
    ) -> Estimate:
        """Return the mean of the truncated vector: an integral, or estimated by weighed points.

        Parameters
        ----------
        {MODEL}
        {POINTS}

        Returns
        -------
        Estimate
            ``value`` and ``error``, each of shape (d,).

        Raises
        ------
        {RAISES}

        Examples
        --------
        >>> import trug_fast as tf
        >>> mean = tf.truncmvn.mean(cov=[1.0, 1.0], lower=0, rng=1)  # sqrt(2/pi) = 0.79788...
        >>> print(mean.value.round(3), bool((mean.error < 1e-3).all()))
        [0.798 0.798] True
        """
        return FrozenVector(mean, cov, lower, upper, A).mean(n_points=n_points, rng=rng)

    @staticmethod
    @worded
    def cov(
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        n_points: int = N_POINTS,
        rng: RngLike = None,
    ) -> Estimate:
        """Return the covariance of the truncated vector, by what gives :func:`mean`.

        Parameters
        ----------
        {MODEL}
        {POINTS}

        Returns
        -------
        Estimate
            ``value`` and ``error``, each of shape (d, d).

        Raises
        ------
        {RAISES}

        Examples
        --------
        >>> import trug_fast as tf
        >>> cov = tf.truncmvn.cov(cov=[1.0, 4.0], lower=[0, -float("inf")], rng=1)
        >>> print(cov.value.round(3).tolist())  # 1 - 2/pi, and what no end has touched
        [[0.363, 0.0], [0.0, 4.0]]
        """
        return FrozenVector(mean, cov, lower, upper, A).cov(n_points=n_points, rng=rng)

    @staticmethod
    @worded
    def marginal_logpdf(
        index: int,
        x: ArrayLike,
        mean: Numbers = None,
        cov: ArrayLike = 1,
        lower: Numbers = None,
        upper: Numbers = None,
        A: Numbers = None,
        *,
        n_points: int = N_POINTS,
        rng: RngLike = None,
    ) -> Estimate:
        """Return the log of the density of one coordinate of the truncated vector.

        Parameters
        ----------
        index : int
            Which coordinate, from 0.
        x : array_like
            Points; each takes a probability of the other coordinates.
        {MODEL}
        {POINTS}

        Returns
        -------
        Estimate
            ``value`` and ``error``, each of the shape of x; -inf and 0 outside.

        Raises
        ------
        {RAISES}

        Examples
        --------
        >>> import trug_fast as tf
        >>> pair = tf.truncmvn(cov=[[1, 0.5], [0.5, 1]], lower=0)
        >>> log = pair.marginal_logpdf(0, [0.0, 1.0]).value
        >>> print(log.round(6).tolist())
        [-0.513473, -0.651405]
        """
        frozen = FrozenVector(mean, cov, lower, upper, A)
        return frozen.marginal_logpdf(index, x, n_points=n_points, rng=rng)

    def __repr__(self) -> str:
        return "trug_fast.truncmvn"


truncmvn = VectorFamily()
