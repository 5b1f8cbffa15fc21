"""Functions of one unit, to call from Python or to embed in compiled code of your own.

They take any real d on a finite interval, d > 0 on an infinite one, and numbers of any kind.  Each
carries its own floating-point rules, so infinite bounds work even in a caller with fast-math.
NaN in, NaN out; crossed bounds give NaN, and so does d <= 0 with an infinite end.  lower == upper
is a point mass.  A loop over these functions does not vectorise (the kernels of whole arrays do).

Formulas: math.md section 1, after Su, Liao and Carin, "A Probabilistic Framework for Nonlinearities
in Stochastic Neural Networks" (NIPS 2017), equations 2 and 3.
"""

import math

from .compiling import scalar, serial
from .flat import evaluate_flat, quantile_flat
from .quantile import quantile
from .rejection import chopin, robert
from .stream import uniform
from .unit import evaluate, whiten

NEGLIGIBLE = 1e-150  # a d that no finite interval below 1e66 can tell from 0


@scalar
def _is_bent(d, lower, upper):
    """Tell whether d > 0 matters: whitening by sqrt(d) overflows where d is next to nothing."""
    return d > NEGLIGIBLE or (d > 0.0 and math.isinf(upper - lower))


@scalar
def _rejectable(a, d, lower, upper):
    """Tell whether rejection applies; if not, inversion does, or gives the NaN that is due."""
    return lower < upper and math.isfinite(a) and math.isfinite(d) and _is_bent(d, lower, upper)


@scalar
def _place(x, from_end, inverse, reflected, a, d, lower, upper):
    """Turn a whitened draw, counted from the near end or from the mode, into one of the unit."""
    end = upper if reflected else lower
    h = (end if from_end else a / d) + (-x if reflected else x) * inverse
    return min(max(h, lower), upper)


# The work is compiled once for float64; the public functions below only convert their arguments, so
# each new mix of integers and floats costs 0.1 s to compile, not 1 s.
@serial
def _evaluate(a, d, lower, upper):
    if _is_bent(d, lower, upper):
        return evaluate(a, d, lower, upper)
    return evaluate_flat(a, 0.0 if d > 0.0 else d, lower, upper)


@serial
def _quantile(p, a, d, lower, upper):
    if lower == upper:
        return lower + 0.0 * (a + d)
    if _is_bent(d, lower, upper):
        return quantile(p, a, d, lower, upper)
    return quantile_flat(p, a, 0.0 if d > 0.0 else d, lower, upper)


@serial
def log_normalizer(a, d, lower, upper):
    """Return L, the logarithm of the integral of exp(a h - d h**2/2) over [lower, upper].

    Parameters
    ----------
    a, d : float
        Linear and quadratic coefficient; the normal before truncation has mean a/d, variance 1/d.
    lower, upper : float
        Truncation points.

    Returns
    -------
    float
        Error below 1e-14 max(1, abs(L)): tails to 1e8 standard deviations, any width.

    Notes
    -----
    math.md 1.4.  The derivatives of L are the mean (by a), minus half the second moment (by d), the
    density at upper and minus the density at lower.

    Examples
    --------
    >>> from trug_fast.kernels import log_normalizer
    >>> print(f"{log_normalizer(0, 1, 0, float('inf')):.12f}")  # log(sqrt(pi/2))
    0.225791352645
    """
    return _evaluate(float(a), float(d), float(lower), float(upper))[0]


@serial
def mean_variance(a, d, lower, upper):
    """Return the mean and the variance of a unit.

    Parameters
    ----------
    a, d, lower, upper : float
        As for :func:`log_normalizer`.

    Returns
    -------
    mean, variance : float
        Relative error of the variance below 1e-14.  Error of the mean below 3e-15 of itself or of
        the largest end; :func:`offset` keeps its digits where the mean lies at an end.

    Notes
    -----
    math.md 1.4; the paper's equation 3 without its cancellation.

    Examples
    --------
    >>> from trug_fast.kernels import mean_variance
    >>> mean, variance = mean_variance(-38.0, 1.0, 0.0, float("inf"))
    >>> print(f"{mean:.10f} {variance:.10f}")
    0.0262794666 0.0006896598
    """
    result = _evaluate(float(a), float(d), float(lower), float(upper))
    return result[2], result[3]


@serial
def second_moment(a, d, lower, upper):
    """Return the mean of h**2: minus twice the derivative of L by d.

    Parameters
    ----------
    a, d, lower, upper : float
        As for :func:`log_normalizer`.

    Returns
    -------
    float
        Relative error below 1e-14: variance plus squared mean, a sum of positive terms.

    Examples
    --------
    >>> from trug_fast.kernels import second_moment
    >>> print(f"{second_moment(0, 1, 0, float('inf')):.12f}")
    1.000000000000
    """
    result = _evaluate(float(a), float(d), float(lower), float(upper))
    return result[3] + result[2] * result[2]


@serial
def log_end_densities(a, d, lower, upper):
    """Return the log density of a unit at its lower and at its upper end.

    Parameters
    ----------
    a, d, lower, upper : float
        As for :func:`log_normalizer`.

    Returns
    -------
    at_lower, at_upper : float
        Error below 1e-14 max(1, abs(value)); -inf at an infinite end.

    Notes
    -----
    math.md 1.1: these densities are the gradient of L by the truncation points.

    Examples
    --------
    >>> from trug_fast.kernels import log_end_densities
    >>> log_end_densities(-1, 0, 0, float("inf")), log_end_densities(0, 1, 3, float("inf"))[1]
    ((nan, nan), -inf)
    """
    result = _evaluate(float(a), float(d), float(lower), float(upper))
    return result[4], result[5]


@serial
def offset(a, d, lower, upper):
    """Return the distance of the mean from the near end, the one with the higher density.

    Parameters
    ----------
    a, d, lower, upper : float
        As for :func:`log_normalizer`.

    Returns
    -------
    float
        Relative error below 5e-15, where mean - lower would have lost all its digits.

    Examples
    --------
    >>> from trug_fast.kernels import mean_variance, offset
    >>> mean_variance(-1e12, 1, 1e6, 2e6)[0] - 1e6, float(f"{offset(-1e12, 1, 1e6, 2e6):.12g}")
    (0.0, 9.99999000001e-13)
    """
    return _evaluate(float(a), float(d), float(lower), float(upper))[1]


@serial
def draw(rng, a, d, lower, upper):
    """Draw h from a unit by inverting its distribution function: one uniform number a draw.

    Parameters
    ----------
    rng : numpy.random.Generator or numpy.ndarray
        A NumPy Generator or a stream from :func:`stream`.
    a, d, lower, upper : float
        As for :func:`log_normalizer`.

    Returns
    -------
    float
        In [lower, upper], increasing in the uniform number.

    Notes
    -----
    See the module :mod:`trug_fast.kernels.quantile`; exact to rounding in the tails as well.

    Examples
    --------
    >>> from trug_fast.kernels import draw, stream
    >>> 8.0 <= draw(stream(1), 0.0, 1.0, 8.0, float("inf")) < 14.0
    True
    """
    return _quantile(uniform(rng), float(a), float(d), float(lower), float(upper))


@serial
def draw_robert(rng, a, d, lower, upper):
    """Draw h from a unit by rejection, after Robert (1995), complete for every interval.

    Parameters
    ----------
    rng : numpy.random.Generator or numpy.ndarray
        A NumPy Generator or a stream from :func:`stream`.
    a, d, lower, upper : float
        As for :func:`log_normalizer`; d <= 0 falls back to :func:`draw`.

    Returns
    -------
    float
        In [lower, upper].

    Notes
    -----
    math.md 1.5: the proposal is uniform, normal or an exponential that is itself truncated, which
    corrects Robert's two-sided case; at least 49 % of proposals are accepted.  Reference: C. P.
    Robert, "Simulation of truncated normal variables", Statistics and Computing 5 (1995).

    Examples
    --------
    >>> from trug_fast.kernels import draw_robert, stream
    >>> 8.0 <= draw_robert(stream(1), 0.0, 1.0, 8.0, float("inf")) < 14.0
    True
    """
    a, d, lower, upper = float(a), float(d), float(lower), float(upper)
    if _rejectable(a, d, lower, upper):
        _, inverse, u, u_far, width, _, reflected = whiten(a, d, lower, upper)
        x, from_end = robert(rng, u, u_far, width)
        return _place(x, from_end, inverse, reflected, a, d, lower, upper)
    return _quantile(0.5 if lower == upper else uniform(rng), a, d, lower, upper)


@serial
def draw_chopin(rng, a, d, lower, upper):
    """Draw h from a unit by rejection from cells of equal area, after Chopin (2011).

    Parameters
    ----------
    rng : numpy.random.Generator or numpy.ndarray
        A NumPy Generator or a stream from :func:`stream`.
    a, d, lower, upper : float
        As for :func:`log_normalizer`; d <= 0 falls back to :func:`draw`.

    Returns
    -------
    float
        In [lower, upper].

    Notes
    -----
    The table, of 256 cells on each side of the mode, is computed by tools/make_cells.py.  Intervals
    of fewer than 8 cells, or beyond the last edge, are left to the proposals of
    :func:`draw_robert`.  Reference: N. Chopin, "Fast simulation of truncated Gaussian
    distributions", Statistics and Computing 21 (2011).

    Examples
    --------
    >>> from trug_fast.kernels import draw_chopin, stream
    >>> 1.0 <= draw_chopin(stream(1), 0.0, 1.0, 1.0, float("inf")) < 7.0
    True
    """
    a, d, lower, upper = float(a), float(d), float(lower), float(upper)
    if _rejectable(a, d, lower, upper):
        _, inverse, u, u_far, width, _, reflected = whiten(a, d, lower, upper)
        x, from_end = chopin(rng, u, u_far, width)
        return _place(x, from_end, inverse, reflected, a, d, lower, upper)
    return _quantile(0.5 if lower == upper else uniform(rng), a, d, lower, upper)
