"""Units to test with: random arguments, regimes of samplers, and an exact probability transform."""

import numpy as np
from scipy import special, stats


def random_units(rng, n):
    """Return a, d, lower, upper: tails to 1e8, widths 1e-12 to infinity, d 1e-3 to 1e3."""
    d = 10 ** rng.uniform(-3, 3, n)
    s = np.sqrt(d)
    kind = rng.random(n)
    width = np.where(kind < 0.4, 10 ** rng.uniform(-1, 1, n), 10 ** rng.uniform(-12, 2, n))
    width = np.where(kind > 0.9, np.inf, width)
    sign = rng.choice([-1, 1], n)
    u = np.choose(
        rng.integers(0, 4, n),
        [
            3 * rng.normal(size=n),
            rng.uniform(-60, 60, n),
            sign * 10 ** rng.uniform(-6, 8, n),
            -np.where(np.isinf(width), 5.0, width) * rng.random(n),  # mode inside
        ],
    )
    lower = np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n))
    upper = lower + width / s
    a = d * lower - u * s
    flip = rng.random(n) < 0.5
    a, lower, upper = (
        np.where(flip, -a, a),
        np.where(flip, -upper, lower),
        np.where(flip, -lower, upper),
    )
    keep = lower < upper
    return a[keep], d[keep], lower[keep], upper[keep]


def random_nonpositive_units(rng, n):
    """Return a, d, lower, upper with d <= 0, from uniform to nearly binary units."""
    width = np.where(rng.random(n) < 0.5, 10 ** rng.uniform(-12, 3, n), 10 ** rng.uniform(-1, 1, n))
    shift = rng.normal(size=n) * 10 ** rng.uniform(-2, 2, n)
    lower = np.choose(rng.integers(0, 3, n), [np.zeros(n), -width / 2, shift])
    upper = lower + width
    keep = lower < upper
    lower, upper = lower[keep], upper[keep]
    n, width = len(lower), upper - lower
    bend = np.where(rng.random(n) < 0.25, 0.0, 10 ** rng.uniform(-6, 6, n))  # -d width**2
    drop = rng.choice([-1, 1], n) * 10 ** rng.uniform(-6, 3, n)
    drop = np.where(rng.random(n) < 0.2, drop * np.maximum(bend, 1e-6), drop)
    d = -bend / width**2
    return drop / width + d * (lower + upper) / 2, d, lower, upper


def regimes(n):
    """Return name -> (a, d, lower, upper) of the six regimes of the comparison of samplers."""
    rng, one = np.random.default_rng(20240601), np.ones(n)
    infinite = np.full(n, np.inf)
    return {
        "half line": (rng.normal(0, 1, n), one, 0 * one, infinite),
        "unit interval": (rng.normal(0, 3, n), one, 0 * one, one),
        "symmetric": (rng.normal(0, 3, n) / 0.16, one / 0.16, -one, one),
        "wide": (rng.uniform(-10, 10, n), one, 0 * one, 4 * one),
        "far tail": (-rng.uniform(8, 30, n), one, 0 * one, infinite),
        "narrow and far": (-rng.uniform(8, 30, n), one, 0 * one, 1e-6 * one),
    }


# Standard normals on intervals that break published samplers (wrong, endless or aborting).
EDGE_CASES = [
    (0.0, 1e-4),
    (1e-12, 1e-4),
    (-1e-6, 2e-6),
    (0.0, 1e-12),
    (-0.415, 0.585),
    (40.0, np.inf),
    (40.0, 40.001),
    (30.0, 30.0 + 1e-8),
    (1e3, np.inf),
    (1e6, np.inf),
    (-np.inf, -40.0),
    (-40.0, -39.0),
    (-np.inf, np.inf),
    (-8.0, -6.0),
    (3.4, 3.6),
]


def transform(x, a, d, lower, upper):
    """Return P(unit <= x), accurate enough for a test of 1e5 draws, in tails and narrow intervals.

    Independent of the kernels: erfcx, erf and Dawson's function from SciPy.
    """
    x, a, d, lower, upper = np.broadcast_arrays(*map(np.float64, (x, a, d, lower, upper)))
    with np.errstate(all="ignore"):
        flip = np.where(d > 0, d * (lower + upper) < 2 * a, a > d * (lower + upper) / 2)
        near = np.where(flip, upper, lower)
        v = np.abs(x - near)
        width = upper - lower
        slope = np.where(flip, a - d * upper, d * lower - a)
        p = np.where(
            d > 0,
            _bent_down(np.sqrt(np.abs(d)), slope, v, width),
            _bent_up(slope, -d, v) / _bent_up(slope, -d, width),
        )
        p = np.where(np.isinf(lower) & np.isinf(upper), special.ndtr(x * np.sqrt(d)), p)
    return np.where(flip, 1 - p, p)


def _bent_down(s, slope, v, width):
    u, v, w = slope / s, v * s, width * s
    root = np.sqrt(0.5)

    def tail(x):  # mass from the near end to x away, over the mass of the whole tail
        beyond = np.exp(-u * x - x * x / 2) * special.erfcx((u + x) * root)
        return np.where(np.isinf(x), 1.0, 1 - beyond / special.erfcx(u * root))

    def centre(x):
        return special.erf((u + x) * root) - special.erf(u * root)

    def narrow(x):  # differences cancel: integrate the density instead
        nodes, weights = np.polynomial.legendre.leggauss(10)
        total = np.zeros(x.shape)
        for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            total += weight * np.exp(-(u + node * x / 2) * node * x)
        return x * total

    wide = np.where(u >= 0, tail(v) / tail(w), centre(v) / centre(w))
    return np.where(w * (np.abs(u) + w) < 1, narrow(v) / narrow(w), wide)


def _bent_up(slope, c, v):
    k = np.sqrt(c / 2)
    m = slope / (2 * k)
    bent = (special.dawsn(m) - np.exp(-slope * v + c * v * v / 2) * special.dawsn(m - k * v)) / k
    straight = np.where(slope * v == 0, v, -np.expm1(-slope * v) / slope)
    return np.where(c == 0, straight, bent)


def assert_uniform(p, groups=20):
    """Kolmogorov-Smirnov, on all and in consecutive groups: right draws fail once in 1e6 times."""
    assert ((p >= -1e-9) & (p <= 1 + 1e-9)).all()
    worst = min(stats.kstest(part, "uniform").pvalue for part in np.array_split(p, groups))
    assert stats.kstest(p, "uniform").pvalue > 5e-7
    assert worst * groups > 5e-7


def random_extreme_units(rng, n):
    """Return a, d, lower, upper of any size: widths 1e-100 to 1e100, d of either sign, far ends."""
    width = 10 ** rng.uniform(-100, 100, n)
    shift = rng.normal(size=n) * 10 ** rng.uniform(-1, 8, n)
    middle = np.choose(rng.integers(0, 3, n), [np.zeros(n), np.full(n, 0.5), shift])
    lower, upper = width * (middle - 0.5), width * (middle + 0.5)
    keep = lower < upper
    lower, upper = lower[keep], upper[keep]
    n, width = lower.size, upper - lower
    bend = np.choose(
        rng.integers(0, 4, n),
        [
            np.zeros(n),
            10 ** rng.uniform(-8, 8, n),
            10 ** rng.uniform(-160, 0, n),
            10 ** rng.uniform(0, 80, n),
        ],
    )
    d = rng.choice([-1, 1], n) * bend / width / width
    # The slope at the midpoint: none, any, or (d > 0) such that the mode lies inside.
    drop = rng.choice([-1, 1], n) * 10 ** rng.uniform(-10, 30, n)
    drop = np.choose(rng.integers(0, 4, n), [np.zeros(n), rng.normal(size=n) * 3, drop, bend / 3])
    a = drop / width + d * (lower / 2 + upper / 2)
    infinite = np.where((d > 0) & (rng.random(n) < 0.3), rng.integers(1, 4, n), 0)
    lower = np.where(infinite & 1, -np.inf, lower)
    upper = np.where(infinite & 2, np.inf, upper)
    return a, d, lower, upper


def random_points(rng, a, d, lower, upper):
    """Return points inside: anywhere, near an end on a logarithmic scale, where the mass is."""
    with np.errstate(all="ignore"):
        n, s = a.size, np.sqrt(np.abs(d))
        bent = np.where(d > 0, 1 / s, np.inf)
        low, high = a - d * lower, a - d * upper  # slopes of the exponent at the ends
        from_lower = np.isinf(upper) | (np.isfinite(lower) & (low <= -high))
        near = np.where(from_lower, lower, upper)
        near = np.where(np.isinf(near), a / d, near)
        way = np.where(from_lower, 1.0, -1.0)
        length = np.minimum(upper - lower, 40 * bent)
        slope = np.abs(np.where(from_lower, low, high))
        decay = np.minimum(np.where(slope > 0, 1 / slope, np.inf), length)
        inside = (d > 0) & (d * lower < a) & (a < d * upper)
        mass = np.where(inside, a / d + rng.normal(size=n) * bent, near)
        mass = np.where(inside, mass, near + way * rng.exponential(size=n) * decay)
        other = rng.random(n) < 0.5
        share = np.where(rng.random(n) < 0.5, rng.random(n), 10 ** rng.uniform(-15, 0, n))
        start = np.where(other & np.isfinite(lower + upper), lower + upper - near, near)
        way = np.where(other & np.isfinite(lower + upper), -way, way)
        anywhere = start + way * share * length
        x = np.where(rng.random(n) < 0.5, mass, anywhere)
        return np.clip(np.where(np.isfinite(x), x, near), lower, upper)
