"""Means of functions.

Tested in tests/distributions/test_expectations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast.kernels import arrays

from .broadcasting import NAMES, columns_of, elementwise
from .moments import framed, mean, mean_power, var

# Where integrals are cut, in standard deviations from the mean: adaptive quadrature that begins
# with one panel would not see a narrow peak.
_CUTS = (0.0, 0.5, 2.0, 5.0, 10.0, 40.0)
_ACCURACY = 1e-12  # asked for

Function = Callable[[float], Any]


def expect(
    func: Function | None = None,
    args: tuple[ArrayLike, ...] = (),
    loc: ArrayLike = 0,
    scale: ArrayLike = 1,
    lb: float | None = None,
    ub: float | None = None,
    conditional: bool = False,
    **kwds: Any,
) -> Any:
    """Mean of a function, by adaptive quadrature.

    Parameters
    ----------
    func : callable, optional
        Takes a float and returns one; by default x itself.
    args : (array_like, array_like), optional
        The ends a and b, as for :func:`rvs`, in one argument as in SciPy.
    loc, scale : array_like, optional
        As for :func:`rvs`.
    lb, ub : float, optional
        Bounds of x beyond which nothing is integrated; by default the ends of the interval.
    conditional : bool, optional
        Divide by the probability that x lies between the bounds.
    **kwds
        Passed to :func:`scipy.integrate.quad` for each piece, ``limit`` for example.

    Returns
    -------
    numpy.ndarray or NumPy float
        One mean for each distribution; NaN where there is none, or nothing between the bounds to
        condition on.  Error about 1e-11 of the mean of abs(func) for a smooth function.

    Raises
    ------
    TypeError, ValueError
        If ``func`` cannot be called, ``args`` are not two, or lb < ub fails.

    Warns
    -----
    scipy.integrate.IntegrationWarning
        If the quadrature does not converge.

    Notes
    -----
    The density is cut to the bounds, which gives another truncated normal; the range is cut at some
    standard deviations from its mean, so that neither a far tail nor a narrow interval is missed.

    Examples
    --------
    >>> import math
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.expect(math.exp, (0.0, 1.0)):.12f}")
    1.648721270700
    >>> print(f"{truncnorm.expect(lb=1.0, args=(0.0, math.inf), conditional=True):.12f}")
    1.525135276161
    """
    if func is not None and not callable(func):
        raise TypeError(f"func must be a function of a float, got {func!r}")
    if not isinstance(args, tuple | list) or len(args) != 2:
        raise ValueError(f"args must be the pair (a, b), got {args!r}")
    low, high = -np.inf if lb is None else float(lb), np.inf if ub is None else float(ub)
    if not low < high:
        raise ValueError(f"lb must be below ub, got {lb} and {ub}")
    columns, shape, dtype = columns_of(NAMES, (*args, loc, scale))
    full = (np.broadcast_to(column, int(np.prod(shape))).tolist() for column in columns)
    found = [_mean(func, one, (low, high), conditional, kwds) for one in zip(*full, strict=True)]
    result = np.array(found, dtype).reshape(shape)
    return result if result.ndim else result[()]


def _mean(
    func: Function | None,
    parameters: tuple[float, float, float, float],
    bounds: tuple[float, float],
    conditional: bool,
    options: dict[str, Any],
) -> float:
    """Return the mean for one distribution."""
    a, b, loc, scale = parameters
    if np.isnan(mean(*parameters)) or not np.isfinite(loc):
        return float("nan")
    low, high = max(a, (bounds[0] - loc) / scale), min(b, (bounds[1] - loc) / scale)
    if not low < high:
        return float("nan") if conditional else 0.0
    inner = low, high, loc, scale
    share = 1.0
    if not conditional and (low, high) != (a, b):
        # The two densities are in this ratio everywhere, so where they are highest.
        top = loc + scale * min(max(0.0, low), high)
        whole, part = (elementwise(arrays.logpdf, *each, x=top) for each in (parameters, inner))
        share = float(np.exp(whole - part))
    if share == 0.0:
        return 0.0
    if func is None:
        return share * float(mean(*inner))
    return share * _integral(func, inner, options)


def _integral(
    func: Function, parameters: tuple[float, float, float, float], options: dict[str, Any]
) -> float:
    """Return the mean of a function over the whole of a distribution, piece by piece."""
    from scipy.integrate import quad  # here, as its import takes a while

    a, b, loc, scale = parameters
    frame = framed(*(np.array([end]) for end in (a, b)))
    slope, sign = float(frame.slope[0]), -1.0 if frame.reflected[0] else 1.0
    place = loc + scale * float(frame.origin[0])
    unit = float(
        np.sqrt(var(a, b))
    )  # of length, so that a piece is neither far too long nor too short
    log_density = float(elementwise(arrays.logpdf, a, b, x=float(frame.origin[0])))
    centre = float(mean_power(1, frame, np.zeros(1))[0]) / unit
    first, last = (a, b) if sign > 0 else (-b, -a)
    start = float(frame.low[0]) / unit if np.isfinite(first) else -np.inf
    stop = float(frame.high[0]) / unit if np.isfinite(last) else np.inf

    def integrand(t: float) -> Any:
        r = unit * t
        weight = np.exp(log_density - r * (slope + 0.5 * r)) * unit
        return func(place + sign * scale * r) * weight if weight else 0.0

    cuts = sorted({centre + side * cut for cut in _CUTS for side in (-1.0, 1.0)})
    cuts = [cut for cut in cuts if start < cut < stop]
    size = max((abs(integrand(cut)) for cut in cuts), default=0.0)
    options = {"epsabs": _ACCURACY * size, "epsrel": _ACCURACY, "limit": 200} | options
    edges = pairwise([start, *cuts, stop])
    return float(np.sum([quad(integrand, x, y, **options)[0] for x, y in edges]))
