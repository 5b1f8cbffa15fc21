"""A distribution whose parameters are fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trug_fast._common.randomness import RngLike

from . import draws, expectations, functions, scipys
from . import moments as _moments
from .broadcasting import columns_of, is_python_number
from .draws import Source, Sourced

_NAMES = ("a", "b", "loc", "scale")


@dataclass(eq=False, repr=False)
class Frozen(Sourced):
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

    a: ArrayLike
    b: ArrayLike
    loc: ArrayLike = 0
    scale: ArrayLike = 1
    dist: ClassVar[Any]  # truncnorm, set where that is made

    def __post_init__(self) -> None:
        columns_of("a b loc scale", self._parameters)
        for name in _NAMES:
            value = getattr(self, name)
            if not is_python_number(value):
                self.__dict__[name] = np.array(value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set ``random_state``, or a parameter once."""
        if name != "random_state" and (name in self.__dict__ or name not in _NAMES):
            raise AttributeError(f"{name} cannot be set: make another distribution")
        super().__setattr__(name, value)

    @property
    def _parameters(self) -> tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]:
        return self.a, self.b, self.loc, self.scale

    @property
    def args(self) -> tuple[ArrayLike, ArrayLike]:
        """The ends a and b; with ``kwds`` the arguments that give this distribution again."""
        return self.a, self.b

    @property
    def kwds(self) -> dict[str, ArrayLike]:
        """The parameters loc and scale, by name."""
        return {"loc": self.loc, "scale": self.scale}

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What ``isinstance`` asks besides the type: SciPy's as well, once that is imported."""
        return scipys.frozen_class(Frozen) if scipys.imported() else Frozen

    def __repr__(self) -> str:
        return f"Frozen(a={self.a!r}, b={self.b!r}, loc={self.loc!r}, scale={self.scale!r})"

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *_NAMES})

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: Source = None,
        *,
        rng: RngLike = None,
        out: NDArray[Any] | None = None,
    ) -> Any:
        """Draw random numbers; see :func:`trug_fast.truncnorm.rvs`."""
        source = self.random_state if rng is None and random_state is None else random_state
        return draws.rvs(*self._parameters, size, source, rng=rng, out=out)

    def pdf(self, x: ArrayLike) -> Any:
        """Density at x."""
        return functions.pdf(x, *self._parameters)

    def logpdf(self, x: ArrayLike) -> Any:
        """Log of the density at x."""
        return functions.logpdf(x, *self._parameters)

    def cdf(self, x: ArrayLike) -> Any:
        """Probability of a value up to x."""
        return functions.cdf(x, *self._parameters)

    def sf(self, x: ArrayLike) -> Any:
        """Probability of a value above x."""
        return functions.sf(x, *self._parameters)

    def logcdf(self, x: ArrayLike) -> Any:
        """Log of the probability of a value up to x."""
        return functions.logcdf(x, *self._parameters)

    def logsf(self, x: ArrayLike) -> Any:
        """Log of the probability of a value above x."""
        return functions.logsf(x, *self._parameters)

    def ppf(self, q: ArrayLike) -> Any:
        """Quantile: the value that has probability q below it."""
        return functions.ppf(q, *self._parameters)

    def isf(self, q: ArrayLike) -> Any:
        """Upper quantile: the value that has probability q above it."""
        return functions.isf(q, *self._parameters)

    def median(self) -> Any:
        """Median."""
        return functions.median(*self._parameters)

    def interval(self, confidence: ArrayLike) -> Any:
        """Interval around the median that holds a share of the probability: (lower, upper)."""
        return functions.interval(confidence, *self._parameters)

    def support(self) -> Any:
        """Return the ends of the interval in the units of x: (lower, upper)."""
        return functions.support(*self._parameters)

    def mean(self) -> Any:
        """Mean."""
        return functions.mean(*self._parameters)

    def var(self) -> Any:
        """Variance."""
        return functions.var(*self._parameters)

    def std(self) -> Any:
        """Return the standard deviation."""
        return functions.std(*self._parameters)

    def stats(self, moments: str = "mv") -> Any:
        """Mean, variance, skewness and kurtosis; see :func:`trug_fast.truncnorm.stats`."""
        return _moments.stats(*self._parameters, moments)

    def moment(self, order: int) -> Any:
        """Moment about zero; see :func:`trug_fast.truncnorm.moment`."""
        return _moments.moment(order, *self._parameters)

    def expect(
        self,
        func: expectations.Function | None = None,
        lb: float | None = None,
        ub: float | None = None,
        conditional: bool = False,
        **kwds: Any,
    ) -> Any:
        """Mean of a function; see :func:`trug_fast.truncnorm.expect`."""
        return expectations.expect(
            func, self.args, self.loc, self.scale, lb, ub, conditional, **kwds
        )

    def entropy(self) -> Any:
        """Differential entropy."""
        return functions.entropy(*self._parameters)

    def log_mass(self) -> Any:
        """Log of the mass that the normal before truncation has in the interval."""
        return functions.log_mass(*self._parameters)
