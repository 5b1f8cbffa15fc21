"""Numbers that sum a distribution up.

Tested in tests/distributions/test_truncnorm.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast.kernels import arrays

from .arguments import FAMILY, documented
from .broadcasting import elementwise


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


def stats(
    a: ArrayLike,
    b: ArrayLike,
    loc: ArrayLike = 0,
    scale: ArrayLike = 1,
    moments: str = "mv",
) -> Any:
    """Mean, variance and skewness in one call.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.
    moments : str, optional
        Which: "m" for the mean, "v" for the variance, "s" for the skewness (the third central
        moment over the cubed standard deviation).

    Returns
    -------
    tuple, numpy.ndarray or NumPy float
        The moments asked for, in the order above; one alone comes without a tuple.  Error of the
        skewness below 1e-13 max(0.01, abs(value)).

    Raises
    ------
    ValueError
        If ``moments`` holds another letter; SciPy's "k", the kurtosis, is not offered.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> mean, variance, skewness = truncnorm.stats(0.0, float("inf"), moments="mvs")
    >>> print(f"{mean:.9f} {variance:.9f} {skewness:.9f}")
    0.797884561 0.363380228 0.995271746
    """
    functions = {"m": mean, "v": var, "s": _skewness}
    if not set(moments) <= functions.keys():
        raise ValueError(f"moments must be made of 'm', 'v' and 's', got {moments!r}")
    found = tuple(f(a, b, loc, scale) for letter, f in functions.items() if letter in moments)
    return found[0] if len(found) == 1 else found


def _skewness(a: ArrayLike, b: ArrayLike, loc: ArrayLike, scale: ArrayLike) -> Any:
    return elementwise(arrays.skewness, "a b loc scale", a, b, loc, scale)
