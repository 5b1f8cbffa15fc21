"""What the functions of truncated normal vectors take, in words: once, for all docstrings.

Tested in tests/distributions/multivariate/test_family.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

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
