"""Draws of one unit, to call from Python or to embed in compiled code of your own.

They take what the functions of scalars.py do; NaN where the unit has no density.

Tested in tests/kernels/unit/test_scalars.py.
"""

from functools import partial

from numpy import float64

from trug_fast.kernels.compiling import inner, scalar
from trug_fast.kernels.intrinsics import power_of_two
from trug_fast.kernels.special.elementary import MAGIC_64
from trug_fast.kernels.unit.normalizer import whiten
from trug_fast.kernels.unit.quantile import quantile
from trug_fast.kernels.unit.scalars import UNIT, documented
from trug_fast.kernels.unit.scaling import NONE, NONPOSITIVE, POINT, is_plain, measured
from trug_fast.kernels.unit.valley_quantile import invert_nonpositive

from .rejection import chopin, robert
from .stream import uniform

DRAWN = {
    "rng : numpy.random.Generator or numpy.ndarray": "A stream from :func:`stream`, or a Generator."
} | UNIT
documented = partial(documented, imports=">>> from trug_fast.kernels import {name}, stream")


@scalar
def _place(x, from_end, inverse, reflected, a, d, lower, upper):
    """Turn a whitened draw, counted from the near end or from the mode, into one of the unit."""
    end = upper if reflected else lower
    h = (end if from_end else a / d) + (-x if reflected else x) * inverse
    return min(max(h, lower), upper)


@inner
def _quantile_of_any(p, a, d, lower, upper):
    low, high = lower, upper
    a, d, lower, upper, k, formulas = measured(a, d, lower, upper)
    if formulas == NONE:
        return float("nan")
    if formulas == POINT:
        return low
    if formulas == NONPOSITIVE:
        h = invert_nonpositive(p, 1.0 - p, a, d, lower, upper)
    else:
        h = quantile(p, a, d, lower, upper)
    return min(max(h * power_of_two(k + MAGIC_64), low), high)


@inner
def _quantile(p, a, d, lower, upper):
    if is_plain(a, d, lower, upper):
        return quantile(p, a, d, lower, upper)
    return _quantile_of_any(p, a, d, lower, upper)


@inner
@documented(
    DRAWN,
    returns="In [lower, upper], increasing in the uniform number.",
    example="""
    >>> 8.0 <= draw(stream(1), 0.0, 1.0, 8.0, float("inf")) < 14.0
    True
    """,
    notes="""
    See the module :mod:`trug_fast.kernels.unit.quantile`; exact to rounding in the tails as well.
    """,
)
def draw(rng, a, d, lower, upper):
    """Draw h from a unit by inverting its distribution function: one uniform number a draw."""
    return _quantile(uniform(rng), float64(a), float64(d), float64(lower), float64(upper))


@inner
@documented(
    DRAWN,
    returns="In [lower, upper].",
    example="""
    >>> 8.0 <= draw_robert(stream(1), 0.0, 1.0, 8.0, float("inf")) < 14.0
    True
    """,
    notes="""
    mathematics 1.5: the proposal is uniform, normal or an exponential that is itself truncated,
    which corrects Robert's two-sided case; at least 49 % of proposals are accepted.  d <= 0 falls
    back to :func:`draw`.  Reference: C. P. Robert, "Simulation of truncated normal variables",
    Statistics and Computing 5 (1995).
    """,
)
def draw_robert(rng, a, d, lower, upper):
    """Draw h from a unit by rejection, after Robert (1995), complete for every interval."""
    a, d, lower, upper = float64(a), float64(d), float64(lower), float64(upper)
    if is_plain(a, d, lower, upper):
        _, inverse, u, u_far, width, _, reflected = whiten(a, d, lower, upper)
        x, from_end = robert(rng, u, u_far, width)
        return _place(x, from_end, inverse, reflected, a, d, lower, upper)
    return _quantile(0.5 if lower == upper else uniform(rng), a, d, lower, upper)


@inner
@documented(
    DRAWN,
    returns="In [lower, upper].",
    example="""
    >>> 1.0 <= draw_chopin(stream(1), 0.0, 1.0, 1.0, float("inf")) < 7.0
    True
    """,
    notes="""
    The table, of 256 cells on each side of the mode, is computed by tools/make_chopin_table.py.
    Intervals of fewer than 8 cells, or beyond the last edge, are left to the proposals of
    :func:`draw_robert`; d <= 0 falls back to :func:`draw`.  Reference: N. Chopin, "Fast simulation
    of truncated Gaussian distributions", Statistics and Computing 21 (2011).
    """,
)
def draw_chopin(rng, a, d, lower, upper):
    """Draw h from a unit by rejection from cells of equal area, after Chopin (2011)."""
    a, d, lower, upper = float64(a), float64(d), float64(lower), float64(upper)
    if is_plain(a, d, lower, upper):
        _, inverse, u, u_far, width, _, reflected = whiten(a, d, lower, upper)
        x, from_end = chopin(rng, u, u_far, width)
        return _place(x, from_end, inverse, reflected, a, d, lower, upper)
    return _quantile(0.5 if lower == upper else uniform(rng), a, d, lower, upper)
