"""Moments of any order, by Gauss-Legendre quadrature of powers over standard truncated normals.

A power about any centre times the weight is log-concave on either side of the centre
(mathematics 1.13).  So each side has one peak, in closed form, and what lies below exp(-45) of it
is left out.  All terms of a sum are positive: nothing cancels, and errors are relative.

Means of other functions are taken by adaptive quadrature.  Tested in
tests/distributions/test_moments.py and test_expectations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast.kernels import arrays

from .broadcasting import NAMES, columns_of, elementwise

Floats = NDArray[np.float64]

NODES = 48  # between the peak and where a side ends
_DROP = 45.0  # of the exponent, beyond which 3e-20 is left
_ENOUGH = 60.0  # the most that NODES are good for
_LOW = 32  # orders of powers that NODES integrate whole
_FAR = 1e120  # stands for an infinite end: finite, so that 0 * end is 0
_BLOCK = 2048  # elements at a time, with 48 nodes each
_SPLIT = 134217729.0  # 2**27 + 1

# Where integrals are cut, in standard deviations from the mean: adaptive quadrature that begins
# with one panel would not see a narrow peak.
_CUTS = (0.0, 0.5, 2.0, 5.0, 10.0, 40.0)
_ACCURACY = 1e-12  # asked for

Function = Callable[[float], Any]

mean = partial(elementwise, arrays.mean)
var = partial(elementwise, arrays.var)


def moment(order: int, a: ArrayLike, b: ArrayLike, loc: ArrayLike, scale: ArrayLike) -> Any:
    """Return the mean of x**order."""
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


def stats(a: ArrayLike, b: ArrayLike, loc: ArrayLike, scale: ArrayLike, letters: str) -> Any:
    """Return the moments that letters ask for."""
    functions: dict[str, Callable[..., Any]] = {
        "m": mean,
        "v": var,
        "s": partial(elementwise, arrays.skewness),
        "k": _kurtosis,
    }
    if not letters or not set(letters) <= functions.keys():
        raise ValueError(f"moments must be made of 'm', 'v', 's' and 'k', got {letters!r}")
    found = tuple(f(a, b, loc, scale) for letter, f in functions.items() if letter in letters)
    return found[0] if len(found) == 1 else found


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
    mass = np.exp(elementwise(arrays.log_mass, low, high)) * np.sqrt(2.0 * np.pi)
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
    columns, shape, dtype = columns_of(NAMES, (a, b, loc, scale))
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


class StandardFrame(NamedTuple):
    """Standard normals cut to intervals, counted from the mode, or from the near end outside it.

    At a distance r from that origin the weight is exp(-r (slope + r/2)), for low <= r <= high.
    """

    origin: Floats
    slope: Floats
    low: Floats
    high: Floats
    reflected: NDArray[np.bool_]


def framed(a: Floats, b: Floats) -> StandardFrame:
    """Return the frame of intervals a < b; reflected where the upper end is the near one."""
    reflected = b < -a
    near = np.clip(np.where(reflected, -b, a), -_FAR, _FAR)
    far = np.clip(np.where(reflected, -a, b), -_FAR, _FAR)
    outside = near >= 0
    slope = np.where(outside, near, 0.0)
    origin = np.where(reflected, -slope, slope)
    low, high = np.where(outside, 0.0, near), np.where(outside, far - near, far)
    return StandardFrame(origin, slope, low, high, reflected)


def mean_power(
    order: int, frame: StandardFrame, distance: Floats, unit: Floats | float = 1.0
) -> Floats:
    """Return the mean of (unit (distance + r))**order; unit**order is multiplied in last."""
    _, slope, low, high, _ = frame
    whole = _power_integral(0, slope, np.ones_like(slope), low, high, np.zeros_like(slope))[1]
    apart = np.clip(distance, -_FAR, _FAR)
    root = np.sqrt((slope - apart) ** 2 + 4.0 * order)
    total = slope + apart
    # Peaks solve (slope + r)(distance + r) = order: a sum of like signs, and the product over it.
    larger = np.where(total > 0, -total - root, root - total) / 2.0
    other = (slope * apart - order) / larger
    above, below = np.where(total > 0, other, larger), np.where(total > 0, larger, other)
    centre = np.clip(-distance, low, high)
    result = _part(order, slope, distance, centre, high, above, unit) / whole
    negative = _part(order, slope, distance, low, centre, below, unit) / whole
    if order % 2 == 0:
        return result + negative
    lost = np.isinf(result) & np.isinf(negative)
    if lost.any():  # both beyond floats: the sign, by smaller units
        small = 1.0 / (1.0 + np.abs(distance[lost]))
        part = StandardFrame._make(column[lost] for column in frame)
        result[lost] *= np.sign(mean_power(order, part, distance[lost], small))
        negative[lost] = 0.0
    return result - negative


def _part(
    order: int,
    slope: Floats,
    distance: Floats,
    low: Floats,
    high: Floats,
    peak: Floats,
    unit: Floats | float,
) -> Floats:
    """Return the integral of |unit (distance + r)|**order over the weight, on one side of 0."""
    empty = ~(low < high)
    peak = np.clip(peak, low, high)
    # Never at the centre itself, not by rounding either.
    peak = np.where(distance + peak == 0, np.where(distance + low == 0, high, low), peak)
    length = np.where(empty, 1.0, distance + peak)
    log_peak, total = _power_integral(order, slope, length, low, high, peak)
    size, weight = np.abs(unit * length), np.exp(log_peak)
    # In two halves, between which the weight keeps a power from overflowing.
    value = size ** (order // 2) * (total * weight) * size ** (order - order // 2)
    lost = weight < 1e-290
    logarithm = order * np.log(size[lost]) + log_peak[lost] + np.log(total[lost])
    value[lost] = np.nan_to_num(np.exp(logarithm), nan=0.0, posinf=np.inf)
    return np.where(empty, 0.0, value)


def _power_integral(
    order: int, slope: Floats, length: Floats, low: Floats, high: Floats, peak: Floats
) -> tuple[Floats, Floats]:
    """Return the log of the weight at the peak, and the integral over that, lengths over length."""
    sums = np.zeros_like(slope)
    tilt = slope + peak
    for sign, room in ((1.0, high - peak), (-1.0, peak - low)):
        reach = _reach(order, sign * tilt, sign * length, room)
        nodes, weights = _legendre()
        step = reach[:, None] * nodes
        exponent = step * (sign * tilt[:, None] + 0.5 * step)
        ratio = 1.0 + step / (sign * length[:, None]) if order else 1.0
        sums += reach * ((_power(ratio, order) * np.exp(-exponent)) @ weights)
    return -peak * (slope + 0.5 * peak), sums


def _reach(order: int, tilt: Floats, length: Floats, room: Floats) -> Floats:
    """Return how far to go from the peak: all the room, or where the integrand is negligible.

    The drop of its logarithm is convex, so that Newton's steps from beyond stay beyond.  Towards
    the centre a low power is left out of it: there it is a polynomial, which needs no shorter way.
    """
    slope = np.maximum(tilt - order / length, 0.0)
    reach = 2.0 * _DROP / (slope + np.sqrt(slope * slope + 2.0 * _DROP))
    if order:
        # The power alone, and what of the weight balances it at the peak.
        share = _DROP / order
        away = length * (share + np.sqrt(share * (share + 2.0)))
        to_centre = length * (np.expm1(-1.0 - share) if order > _LOW else -1.0)
        reach = np.minimum(reach, np.where(length > 0, away, to_centre))
    reach = np.minimum(reach, room)
    lengths = np.where((length > 0) | (order > _LOW), length, np.inf)
    todo = np.arange(reach.size)
    while todo.size:
        now, lean, to = reach[todo], tilt[todo], lengths[todo]
        drop = now * (lean + 0.5 * now) - order * np.log1p(now / to)
        beyond = drop > _ENOUGH
        todo, now, lean, to = todo[beyond], now[beyond], lean[beyond], to[beyond]
        reach[todo] -= (drop[beyond] - _DROP) / (lean + now - order / (to + now))
    return reach


def _power(ratio: Any, order: int) -> Any:
    """Return an integer power; small ones by products, which cost a tenth."""
    if order > 4:
        return ratio**order
    square = ratio * ratio if order > 1 else 1.0
    return (1.0, ratio, square, square * ratio, square * square)[order]


@cache
def _legendre() -> tuple[Floats, Floats]:
    """Return nodes and weights on [0, 1], right to rounding: NumPy's weights are off by 1e-12."""
    with localcontext() as context:
        context.prec = 40
        x = np.array([*map(Decimal, np.polynomial.legendre.leggauss(NODES)[0].tolist())])
        for _ in range(3):  # Newton's steps; the last changes nothing
            before, value = x * 0 + 1, x
            for k in range(2, NODES + 1):
                before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
            slope = NODES * (x * value - before) / (x * x - 1)
            x = x - value / slope
        return ((1 + x) / 2).astype(float), (1 / ((1 - x * x) * slope * slope)).astype(float)


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
