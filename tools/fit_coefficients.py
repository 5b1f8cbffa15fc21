"""Fit the polynomial coefficients of the kernels with mpmath and print their file.

Run after a change of a degree or an interval; the output is deterministic::

    python -m tools.fit_coefficients > trug_fast/kernels/special/coefficients.txt

Each fit is a Chebyshev interpolation in 40 digits,
so its error is within a small factor of the best possible polynomial of the same degree.
"""

import mpmath as mp

mp.mp.dps = 40


def chebyshev_fit(function, low, high, degree):
    """Monomial coefficients, highest first, of the Chebyshev interpolant on [low, high]."""
    mid, half = mp.mpf(low + high) / 2, mp.mpf(high - low) / 2
    angles = [mp.pi * (2 * i + 1) / (2 * degree + 2) for i in range(degree + 1)]
    nodes = [mp.cos(t) for t in angles]
    values = [function(mid + half * x) for x in nodes]
    series = [
        sum(v * mp.cos(k * t) for v, t in zip(values, angles, strict=True)) * 2 / (degree + 1)
        for k in range(degree + 1)
    ]
    series[0] /= 2
    # Chebyshev series in x -> monomials in x -> monomials in the original variable.
    total, previous, current = [mp.mpf(0)] * (degree + 1), [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    for k, c in enumerate(series):
        basis = previous if k == 0 else current
        for power, b in enumerate(basis):
            total[power] += c * b
        if k >= 1:
            doubled = [mp.mpf(0)] + [2 * b for b in current]
            for power, b in enumerate(previous):
                doubled[power] -= b
            previous, current = current, doubled
    shifted = [mp.mpf(0)] * (degree + 1)
    for power, c in enumerate(total):
        for j in range(power + 1):
            shifted[j] += c * mp.binomial(power, j) * (-mid) ** (power - j) / half**power
    return list(reversed(shifted))


def mills(u):
    """Mills ratio (1 - Phi(u)) / phi(u)."""
    return mp.sqrt(mp.pi / 2) * mp.exp(u * u / 2) * mp.erfc(u / mp.sqrt(2))


def second_tail(u):
    """Integral of v^2 exp(-u v - v^2/2) over v > 0, by continued fraction where that cancels."""
    if u < 12:
        with mp.workdps(80):
            r0 = mills(u)
            return r0 - u * (1 - u * r0)
    tail = mp.mpf(u)
    for k in range(int(60 + 2000 / u), 3, -1):
        tail = u + k / tail
    k3 = 1 / (u + 3 / tail)
    return 2 * k3 / (u * (u + 2 * k3) + 1)


def tail_on_half_line(t):
    """(u + 4) (1 + u^2) times the second tail integral at u = 4 (1 + t) / (1 - t)."""
    if t > mp.mpf(1) - mp.mpf(10) ** -30:
        return mp.mpf(2)
    u = 4 * (1 + t) / (1 - t)
    return (u + 4) * (1 + u * u) * second_tail(u)


def third_tail(u):
    """Integral of v^3 exp(-u v - v^2/2) over v > 0, by continued fraction where that cancels."""
    if u < 12:
        with mp.workdps(80):
            r0 = mills(u)
            r1 = 1 - u * r0
            return 2 * r1 - u * (r0 - u * r1)
    tail = mp.mpf(u)
    for k in range(int(60 + 2000 / u), 4, -1):
        tail = u + k / tail
    k4 = 1 / (u + 4 / tail)
    return 3 * k4 * second_tail(u)


def third_ratio_on_half_line(t):
    """(u + 4) times the ratio of third and second tail integral at u = 4 (1 + t) / (1 - t)."""
    if t > mp.mpf(1) - mp.mpf(10) ** -30:
        return mp.mpf(3)
    u = 4 * (1 + t) / (1 - t)
    return (u + 4) * third_tail(u) / second_tail(u)


def hazard_on_half_line(t):
    """(u + 4) (1/R0(u) - u) at u = 4 (1 + t) / (1 - t)."""
    if t > mp.mpf(1) - mp.mpf(10) ** -30:
        return mp.mpf(1)
    u = 4 * (1 + t) / (1 - t)
    if u < 12:
        with mp.workdps(80):
            return (u + 4) * (1 / mills(u) - u)
    tail = mp.mpf(u)
    for k in range(int(60 + 2000 / u), 1, -1):
        tail = u + k / tail
    return (u + 4) / tail


VALLEY = mp.mpf("5.5")  # where integrals from a valley change from one polynomial to another


def valley_integral(x):
    """Integral of exp((t^2 - x^2)/2) over 0 < t < x, by asymptotic series far out."""
    if x > 60:
        return sum(mp.fac2(2 * k - 1) / x ** (2 * k + 1) for k in range(60))
    return mp.exp(-x * x / 2) * mp.sqrt(mp.pi / 2) * mp.erfi(x / mp.sqrt(2))


def third_valley(x):
    """Third of the integrals that belong to it (mathematics 1.7), by the series far out."""
    if x > 60:
        return sum(mp.fac(2 * j + 3) / (2**j * mp.fac(j)) / x ** (2 * j + 4) for j in range(60))
    with mp.workdps(80):
        return (x**3 - 3 * x) * valley_integral(x) - (x * x - 2)


def valley_base(x):
    """((x^2-1)^2 + 1) H0 - (x^3 - x), from which all of them follow without cancelling."""
    if x > 60:
        second = (x * third_valley(x) + 2 * valley_integral(x)) / (x * x - 2)
        return (x * x - 1) * second + valley_integral(x)
    with mp.workdps(80):
        return ((x * x - 1) ** 2 + 1) * valley_integral(x) - (x**3 - x)


def in_valley(function, limit):
    """Return function(x)/x in t, with x^2 = VALLEY^2 (1 + t)/2."""

    def inside(t):
        x = VALLEY * mp.sqrt((1 + t) / 2)
        return function(x) / x if x > mp.mpf(10) ** -20 else mp.mpf(limit)

    return inside


def beyond_valley(function, power, limit):
    """Return function(x) x^power in t, with 1/x^2 = (1 + t)/(2 VALLEY^2)."""

    def beyond(t):
        root = mp.sqrt((1 + t) / 2) / VALLEY
        return function(1 / root) / root**power if root > mp.mpf(10) ** -20 else mp.mpf(limit)

    return beyond


def squared_distance(t):
    """x^2/w where w = log(1 + S^2), S = integral of exp(x^2/2) from 0, 1 + t = 2.1 w/(w + 8)."""
    w = 8 * (1 + t) / (mp.mpf("1.1") - t)
    if w < mp.mpf(10) ** -8:
        return mp.mpf(1)
    goal, root = mp.expm1(w), mp.sqrt(w)
    miss = lambda x: mp.log((valley_integral(x) * mp.exp(x * x / 2)) ** 2 / goal)  # noqa: E731
    return mp.findroot(miss, (root, 1.2 * root)) ** 2 / w


def log_bend(f):
    """(log(1 + f) - f) / f^2."""
    return f / 3 - mp.mpf(1) / 2 if abs(f) < mp.mpf(10) ** -12 else (mp.log(1 + f) - f) / (f * f)


def exp_remainder(r):
    """(exp(r) - 1 - r) / r^2."""
    return mp.mpf(1) / 2 + r / 6 if abs(r) < mp.mpf(10) ** -12 else (mp.expm1(r) - r) / (r * r)


def log_remainder(z):
    """(2 atanh(s) / s - 2) / z with z = s^2."""
    if z < mp.mpf(10) ** -15:
        return mp.mpf(2) / 3 + 2 * z / 5
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def cosh_root(g):
    """cosh(sqrt(g))."""
    return mp.cosh(mp.sqrt(g))


def sinh_root(g):
    """sinh(sqrt(g)) / sqrt(g)."""
    return mp.mpf(1) if g == 0 else mp.sinh(mp.sqrt(g)) / mp.sqrt(g)


LN2 = mp.log(2)
S2 = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
# name, comment, function, interval, degree in double, degree in single precision
FITS = [
    ("TAIL", "(u+4)(1+u^2) R2(u) in t = (u-4)/(u+4), u >= 0", tail_on_half_line, -1, 1, 28, 13),
    ("THIRD", "(u+4) R3/R2 in t = (u-4)/(u+4), u >= 0", third_ratio_on_half_line, -1, 1, 30, 12),
    ("HAZARD", "(u+4)(1/R0(u)-u) in t = (u-4)/(u+4), u >= 0", hazard_on_half_line, -1, 1, 22, 11),
    (
        "ROUGH_LOG",
        "(log(1+f)-f)/f^2, 1+f in [1/sqrt2, sqrt2]",
        log_bend,
        1 / mp.sqrt(2) - 1,
        mp.sqrt(2) - 1,
        4,
        4,
    ),
    ("EXP", "(exp(r)-1-r)/r^2, |r| <= ln2/2", exp_remainder, -LN2 / 2, LN2 / 2, 10, 4),
    (
        "LOG",
        "(2 atanh(s)/s-2)/s^2 in s^2, mantissa in [1/sqrt2, sqrt2]",
        log_remainder,
        0,
        S2,
        7,
        2,
    ),
    ("COSH", "cosh(g) in g^2, g <= 1.5", cosh_root, 0, 2.25, 9, 5),
    ("SINH", "sinh(g)/g in g^2, g <= 1.5", sinh_root, 0, 2.25, 9, 5),
    (
        "VALLEY_NEAR",
        "B/x in t = 2 (x/5.5)^2 - 1, 0 <= x <= 5.5",
        in_valley(valley_base, 2),
        -1,
        1,
        31,
        20,
    ),
    (
        "VALLEY_FAR",
        "x B in t = 2 (5.5/x)^2 - 1, x >= 5.5",
        beyond_valley(valley_base, 1, 3),
        -1,
        1,
        31,
        9,
    ),
    (
        "VALLEY_THIRD",
        "x^4 H3 in t = 2 (5.5/x)^2 - 1, x >= 5.5",
        beyond_valley(third_valley, 4, 6),
        -1,
        1,
        36,
        12,
    ),
    (
        "RISE_NEAR",
        "H0/x in t = 2 (x/5.5)^2 - 1, 0 <= x <= 5.5",
        in_valley(valley_integral, 1),
        -1,
        1,
        25,
        18,
    ),
    (
        "RISE_FAR",
        "x H0 in t = 2 (5.5/x)^2 - 1, x >= 5.5",
        beyond_valley(valley_integral, 1, 1),
        -1,
        1,
        18,
        7,
    ),
    (
        "DISTANCE",
        "x^2/w, w = log(1 + S^2), S = integral of exp(x^2/2), in t = 2.1 w/(w+8) - 1",
        squared_distance,
        -1,
        1,
        8,
        8,
    ),
]


def gauss_legendre(n):
    """Return the nodes and weights of the rule of n points on [0, 1], nodes rising."""
    rule = []
    for k in range(n):
        x = -mp.cos(mp.pi * (4 * k + 3) / (4 * n + 2))
        for _ in range(8):
            slope = n * (x * mp.legendre(n, x) - mp.legendre(n - 1, x)) / (x * x - 1)
            x -= mp.legendre(n, x) / slope
        rule.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return zip(*rule, strict=True)


def line(name, bits, numbers, digits=20):
    """Return a line of the file."""
    return " ".join([name, str(bits), *(repr(float(mp.nstr(c, digits))) for c in numbers)])


def lines():
    """Yield the lines of the file."""
    yield "# Coefficients of polynomials, highest power first, by tools/fit_coefficients.py."
    for name, comment, function, low, high, double, single in FITS:
        yield f"# {comment}"
        yield line(name, 64, chebyshev_fit(function, low, high, double))
        yield line(name, 32, chebyshev_fit(function, low, high, single), 12)
    yield "# Gauss-Legendre rules on [0, 1], of 12 points and then of 20"
    (few, light), (many, heavy) = gauss_legendre(12), gauss_legendre(20)
    yield line("NODES", 64, [*few, *many])
    yield line("WEIGHTS", 64, [*light, *heavy])


if __name__ == "__main__":
    print(*lines(), sep="\n")
