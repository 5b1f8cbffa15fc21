"""The functions of a truncated normal: of points, of probabilities, and what sums it up.

Moments beyond the second are in moments.py.  Tested in tests/distributions/test_truncnorm.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.kernels import arrays
from trug_fast.kernels.describing import described

from .broadcasting import elementwise, is_python_number

FAMILY = {
    "a, b : array_like": """
        Ends of the interval, in standard deviations from loc: (lower - loc)/scale and
        (upper - loc)/scale; infinite ends are allowed.""",
    "loc, scale : array_like, optional": """
        Mean and standard deviation of the normal before truncation.""",
}
POINTS = {"x : array_like": "Points."} | FAMILY
PROBABILITIES = {"q : array_like": "Probabilities; NaN is returned outside [0, 1]."} | FAMILY

documented = partial(
    described,
    kind="numpy.ndarray or NumPy float",
    imports=">>> from trug_fast import truncnorm",
)


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


@documented(
    PROBABILITIES,
    returns="""
    The lower end for 0, the upper end for 1, and between them right to rounding, for q down to
    1e-300.  Near 1 take :func:`isf`: q itself is rounded there.
    """,
    example="""
    >>> print(f"{truncnorm.ppf(0.5, 0.0, float('inf')):.12f}")
    0.674489750196
    """,
)
def ppf(q: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Quantile: the value that has probability q below it."""
    return elementwise(arrays.ppf, "q a b loc scale", q, a, b, loc, scale)


@documented(
    PROBABILITIES,
    returns="The upper end for 0, the lower end for 1; accuracy as for :func:`ppf`.",
    example="""
    >>> print(f"{truncnorm.isf(1e-100, 0.0, float('inf')):.9f}")
    21.305940069
    """,
)
def isf(q: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Upper quantile: the value that has probability q above it."""
    return elementwise(arrays.isf, "q a b loc scale", q, a, b, loc, scale)


@documented(
    FAMILY,
    returns="Right to rounding.",
    example="""
    >>> print(f"{truncnorm.median(-1.0, 1.0, loc=3.0):.12f}")
    3.000000000000
    """,
)
def median(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Median: :func:`ppf` at 1/2."""
    return ppf(0.5, a, b, loc, scale)


def interval(
    confidence: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Interval around the median that holds a share of the probability.

    Parameters
    ----------
    confidence : array_like
        The share; equal tails are left out on both sides.
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    lower, upper : numpy.ndarray or NumPy float
        ``ppf`` and ``isf`` at (1 - confidence)/2.

    Raises
    ------
    ValueError
        If ``confidence`` lies outside [0, 1].

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> low, high = truncnorm.interval(0.95, -float("inf"), float("inf"))
    >>> print(f"{low:.9f} {high:.9f}")
    -1.959963985 1.959963985
    """
    share: Any = confidence
    if not is_python_number(confidence):
        checks.unmasked("confidence", confidence)
        share = np.asarray(confidence)
    if np.any((share < 0) | (share > 1)):
        raise ValueError(f"confidence must lie in [0, 1], got {confidence!r}")
    tail = (1 - share) / 2
    return ppf(tail, a, b, loc, scale), isf(tail, a, b, loc, scale)


@documented(
    FAMILY,
    returns="``a*scale + loc`` and ``b*scale + loc``.",
    example="""
    >>> lower, upper = truncnorm.support(-1, 2, loc=3, scale=2)
    >>> print(lower, upper)
    1.0 7.0
    """,
    kind="lower, upper : numpy.ndarray or NumPy float",
)
def support(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Return the ends of the interval in the units of x."""
    return ppf(0.0, a, b, loc, scale), ppf(1.0, a, b, loc, scale)


@documented(
    FAMILY,
    returns="""
    Error below 3e-15 on the scale of the mean or of its distance from the near end, whichever
    is larger: where loc cancels the end, that distance keeps its digits.
    """,
    example="""
    >>> print(f"{truncnorm.mean(0.0, float('inf')):.12f}")
    0.797884560803
    """,
)
def mean(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Mean."""
    return elementwise(arrays.mean, "a b loc scale", a, b, loc, scale)


@documented(
    FAMILY,
    returns="Relative error below 1e-14 for every interval.",
    example="""
    >>> print(f"{truncnorm.var(38.0, float('inf')):.9e}")
    6.896597535e-04
    """,
)
def var(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Variance."""
    return elementwise(arrays.var, "a b loc scale", a, b, loc, scale)


@documented(
    FAMILY,
    returns="Relative error below 1e-14 for every interval.",
    example="""
    >>> print(f"{truncnorm.std(0.0, 1e-12):.9e}")
    2.886751346e-13
    """,
)
def std(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Compute the standard deviation: the root of :func:`var`."""
    return np.sqrt(var(a, b, loc, scale))


@documented(
    FAMILY,
    returns="Error below 1e-14 max(1, abs(value)).",
    example="""
    >>> print(f"{truncnorm.entropy(-1e-6, 1e-6):.9f}")  # log(2e-6)
    -13.122363377
    """,
)
def entropy(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Differential entropy: minus the mean of the log density."""
    return elementwise(arrays.entropy, "a b loc scale", a, b, loc, scale)


@documented(
    FAMILY,
    returns="Relative error below 1e-14, near 0 as well as far out.",
    example="""
    >>> print(f"{truncnorm.log_mass(40.0, 41.0):.9f}")
    -804.608442014
    """,
)
def log_mass(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Log of the mass that a normal has in the interval: log(Phi(b) - Phi(a))."""
    return elementwise(arrays.log_mass, "a b loc scale", a, b, loc, scale)
