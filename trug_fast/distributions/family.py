"""The object ``truncnorm``: all functions of truncated normals under one name, as in SciPy.

Tested in tests/distributions/test_truncnorm.py and test_frozen.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common import checks
from trug_fast._common.randomness import RngLike
from trug_fast.kernels import arrays

from . import moments as _moments
from .broadcasting import NAMES, columns_of, elementwise, is_python_number
from .draws import Source, Sourced
from .facade import functions_of, told
from .fit import fit, nnlf
from .moments import Function, expect

N = ArrayLike
F = TypeVar("F", bound=Callable[..., Any])
GIVEN = {
    "a, b : array_like": """
        Ends of the interval, in standard deviations from loc: (lower - loc)/scale and
        (upper - loc)/scale; infinite ends are allowed.""",
    "loc, scale : array_like, optional": """
        Mean and standard deviation of the normal before truncation.""",
}
POINTS = {"x : array_like": "Points."}
PROBABILITIES = {"q : array_like": "Probabilities; NaN is returned outside [0, 1]."}


def row(
    returns: str,
    example: str,
    first: dict[str, str] | None = None,
    rest: dict[str, str] | None = None,
    **sections: str,
) -> Callable[[F], F]:
    """Keep the words of a function; of an example "call:format -> value" is enough."""
    call, arrow, value = example.partition(" -> ")
    shown = f'>>> print(f"{{{call}}}")\n{value}' if arrow else example
    sections = {"kind": "numpy.ndarray or NumPy float"} | sections
    imports = ">>> from trug_fast import truncnorm"
    return told(first, rest, returns=returns, example=shown, imports=imports, **sections)


class Functions:
    """The table of functions: of points, of probabilities, and what sums a distribution up."""

    __slots__ = ()
    a: ArrayLike
    b: ArrayLike
    loc: ArrayLike
    scale: ArrayLike

    def _of(self, kernel: Callable[..., None], **first: ArrayLike) -> Any:
        return elementwise(kernel, self.a, self.b, self.loc, self.scale, **first)

    @row(
        """
        With z = (x - loc)/scale: ``exp(-z**2/2) / (scale * Z)``, where Z is the integral of
        ``exp(-t**2/2)`` over [a, b].
        """,
        "truncnorm.pdf(0.0, 0.0, float('inf')):.12f -> 0.797884560803",
        POINTS,
    )
    def pdf(self, x: ArrayLike) -> Any:
        """Density at x, 0 outside the interval."""
        return self._of(arrays.pdf, x=x)

    @row(
        "Error below 1e-14 max(1, abs(value)), far out in the tail as well.",
        "truncnorm.logpdf(1e8, 1e8, float('inf')):.12f -> 18.420680743952",
        POINTS,
    )
    def logpdf(self, x: ArrayLike) -> Any:
        """Log of the density at x, -inf outside the interval."""
        return self._of(arrays.logpdf, x=x)

    @row(
        "0 up to the lower end, 1 from the upper end.  Relative error below 2e-15 (1 - log(cdf)).",
        "truncnorm.cdf(30.01, 30.0, float('inf')):.12f -> 0.259465118832",
        POINTS,
        notes="""
        A ratio of two integrals of the density, never a difference of two distribution functions.
        """,
    )
    def cdf(self, x: ArrayLike) -> Any:
        """Probability of a value up to x."""
        return self._of(arrays.cdf, x=x)

    @row(
        "1 up to the lower end, 0 from the upper end.  Accuracy as for :func:`cdf`.",
        "truncnorm.sf(9.0, 0.0, 10.0):.6e -> 2.257024e-19",
        POINTS,
    )
    def sf(self, x: ArrayLike) -> Any:
        """Probability of a value above x, to full precision where it is small."""
        return self._of(arrays.sf, x=x)

    @row(
        "Right at both ends: neither a cdf that underflows nor one that rounds to 1 loses digits.",
        "truncnorm.logcdf(-100.0, -float('inf'), 0.0):.9f -> -5004.831061514",
        POINTS,
    )
    def logcdf(self, x: ArrayLike) -> Any:
        """Log of the probability of a value up to x."""
        return self._of(arrays.logcdf, x=x)

    @row(
        "Accuracy as for :func:`logcdf`.",
        "truncnorm.logsf(100.0, 0.0, float('inf')):.9f -> -5004.831061514",
        POINTS,
    )
    def logsf(self, x: ArrayLike) -> Any:
        """Log of the probability of a value above x."""
        return self._of(arrays.logsf, x=x)

    @row(
        """
        The lower end for 0, the upper end for 1, and between them right to rounding, for q down to
        1e-300.  Near 1 take :func:`isf`: q itself is rounded there.
        """,
        "truncnorm.ppf(0.5, 0.0, float('inf')):.12f -> 0.674489750196",
        PROBABILITIES,
    )
    def ppf(self, q: ArrayLike) -> Any:
        """Quantile: the value that has probability q below it."""
        return self._of(arrays.ppf, q=q)

    @row(
        "The upper end for 0, the lower end for 1; accuracy as for :func:`ppf`.",
        "truncnorm.isf(1e-100, 0.0, float('inf')):.9f -> 21.305940069",
        PROBABILITIES,
    )
    def isf(self, q: ArrayLike) -> Any:
        """Upper quantile: the value that has probability q above it."""
        return self._of(arrays.isf, q=q)

    @row(
        "Right to rounding.",
        "truncnorm.median(-1.0, 1.0, loc=3.0):.12f -> 3.000000000000",
    )
    def median(self) -> Any:
        """Median: :func:`ppf` at 1/2."""
        return self._of(arrays.ppf, q=0.5)

    @row(
        "``a*scale + loc`` and ``b*scale + loc``.",
        """
        >>> lower, upper = truncnorm.support(-1, 2, loc=3, scale=2)
        >>> print(lower, upper)
        1.0 7.0
        """,
        kind="lower, upper : numpy.ndarray or NumPy float",
    )
    def support(self) -> Any:
        """Return the ends of the interval in the units of x."""
        return self._of(arrays.ppf, q=0.0), self._of(arrays.ppf, q=1.0)

    @row(
        """
        Error below 3e-15 on the scale of the mean or of its distance from the near end, whichever
        is larger: where loc cancels the end, that distance keeps its digits.
        """,
        "truncnorm.mean(0.0, float('inf')):.12f -> 0.797884560803",
    )
    def mean(self) -> Any:
        """Mean."""
        return self._of(arrays.mean)

    @row(
        "Relative error below 1e-14 for every interval.",
        "truncnorm.var(38.0, float('inf')):.9e -> 6.896597535e-04",
    )
    def var(self) -> Any:
        """Variance."""
        return self._of(arrays.var)

    @row(
        "Relative error below 1e-14 for every interval.",
        "truncnorm.std(0.0, 1e-12):.9e -> 2.886751346e-13",
    )
    def std(self) -> Any:
        """Compute the standard deviation: the root of :func:`var`."""
        return np.sqrt(self._of(arrays.var))

    @row(
        "Error below 1e-14 max(1, abs(value)).",
        "truncnorm.entropy(-1e-6, 1e-6):.9f -> -13.122363377",
    )
    def entropy(self) -> Any:
        """Differential entropy: minus the mean of the log density."""
        return self._of(arrays.entropy)

    @row(
        "Relative error below 1e-14, near 0 as well as far out.",
        "truncnorm.log_mass(40.0, 41.0):.9f -> -804.608442014",
    )
    def log_mass(self) -> Any:
        """Log of the mass that a normal has in the interval: log(Phi(b) - Phi(a))."""
        return self._of(arrays.log_mass)

    @row(
        "``ppf`` and ``isf`` at (1 - confidence)/2.",
        """
        >>> low, high = truncnorm.interval(0.95, -float("inf"), float("inf"))
        >>> print(f"{low:.9f} {high:.9f}")
        -1.959963985 1.959963985
        """,
        {"confidence : array_like": "The share; equal tails are left out on both sides."},
        kind="lower, upper : numpy.ndarray or NumPy float",
        raises="""
        ValueError
        If ``confidence`` lies outside [0, 1].
        """,
    )
    def interval(self, confidence: ArrayLike) -> Any:
        """Interval around the median that holds a share of the probability."""
        share: Any = confidence
        if not is_python_number(confidence):
            checks.unmasked("confidence", confidence)
            share = np.asarray(confidence)
        if np.any((share < 0) | (share > 1)):
            raise ValueError(f"confidence must lie in [0, 1], got {confidence!r}")
        tail = (1 - share) / 2
        return self.ppf(tail), self.isf(tail)

    @row(
        """
        Error below (order + 4) 5e-16 of the mean of abs(x)**order, and so of the moment itself
        where order is even or the interval does not contain 0.
        """,
        "truncnorm.moment(5, -2.0, 3.0):.12f -> 1.645309620208",
        {"order : int": "Which power, not negative."},
        raises="""
        TypeError, ValueError
        If ``order`` is not an integer or negative.
        """,
        notes="""
        From the third on by quadrature of positive terms (mathematics 1.13), 2 to 8 us each; the
        recurrence of SciPy loses all digits in narrow intervals and tails.
        """,
    )
    def moment(self, order: int) -> Any:
        """Moment about zero: the mean of x**order."""
        return _moments.moment(order, self.a, self.b, self.loc, self.scale)

    @row(
        """
        The moments asked for, in the order above; one alone comes without a tuple.  Error of the
        skewness below 1e-13 max(0.01, abs(value)); of the kurtosis below 1e-14 max(1, abs(value)),
        and relative where both ends are two deviations or more beyond the mode.
        """,
        """
        >>> mean, variance, skewness, kurtosis = truncnorm.stats(0.0, float("inf"), moments="mvsk")
        >>> print(f"{mean:.9f} {variance:.9f} {skewness:.9f} {kurtosis:.9f}")
        0.797884561 0.363380228 0.995271746 0.869177304
        """,
        rest={
            "moments : str, optional": """
        Which: "m" for the mean, "v" for the variance, "s" for the skewness (the third central
        moment over the cubed standard deviation), "k" for the kurtosis (the fourth over the squared
        variance, less a normal's 3)."""
        },
        kind="tuple, numpy.ndarray or NumPy float",
        raises="""
        ValueError
        If ``moments`` holds another letter, or none.
        """,
    )
    def stats(self, moments: str = "mv") -> Any:
        """Mean, variance, skewness and excess kurtosis in one call."""
        return _moments.stats(self.a, self.b, self.loc, self.scale, moments)


class Parameters(Functions):
    """Parameters as they come, for one call."""

    __slots__ = ("a", "b", "loc", "scale")

    def __init__(
        self, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
    ) -> None:
        self.a, self.b, self.loc, self.scale = a, b, loc, scale


class Frozen(Functions, Sourced):
    """A truncated normal, or an array of them: every function of ``truncnorm`` without parameters.

    Parameters
    ----------
    a, b, loc, scale : array_like
        As for :func:`trug_fast.truncnorm.rvs`; copied, so that the distribution stays what it is.

    Raises
    ------
    TypeError, ValueError
        If they do not hold real numbers, or do not broadcast.  An empty interval or a scale that is
        not positive gives NaN in every function but ``rvs``, which raises.

    Examples
    --------
    >>> from trug_fast import truncnorm
    >>> tail = truncnorm(8.0, float("inf"))
    >>> print(f"{tail.mean():.9f} {tail.sf(9.0):.6e}")
    8.121368112 1.814171e-04
    >>> tail.rvs(size=3, rng=1).shape
    (3,)
    """

    dist: Any  # truncnorm, set where that is made

    def __init__(
        self, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
    ) -> None:
        given = a, b, loc, scale
        columns_of(NAMES, given)
        for name, value in zip(NAMES, given, strict=True):
            # Into __dict__, as assignments are refused.
            self.__dict__[name] = value if is_python_number(value) else np.array(value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set ``random_state`` alone."""
        if name != "random_state":
            raise AttributeError(f"{name} cannot be set: make another distribution")
        super().__setattr__(name, value)

    @property
    def args(self) -> tuple[ArrayLike, ArrayLike]:
        """The ends a and b; with ``kwds`` the arguments that give this distribution again."""
        return self.a, self.b

    @property
    def kwds(self) -> dict[str, ArrayLike]:
        """The parameters loc and scale, by name."""
        return {"loc": self.loc, "scale": self.scale}

    def __repr__(self) -> str:
        return f"Frozen(a={self.a!r}, b={self.b!r}, loc={self.loc!r}, scale={self.scale!r})"

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: Source = None,
        *,
        rng: RngLike = None,
        out: NDArray[Any] | None = None,
    ) -> Any:
        """Draw random numbers; see :func:`trug_fast.truncnorm.rvs`."""
        own = self.a, self.b, self.loc, self.scale
        return self._draws(own, size, random_state, rng, out)

    def expect(
        self,
        func: Function | None = None,
        lb: float | None = None,
        ub: float | None = None,
        conditional: bool = False,
        **kwds: Any,
    ) -> Any:
        """Mean of a function; see :func:`trug_fast.truncnorm.expect`."""
        return expect(func, self.args, self.loc, self.scale, lb, ub, conditional, **kwds)


class _OfPoints(Protocol):
    def __call__(self, x: N, a: N, b: N, loc: N = 0, scale: N = 1) -> Any: ...


class _OfProbabilities(Protocol):
    def __call__(self, q: N, a: N, b: N, loc: N = 0, scale: N = 1) -> Any: ...


class _OfParameters(Protocol):
    def __call__(self, a: N, b: N, loc: N = 0, scale: N = 1) -> Any: ...


class _OfConfidence(Protocol):
    def __call__(self, confidence: N, a: N, b: N, loc: N = 0, scale: N = 1) -> Any: ...


class _OfOrder(Protocol):
    def __call__(self, order: int, a: N, b: N, loc: N = 0, scale: N = 1) -> Any: ...


class _OfLetters(Protocol):
    def __call__(self, a: N, b: N, loc: N = 0, scale: N = 1, moments: str = "mv") -> Any: ...


@functions_of(Functions, Parameters, GIVEN)
class Family(Sourced):
    """Truncated normal distributions over arrays, with the arguments of ``scipy.stats.truncnorm``.

    ``from trug_fast import truncnorm`` in place of ``from scipy.stats import truncnorm`` is meant
    to be all it takes.  ``a`` and ``b`` are the ends in standard deviations from ``loc``: a normal
    of mean mu and standard deviation sigma, cut to [lower, upper], has
    ``a = (lower - mu) / sigma``, ``b = (upper - mu) / sigma``, ``loc=mu``, ``scale=sigma``.
    ``truncnorm(a, b, loc, scale)`` is a distribution with these parameters; the functions take them
    as arguments.

    All arguments broadcast.  Numbers give a NumPy number; float32 arrays alone, or with Python
    numbers, give float32, everything else float64.  Where a < b or scale > 0 fails the value is NaN
    (``rvs`` raises instead), and so it is for an interval that begins more than 1e100 (float32:
    1e12) standard deviations out.

    Unlike SciPy's, these stay accurate for any interval: 1e8 standard deviations out, 1e-12 wide,
    or both.  Large arrays are spread over ``numba.get_num_threads()`` threads; results do not
    depend on how many.

    Where SciPy asks for a distribution of its own class, as ``scipy.stats.fit`` does, give it
    ``trug_fast.distributions.scipy_truncnorm``.
    """

    pdf: _OfPoints
    logpdf: _OfPoints
    cdf: _OfPoints
    sf: _OfPoints
    logcdf: _OfPoints
    logsf: _OfPoints
    ppf: _OfProbabilities
    isf: _OfProbabilities
    median: _OfParameters
    support: _OfParameters
    mean: _OfParameters
    var: _OfParameters
    std: _OfParameters
    entropy: _OfParameters
    log_mass: _OfParameters
    interval: _OfConfidence
    moment: _OfOrder
    stats: _OfLetters

    name, shapes, numargs = "truncnorm", "a, b", 2
    expect = staticmethod(expect)
    fit = staticmethod(fit)
    nnlf = staticmethod(nnlf)

    def __call__(
        self, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
    ) -> Frozen:
        """Return the distribution with these parameters; they are those of :func:`rvs`.

        Examples
        --------
        >>> from trug_fast import truncnorm
        >>> truncnorm.freeze(8.0, 9.0, loc=1)
        Frozen(a=8.0, b=9.0, loc=1, scale=1)
        """
        return Frozen(a, b, loc, scale)

    freeze = __call__

    def rvs(
        self,
        a: ArrayLike,
        b: ArrayLike,
        loc: ArrayLike = 0,
        scale: ArrayLike = 1,
        size: int | tuple[int, ...] | None = None,
        random_state: Source = None,
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
            Two names for the source of randomness, of which one may be given; ``random_state``
            takes a numpy.random.RandomState too.  An int gives the same draws in every call, on
            every machine, for any number of threads.  A Generator or RandomState is advanced by
            one number a call.
            None stands for the attribute ``random_state`` of ``truncnorm``, or of the distribution
            whose method this is; unless set, that is NumPy's global state, as in SciPy.
        out : numpy.ndarray, optional
            Where to put the draws: an array of the result's shape and float type.

        Returns
        -------
        numpy.ndarray or NumPy float
            Draws in ``[a*scale + loc, b*scale + loc]``; float32 if the parameters are float32
            arrays alone, or with Python numbers, else float64.  Element i in C order depends on the
            seed, on i and on its own parameters alone: a shorter call gives the first draws of a
            longer one.

        Raises
        ------
        ValueError
            If a < b or scale >= 0 fails somewhere, if an interval begins over 1e100 (float32: 1e12)
            standard deviations out, if shapes do not fit, or ``out`` has another shape or dtype.

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
        return self._draws((a, b, loc, scale), size, random_state, rng, out)

    def __repr__(self) -> str:
        return "trug_fast.truncnorm"


truncnorm = Family()
Frozen.dist = truncnorm
