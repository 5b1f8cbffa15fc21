"""Functions of points x: density, distribution function, their logarithms, the likelihood.

Tested in tests/distributions/test_truncnorm.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast.kernels import arrays

from .arguments import POINTS, documented
from .broadcasting import elementwise
from .summaries import mean


@documented(
    POINTS,
    returns="""
    With z = (x - loc)/scale: ``exp(-z**2/2) / (scale * Z)``, where Z is the integral of
    ``exp(-t**2/2)`` over [a, b].
    """,
    example="""
    >>> print(f"{truncnorm.pdf(0.0, 0.0, float('inf')):.12f}")
    0.797884560803
    """,
)
def pdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Density at x, 0 outside the interval."""
    return elementwise(arrays.pdf, "x a b loc scale", x, a, b, loc, scale)


@documented(
    POINTS,
    returns="Error below 1e-14 max(1, abs(value)), far out in the tail as well.",
    example="""
    >>> print(f"{truncnorm.logpdf(1e8, 1e8, float('inf')):.12f}")
    18.420680743952
    """,
)
def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the density at x, -inf outside the interval."""
    return elementwise(arrays.logpdf, "x a b loc scale", x, a, b, loc, scale)


@documented(
    POINTS,
    returns="""
    0 up to the lower end, 1 from the upper end.  Relative error below 2e-15 (1 - log(cdf)).
    """,
    example="""
    >>> print(f"{truncnorm.cdf(30.01, 30.0, float('inf')):.12f}")
    0.259465118832
    """,
    notes="""
    A ratio of two integrals of the density, never a difference of normal distribution functions.
    """,
)
def cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Probability of a value up to x."""
    return elementwise(arrays.cdf, "x a b loc scale", x, a, b, loc, scale)


@documented(
    POINTS,
    returns="1 up to the lower end, 0 from the upper end.  Accuracy as for :func:`cdf`.",
    example="""
    >>> print(f"{truncnorm.sf(9.0, 0.0, 10.0):.6e}")
    2.257024e-19
    """,
)
def sf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Probability of a value above x, to full precision where it is small."""
    return elementwise(arrays.sf, "x a b loc scale", x, a, b, loc, scale)


@documented(
    POINTS,
    returns="""
    Right at both ends: neither a cdf that underflows nor one that rounds to 1 loses digits.
    """,
    example="""
    >>> print(f"{truncnorm.logcdf(-100.0, -float('inf'), 0.0):.9f}")
    -5004.831061514
    """,
)
def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the probability of a value up to x."""
    return elementwise(arrays.logcdf, "x a b loc scale", x, a, b, loc, scale)


@documented(
    POINTS,
    returns="Accuracy as for :func:`logcdf`.",
    example="""
    >>> print(f"{truncnorm.logsf(100.0, 0.0, float('inf')):.9f}")
    -5004.831061514
    """,
)
def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the probability of a value above x."""
    return elementwise(arrays.logsf, "x a b loc scale", x, a, b, loc, scale)


def nnlf(theta: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike], x: ArrayLike) -> Any:
    """Negative log likelihood of data: minus the sum of the log density.

    Parameters
    ----------
    theta : (a, b, loc, scale)
        Parameters, as for :func:`rvs`.
    x : array_like
        Data; of more than one axis, the first is summed over.

    Returns
    -------
    numpy.ndarray or NumPy float
        inf if a datum lies outside the interval, or theta are no parameters.

    Raises
    ------
    ValueError
        If ``theta`` are not four.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.nnlf((0.0, float('inf'), 0.0, 1.0), [0.5, 1.0]):.12f}")
    1.076582705289
    """
    if len(theta) != 4:
        raise ValueError(f"theta must be (a, b, loc, scale), got {len(theta)} numbers")
    a, b, loc, scale = theta
    if np.isnan(mean(a, b, loc, scale)).any():
        return np.inf
    return -np.sum(np.atleast_1d(logpdf(x, a, b, loc, scale)), axis=0)
