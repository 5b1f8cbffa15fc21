"""Truncated normal distributions over arrays, with the arguments of ``scipy.stats.truncnorm``.

``from trug_fast import truncnorm`` in place of ``from scipy.stats import truncnorm`` is meant to be
all it takes.  ``a`` and ``b`` are the ends in standard deviations from ``loc``: a normal of mean mu
and standard deviation sigma, cut to [lower, upper], has ``a = (lower - mu) / sigma``,
``b = (upper - mu) / sigma``, ``loc=mu``, ``scale=sigma``.  All arguments broadcast.  Numbers give a
NumPy number; float32 arrays alone give float32, everything else float64.  Where a < b or
scale > 0 fails the value is NaN (:func:`rvs` raises instead).

Unlike SciPy's, these stay accurate for any interval: 1e8 standard deviations out, 1e-12 wide, or
both.  Large arrays are spread over ``numba.get_num_threads()`` threads; results do not depend on
how many.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kernels import arrays
from .randomness import RngLike, seed_from

__all__ = [
    "cdf",
    "entropy",
    "interval",
    "isf",
    "log_mass",
    "logcdf",
    "logpdf",
    "logsf",
    "mean",
    "median",
    "pdf",
    "ppf",
    "rvs",
    "sf",
    "std",
    "support",
    "var",
]

# Starting threads costs about 0.1 ms; this many elements take some ten times as long in one.
_WORTH_A_THREAD = 32_768


def _float_type(values: tuple[Any, ...]) -> Any:
    """Return float32 if every array or NumPy number is float32 (and there is one), else float64."""
    typed = [np.asarray(v).dtype for v in values if type(v) not in (bool, int, float)]
    return np.float32 if typed and all(t == np.float32 for t in typed) else np.float64


def _columns(
    names: str, values: tuple[ArrayLike, ...], shape: tuple[int, ...] | None = None
) -> tuple[list[NDArray[Any]], tuple[int, ...], Any]:
    """Return the values as vectors of the full size or of 1, the full shape, and its float type."""
    dtype = _float_type(values)
    columns = []
    for name, value in zip(names.split(), values, strict=True):
        array = np.asarray(value)
        if array.dtype.kind not in "buif":
            raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}")
        columns.append(array.astype(dtype, copy=False))
    try:
        common = np.broadcast_shapes(*(c.shape for c in columns))
        full = common if shape is None else np.broadcast_shapes(common, shape)
    except ValueError:
        full = None
    if full is None or (shape is not None and full != shape):
        shapes = ", ".join(f"{n} {c.shape}" for n, c in zip(names.split(), columns, strict=True))
        wanted = "" if shape is None else f" with size {shape}"
        raise ValueError(f"shapes must broadcast{wanted}, got {shapes}")
    for i, column in enumerate(columns):
        spread = column if column.size == 1 else np.broadcast_to(column, full)
        # A read-only array would be another type to Numba, hence another compilation.
        columns[i] = np.require(spread, requirements=["C", "W"]).reshape(-1)
    return columns, full, dtype


def _result(
    out: NDArray[Any] | None, shape: tuple[int, ...], dtype: Any
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the array to give back, and the contiguous one to fill, which may be the same."""
    if out is None:
        out = np.empty(shape, dtype)
    elif not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a numpy.ndarray, got {type(out).__name__}")
    elif out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        raise ValueError(
            f"out must be a writeable array of shape {shape} and dtype {np.dtype(dtype)}, "
            f"got shape {out.shape} and dtype {out.dtype}"
        )
    return out, out if out.flags.c_contiguous else np.empty(shape, dtype)


def _spread(kernel: Callable[..., None], columns: list[NDArray[Any]], out: NDArray[Any]) -> None:
    """Run ``kernel(first, *columns, out)`` on parts of the arrays, in as many threads as pay."""
    n = out.size
    if n == 0:
        return
    threads = min(numba.get_num_threads(), n // _WORTH_A_THREAD)
    if threads < 2:
        kernel(0, *columns, out)
        return
    # Four parts a thread even out what other processes take of the cores.
    length = -(-n // (4 * threads * arrays.BLOCK)) * arrays.BLOCK

    def part(first: int) -> None:
        cut = slice(first, min(first + length, n))
        kernel(first, *(c if c.size == 1 else c[cut] for c in columns), out[cut])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(0, n, length)))


def _finish(out: NDArray[Any], filled: NDArray[Any], given: bool) -> Any:
    if filled is not out:
        out[...] = filled
    return out if given or out.ndim else out[()]


def _map(
    kernel: Callable[..., None], names: str, *values: ArrayLike, out: NDArray[Any] | None = None
) -> Any:
    columns, shape, dtype = _columns(names, values)
    given = out is not None
    out, filled = _result(out, shape, dtype)
    _spread(lambda first, *arguments: kernel(*arguments), columns, filled.reshape(-1))
    return _finish(out, filled, given)


def rvs(
    a: ArrayLike,
    b: ArrayLike,
    loc: ArrayLike = 0,
    scale: ArrayLike = 1,
    size: int | tuple[int, ...] | None = None,
    random_state: RngLike | np.random.RandomState = None,
    *,
    rng: RngLike = None,
    out: NDArray[Any] | None = None,
) -> Any:
    """Draw random numbers.

    Parameters
    ----------
    a, b : array_like
        Ends of the interval, in standard deviations from loc; infinite ends are allowed.
    loc, scale : array_like, optional
        Mean and standard deviation of the normal before truncation.
    size : int or tuple of int, optional
        Shape of the result, to which the parameters must broadcast; by default their own shape.
    random_state, rng : None, int or numpy.random.Generator, optional
        Two names for the source of randomness, of which one may be given; ``random_state`` takes a
        numpy.random.RandomState too.  An int gives the same draws in every call, on every machine,
        for any number of threads.  A Generator is advanced by one number a call.
    out : numpy.ndarray, optional
        Where to put the draws.

    Returns
    -------
    numpy.ndarray or NumPy float
        Draws in ``[a*scale + loc, b*scale + loc]``.  Element i in C order depends on the seed, on i
        and on its own parameters alone: a shorter call gives the first draws of a longer one.

    Raises
    ------
    ValueError
        If a < b or scale >= 0 fails somewhere, or shapes do not fit.

    Notes
    -----
    Each draw inverts the distribution function at one number of a counter-based stream
    (Philox4x32-10), so nothing is ever rejected.  scale = 0 gives loc.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> x = truncnorm.rvs(8.0, [9.0, float("inf")], size=(1000, 2), rng=1)
    >>> x.shape, bool((x >= 8).all()), bool((x[:, 0] <= 9).all())
    ((1000, 2), True, True)
    """
    if rng is not None and random_state is not None:
        raise ValueError("give rng or random_state, not both")
    source = random_state if rng is None else rng
    if isinstance(source, np.random.RandomState):
        source = int(source.randint(2**63, dtype=np.uint64))
    if out is not None and size is None:
        size = out.shape
    wanted = None if size is None else tuple(int(n) for n in np.atleast_1d(np.asarray(size, int)))
    columns, shape, dtype = _columns("a b loc scale", (a, b, loc, scale), wanted)
    if not (columns[0] < columns[1]).all():
        raise ValueError("a must be below b everywhere")
    if not (columns[3] >= 0).all():
        raise ValueError("scale must not be negative")
    given = out is not None
    out, filled = _result(out, shape, dtype)
    seed = seed_from(source, "truncnorm.rvs")

    def kernel(first: int, *arguments: NDArray[Any]) -> None:
        arrays.rvs(seed, first, *arguments)

    _spread(kernel, columns, filled.reshape(-1))
    if not columns[3].all():
        at_loc = np.broadcast_to(columns[3] == 0, filled.size).reshape(shape)
        np.copyto(filled, np.broadcast_to(columns[2], filled.size).reshape(shape), where=at_loc)
    return _finish(out, filled, given)


def pdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Density at x, 0 outside the interval.

    Parameters
    ----------
    x : array_like
        Points.
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        With z = (x - loc)/scale: ``exp(-z**2/2) / (scale * Z)``, where Z is the integral of
        ``exp(-t**2/2)`` over [a, b].

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.pdf(0.0, 0.0, float('inf')):.12f}")
    0.797884560803
    """
    return _map(arrays.pdf, "x a b loc scale", x, a, b, loc, scale)


def logpdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the density at x, -inf outside the interval.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Error below 1e-14 max(1, abs(value)), far out in the tail as well.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.logpdf(1e8, 1e8, float('inf')):.12f}")
    18.420680743952
    """
    return _map(arrays.logpdf, "x a b loc scale", x, a, b, loc, scale)


def cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Probability of a value up to x.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        0 up to the lower end, 1 from the upper end.  Relative error below 2e-15 (1 - log(cdf)).

    Notes
    -----
    A ratio of two integrals of the density, never a difference of normal distribution functions.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.cdf(30.01, 30.0, float('inf')):.12f}")
    0.259465118832
    """
    return _map(arrays.cdf, "x a b loc scale", x, a, b, loc, scale)


def sf(x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Probability of a value above x, to full precision where it is small.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        1 up to the lower end, 0 from the upper end.  Accuracy as for :func:`cdf`.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.sf(9.0, 0.0, 10.0):.6e}")
    2.257024e-19
    """
    return _map(arrays.sf, "x a b loc scale", x, a, b, loc, scale)


def logcdf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the probability of a value up to x.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Right at both ends: neither a cdf that underflows nor one that rounds to 1 loses digits.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.logcdf(-100.0, -float('inf'), 0.0):.9f}")
    -5004.831061514
    """
    return _map(arrays.logcdf, "x a b loc scale", x, a, b, loc, scale)


def logsf(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Log of the probability of a value above x.

    Parameters
    ----------
    x, a, b, loc, scale : array_like
        As for :func:`pdf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Accuracy as for :func:`logcdf`.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.logsf(100.0, 0.0, float('inf')):.9f}")
    -5004.831061514
    """
    return _map(arrays.logsf, "x a b loc scale", x, a, b, loc, scale)


def ppf(q: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Quantile: the value that has probability q below it.

    Parameters
    ----------
    q : array_like
        Probabilities; NaN is returned outside [0, 1].
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        The lower end for 0, the upper end for 1, and between them right to rounding, for q down to
        1e-300.  Near 1 take :func:`isf`: q itself is rounded there.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.ppf(0.5, 0.0, float('inf')):.12f}")
    0.674489750196
    """
    return _map(arrays.ppf, "q a b loc scale", q, a, b, loc, scale)


def isf(q: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Upper quantile: the value that has probability q above it.

    Parameters
    ----------
    q, a, b, loc, scale : array_like
        As for :func:`ppf`.

    Returns
    -------
    numpy.ndarray or NumPy float
        The upper end for 0, the lower end for 1; accuracy as for :func:`ppf`.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.isf(1e-100, 0.0, float('inf')):.9f}")
    21.305940069
    """
    return _map(arrays.isf, "q a b loc scale", q, a, b, loc, scale)


def mean(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Mean.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Error below 3e-15 on the scale of the mean or the larger finite end.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.mean(0.0, float('inf')):.12f}")
    0.797884560803
    """
    return _map(arrays.mean, "a b loc scale", a, b, loc, scale)


def var(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Variance.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Relative error below 1e-14 for every interval.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.var(38.0, float('inf')):.9e}")
    6.896597535e-04
    """
    return _map(arrays.var, "a b loc scale", a, b, loc, scale)


def std(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Compute the standard deviation: the root of :func:`var`.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Relative error below 1e-14 for every interval.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.std(0.0, 1e-12):.9e}")
    2.886751346e-13
    """
    return np.sqrt(var(a, b, loc, scale))


def median(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Median: :func:`ppf` at 1/2.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Right to rounding.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.median(-1.0, 1.0, loc=3.0):.12f}")
    3.000000000000
    """
    return ppf(0.5, a, b, loc, scale)


def entropy(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Differential entropy: minus the mean of the log density.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    numpy.ndarray or NumPy float
        Error below 1e-14 max(1, abs(value)).

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.entropy(-1e-6, 1e-6):.9f}")  # log(2e-6)
    -13.122363377
    """
    return _map(arrays.entropy, "a b loc scale", a, b, loc, scale)


def log_mass(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Log of the mass that a normal has in the interval: log(Phi(b) - Phi(a)).

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`; the result depends on a and b only.

    Returns
    -------
    numpy.ndarray or NumPy float
        Relative error below 1e-14, near 0 as well as far out.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> print(f"{truncnorm.log_mass(40.0, 41.0):.9f}")
    -804.608442014
    """
    return _map(arrays.log_mass, "a b loc scale", a, b, loc, scale)


def interval(
    confidence: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Any:
    """Interval around the median that holds a share of the probability.

    Parameters
    ----------
    confidence : array_like
        The share; equal tails are left out on both sides.
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    lower, upper : numpy.ndarray or NumPy float
        ``ppf`` and ``isf`` at (1 - confidence)/2.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> low, high = truncnorm.interval(0.95, -float("inf"), float("inf"))
    >>> print(f"{low:.9f} {high:.9f}")
    -1.959963985 1.959963985
    """
    share = np.asarray(confidence)
    tail = (1 - share) / 2
    return ppf(tail, a, b, loc, scale), isf(tail, a, b, loc, scale)


def support(a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Any:
    """Return the ends of the interval in the units of x.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`rvs`.

    Returns
    -------
    lower, upper : numpy.ndarray or NumPy float
        ``a*scale + loc`` and ``b*scale + loc``.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> lower, upper = truncnorm.support(-1, 2, loc=3, scale=2)
    >>> print(lower, upper)
    1.0 7.0
    """
    return ppf(0.0, a, b, loc, scale), ppf(1.0, a, b, loc, scale)
