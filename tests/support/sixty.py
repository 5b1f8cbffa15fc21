"""A TruG unit in 60 digits: any real d, any scale; quick enough for 100,000 arguments.

Where ``oracle.unit`` takes differences of erfc in 300 digits, this anchors every mass at the end
where its weight is highest, as distribution.py does, and keeps the exponent apart, so that neither
cancellation nor a scale needs more digits.  A mass is

    exp(-g v - d v**2/2) over [0, w],  which falls from v = 0 on (or rises to a mode, d > 0)

by tail functions (erfc for d > 0, Dawson's function for d < 0, in asymptotic series far out), and
by its Taylor series where its exponents are below 8; the series are summed in integers, ten times
as fast as in mpmath's floats.  ``test_sixty.py`` compares the two.
"""

import functools
import math

import mpmath as mp

DIGITS = 60
WORKING = 75
FAR = 22  # from here the asymptotic series have more than WORKING digits
FACTORIAL = [1, 1, 2, 6]
BITS = 320  # of the integers that stand for fractions


def working(function):
    """Run ``function`` in the working precision."""

    @functools.wraps(function)
    def inside(*args):
        with mp.workdps(WORKING):
            return function(*args)

    return inside


def _taylor(g, c, orders):
    """Integrate t**k exp(-g t - c t**2/2) over [0, 1], for abs(g) <= 4, abs(c) <= 8."""
    g, c = (int(mp.ldexp(v, BITS)) for v in (g, c))
    last, term, n = 0, 1 << BITS, 0
    sums = [0] * orders
    while abs(term) + abs(last) > 1 << (BITS - 270):
        for k in range(orders):
            sums[k] += term // (n + k + 1)
        n += 1
        last, term = term, -((g * term + c * last) >> BITS) // n
    return [mp.ldexp(mp.mpf(v), -BITS) for v in sums]


def _series(x, sign, orders):
    """Integrals of v**k exp(-x v - sign v**2/2) over v > 0, by their asymptotic series."""
    y, found = int(mp.ldexp(1 / (x * x), BITS)), []
    for k in range(orders):
        total, term, j = 0, 1 << BITS, 0
        while term and abs(term) > 1 << (BITS - 270):
            total += term
            term = -sign * (term * (k + 2 * j + 1) * (k + 2 * j + 2) * y >> BITS) // (2 * (j + 1))
            j += 1
        found.append(mp.ldexp(mp.mpf(total), -BITS) * FACTORIAL[k] / x ** (k + 1))
    return found


def _tails(x, sign, orders):
    """Return the same for every real x (sign < 0: the odd function that the series belongs to)."""
    if x >= FAR:
        return _series(x, sign, orders)
    if x <= -FAR and sign < 0:
        return [-((-1) ** k) * t for k, t in enumerate(_series(-x, sign, orders))]
    root = mp.sqrt(2)
    if sign > 0:
        found = [mp.sqrt(mp.pi / 2) * mp.exp(x * x / 2) * mp.erfc(x / root)]
    else:
        y = x / root  # Dawson's function
        found = [root * mp.exp(-y * y) * mp.erfi(y) * mp.sqrt(mp.pi) / 2]
    for k in range(1, orders):  # by parts
        before = k - 1
        last = (1 if before == 0 else before * found[before - 1]) - x * found[before]
        found.append(sign * last)
    return found


def _falling(g, d, w, orders=1):
    """Integrate v**k exp(-g v - d v**2/2) over [0, w], all of which falls: g >= 0, g + d w >= 0."""
    tau = w * (g + d * w / 2) if mp.isfinite(w) else mp.inf
    if mp.isfinite(w) and g * w <= 4 and abs(d) * w * w <= 8:
        return [m * w ** (k + 1) for k, m in enumerate(_taylor(g * w, d * w * w, orders))]
    decay = mp.exp(-tau) if tau < 400 else mp.mpf(0)  # 1e-173
    if d == 0 or (g > 0 and abs(d) / g**2 < mp.mpf(10) ** -WORKING and tau >= 400):
        near, s, far, width = FACTORIAL[:orders], g, None, w * g
        far = near
    else:
        s = mp.sqrt(abs(d))
        sign = 1 if d > 0 else -1
        near = _tails(g / s, sign, orders)
        width = w * s
        far = _tails(g / s + sign * width, sign, orders) if decay else None
    found = []
    for k in range(orders):
        beyond = mp.mpf(0)
        if decay:
            beyond = decay * sum(math.comb(k, i) * width ** (k - i) * far[i] for i in range(k + 1))
        found.append((near[k] - beyond) / s ** (k + 1))
    return found


class Unit:
    """A unit of d > 0, or of any d between finite ends, with lower < upper."""

    def __init__(self, a, d, lower, upper):
        with mp.workdps(WORKING):
            self.a, self.d, self.lower, self.upper = (
                mp.mpf(float(v)) for v in (a, d, lower, upper)
            )
            self.mode = None
            if self.d > 0 and self.d * self.lower < self.a < self.d * self.upper:
                self.mode = self.a / self.d
            elif self.d < 0 and self.d * self.lower > self.a > self.d * self.upper:
                self.valley = self.a / self.d
            self.value, self.top = self._mass(self.lower, self.upper)

    def _fall(self, high, low):
        """Return how far the exponent falls from ``high`` to ``low``."""
        if mp.isinf(low):
            return mp.inf
        return (high - low) * (self.a - self.d * (high + low) / 2)

    def _drop(self, at):
        """Return how far the exponent at ``at`` lies below that of the anchor of all masses."""
        if self.mode is not None:
            return (self.d * at - self.a) ** 2 / (2 * self.d)
        return self._fall(self._near(self.lower, self.upper), at)

    def _near(self, low, high):
        if mp.isinf(low) or mp.isinf(high):
            return high if mp.isinf(low) else low
        return low if self._fall(low, high) >= 0 else high

    def _parts(self, low, high, orders=1):
        """Return [(anchor, direction, moments about the anchor), ...] of monotone pieces."""
        a, d = self.a, self.d
        if d > 0:
            if d * low < a < d * high:
                m = a / d
                return [
                    (m, -1, _falling(mp.mpf(0), d, m - low, orders)),
                    (m, 1, _falling(mp.mpf(0), d, high - m, orders)),
                ]
        elif d < 0 and d * low > a > d * high:
            m = a / d
            return [
                (low, 1, _falling(d * low - a, d, m - low, orders)),
                (high, -1, _falling(a - d * high, d, high - m, orders)),
            ]
        near = self._near(low, high)
        if near == low:
            return [(low, 1, _falling(d * low - a, d, high - low, orders))]
        return [(high, -1, _falling(a - d * high, d, high - low, orders))]

    def _mass(self, low, high):
        """Return (value, drop): value * exp(-drop) is the mass relative to the anchor of all."""
        parts = self._parts(low, high)
        drops = [self._drop(anchor) for anchor, _, _ in parts]
        least = min(drops)
        value = mp.mpf(0)
        for (_, _, moments), drop in zip(parts, drops, strict=True):
            value += moments[0] * mp.exp(least - drop) if drop - least < 400 else 0
        return value, least

    @working
    def log_share(self, low, high):
        """Return log P(low <= unit <= high)."""
        low, high = mp.mpf(low), mp.mpf(high)
        value, drop = self._mass(low, high)
        return mp.log(value / self.value) + (self.top - drop)

    def log_below(self, x):
        """Return log P(unit <= x), exact near 0 too."""
        return self._log_part(x, self.lower, self.upper)

    def log_above(self, x):
        """Return log P(unit > x)."""
        return self._log_part(x, self.upper, self.lower)

    @working
    def _log_part(self, x, here, there):
        """Return the log of the probability between x and the end ``here``."""
        x = mp.mpf(float(x))
        if not self.lower < x < self.upper:
            return -mp.inf if (x <= self.lower) == (here == self.lower) else mp.mpf(0)
        share = self.log_share(*sorted((here, x)))
        if share < -0.7:
            return share
        other = self.log_share(*sorted((there, x)))
        if other > -5:
            return mp.log1p(-mp.exp(other))
        return -sum(mp.exp(n * other) / n for n in range(1, 40) if n * other > other - 175)

    @working
    def log_density(self, x):
        """Return the log density at x, inside."""
        x = mp.mpf(float(x))
        return -mp.log(self.value) + self.top - self._drop(x) if mp.isfinite(x) else -mp.inf

    @working
    def summary(self):
        """Return a dict as ``oracle.unit`` does, and the entropy."""
        a, d = self.a, self.d
        parts = self._parts(self.lower, self.upper, 4)
        drops = [self._drop(anchor) for anchor, _, _ in parts]
        shares, energy = [], mp.mpf(0)
        for (anchor, way, m), drop in zip(parts, drops, strict=True):
            scale = mp.exp(self.top - drop) / self.value if drop - self.top < 400 else mp.mpf(0)
            g = way * (d * anchor - a)
            if scale:
                energy += scale * ((drop - self.top) * m[0] + g * m[1] + d * m[2] / 2)
            shares.append([scale * v for v in m])
        near = self._near(self.lower, self.upper)
        if self.mode is not None:
            base = self.mode
            log_norm = a * a / (2 * d)
        else:
            base = near
            log_norm = near * (a - d * near / 2)
        raw = [mp.mpf(0)] * 4  # moments about the base
        for (anchor, way, _), share in zip(parts, shares, strict=True):
            by = anchor - base
            for k in range(4):
                raw[k] += sum(
                    math.comb(k, i) * by ** (k - i) * way**i * share[i] for i in range(k + 1)
                )
        mean = raw[1]
        ends = [-mp.inf if mp.isinf(e) else self.log_density(e) for e in (self.lower, self.upper)]
        return {
            "log_norm": log_norm + mp.log(self.value) - self.top,
            "mean": base + mean,
            "offset": abs((base - near) + mean) if mp.isfinite(near) else mp.inf,
            "variance": raw[2] - mean**2,
            "third": raw[3] - 3 * mean * raw[2] + 2 * mean**3,
            "log_low": ends[0],
            "log_high": ends[1],
            "entropy": mp.log(self.value) - self.top + energy + self.top,
        }
