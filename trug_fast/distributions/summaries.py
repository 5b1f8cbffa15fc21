"""Numbers that sum a distribution up; moments beyond the second are in moments.py.

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
