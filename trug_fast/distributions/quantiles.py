"""From probabilities to values, and where the distribution lies.

Tested in tests/distributions/test_truncnorm.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.kernels import arrays

from .arguments import FAMILY, PROBABILITIES, documented
from .broadcasting import elementwise, is_python_number


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
