"""Moments of any order.

Formulas: mathematics 1.13.  Tested in tests/distributions/test_moments.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trug_fast._common import checks
from trug_fast.kernels import arrays

from .broadcasting import columns_of, elementwise
from .functions import log_mass, mean, var
from .powers import Floats, StandardFrame, framed, mean_power

_BLOCK = 2048  # elements at a time, with 48 nodes each
_SPLIT = 134217729.0  # 2**27 + 1


def moment(order: int, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Moment about zero: the mean of x**order.

    Parameters
    ----------
    order : int
        Which power, not negative.
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Error below (order + 4) 5e-16 of the mean of abs(x)**order, and so of the moment itself
        where order is even or the interval does not contain 0.

    Raises
    ------
    TypeError, ValueError
        If ``order`` is not an integer or negative.

    Notes
    -----
    From the third on by quadrature of positive terms (mathematics 1.13), 2 to 8 us each; the
    recurrence of SciPy loses all digits in narrow intervals and tails.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.moment(5, -2.0, 3.0):.12f}")
    1.645309620208
    """
    order = checks.count("order", order, 0)
    if order < 2:
        first = mean(a, b, loc, scale)
        return first if order else np.where(np.isnan(first), first, np.ones_like(first))[()]
    if order == 2:
        with np.errstate(over="ignore"):
            return var(a, b, loc, scale) + mean(a, b, loc, scale) ** 2

    def power(frame: StandardFrame, loc: Floats, scale: Floats) -> Floats:
        distance = _from_zero(frame.origin, loc, scale)
        sign = np.where(frame.reflected, -1.0, 1.0)
        return sign**order * mean_power(order, frame, sign * distance, scale)

    return _over_frames(power, a, b, loc, scale)


def stats(
    a: ArrayLike,
    b: ArrayLike,
    loc: ArrayLike = 0,
    scale: ArrayLike = 1,
    moments: str = "mv",
) -> Any:
    """Mean, variance, skewness and excess kurtosis in one call.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.
    moments : str, optional
        Which: "m" for the mean, "v" for the variance, "s" for the skewness (the third central
        moment over the cubed standard deviation), "k" for the kurtosis (the fourth over the squared
        variance, less a normal's 3).

    Returns
    -------
    tuple, numpy.ndarray or NumPy float
        The moments asked for, in the order above; one alone comes without a tuple.  Error of the
        skewness below 1e-13 max(0.01, abs(value)); of the kurtosis below 1e-14 max(1, abs(value)),
        and relative where both ends are two deviations or more beyond the mode.

    Raises
    ------
    ValueError
        If ``moments`` holds another letter, or none.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> mean, variance, skewness, kurtosis = truncnorm.stats(0.0, float("inf"), moments="mvsk")
    >>> print(f"{mean:.9f} {variance:.9f} {skewness:.9f} {kurtosis:.9f}")
    0.797884561 0.363380228 0.995271746 0.869177304
    """
    functions = {"m": mean, "v": var, "s": _skewness, "k": _kurtosis}
    if not moments or not set(moments) <= functions.keys():
        raise ValueError(f"moments must be made of 'm', 'v', 's' and 'k', got {moments!r}")
    found = tuple(f(a, b, loc, scale) for letter, f in functions.items() if letter in moments)
    return found[0] if len(found) == 1 else found


def _skewness(a: ArrayLike, b: ArrayLike, loc: ArrayLike, scale: ArrayLike) -> Any:
    return elementwise(arrays.skewness, "a b loc scale", a, b, loc, scale)


def _kurtosis(a: ArrayLike, b: ArrayLike, loc: ArrayLike, scale: ArrayLike) -> Any:
    """Return the fourth central moment over the squared variance, less a normal's 3."""

    def excess(frame: StandardFrame, loc: Floats, scale: Floats) -> Floats:
        centre = -mean_power(1, frame, np.zeros_like(loc))
        width = np.minimum(frame.high - frame.low, 1.0)
        unit = np.maximum(frame.slope, 1.0 / width)  # lest powers underflow
        square = mean_power(2, frame, centre, unit)
        found = mean_power(4, frame, centre, unit) / square / square - 3.0
        near = (frame.low < -2) & (frame.high > 2)
        found[near] = _nearly_normal(frame.low[near], frame.high[near])
        return found

    return _over_frames(excess, a, b, loc, scale)


def _nearly_normal(low: Floats, high: Floats) -> Floats:
    """Return the same of an interval around the mode, by what the normal has beyond its ends.

    Of terms that are small with that mass, so that none cancels against 3.
    """
    mass = np.exp(log_mass(low, high)) * np.sqrt(2.0 * np.pi)
    low, high = np.maximum(low, -40.0), np.minimum(high, 40.0)
    at_low, at_high = (np.exp(-0.5 * end * end) / mass for end in (low, high))
    first, second, third, fourth = (low**k * at_low - high**k * at_high for k in range(4))
    square = first * first
    variance = 1.0 + second - square
    bend = 4.0 + 12.0 * second - 6.0 * square
    fourth_cumulant = fourth - 3.0 * second * (1.0 + second) - 4.0 * first * third + square * bend
    excess: Floats = fourth_cumulant / (variance * variance)
    return excess


def _over_frames(
    function: Callable[[StandardFrame, Floats, Floats], Floats],
    a: ArrayLike,
    b: ArrayLike,
    loc: ArrayLike,
    scale: ArrayLike,
) -> Any:
    """Return a function of frames, loc and scale; NaN where there is no distribution."""
    columns, shape, dtype = columns_of("a b loc scale", (a, b, loc, scale))
    out = np.full(int(np.prod(shape)), np.nan)
    places = np.flatnonzero(np.isfinite(mean(a, b, loc, scale)))
    with np.errstate(all="ignore"):  # of weights that are 0
        for start in range(0, places.size, _BLOCK):
            part = places[start : start + _BLOCK]
            low, high, shift, width = (
                np.broadcast_to(column, out.size)[part].astype(np.float64) for column in columns
            )
            out[part] = function(framed(low, high), shift, width)
        result = out.astype(dtype).reshape(shape)
    return result if result.ndim else result[()]


def _from_zero(origin: Floats, loc: Floats, scale: Floats) -> Floats:
    """Return (loc + scale origin)/scale, exact where loc cancels the rest."""
    step = origin * scale
    lost = _error_of_product(origin, scale, step)
    placed = loc + step
    part = placed - loc
    lost = np.where(np.isfinite(lost), lost, 0.0) + ((loc - (placed - part)) + (step - part))
    return (placed + lost) / scale


def _error_of_product(x: Floats, y: Floats, product: Floats) -> Floats:
    """Return x y - product (Dekker, 1971)."""
    with np.errstate(invalid="ignore"):
        x_high, y_high = ((v * _SPLIT) - (v * _SPLIT - v) for v in (x, y))
        x_low, y_low = x - x_high, y - y_high
        return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
