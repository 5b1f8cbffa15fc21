"""Functions of points x: density, distribution function, their logarithms."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from trug_fast.kernels import arrays

from .broadcasting import elementwise


def pdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Density at x, 0 outside the interval.

    Parameters
    ----------
    x : array_like
        Points.
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        With z = (x - loc)/scale: ``exp(-z**2/2) / (scale * Z)``, where Z is the integral of
        ``exp(-t**2/2)`` over [a, b].

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.pdf(0.0, 0.0, float('inf')):.12f}")
    0.797884560803
    """
    return elementwise(arrays.pdf, "x a b loc scale", x, a, b, loc, scale)


def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the density at x, -inf outside the interval.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Error below 1e-14 max(1, abs(value)), far out in the tail as well.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.logpdf(1e8, 1e8, float('inf')):.12f}")
    18.420680743952
    """
    return elementwise(arrays.logpdf, "x a b loc scale", x, a, b, loc, scale)


def cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Probability of a value up to x.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        0 up to the lower end, 1 from the upper end.  Relative error below 2e-15 (1 - log(cdf)).

    Notes
    -----
    A ratio of two integrals of the density, never a difference of normal distribution functions.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.cdf(30.01, 30.0, float('inf')):.12f}")
    0.259465118832
    """
    return elementwise(arrays.cdf, "x a b loc scale", x, a, b, loc, scale)


def sf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Probability of a value above x, to full precision where it is small.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        1 up to the lower end, 0 from the upper end.  Accuracy as for :func:`cdf`.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.sf(9.0, 0.0, 10.0):.6e}")
    2.257024e-19
    """
    return elementwise(arrays.sf, "x a b loc scale", x, a, b, loc, scale)


def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the probability of a value up to x.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Right at both ends: neither a cdf that underflows nor one that rounds to 1 loses digits.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.logcdf(-100.0, -float('inf'), 0.0):.9f}")
    -5004.831061514
    """
    return elementwise(arrays.logcdf, "x a b loc scale", x, a, b, loc, scale)


def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the probability of a value above x.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Accuracy as for :func:`logcdf`.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.logsf(100.0, 0.0, float('inf')):.9f}")
    -5004.831061514
    """
    return elementwise(arrays.logsf, "x a b loc scale", x, a, b, loc, scale)
