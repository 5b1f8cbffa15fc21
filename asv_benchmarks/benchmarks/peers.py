"""Samplers of truncated normals, ours and others', on equal terms: arrays of parameters.

Each entry of SAMPLERS takes a unit (a, d, lower, upper), arrays of one length and float64, converts
it to the sampler's own parameters, and returns a function without arguments that draws; or None
where the package is not installed, or the intervals are narrower than the float type can tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
from scipy import stats

from trug_fast import kernels, truncnorm
from trug_fast.kernels.compiling import kernel

Unit = tuple[np.ndarray, ...]
Draw = Callable[[], np.ndarray]


def standard(a, d, lower, upper):
    """Return SciPy's a, b, loc and scale."""
    scale, loc = 1 / np.sqrt(d), a / d
    return (lower - loc) / scale, (upper - loc) / scale, loc, scale


# The package's own decorator: cached, and compiled anew when any kernel changes.
@kernel
def draws_inverted(rng, a, d, lower, upper, out):
    """Call ``draw`` for each element."""
    for i in range(out.size):
        out[i] = kernels.draw(rng, a[i], d[i], lower[i], upper[i])


@kernel
def draws_robert(rng, a, d, lower, upper, out):
    """Call ``draw_robert`` for each element."""
    for i in range(out.size):
        out[i] = kernels.draw_robert(rng, a[i], d[i], lower[i], upper[i])


@kernel
def draws_chopin(rng, a, d, lower, upper, out):
    """Call ``draw_chopin`` for each element."""
    for i in range(out.size):
        out[i] = kernels.draw_chopin(rng, a[i], d[i], lower[i], upper[i])


EMBEDDED = {"draw": draws_inverted, "draw_robert": draws_robert, "draw_chopin": draws_chopin}


def _embedded(name: str) -> Callable[[Unit], Draw]:
    def prepare(unit):
        space, rng = np.empty(unit[0].size), kernels.stream(1)

        def draw():
            EMBEDDED[name](rng, *unit, space)
            return space

        return draw

    return prepare


def _face(unit):
    # Fresh memory costs up to 20 ns a draw on some virtual machines: ``out``.
    parameters, space = standard(*unit), np.empty(unit[0].size)
    return lambda: truncnorm.rvs(*parameters, rng=1, out=space)


def _single_face(unit):
    parameters = [np.float32(v) for v in standard(*unit)]
    if not (parameters[0] < parameters[1]).all():
        return None
    space = np.empty(unit[0].size, np.float32)
    return lambda: truncnorm.rvs(*parameters, rng=1, out=space)


def _scipy(unit):
    parameters, rng = standard(*unit), np.random.default_rng(1)
    return lambda: stats.truncnorm.rvs(*parameters, random_state=rng)


def _numba_stats(unit):
    # Its rvs takes no arrays of parameters: its formula, in a compiled loop.
    try:
        from numba_stats.norm import _cdf1, _ppf1
    except ImportError:
        return None

    @numba.njit
    def loop(p, a, b, loc, scale, out):
        for i in range(out.size):
            low, high = _cdf1(a[i]), _cdf1(b[i])
            out[i] = scale[i] * _ppf1(low + p[i] * (high - low)) + loc[i]

    parameters, space = standard(*unit), np.empty(unit[0].size)
    rng = np.random.default_rng(1)

    def draw():
        loop(rng.random(space.size), *parameters, space)
        return space

    return draw


SAMPLERS: dict[str, Callable[[Unit], Draw | None]] = {
    "truncnorm.rvs": _face,
    "truncnorm.rvs, float32": _single_face,
    **{f"kernels.{name} in a loop": _embedded(name) for name in EMBEDDED},
    "scipy.stats.truncnorm.rvs": _scipy,
    "numba-stats, its formula in a loop": _numba_stats,
}
