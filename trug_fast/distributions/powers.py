"""Integrals of powers over standard truncated normals, by Gauss-Legendre quadrature.

A power about any centre times the weight is log-concave on either side of the centre
(mathematics 1.13).  So each side has one peak, in closed form, and what lies below exp(-45) of it
is left out.  All terms of a sum are positive: nothing cancels, and errors are relative.

Tested in tests/distributions/test_moments.py.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NODES = 48  # between the peak and where a side ends
_DROP = 45.0  # of the exponent, beyond which 3e-20 is left
_ENOUGH = 60.0  # the most that NODES are good for
_LOW = 32  # orders of powers that NODES integrate whole
_FAR = 1e120  # stands for an infinite end: finite, so that 0 * end is 0


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
    whole = _integral(0, slope, np.ones_like(slope), low, high, np.zeros_like(slope))[1]
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
    log_peak, total = _integral(order, slope, length, low, high, peak)
    size, weight = np.abs(unit * length), np.exp(log_peak)
    # In two halves, between which the weight keeps a power from overflowing.
    value = size ** (order // 2) * (total * weight) * size ** (order - order // 2)
    lost = weight < 1e-290
    logarithm = order * np.log(size[lost]) + log_peak[lost] + np.log(total[lost])
    value[lost] = np.nan_to_num(np.exp(logarithm), nan=0.0, posinf=np.inf)
    return np.where(empty, 0.0, value)


def _integral(
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
    half = NODES // 2
    with localcontext() as context:
        context.prec = 40
        roots = [Decimal(x) for x in np.polynomial.legendre.leggauss(NODES)[0][half:].tolist()]
        pairs = [_polished(root) for root in roots]
        right = [float((1 + root) / 2) for root, _ in pairs]
        left = [float((1 - root) / 2) for root, _ in pairs]
        weights = [float(weight / 2) for _, weight in pairs]
    return np.array(left[::-1] + right), np.array(weights[::-1] + weights)


def _polished(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return a root of Legendre's polynomial from one near it, and its weight."""
    for _ in range(3):
        before, value = Decimal(1), x
        for k in range(2, NODES + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = NODES * (x * value - before) / (x * x - 1)
        x -= value / slope
    return x, 2 / ((1 - x * x) * slope * slope)
